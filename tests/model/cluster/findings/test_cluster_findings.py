"""Findings about controller, brokers, balance, pending work and unreadable znodes."""

import pytest

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.findings import Finding, Findings, find
from model.cluster.findings.pending_work import QUIET_MS
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import KraftMetadata, Quorum, QuorumReplica
from model.cluster.records import (
    UNTOLD,
    BrokerFenced,
    BrokerLost,
    BrokerRegistered,
    ClusterRecord,
    ControllerElected,
    ControllerEpochChanged,
    ControllerLost,
    GenerationRecognised,
    MetadataDescribed,
    PreferredElectionRequested,
    QuorumDescribed,
    ReassignmentsRequested,
    TopicAssigned,
    TopicDeletionRequested,
    ViewsDiffered,
    ZnodeUnreadable,
)
from tests.model.cluster.build import NOW_MS, brokers, image, state, topic, written


def kinds(*records: ClusterRecord) -> dict[str, Finding]:
    return {one.kind: one for one in find(image(*records)).found}


def of_kind(kind: str, whole: ClusterImage) -> list[Finding]:
    return [one for one in find(whole).found if one.kind == kind]


def test_an_empty_cluster_has_nobody() -> None:
    assert kinds().keys() == {"no-brokers", "no-controller", "no-controller-epoch"}


def test_no_controller_since_it_was_lost() -> None:
    told = kinds(*brokers(1), ControllerLost(time_ms=77))

    assert told["no-controller"].since_ms == 77
    assert told.keys() == {"no-controller"}


def test_a_controller_that_is_not_registered() -> None:
    assert kinds(*brokers(1, 2), ControllerElected(broker=7)).keys() == {"controller-not-live"}


def test_where_no_broker_serves_each_kind_of_cluster_is_told_what_keeps_them_away() -> None:
    kraft = kinds(GenerationRecognised(generation="kraft"))["no-brokers"]
    assert kraft.what == "no broker serves"
    assert "is fenced" in kraft.why
    assert "heartbeats" in kraft.action
    assert "ZooKeeper" not in f"{kraft.why} {kraft.action}"
    zookeeper = kinds()["no-brokers"]
    assert (zookeeper.what, "ZooKeeper session" in zookeeper.why) == ("no broker is registered", True)


def test_a_dead_broker_is_fenced_where_the_controllers_say_so() -> None:
    kraft, orders = GenerationRecognised(generation="kraft"), topic("orders", (1, 3))
    told, untold = BrokerRegistered(broker=1, fenced=False), BrokerRegistered(broker=1)

    def what(*records: ClusterRecord) -> str:
        return kinds(*records, *orders)["dead-broker"].what.partition(",")[0]

    assert what(kraft, told, BrokerFenced(broker=3)) == "registered and fenced"
    assert what(kraft, told) == "not registered"
    assert what(kraft, untold) == "fenced or not registered"
    assert what(untold) == "not registered"


def test_a_broker_whose_registration_cannot_be_read_lives() -> None:
    unreadable = ZnodeUnreadable(path="/brokers/ids/7", reason="not JSON")

    assert kinds(*brokers(1, 2), *topic("orders", (7, 1)), ControllerElected(broker=7), unreadable).keys() == {
        "unreadable"
    }


def test_brokers_that_may_not_be_listed_are_not_called_dead() -> None:
    unreadable = ZnodeUnreadable(path="/brokers/ids", reason="no permission")
    elected = [ControllerElected(broker=1), ControllerEpochChanged(epoch=1)]

    assert kinds(*elected, *topic("orders", (1, 2)), unreadable).keys() == {"unreadable"}


def test_a_controller_that_cannot_be_read_is_not_called_missing() -> None:
    unreadable = ZnodeUnreadable(path="/controller", reason="not JSON")

    assert kinds(*brokers(1), ControllerLost(), unreadable).keys() == {"unreadable"}


def test_a_controller_that_is_not_registered_is_told_with_the_time_since_when_it_is_the_controller() -> None:
    told = kinds(*brokers(1, 2), ControllerElected(broker=7, since_ms=55))
    assert told["controller-not-live"].since_ms == 55


