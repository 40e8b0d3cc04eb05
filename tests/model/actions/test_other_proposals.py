"""Settings, elections, deletions, groups and offsets: what would be written, warned of and refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.actions import Reset
from model.actions.configs import ConfigRequest, alter_configs
from model.actions.elections import ELECTION_PATH, elect_preferred, imbalanced
from model.actions.groups import Landing, OffsetRange, delete_group, landing, reset_offsets
from model.actions.proposal import ActionRefused, ApiCall, Basis, FoundZnode, ZnodeWrite
from model.actions.topics import delete_topics, remove_delete_marker
from model.cluster.ids import KafkaGeneration, TopicPartition
from model.cluster.records import (
    BrokerLost,
    ClusterIdentified,
    ConfigChanged,
    GenerationRecognised,
    GroupDescribed,
    GroupOffsetsFetched,
    GroupSeen,
    OffsetCommitted,
    TopicAssigned,
    TopicDeletionRequested,
)
from model.controller.generations import generation_of
from tests.model.cluster.build import brokers, consumer, image, state, topic, written

NONE = b'{"version":1,"config":{}}'
ORDERS = TopicPartition("orders", 0)


# Settings


@pytest.mark.parametrize(
    ("generation", "cluster_id", "notice"),
    [
        ("0.8", None, b'"orders"'),
        ("0.9-1.x", None, b'{"version":1,"entity_type":"topics","entity_name":"orders"}'),
        ("3.x", "c", b'{"version":2,"entity_path":"topics/orders"}'),
    ],
)
def test_settings_and_their_notice_are_written_in_the_form_of_the_release(
    generation: KafkaGeneration, cluster_id: str | None, notice: bytes
) -> None:
    known = [ClusterIdentified(cluster_id=cluster_id)] if cluster_id else []
    seen = image(*topic("orders", [1]), GenerationRecognised(generation=generation), *known)
    basis = Basis(seen, found={"/config/topics/orders": FoundZnode(NONE, 0)})
    proposal = alter_configs(basis, ConfigRequest("topics/orders", {"min.insync.replicas": "2"}))
    assert proposal.steps == (
        ZnodeWrite(
            "set",
            "/config/topics/orders",
            before=NONE,
            after=b'{"version":1,"config":{"min.insync.replicas":"2"}}',
            version=0,
        ),
        ZnodeWrite("create", "/config/changes/config_change_", after=notice, sequential=True),
    )
    assert proposal.changes == ("min.insync.replicas: default → 2",)
    assert proposal.rollback.endswith("--entity-name orders --delete-config min.insync.replicas")


def test_settings_are_taken_away_and_others_stay() -> None:
    payload = b'{"version":1,"config":{"a":"1","b":"2"},"note":"kept"}'
    basis = Basis(image(*topic("orders", [1])), found={"/config/topics/orders": FoundZnode(payload, 3)})
    first, _ = alter_configs(basis, ConfigRequest("topics/orders", {}, ["a"])).steps
    assert isinstance(first, ZnodeWrite)
    assert first.after == b'{"version":1,"config":{"b":"2"},"note":"kept"}'


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        (ConfigRequest("topics/none", {"a": "1"}), "does not exist"),
        (ConfigRequest("topics/orders", {}, ["x"]), "does not set x"),
        (ConfigRequest("topics/orders", {"a": "1"}), "set so already"),
        (ConfigRequest("brokers/one", {"a": "1"}), "no broker's id"),
        (ConfigRequest("users/alice", {"a": "1"}), "cannot be changed here"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(wish: ConfigRequest, reason: str) -> None:
    seen = image(*topic("orders", [1]))
    basis = Basis(seen, found={"/config/topics/orders": FoundZnode(b'{"version":1,"config":{"a":"1"}}', 0)})
    with pytest.raises(ActionRefused, match=reason):
        alter_configs(basis, wish)


def test_a_secret_is_not_shown() -> None:
    wish = ConfigRequest("brokers/1", {"ssl.keystore.password": "hush"})
    proposal = alter_configs(Basis(image(*brokers(1), GenerationRecognised(generation="3.x"))), wish)
    assert proposal.changes == ("ssl.keystore.password: default → [hidden]",)
    assert "hush" not in proposal.rollback
    assert proposal.steps == (
        ApiCall(
            "IncrementalAlterConfigs",
            {"resources": [{"type": "broker", "name": "1", "set": {"ssl.keystore.password": "hush"}, "delete": []}]},
        ),
    )


def test_what_is_read_by_brokers_of_all_is_one_resource_without_a_name() -> None:
    before = ConfigChanged(entity="brokers/<default>", config={"log.retention.ms": "5"})
    seen = image(*brokers(1), before, GenerationRecognised(generation="3.x"))
    (call,) = alter_configs(Basis(seen), ConfigRequest("brokers/<default>", {"log.retention.ms": "6"})).steps
    assert isinstance(call, ApiCall)
    assert call.expects == {"config broker  log.retention.ms": "5"}


# Elections


def led_by_others() -> list[object]:
    """0 is led by another, 1 as preferred, 2 prefers a broker that is down, 3 one that is out of sync."""
    assigned = TopicAssigned(topic="orders", replicas={0: (1, 2), 1: (2, 1), 2: (9, 1), 3: (2, 1)})
    states = (state(0, 2, [2, 1]), state(1, 2, [2, 1]), state(2, 1, [1]), state(3, 1, [1]))
    return [*brokers(1, 2, 9), assigned, written("orders", *states), BrokerLost(broker=9)]


def test_only_those_are_elected_that_need_it_and_can_have_it() -> None:
    basis = Basis(image(*led_by_others()), found={})  # pyright: ignore[reportArgumentType]
    proposal = elect_preferred(basis, imbalanced(basis.image))
    payload = b'{"version":1,"partitions":[{"topic":"orders","partition":0}]}'
    assert proposal.steps == (ZnodeWrite("create", ELECTION_PATH, after=payload),)
    assert proposal.changes == ("orders-0: leader 2 → 1",)
    assert proposal.warnings == (
        "orders-2 is left out: broker 9 is down",
        "orders-3 is left out: broker 2 is not in the ISR",
    )


def test_brokers_are_asked_for_the_same_if_replicas_are_as_they_were() -> None:
    basis = Basis(image(*led_by_others()))  # pyright: ignore[reportArgumentType]
    fields = {"election_type": 0, "partitions": {"orders": [0]}}
    assert elect_preferred(basis, imbalanced(basis.image)).steps == (
        ApiCall("ElectLeaders", fields, {"orders-0": [1, 2]}),
    )


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ([TopicPartition("orders", 1)], "nothing to elect"),
        ([TopicPartition("orders", 2)], "broker 9 is down"),
        ([TopicPartition("orders", 7)], "partition orders-7 does not exist"),
        ([TopicPartition("none", 0)], "topic 'none' does not exist"),
    ],
)
def test_elections_that_would_do_nothing_are_refused(wanted: list[TopicPartition], reason: str) -> None:
    with pytest.raises(ActionRefused, match=reason):
        elect_preferred(Basis(image(*led_by_others()), found={}), wanted)  # pyright: ignore[reportArgumentType]


def test_one_election_at_a_time() -> None:
    basis = Basis(image(*led_by_others()), found={ELECTION_PATH: FoundZnode(b"{}", 0)})  # pyright: ignore[reportArgumentType]
    with pytest.raises(ActionRefused, match="under way"):
        elect_preferred(basis, imbalanced(basis.image))


# Deletions


def test_a_topic_is_marked_if_it_is_the_one_that_was_seen() -> None:
    seen = image(*brokers(1), *topic("orders", [1, 3], 2), OffsetCommitted(group="g", partition=ORDERS, offset=5))
    proposal = delete_topics(Basis(seen, found={"/brokers/topics/orders": FoundZnode(b"{}", 6)}), ["orders"])
    assert proposal.steps == (
        ZnodeWrite("check", "/brokers/topics/orders", version=6),
        ZnodeWrite("create", "/admin/delete_topics/orders", after=b""),
    )
    assert proposal.type_to_confirm == "orders"
    assert proposal.changes == ("orders: 2 partitions, 4 replicas → deleted with all records",)
    said = " | ".join(proposal.warnings)
    assert "broker 3 (down) hold replicas" in said
    assert "read by 1 group: g" in said


def test_old_brokers_may_only_mark() -> None:
    seen = image(*topic("orders", [1]), GenerationRecognised(generation="0.8"))
    basis = Basis(seen, generation_of("0.8.2"), {"/brokers/topics/orders": FoundZnode(b"{}", 0)})
    assert "delete.topic.enable is false by default" in delete_topics(basis, ["orders"]).warnings[0]
    with pytest.raises(ActionRefused, match=r"0\.8\.0 cannot delete"):
        delete_topics(Basis(seen, generation_of("0.8.0"), {}), ["orders"])


def test_a_marked_topic_is_refused_and_told_why_it_is_stuck() -> None:
    seen = image(*brokers(1), *topic("orders", [1, 3]), TopicDeletionRequested(topic="orders"))
    with pytest.raises(ActionRefused, match=r"marked for deletion already: broker 3 \(down\) to come back"):
        delete_topics(Basis(seen, found={}), ["orders"])


@pytest.mark.parametrize("name", ["none", "__consumer_offsets"])
def test_other_names_are_not_deleted(name: str) -> None:
    with pytest.raises(ActionRefused):
        delete_topics(Basis(image(*topic("__consumer_offsets", [1])), found={}), [name])


def test_a_mark_is_taken_away_at_its_version() -> None:
    seen = image(*brokers(1), *topic("orders", [1, 3]), TopicDeletionRequested(topic="orders"))
    found = {"/brokers/topics/orders": FoundZnode(b"{}", 2), "/admin/delete_topics/orders": FoundZnode(b"", 0)}
    proposal = remove_delete_marker(Basis(seen, found=found), "orders")
    assert proposal.steps == (
        ZnodeWrite("check", "/brokers/topics/orders", version=2),
        ZnodeWrite("delete", "/admin/delete_topics/orders", before=b"", version=0),
    )
    assert "broker 3 (down)" in proposal.warnings[0]
    with pytest.raises(ActionRefused, match="not marked"):
        remove_delete_marker(Basis(seen, found={}), "orders")
    with pytest.raises(ActionRefused, match="name it as SOURCE"):
        remove_delete_marker(Basis(seen), "orders")


# Groups and offsets


def idle(offset: int = 12) -> list[object]:
    return [GroupSeen(group="g"), OffsetCommitted(group="g", partition=ORDERS, offset=offset)]


def test_a_group_goes_from_its_leaves_up() -> None:
    paths = ["/consumers/g", "/consumers/g/ids", "/consumers/g/offsets", "/consumers/g/offsets/orders"]
    leaf = "/consumers/g/offsets/orders/0"
    found = {path: FoundZnode(b"", 1) for path in paths} | {leaf: FoundZnode(b"12", 3)}
    proposal = delete_group(Basis(image(*idle()), found={**found, "/consumers/gg": FoundZnode(b"", 0)}), "g")  # pyright: ignore[reportArgumentType]
    deleted = [step.path for step in proposal.steps if isinstance(step, ZnodeWrite)]
    assert deleted == [leaf, *sorted(paths, reverse=True)]
    assert proposal.steps[0] == ZnodeWrite("delete", leaf, before=b"12", version=3)
    assert proposal.type_to_confirm == "g"


def test_a_group_with_a_member_stays() -> None:
    seen = image(*idle(), consumer("g", "g_h-1"))  # pyright: ignore[reportArgumentType]
    for refused in (
        lambda: delete_group(Basis(seen, found={}), "g"),
        lambda: reset_offsets(Basis(seen, found={}), "g", Landing({ORDERS: 1})),
    ):
        with pytest.raises(ActionRefused, match=r"1 member \(g_h-1\): stop its consumers"):
            refused()


@pytest.mark.parametrize(
    ("kind", "deletes", "why"),
    [
        ("streams", False, r"a streams group: who is in it is not known here, use kafka-streams-groups\.sh"),
        ("share", True, r"a share group commits no offsets: kafka-share-groups\.sh --reset-offsets"),
    ],
)
def test_groups_that_own_no_partitions_have_tools_of_their_own(kind: str, *, deletes: bool, why: str) -> None:
    seen = Basis(image(GroupDescribed(group="g", state="Empty", kind=kind)))
    with pytest.raises(ActionRefused, match=why):
        reset_offsets(seen, "g", Landing({ORDERS: 1}))
    if deletes:
        assert delete_group(seen, "g").steps == (ApiCall("DeleteGroups", {"groups": ["g"]}, {"members g": 0}),)
    else:
        with pytest.raises(ActionRefused, match=why):
            delete_group(seen, "g")


def test_a_member_that_came_back_meanwhile_is_seen() -> None:
    found = {"/consumers/g": FoundZnode(b"", 0), "/consumers/g/ids/g_h-1": FoundZnode(b"{}", 0)}
    with pytest.raises(ActionRefused, match="come back"):
        delete_group(Basis(image(*idle()), found=found), "g")  # pyright: ignore[reportArgumentType]


def test_offsets_in_zookeeper_are_set_at_their_versions_and_folders_made() -> None:
    found = {"/consumers/g": FoundZnode(b"", 0), "/consumers/g/offsets": FoundZnode(b"", 0)}
    found |= {"/consumers/g/offsets/orders": FoundZnode(b"", 0), "/consumers/g/offsets/orders/0": FoundZnode(b"12", 5)}
    where = Landing({ORDERS: 30, TopicPartition("carts", 1): 4}, ("said",))
    proposal = reset_offsets(Basis(image(*idle()), found=found), "g", where)  # pyright: ignore[reportArgumentType]
    assert proposal.steps == (
        ZnodeWrite("create", "/consumers/g/offsets/carts", after=b""),
        ZnodeWrite("set", "/consumers/g/offsets/orders/0", before=b"12", after=b"30", version=5),
        ZnodeWrite("create", "/consumers/g/offsets/carts/1", after=b"4"),
    )
    assert proposal.warnings == ("said", "18 offsets are skipped: the group never reads the records there")
    assert proposal.type_to_confirm == "g"


def test_offsets_at_a_coordinator_are_one_commit_that_expects_what_was_seen() -> None:
    seen = image(GroupDescribed(group="g", state="Empty"), GroupOffsetsFetched(group="g", offsets={ORDERS: 12}))
    proposal = reset_offsets(Basis(seen), "g", Landing({ORDERS: 3}))
    assert proposal.steps == (
        ApiCall(
            "OffsetCommit",
            {"group": "g", "offsets": {"orders": {"0": 3}}},
            {"members g": 0, "offset g orders-0": 12},
        ),
    )
    assert proposal.type_to_confirm == ""  # records are read again, none are lost


@pytest.mark.parametrize(
    ("reset", "lands"),
    [
        (Reset("to-earliest"), 10),
        (Reset("to-latest"), 100),
        (Reset("to-current"), 50),
        (Reset("to-offset", 5), 10),
        (Reset("to-offset", 70), 70),
        (Reset("to-offset", 500), 100),
        (Reset("shift-by", -20), 30),
        (Reset("shift-by", 60), 100),
        (Reset("to-time", 1_000), 42),
    ],
)
def test_where_each_way_lands(reset: Reset, lands: int) -> None:
    assert landing(reset, {ORDERS: 50}, {ORDERS: OffsetRange(10, 100, 42)}).offsets == {ORDERS: lands}


def test_a_time_after_the_last_record_is_the_end_and_nothing_committed_cannot_be_shifted() -> None:
    logs = {ORDERS: OffsetRange(10, 100)}
    assert landing(Reset("to-time", 1), {}, logs).offsets == {ORDERS: 100}
    assert landing(Reset("to-current"), {}, logs).offsets == {ORDERS: 100}
    with pytest.raises(ActionRefused, match="committed no offset"):
        landing(Reset("shift-by", 1), {}, logs)


@given(st.integers(-1_000, 1_000), st.integers(0, 500), st.integers(0, 500), st.integers(0, 500))
def test_nobody_lands_outside_of_a_log(shift: int, committed: int, start: int, length: int) -> None:
    log = OffsetRange(start, start + length)
    found = landing(Reset("shift-by", shift), {ORDERS: committed}, {ORDERS: log})
    assert log.start <= found.offsets[ORDERS] <= log.end
    assert bool(found.remarks) == (found.offsets[ORDERS] != committed + shift)
