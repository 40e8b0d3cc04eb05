"""What controllers of each generation write: which znodes, in which version, guarded by what, in which order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.context import NO_CONTROLLER, Activity
from model.controller.decide import decide
from model.controller.generations import GENERATIONS, LATEST, default_settings, generation_of
from model.controller.znode_formats import registration_as
from model.znodes.cluster import decode_broker
from model.znodes.paths import CONTROLLER, CONTROLLER_EPOCH
from model.zookeeper import Answer, Create, Delete, SetData, Stat
from tests.harness.virtual_cluster import VirtualCluster, registration
from tests.model.controller.golden_trace import by_path
from tests.model.controller.trace_scenarios import assignment, create_topic, reassign_by_znode

TOPIC = "/brokers/topics/t"
STATE = "/brokers/topics/t/partitions/0/state"


def cluster_of(release: str, *brokers: int, **settings: Any) -> VirtualCluster:
    """Brokers of a release, with its defaults."""
    found = default_settings(0, generation_of(release), **{"auto_leader_rebalance_enable": False, **settings})
    fields = {name: getattr(found, name) for name in found.__struct_fields__ if name != "broker_id"}
    cluster = VirtualCluster(**fields)
    for broker in brokers:
        cluster.start(broker)
    return cluster


def test_up_to_2_0_the_office_is_taken_first_and_the_epoch_raised_then() -> None:
    cluster = cluster_of("1.1.1", 1)
    election = [line for line in cluster.log if CONTROLLER in line]
    assert election == [
        'create[E] /controller {"version":1,"brokerid":1,"timestamp":"T"}',
        "create[P] /controller_epoch 1",
    ]
    cluster.start(2)
    cluster.kill(1)
    assert [write.version for write in by_path(cluster.log)[CONTROLLER_EPOCH]] == [0, 1]


def test_from_2_1_on_both_are_one_transaction() -> None:
    cluster = cluster_of("2.1", 1)
    assert [line for line in cluster.log if "create[E] /controller" in line] == [
        'multi{create[E] /controller {"version":1,"brokerid":1,"timestamp":"T"} ; set /controller_epoch v1 1}'
    ]


@pytest.mark.parametrize(("release", "version"), [("0.8.2", 1), ("3.3", 1), ("3.4", 2)])
def test_the_version_of_the_controllers_znode(release: str, version: int) -> None:
    assert by_path(cluster_of(release, 1).log)[CONTROLLER][0].data["version"] == version


@pytest.mark.parametrize(("release", "fence"), [("0.8.2", None), ("2.0", None), ("2.1", 2), ("3.9", 2)])
def test_writes_are_checked_against_the_epoch_from_2_1_on(release: str, fence: int | None) -> None:
    cluster = cluster_of(release, 1, 2)
    create_topic(cluster, "t", (1, 2))
    cluster.kill(2)
    assert [write.fenced_by for write in by_path(cluster.log)[STATE]] == [fence, fence]


@pytest.mark.parametrize(
    ("release", "line"),
    [
        ("1.1.1", "create[E] /brokers/ids/1 {"),
        ("2.1", "create[E] /brokers/ids/1 {"),
        ("2.2", "multi{create[E] /brokers/ids/1 null ; set /brokers/ids/1 v1 {"),
    ],
)
def test_brokers_register_in_a_transaction_from_2_2_on(release: str, line: str) -> None:
    assert [entry for entry in cluster_of(release, 1).log if entry.startswith(line)]


@pytest.mark.parametrize(("release", "first"), [("0.8.2", CONTROLLER), ("1.0", CONTROLLER), ("1.1", "/brokers/ids/1")])
def test_up_to_1_0_a_broker_stood_for_election_before_it_registered(release: str, first: str) -> None:
    written = list(by_path(cluster_of(release, 1).log))
    assert min([CONTROLLER, "/brokers/ids/1"], key=written.index) == first


@pytest.mark.parametrize(
    ("release", "paths", "cluster_id"),
    [
        ("0.8.0", 2, False),
        ("0.8.1", 6, False),
        ("0.8.2", 6, False),
        ("0.9", 9, False),
        ("0.10.0", 9, False),
        ("0.10.1", 9, True),
        ("0.10.2", 9, True),
        ("0.11", 10, True),
        ("1.0", 11, True),
        ("1.1", 13, True),
        ("2.7", 13, True),
        ("2.8", 14, True),
        ("3.9", 14, True),
    ],
)
def test_what_a_broker_makes_when_it_starts(release: str, paths: int, cluster_id: bool) -> None:
    cluster = cluster_of(release, 1)
    assert len(generation_of(release).forms.paths) == paths
    assert ("/cluster/id" in by_path(cluster.log)) == cluster_id
    assert set(generation_of(release).forms.paths) <= by_path(cluster.log).keys()


@pytest.mark.parametrize(("release", "version"), [("2.6", None), ("2.7", 1), ("3.2", 1), ("3.3", 2), ("3.9", 2)])
def test_features_are_finalized_from_2_7_on(release: str, version: int | None) -> None:
    found = by_path(cluster_of(release, 1).log).get("/feature", [])
    assert [write.data["version"] for write in found] == ([version] if version else [])


@pytest.mark.parametrize("release", ["0.8.0", "0.8.2", "0.9", "1.1", "2.6"])
def test_up_to_2_6_leaders_write_their_isrs(release: str) -> None:
    """With the epoch of the controller that made them leaders; from 0.9 on they tell, and the controller cleans up."""
    cluster = cluster_of(release, 1, 2, 3)
    create_topic(cluster, "t", (1, 2))
    cluster.kill(2)
    mark = len(cluster.log)
    cluster.start(2)
    written = by_path(cluster.since(mark))
    assert [(w.data["isr"], w.data["leader_epoch"], w.fenced_by) for w in written[STATE]] == [([1, 2], 1, None)]
    notified = [w.verb for path in written if path.startswith("/isr_change_notification/") for w in written[path]]
    assert notified == (["create[P]", "delete"] if release >= "0.9" else [])
    proposal = events_and_commands.ProposedIsr(TopicPartition("t", 0), 1, 2, (1,))
    refused = cluster.ask(events_and_commands.AlterPartitionReceived, broker=1, broker_epoch=0, proposals=(proposal,))
    assert refused.error == "UNSUPPORTED_VERSION"


@pytest.mark.parametrize(
    ("release", "epoch", "isr"), [("0.8.2", 1, [2]), ("1.1", 1, [2]), ("2.2", 1, [2]), ("2.3", 2, [2]), ("3.9", 2, [2])]
)
def test_a_leader_that_is_the_controller_too_cost_one_epoch_up_to_2_2(release: str, epoch: int, isr: list[int]) -> None:
    cluster = cluster_of(release, 1, 2)
    create_topic(cluster, "t", (1, 2))
    cluster.kill(1)
    last = by_path(cluster.log)[STATE][-1].data
    assert (last["leader"], last["leader_epoch"], last["isr"]) == (2, epoch, isr)


@pytest.mark.parametrize(("release", "isr"), [("1.1", [2, 1]), ("2.2", [2, 1]), ("2.3", [2])])
def test_a_follower_on_the_controllers_broker_stayed_in_the_isr_up_to_2_2(release: str, isr: list[int]) -> None:
    cluster = cluster_of(release, 1, 2)
    create_topic(cluster, "t", (2, 1))
    cluster.kill(1)
    assert by_path(cluster.log)[STATE][-1].data["isr"] == isr


@pytest.mark.parametrize(
    ("release", "config", "left"),
    [
        ("0.8.1", "", []),
        ("0.8.2", "", []),
        ("0.8.2", "false", [2]),
        ("0.11", "", [2]),
        ("1.0", "true", []),
        ("1.1", "true", [2]),
    ],
)
def test_each_topic_says_whether_the_last_member_of_its_isr_stays(release: str, config: str, left: list[int]) -> None:
    """0.8.2 to 1.0: it leaves where unclean elections are allowed, for then it has no right to come first."""
    cluster = cluster_of(release, 1, 2)
    settings = b'{"unclean.leader.election.enable":"%s"}' % config.encode() if config else b"{}"
    create_topic(cluster, "t", (2,), config=settings)
    cluster.kill(2)
    last = by_path(cluster.log)[STATE][-1].data
    assert (last["leader"], last["leader_epoch"], last["isr"]) == (-1, 1, left)


@pytest.mark.parametrize(("release", "epoch"), [("0.8.2", 0), ("1.0", 0), ("1.1", 1), ("2.1", 1), ("2.2", 0)])
def test_preferred_elections_were_held_for_nothing_from_1_1_to_2_1(release: str, epoch: int) -> None:
    cluster = cluster_of(release, 1, 2)
    create_topic(cluster, "t", (1, 2))
    entry = b'{"version":1,"partitions":[{"topic":"t","partition":0}]}'
    cluster.write(Create("/admin/preferred_replica_election", entry))
    assert by_path(cluster.log)[STATE][-1].data["leader_epoch"] == epoch


@pytest.mark.parametrize(("release", "marker"), [("0.8.2", "create[P]"), ("0.10.1", "create[P]"), ("0.10.2", "delete")])
def test_markers_stayed_where_deletion_is_disabled(release: str, marker: str) -> None:
    cluster = cluster_of(release, 1, delete_topic_enable=False)
    create_topic(cluster, "t", (1,))
    cluster.write(Create("/admin/delete_topics/t"))
    cluster.write(Create("/admin/delete_topics/nope"))
    assert by_path(cluster.log)["/admin/delete_topics/t"][-1].verb == marker
    assert by_path(cluster.log)["/admin/delete_topics/nope"][-1].verb == marker
    assert "t" in cluster.nodes[1].controller.context.topics.by_name


@pytest.mark.parametrize(("release", "restored"), [("1.1", False), ("2.0", True)])
def test_partitions_added_to_a_topic_that_is_being_deleted_stayed_in_its_znode(release: str, restored: bool) -> None:
    cluster = cluster_of(release, 1, 2)
    create_topic(cluster, "t", (1, 2))
    cluster.kill(2)
    cluster.write(Create("/admin/delete_topics/t"))
    cluster.write(SetData(TOPIC, assignment("t", (1, 2), (1,))))
    assert (list(by_path(cluster.log)[TOPIC][-1].data["partitions"]) == ["0"]) == restored


def test_from_2_8_on_topics_without_an_id_get_one() -> None:
    payload = b'{"version":1,"partitions":{"0":[1,2]}}'
    old = cluster_of("2.7", 1)
    old.write(Create(TOPIC, payload))
    assert len(by_path(old.log)[TOPIC]) == 1
    new = cluster_of("2.8", 1, 2)
    new.write(Create(TOPIC, payload))
    created, named = by_path(new.log)[TOPIC]
    assert "topic_id" not in created.data
    assert (named.fenced_by, named.data["version"], len(named.data["topic_id"])) == (2, 3, 22)
    new.kill(1)
    assert new.nodes[2].controller.context.topics.by_name["t"].topic_id == named.data["topic_id"]
    reassign_by_znode(new, "t", 0, (2,))
    assert {write.data.get("topic_id") for write in by_path(new.log)[TOPIC][1:]} == {named.data["topic_id"]}


@pytest.mark.parametrize(("release", "noticed"), [("2.1", False), ("2.2", True)])
def test_a_broker_that_bounced_unnoticed_is_noticed_from_2_2_on(release: str, noticed: bool) -> None:
    cluster = cluster_of(release, 1, 2)
    create_topic(cluster, "t", (2, 1))
    state = cluster.nodes[1].controller
    live = state.context.live
    listed = decide(state, events_and_commands.BrokersChanged()).state
    assert listed.waiting is not None
    names = events_and_commands.ZooKeeperAnswered(question=listed.waiting.question, answers=(Answer(names=("1", "2")),))
    read = decide(listed, names).state
    assert read.waiting is not None
    now = tuple(
        Answer(data=live[id_].registration, stat=Stat(czxid=live[id_].epoch + 1000 * (id_ == 2))) for id_ in (1, 2)
    )
    decision = decide(read, events_and_commands.ZooKeeperAnswered(question=read.waiting.question, answers=now))
    assert ("Broker 2 went: 1 replica offline." in decision.reasons) == noticed
    assert decision.state.idle != noticed


def test_the_newest_forms_are_those_of_the_newest_generation() -> None:
    assert LATEST.forms == GENERATIONS[-1].forms
    assert (LATEST.forms.topic_version, LATEST.forms.controller_version, LATEST.forms.feature_version) == (3, 2, 2)


@pytest.mark.parametrize(
    ("release", "keys"),
    [
        ("0.8.2", set()),
        ("0.9", {"endpoints"}),
        ("0.10", {"endpoints", "rack"}),
        ("0.10.2", {"endpoints", "rack", "listener_security_protocol_map"}),
        ("2.7", {"endpoints", "rack", "listener_security_protocol_map", "features"}),
    ],
)
def test_registrations_have_more_keys_from_release_to_release(release: str, keys: set[str]) -> None:
    found = registration_as(decode_broker(registration(1)), generation_of(release).forms)
    common = {"version", "host", "port", "jmx_port", "timestamp"}
    assert set(json.loads(found.to_bytes())) == common | keys
    assert found.version == 1 + len(keys)
    assert decode_broker(found.to_bytes()) == found


@pytest.mark.parametrize("release", ["2.1", "3.9"])
def test_an_epoch_that_is_no_number_lets_nobody_be_elected(release: str) -> None:
    cluster = cluster_of(release, 1)
    cluster.write(SetData(CONTROLLER_EPOCH, b"many"))
    cluster.write(Delete(CONTROLLER))
    assert cluster.reasons[-1].startswith("/controller_epoch holds no number: nobody can be elected")
    assert not cluster.read(CONTROLLER).ok
    context = cluster.nodes[1].controller.context
    assert (context.activity, context.active_id) == (Activity.INACTIVE, NO_CONTROLLER)