@pytest.mark.parametrize(
    ("behind", "lag", "what"),
    [
        ((), 0, []),
        ((3,), 40, ["a voter of the metadata quorum that lags by 40 records: of 3, no other may be lost"]),
        ((3,), 0, ["a voter of the metadata quorum that has fallen silent: of 3, no other may be lost"]),
    ],
)
def test_a_voter_that_does_not_keep_up(behind: tuple[int, ...], lag: int, what: list[str]) -> None:
    voters = tuple(QuorumReplica(voter, 100 - lag, lag, NOW_MS - 60_000 * (voter in behind)) for voter in (1, 2, 3))
    quorum = QuorumDescribed(quorum=Quorum(leader=1, leader_epoch=4, high_watermark=100, voters=voters))
    told = of_kind("voter-lags", image(*brokers(1), GenerationRecognised(generation="kraft"), quorum))
    assert [one.what for one in told] == what
    assert {(one.subject, one.since_ms) for one in told} <= {("controller 3", NOW_MS - 60_000)}


def test_a_quorum_without_a_majority_can_elect_nobody() -> None:
    voters = tuple(map(QuorumReplica, (1, 2, 3)))
    quorum = QuorumDescribed(quorum=Quorum(leader=-1, leader_epoch=4, voters=voters, silent=(2, 3), unconfirmed=(5,)))
    (told,) = of_kind("quorum", image(*brokers(1, 5), GenerationRecognised(generation="kraft"), quorum))
    assert told.what == "1 of 3 voters answers: nothing can be elected"
    assert "whether broker 5 lives may be wrong" in told.why
    assert told.action.startswith("Start controllers 2, 3 again;")


@pytest.mark.parametrize(
    ("level", "highest", "said"),
    [
        (21, {1: 21, 2: 21}, {}),
        (21, {1: 25, 2: 25}, {"upgrade-unfinished": "it is 21 (3.9-IV0), and every node supports 25 (4.0-IV3)"}),
        (25, {1: 25, 2: 27}, {"upgrade-held-back": "node 1 supports no more than 25 (4.0-IV3), others 27 (4.1-IV1)"}),
        (
            21,
            {1: 25, 2: 33, 3: 25},
            {
                "upgrade-unfinished": "it is 21 (3.9-IV0), and every node supports 25 (4.0-IV3)",
                "upgrade-held-back": "nodes 1, 3 support no more than 25 (4.0-IV3), others 33 (4.4-IV2); "
                "broker 3 fenced",
            },
        ),
        (
            25,
            {9: 25, 2: 27, 4: 25},
            {"upgrade-held-back": "nodes 4, 9 support no more than 25 (4.0-IV3), others 27 (4.1-IV1)"},
        ),
        (33, {1: 33, 2: 99}, {"upgrade-held-back": "node 1 supports no more than 33 (4.4-IV2), others 99"}),
        (0, {1: 25}, {}),
    ],
)
def test_what_keeps_metadata_version_where_it_is(level: int, highest: dict[int, int], said: dict[str, str]) -> None:
    supported = {node: {"metadata.version": (1, most)} for node, most in highest.items()}
    features = {"metadata.version": level} if level else {}
    described = MetadataDescribed(metadata=KraftMetadata(features=features, supported=supported))
    told = kinds(*brokers(1, 2), BrokerFenced(broker=3), GenerationRecognised(generation="kraft"), described)
    found = {kind: one for kind, one in told.items() if kind.startswith("upgrade")}
    assert {kind: one.what for kind, one in found.items()} == said
    if "fenced" in " ".join(said.values()):
        assert found["upgrade-held-back"].action.startswith("Upgrade nodes 1, 3, or unregister")


def test_a_kraft_cluster_has_no_controller_among_its_brokers() -> None:
    assert kinds(*brokers(1), ControllerElected(broker=3000), GenerationRecognised(generation="kraft")) == {}


def test_a_dead_broker_is_told_with_what_it_holds() -> None:
    lost = [BrokerLost(broker=3), written("orders", state(0, 1, (1, 2)))]
    dead = kinds(*brokers(1, 2, 3), *topic("orders", (1, 2, 3), partitions=2), *lost)["dead-broker"]

    assert dead.subject == "broker 3"
    assert dead.what.startswith("not registered, yet it has 2 replicas: 1 out of sync")


