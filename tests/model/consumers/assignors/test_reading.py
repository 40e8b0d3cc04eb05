"""What is a case, what is wrong with one in a line that names it, and how ZooKeeper consumers choose topics."""

from __future__ import annotations

import base64
import hashlib
import uuid
from typing import Any

import pytest

from model.consumers.assignors.case import (
    MOST_PARTITIONS,
    CaseMember,
    alike_to_clients,
    alike_to_coordinator,
    read_case,
    topic_id_hashes,
)
from model.consumers.assignors.group import AssignorError, ownership
from model.consumers.assignors.named_group import Kind, named_group, streams_of
from tests.model.consumers.assignors.readable_cases import outcome_of, owning, shares


def refused(document: Any) -> str:
    with pytest.raises(AssignorError) as refusal:
        read_case(document)
    return str(refusal.value)


def test_a_case_has_bounds() -> None:
    assert refused([]).startswith("this is not a case: ")
    assert refused({"topics": {"t": -1}, "members": {}}) == "topic t has -1 partitions: give 0 or more"
    assert read_case({"topics": {"t": 0}, "members": {}}).topics == {"t": 0}
    half = MOST_PARTITIONS // 2
    assert sum(read_case({"topics": {"t": half, "u": half}, "members": {}}).topics.values()) == 10_000_000
    assert refused({"topics": {"t": half, "u": half + 1}, "members": {}}) == (
        "10,000,001 partitions: a case may have 10,000,000"
    )


def test_racks_tell_of_partitions_that_there_are() -> None:
    rows = [["r1"], ["r2"]]
    assert read_case({"topics": {"t": 2}, "members": {}, "racks": {"t": rows}}).racks == {"t": rows}
    assert refused({"topics": {"t": 1}, "members": {}, "racks": {"t": rows}}) == (
        "racks of t tell of 2 partitions; it has 1"
    )
    assert refused({"topics": {}, "members": {}, "racks": {"u": rows}}) == "racks of u tell of 2 partitions; it has 0"


def test_a_topic_id_is_a_uuid() -> None:
    """Its hash is Java's: both halves of both halves, by exclusive or."""
    plain = bytes(range(16))
    written = base64.urlsafe_b64encode(plain).decode().rstrip("=")
    assert len(written) == 22
    assert topic_id_hashes(["t"], {"t": written}).tolist() == [0x00010203 ^ 0x04050607 ^ 0x08090A0B ^ 0x0C0D0E0F]
    for wrong in ("", "AAAA", "not base64 at all!!!!!", "A" * 24):
        with pytest.raises(AssignorError, match=r"^topic id '.*' of t is not a base64 UUID of 22 characters$"):
            topic_id_hashes(["t"], {"t": wrong})


def test_a_topic_without_an_id_has_one_of_its_name() -> None:
    """As `UUID.nameUUIDFromBytes` makes it: MD5, version 3."""
    made = uuid.UUID(bytes=hashlib.md5("tä".encode()).digest(), version=3).bytes
    written = base64.urlsafe_b64encode(made).decode().rstrip("=")
    assert topic_id_hashes(["tä"], {}).tolist() == topic_id_hashes(["tä"], {"tä": written}).tolist()


def test_whether_all_subscribe_alike() -> None:
    assert alike_to_clients([["t", "u"], ["u", "t"]], as_kafka=False)
    assert not alike_to_clients([["t", "u"], ["t"]], as_kafka=False)
    assert not alike_to_clients([["t"], ["u"]], as_kafka=True)
    assert not alike_to_clients([["t"], []], as_kafka=True)
    assert alike_to_clients([[], ["t"]], as_kafka=True)
    assert not alike_to_clients([[], ["t"]], as_kafka=False)
    members: dict[str, Any] = {"a": {"topics": ["t", "u", "t"]}, "b": {"topics": ["u", "t"]}}
    case = {"topics": {"t": 1, "u": 1}, "members": members}
    assert alike_to_coordinator(read_case(case))
    assert not alike_to_coordinator(read_case({**case, "subscription_type": "HETEROGENEOUS"}))
    members["b"]["topics"] = ["u"]
    assert not alike_to_coordinator(read_case(case))
    with pytest.raises(AssignorError, match="HOMOGENEOUS, but members subscribe to different topics"):
        alike_to_coordinator(read_case({**case, "subscription_type": "HOMOGENEOUS"}))


