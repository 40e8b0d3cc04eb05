"""What is read of `__consumer_offsets` to know generations, and when a generation counts. Records are real ones."""

from __future__ import annotations

import struct

import pytest

from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.cluster.image_parts import Member
from model.cluster.records import GroupDescribed
from model.consumers.group_coordinator.stored_formats import (
    GroupRecord,
    StoredGroup,
    StoredMember,
    ValueVersions,
    write_record,
)
from model.log.records import Codec, Record, encode_batch
from model.sources.kafka.group_requests import PARTITIONS_A_LOOK, TAIL, TRIES, Generations

PLACE = TopicPartition(OFFSETS_TOPIC, 3)
PLACES = {"g": PLACE}
READ = TopicPartition("orders", 0)


def described(
    *members: str, state: str = "Stable", protocol_type: str = "consumer", group: str = "g"
) -> GroupDescribed:
    """The first member owns what there is."""
    owners = {READ: members[0]} if members else {}
    return GroupDescribed(
        group=group,
        state=state,
        protocol_type=protocol_type,
        members={member: Member({"orders": 1}) for member in members},
        owners=None if state == "PreparingRebalance" else owners,
    )


def written(offset: int, generation: int, *members: str, codec: Codec = Codec.NONE) -> bytes:
    """A batch with one record of the group."""
    share = struct.pack(">hih6siii", 0, 1, 6, b"orders", 1, 0, -1)
    stored = tuple(
        StoredMember(
            member_id=member,
            rebalance_timeout_ms=1,
            session_timeout_ms=1,
            assignment=share if member == members[0] else b"",
        )
        for member in members
    )
    value = StoredGroup(protocol_type="consumer", generation=generation, protocol="range", members=stored)
    key, data = write_record(GroupRecord("g", value), ValueVersions())
    return encode_batch([Record(offset, 1, key, data)], codec=codec)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_of_a_group_that_was_there_before_us_the_tail_is_read(codec: Codec) -> None:
    known = Generations()
    assert known.see([described("a")], PLACES, {PLACE: TAIL + 40}) == {PLACE: 40}
    known.take(PLACE, written(TAIL + 39, 7, "a", codec=codec))
    assert known.of("g") == 7
    assert known.see([described("a")], PLACES, {PLACE: TAIL + 90}) == {}
    assert known.see([described("b")], PLACES, {PLACE: TAIL + 95}) == {PLACE: TAIL + 90}


def test_a_record_of_other_shares_does_not_count_and_the_search_ends() -> None:
    known = Generations()
    for _ in range(TRIES):
        assert known.see([described("a", "b")], PLACES, {PLACE: 1}) != {}
        known.take(PLACE, written(0, 1, "a"))
    assert known.of("g") is None
    assert known.see([described("a", "b")], PLACES, {PLACE: 1}) == {}
    assert known.see([described("a")], PLACES, {PLACE: 1}) == {}
    assert known.of("g") == 1


def test_after_a_rebalance_that_was_seen_an_older_record_of_the_same_shares_does_not_count() -> None:
    known = Generations()
    known.see([described("a")], PLACES, {PLACE: 1})
    known.take(PLACE, written(0, 1, "a"))
    known.see([described("a", state="PreparingRebalance")], PLACES, {PLACE: 1})
    assert known.of("g") is None
    assert known.see([described("a")], PLACES, {PLACE: 2}) == {PLACE: 1}
    known.take(PLACE, written(1, 2, "a"))
    assert known.of("g") == 2


def test_nothing_is_passed_over_while_a_group_is_between_two_coordinators() -> None:
    known = Generations()
    known.see([described("a")], PLACES, {PLACE: 1})
    known.take(PLACE, written(0, 1, "a"))
    known.see([described("a")], PLACES, {PLACE: 1})
    assert known.see([], PLACES, {PLACE: 9}) == {}
    assert known.see([described("b")], PLACES, {PLACE: 20}) == {PLACE: 1}


def test_an_empty_groups_record_may_come_later() -> None:
    known = Generations()
    assert known.see([described(state="Empty")], PLACES, {PLACE: 0}) == {PLACE: 0}
    known.take(PLACE, b"")
    assert known.see([described(state="Empty")], PLACES, {PLACE: 1}) == {PLACE: 0}
    known.take(PLACE, written(0, 4))
    assert known.of("g") == 4


def test_who_only_commits_has_no_record_to_look_for() -> None:
    assert Generations().see([described(state="Empty", protocol_type="")], PLACES, {PLACE: 5}) == {}


@pytest.mark.parametrize(
    "garbage", [b"\0" * 70, encode_batch([Record(0, 1, b"\0\2\0\5x", b"")]), written(0, 1, "a")[:-3]]
)
def test_what_cannot_be_read_is_passed_over(garbage: bytes) -> None:
    known = Generations()
    known.see([described("a")], PLACES, {PLACE: 1})
    known.take(PLACE, garbage)
    assert known.of("g") is None
    assert known.see([described("a")], PLACES, {PLACE: 2}) == {PLACE: 1}


def test_where_the_log_begins_later_it_is_read_from_its_end_on() -> None:
    known = Generations()
    known.see([described("a")], PLACES, {PLACE: 100})
    known.miss(PLACE, "OFFSET_OUT_OF_RANGE")
    assert known.see([described("a")], PLACES, {PLACE: 120}) == {PLACE: 100}


def test_a_log_that_was_cut_is_read_from_where_it_ends() -> None:
    known = Generations()
    known.see([described("a")], PLACES, {PLACE: 100})
    known.take(PLACE, written(99, 1, "a"))
    assert known.see([described("b")], PLACES, {PLACE: 50}) == {PLACE: 50}


def test_only_some_partitions_are_read_at_a_look_and_the_others_at_the_next() -> None:
    groups = [f"g{number}" for number in range(PARTITIONS_A_LOOK + 4)]
    places = {name: TopicPartition(OFFSETS_TOPIC, number) for number, name in enumerate(groups)}
    ends = dict.fromkeys(places.values(), 10)
    known = Generations()
    first = known.see([described("a", group=name) for name in groups], places, ends)
    for partition in first:
        known.take(partition, b"")
    second = known.see([described("a", group=name) for name in groups], places, ends)
    assert len(first) == len(second) == PARTITIONS_A_LOOK
    assert {*first, *second} == {*places.values()}


def test_a_group_that_died_is_forgotten() -> None:
    known = Generations()
    known.see([described("a")], PLACES, {PLACE: 1})
    known.take(PLACE, written(0, 7, "a"))
    known.forget(["g"])
    assert known.of("g") is None