def test_leaders_off_the_preferred_broker_only_where_it_could_lead() -> None:
    cluster = [*brokers(1, 2), *topic("orders", (1, 2), partitions=3)]
    moved = written("orders", state(0, 2, (1, 2)), state(1, 2, (2,)))

    told = kinds(*cluster, moved)["non-preferred-leader"]

    assert told.subject == "broker 1"
    assert told.what.startswith("1 of 3 partitions that prefer it")


def test_skew_of_leaders_and_replicas() -> None:
    uneven = image(*brokers(1, 2, 3), *topic("orders", (1,), partitions=30), *topic("payments", (2,), partitions=24))

    assert [one.subject for one in of_kind("leader-skew", uneven)] == ["broker 1", "broker 2", "broker 3"]
    assert [one.subject for one in of_kind("replica-skew", uneven)] == ["broker 1", "broker 2", "broker 3"]


def test_a_small_difference_is_no_skew() -> None:
    even = image(*brokers(1, 2), *topic("orders", (1, 2), partitions=4), *topic("payments", (2, 1), partitions=2))

    assert of_kind("leader-skew", even) == []


def test_one_broker_alone_is_the_mean() -> None:
    alone = image(*brokers(1), *topic("orders", (1,), partitions=100))
    assert of_kind("leader-skew", alone) == of_kind("replica-skew", alone) == []


@pytest.mark.parametrize(("count", "more"), [(8, []), (9, ["1 more difference"]), (11, ["3 more differences"])])
def test_of_many_differences_eight_are_named(count: int, more: list[str]) -> None:
    differ = image(*brokers(1), ViewsDiffered(differences={f"broker {n:02}": "it says so" for n in range(count)}))
    found = of_kind("views-differ", differ)
    assert [one.subject for one in found[:8]] == [f"broker {n:02}" for n in range(8)]
    assert [one.what for one in found[8:]] == [f"{text} between what they tell and ZooKeeper" for text in more]


def test_a_reassignment_runs_while_its_targets_live() -> None:
    moving = TopicAssigned(topic="orders", replicas={0: (1, 2)}, adding={0: (2,)})
    told = kinds(*brokers(1, 2), moving, written("orders", state(0, 1, (1,), time_ms=NOW_MS - 1000)))

    assert told["reassignment-running"].partitions == (0,)
    assert "reassignment-stuck" not in told


def test_a_reassignment_is_stuck_on_a_dead_target() -> None:
    asked = ReassignmentsRequested(targets={TopicPartition("orders", 0): (1, 9)})

    told = kinds(*brokers(1), *topic("orders", (1,)), asked)["reassignment-stuck"]

    assert "broker 9 (down) should take replicas" in told.what


def test_a_reassignment_is_stuck_when_nothing_moves() -> None:
    moving = TopicAssigned(topic="orders", replicas={0: (1, 2)}, adding={0: (2,)})
    records = [*brokers(1, 2), moving, written("orders", state(0, 1, (1,), time_ms=NOW_MS))]

    later = image(*records, time_ms=NOW_MS + QUIET_MS + 60_000)

    assert of_kind("reassignment-stuck", later)[0].what.endswith("nothing has moved for 31 min")


def test_a_reassignment_that_was_quiet_for_just_so_long_still_runs() -> None:
    moving = TopicAssigned(topic="orders", replicas={0: (1, 2)}, adding={0: (2,)})
    records = [*brokers(1, 2), moving, written("orders", state(0, 1, (1,), time_ms=NOW_MS))]
    assert of_kind("reassignment-running", image(*records, time_ms=NOW_MS + QUIET_MS))


def test_a_reassignment_of_no_topic_or_one_that_is_being_deleted_is_stuck() -> None:
    asked = ReassignmentsRequested(targets={TopicPartition(name, 0): (1,) for name in ("orders", "gone")})
    whole = image(*brokers(1), *topic("orders", (1,)), TopicDeletionRequested(topic="orders"), asked)
    assert {one.subject: one.what.partition("; ")[2] for one in of_kind("reassignment-stuck", whole)} == {
        "gone": "there is no such topic",
        "orders": "the topic is being deleted",
    }