@pytest.mark.parametrize(
    ("kind", "user_data", "generation", "field", "claims", "of_claim", "of_subscription"),
    [
        ("client", "v1", 5, None, [0], 5, 5),
        ("client", "v1", None, None, [0], -1, -1),
        ("client", "v1", 5, -7, [0], 5, -1),
        ("sticky", "v1", 5, 3, [0], 5, 3),
        ("sticky", "v0", 5, 3, [0], -1, 3),
        ("sticky", "none", 5, 3, [], -1, 3),
        ("cooperative", "v1", 5, 3, [0], 3, 3),
        ("cooperative", "v1", 5, 0, [0], 0, 0),
        ("cooperative", "v1", 5, -1, [0], 5, -1),
        ("cooperative", "none", 5, -1, [0], -1, -1),
    ],
)
def test_where_a_claim_and_its_generation_are_read(
    kind: Kind,
    user_data: str,
    generation: int | None,
    field: int | None,
    claims: list[int],
    of_claim: int,
    of_subscription: int,
) -> None:
    member = {"topics": ["t"], "owned": {"t": [0]}, "user_data": user_data, "generation": generation}
    case = read_case({"topics": {"t": 1}, "members": {"a": {**member, "subscription_generation": field}}})
    told = named_group(case, kind).group.claims
    assert told.partitions.tolist() == claims
    assert (told.generations.tolist(), told.subscription_generations.tolist()) == ([of_claim], [of_subscription])


def test_of_three_claims_the_newest_generation_counts() -> None:
    generations = {"a": 2, "b": 3, "c": 3, "d": 1}
    for others, owner in (("a", "a"), ("ad", "a"), ("ab", "b"), ("abc", None), ("bcd", None), ("da", "a")):
        members = {name: owning("t", "t:0", generations[name]) for name in others}
        group = named_group(read_case({"topics": {"t": 1}, "members": members}), "sticky")
        owned = ownership(group.group)
        assert [group.members[number] for number in owned.owner.tolist() if number >= 0] == ([owner] if owner else [])
        assert owned.contested.tolist() == ([] if owner else [0])
        assert owned.agreed == (len(others) == 1)


def test_claims_on_what_is_not_there_are_told() -> None:
    members = {"a": {"topics": ["t"], "owned": [["t", 2], ["t", -1], ["gone", 0], ["t", 1]]}}
    group = named_group(read_case({"topics": {"t": 2}, "members": members}), "sticky")
    assert group.beyond == [("a", "t", 2), ("a", "t", -1)]
    assert group.group.claims.partitions.tolist() == [1]


def test_a_list_chooses_topics() -> None:
    topics = {"t": 1, "tt": 1, "u": 1, "__consumer_offsets": 50}
    assert streams_of("a", CaseMember(white_list="t.*", threads=2), topics) == {"t": 2, "tt": 2}
    assert streams_of("a", CaseMember(white_list=' "t , u" '), topics) == {"t": 1, "u": 1}
    assert streams_of("a", CaseMember(white_list=".*"), topics) == {"t": 1, "tt": 1, "u": 1}, "internal ones are hidden"
    assert streams_of("a", CaseMember(black_list="t"), topics) == {"tt": 1, "u": 1}
    with pytest.raises(AssignorError, match=r"^member a: '\(' is not a regular expression"):
        streams_of("a", CaseMember(black_list="("), topics)


def test_streams_have_bounds() -> None:
    assert streams_of("a", CaseMember({"t": 1}), {}) == {"t": 1}
    assert streams_of("a", CaseMember(["t", "u"]), {}) == {"t": 1, "u": 1}
    for wrong in (0, 10**9):
        with pytest.raises(AssignorError, match=r"^member a has .* streams of t: give 1 to "):
            streams_of("a", CaseMember({"t": wrong}), {})
    with pytest.raises(AssignorError, match="member a counts streams: that is for zk-range"):
        outcome_of("range", {"t": 1}, a={"topics": {"t": 1}})


def test_a_consumer_of_several_threads_cannot_say_which_one_owned() -> None:
    owned = {"owned": {"t": [0, 5], "gone": [0]}}
    one = outcome_of("zk-range", {"t": 2}, a={"topics": {"t": 1}, **owned}, b={"topics": {"t": 1}})
    assert (shares(one), one.assignment.before.owner.tolist()) == ({"a-0": "t:0", "b-0": "t:1"}, [0, -1])
    with pytest.raises(AssignorError, match="member a has several threads: nobody can tell whose"):
        outcome_of("zk-range", {"t": 2}, a={"topics": {"t": 2}, **owned})


def test_the_coordinator_knows_no_topic_that_is_not_there() -> None:
    with pytest.raises(AssignorError, match="topic u is subscribed to, but there is no such topic"):
        outcome_of("uniform", {"t": 1}, a="t w v u x")
    assert shares(outcome_of("range", {"t": 1}, a="t u")) == {"a": "t:0"}