def test_a_deletion_waits_for_a_dead_broker() -> None:
    cluster = [*brokers(1, 2), *topic("orders", (1, 2)), TopicDeletionRequested(topic="orders")]

    assert "deletion-pending" in kinds(*cluster)
    assert "waits for broker 2 (down)" in kinds(*cluster, BrokerLost(broker=2))["deletion-stuck"].what


def test_when_a_reassignment_began_is_not_known_of_a_partition_that_is_not_there() -> None:
    asked = ReassignmentsRequested(targets={TopicPartition("never", 0): (1,), TopicPartition("orders", 7): (1,)})
    told = find(image(*brokers(1), *topic("orders", (1,)), asked)).found
    assert [one.since_ms for one in told if one.kind.startswith("reassignment")] == [0, 0]


def test_a_preferred_election_that_waits() -> None:
    asked = PreferredElectionRequested(partitions=(TopicPartition("orders", 0),))

    assert "orders-0" in kinds(*brokers(1), *topic("orders", (1,)), asked)["preferred-election-pending"].what


def test_many_unreadable_znodes_are_named_up_to_eight() -> None:
    many = [ZnodeUnreadable(path=f"/config/topics/t{n}", reason="not JSON") for n in reversed(range(10, 30))]
    told = of_kind("unreadable", image(*brokers(1), *many))

    assert len(told) == 9
    assert told[0].what == "12 more znodes below cannot be used"
    assert told[1].what == "cannot be used: not JSON"
    assert [one.subject for one in told[1:]] == [f"/config/topics/t{n}" for n in range(10, 18)]


@pytest.mark.parametrize(
    ("path", "action"),
    [
        ("/consumers", "Open the cluster's ZooKeeper (zk://…) or its brokers (kafka://…) to know."),
        ("/controller_epoch", "Open the cluster's ZooKeeper (zk://…) to know."),  # which brokers never tell
    ],
)
def test_what_a_source_does_not_tell_has_a_way_out_that_does(path: str, action: str) -> None:
    (told,) = of_kind("untold", image(*brokers(1), ZnodeUnreadable(path=path, reason=UNTOLD)))
    assert told.action == action


def test_the_worst_comes_first() -> None:
    severities = [one.severity for one in find(image(*brokers(1), *topic("orders", (1, 2), partitions=3))).found]

    assert severities == sorted(severities, key=("error", "warn", "info").index)


def test_an_image_that_is_not_whole_accuses_nobody() -> None:
    half = ClusterDelta(EMPTY).replay_all([*topic("orders", (1, 2)), ZnodeUnreadable(path="/a", reason="b")])

    told = find(half.apply(Provenance("test", 1, 1, complete=False))).found

    assert [one.kind for one in told] == ["unreadable"]


def test_a_topic_that_lost_its_id_is_found_until_it_has_one_again() -> None:
    """As a tool of 1.1.1 writes it (KAFKA-14190)."""

    def assigned(name: str, topic_id: str | None) -> TopicAssigned:
        return TopicAssigned(topic=name, replicas={0: (1,)}, topic_id=topic_id)

    def nameless(*records: ClusterRecord, previous: Findings | None = None) -> tuple[list[str], Findings]:
        found = find(image(*brokers(1), ControllerElected(broker=1), *records), previous)
        return [one.subject for one in found.found if one.kind == "topic-without-id"], found

    assert nameless(assigned("a", None), assigned("b", None))[0] == []  # of a release that has no ids
    told, before = nameless(assigned("a", "x"), assigned("b", "y"))
    assert told == []
    told, before = nameless(assigned("a", "x"), assigned("b", None), previous=before)
    assert told == ["b"]
    told, before = nameless(assigned("a", None), assigned("b", None), previous=before)
    assert told == []
    assert nameless(assigned("a", "x"), assigned("b", None), TopicDeletionRequested(topic="b"))[0] == []
    assert nameless(assigned("a", "x"), assigned("b", "y"), previous=before)[0] == []
