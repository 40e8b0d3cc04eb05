"""The event feed: one step between two images each."""

import pytest
from hypothesis import given

from model.cluster.change import Change
from model.cluster.changes import changes_between
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.ids import TopicPartition
from model.cluster.records import (
    BrokerFenced,
    BrokerLost,
    BrokerRegistered,
    ClusterIdentified,
    ClusterRecord,
    ConfigChanged,
    ConfigRemoved,
    ControllerElected,
    ControllerEpochChanged,
    ControllerLost,
    GenerationRecognised,
    GroupDescribed,
    GroupRemoved,
    GroupSeen,
    MemberJoined,
    MemberLeft,
    OffsetCommitted,
    OffsetRemoved,
    PartitionReleased,
    PartitionState,
    PartitionStatesRemoved,
    PreferredElectionRequested,
    ReassignmentsRequested,
    TopicAssigned,
    TopicDeletionCleared,
    TopicDeletionRequested,
    TopicRemoved,
    ZnodeReadable,
    ZnodeUnreadable,
)
from tests.model.cluster.build import NOW_MS, brokers, claims, consumer, image, state, topic, written
from tests.model.cluster.strategies import histories, images

BEFORE = image(
    *brokers(1, 2, 3),
    *topic("orders", (1, 2, 3), partitions=2),
    consumer("billing", "c1"),
    *claims("billing", "c1-0", 0),
    OffsetCommitted(group="billing", partition=TopicPartition("orders", 0), offset=10),
)


def step(*records: ClusterRecord, before: ClusterImage = BEFORE) -> tuple[Change, ...]:
    return changes_between(before, image(*records, base=before, zxid=2))


def told(*records: ClusterRecord, before: ClusterImage = BEFORE) -> list[tuple[str, str, str]]:
    return [(one.kind, one.subject, one.text) for one in step(*records, before=before)]


def test_the_first_whole_image_is_one_line() -> None:
    (change,) = changes_between(EMPTY, BEFORE)

    assert (change.kind, change.text) == ("loaded", "loaded: 3 brokers, 1 topic, 2 partitions, 1 group")


def test_an_image_that_is_not_whole_says_nothing() -> None:
    half = ClusterImage(provenance=Provenance("test", 1, 1, complete=False))

    assert changes_between(EMPTY, half) == ()
    assert changes_between(BEFORE, half) == ()


@given(images)
def test_nothing_happened_between_equal_images(same: ClusterImage) -> None:
    assert changes_between(same, same) == ()


@given(images, histories)
def test_any_step_can_be_told(before: ClusterImage, records: list[ClusterRecord]) -> None:
    for change in step(*records, before=before):
        assert change.text
        assert change.subject
        assert change.time_ms >= 0


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            BrokerRegistered(broker=4, endpoints=("PLAINTEXT://h:9092",), rack="a"),
            ("broker-registered", "broker 4", "b4 registered at PLAINTEXT://h:9092 in rack a"),
        ),
        (BrokerLost(broker=3), ("broker-lost", "broker 3", "b3 gone: its registration was removed")),
        (
            BrokerRegistered(broker=3, epoch=90),
            ("broker-bounced", "broker 3", "b3 bounced: registered anew, broker epoch none -> 90"),
        ),
        (
            BrokerRegistered(broker=3, endpoints=("PLAINTEXT://h:9093",)),
            ("broker-changed", "broker 3", "b3 endpoints none -> PLAINTEXT://h:9093"),
        ),
        (ControllerElected(broker=2), ("controller-moved", "controller", "controller b1 -> b2")),
        (ControllerLost(), ("controller-lost", "controller", "b1 is no longer the controller")),
        (ControllerEpochChanged(epoch=2), ("controller-epoch", "controller", "controller epoch 1 -> 2")),
        (
            TopicAssigned(topic="new", replicas={0: (1, 2), 1: (2, 1)}),
            ("topic-created", "new", "created with 2 partitions, 2 replicas"),
        ),
        (
            TopicAssigned(topic="orders", replicas=dict.fromkeys(range(4), (1, 2, 3))),
            ("partitions-added", "orders", "2 partitions added: 2-3"),
        ),
        (
            PartitionStatesRemoved(topic="orders", partitions=(1,)),
            ("partition-state-gone", "orders", "1 state znode removed: 1"),
        ),
        (TopicDeletionRequested(topic="orders"), ("deletion-requested", "orders", "marked for deletion")),
        (
            PreferredElectionRequested(partitions=(TopicPartition("orders", 0),)),
            ("preferred-election-requested", "cluster", "preferred election asked for 1 partition: orders-0"),
        ),
        (
            ReassignmentsRequested(targets={TopicPartition("orders", 0): (2, 3)}),
            ("reassignment-requested", "cluster", "reassignment asked for 1 partition: orders-0"),
        ),
        (
            ConfigChanged(entity="topics/orders", config={"retention.ms": "1"}),
            ("config-changed", "topics/orders", "retention.ms unset -> 1"),
        ),
        (
            ConfigChanged(entity="users/alice", config={"SCRAM-SHA-256": "salt=abc"}),
            ("config-changed", "users/alice", "SCRAM-SHA-256 unset -> [hidden]"),
        ),
        (GroupSeen(group="audit"), ("group-appeared", "group audit", "appeared with 0 consumers")),
        (
            GroupDescribed(group="apps", kind="streams", state="Stable"),
            ("group-appeared", "group apps", "appeared: a streams group"),
        ),
        (consumer("billing", "c2", 3), ("member-joined", "group billing", "c2 joined with 3 threads")),
        (MemberLeft(group="billing", member="c1"), ("member-left", "group billing", "c1 left")),
        (
            claims("billing", "c1-0", 1)[0],
            ("partition-claimed", "group billing", "orders-1 claimed by c1-0"),
        ),
        (
            claims("billing", "c2-0", 0)[0],
            ("partition-handed-over", "group billing", "orders-0 moved c1-0 -> c2-0"),
        ),
        (
            PartitionReleased(group="billing", partition=TopicPartition("orders", 0)),
            ("partition-released", "group billing", "orders-0 released by c1-0"),
        ),
        (
            OffsetCommitted(group="billing", partition=TopicPartition("orders", 0), offset=12),
            ("offset-committed", "group billing", "orders-0 offset 10 -> 12"),
        ),
        (
            ZnodeUnreadable(path="/controller", reason="not JSON"),
            ("znode-unreadable", "/controller", "cannot be used: not JSON"),
        ),
    ],
)
def test_one_thing_that_happened(record: ClusterRecord, expected: tuple[str, str, str]) -> None:
    assert told(record) == [expected]


def test_what_a_broker_tells_of_its_file_is_news_where_that_changed() -> None:
    own = ConfigChanged(entity="server.properties/1", config={"log.roll.ms": "1"})
    assert told(own) == [], "it is known for the first time"
    known = image(own, base=BEFORE)
    assert told(ConfigRemoved(entity="server.properties/1"), before=known) == [], "the broker does not answer"
    assert told(ConfigChanged(entity="server.properties/1", config={"log.roll.ms": "2"}), before=known) == [
        ("config-changed", "server.properties/1", "log.roll.ms 1 -> 2")
    ]


def test_things_that_ended() -> None:
    asked = image(
        TopicDeletionRequested(topic="gone"),
        TopicDeletionRequested(topic="orders"),
        PreferredElectionRequested(partitions=(TopicPartition("orders", 0),)),
        ReassignmentsRequested(targets={TopicPartition("orders", 0): (2, 3)}),
        ZnodeUnreadable(path="/controller", reason="not JSON"),
        base=BEFORE,
    )
    ended = told(
        TopicDeletionCleared(topic="gone"),
        TopicDeletionCleared(topic="orders"),
        PreferredElectionRequested(partitions=()),
        ReassignmentsRequested(targets={}),
        ZnodeReadable(path="/controller"),
        before=asked,
    )

    assert ended == [
        ("deletion-cleared", "gone", "deleted, mark gone"),
        ("deletion-cleared", "orders", "deletion mark gone, topic still there"),
        ("preferred-election-cleared", "cluster", "preferred election done, request gone"),
        ("reassignment-request-cleared", "cluster", "reassignment request gone for 1 partition: orders-0"),
        ("znode-readable", "/controller", "can be used again, or is gone"),
    ]


def test_a_removed_topic_is_one_line() -> None:
    gone = [TopicRemoved(topic="orders"), PartitionStatesRemoved(topic="orders", partitions=(0, 1))]

    assert told(*gone) == [("topic-removed", "orders", "removed with 2 partitions")]


def test_a_topic_made_anew_between_two_looks() -> None:
    replicas = {0: (1, 2, 3), 1: (1, 2, 3)}
    before = image(TopicAssigned(topic="orders", replicas=replicas, topic_id="aaa"), base=BEFORE)
    after = told(TopicAssigned(topic="orders", replicas=replicas, topic_id="bbb"), before=before)

    assert after == [("topic-replaced", "orders", "deleted and created again: topic id aaa -> bbb")]


def test_a_group_that_went_is_one_line() -> None:
    everything = [
        MemberLeft(group="billing", member="c1"),
        PartitionReleased(group="billing", partition=TopicPartition("orders", 0)),
        OffsetRemoved(group="billing", partition=TopicPartition("orders", 0)),
        GroupRemoved(group="billing"),
    ]

    assert told(*everything) == [("group-gone", "group billing", "gone")]


def test_the_first_states_of_a_new_topic() -> None:
    created = image(TopicAssigned(topic="new", replicas={0: (1, 2), 1: (2, 1)}), base=BEFORE)

    assert told(written("new", state(0, 1, (1, 2)), state(1, 2, (2, 1))), before=created) == [
        ("partition-started", "new", "first leaders elected for 2 partitions: 0-1")
    ]


def test_a_clean_election_names_its_cause() -> None:
    assert told(BrokerLost(broker=1), written("orders", state(0, 2, (2, 3), epoch=1))) == [
        ("broker-lost", "broker 1", "b1 gone: its registration was removed"),
        ("leader-moved", "orders-0", "leader 1 -> 2, epoch 0 -> 1, clean, because b1 was lost"),
        ("isr-shrunk", "orders-0", "isr 1,2,3 -> 2,3: 1 left, because b1 was lost"),
    ]


def test_time_and_transaction_are_the_znodes_own_where_known() -> None:
    moved = PartitionState(0, 2, 1, (1, 2, 3), zxid=77, time_ms=55)

    (known,) = step(written("orders", moved))
    (unknown,) = step(written("orders", state(0, 2, (1, 2, 3), epoch=1)))

    assert (known.time_ms, known.zxid) == (55, 77)
    assert (unknown.time_ms, unknown.zxid) == (NOW_MS, 2)
    assert known.path == "/brokers/topics/orders/partitions/0/state"


def test_offline_and_back() -> None:
    gone = written("orders", state(0, -1, (1, 2, 3), epoch=1))
    offline = image(gone, base=BEFORE)

    assert told(gone) == [("partition-offline", "orders-0", "leader 1 -> none, isr 1,2,3, epoch 0 -> 1")]
    assert told(written("orders", state(0, 2, (1, 2, 3), epoch=2)), before=offline) == [
        ("partition-online", "orders-0", "back online: leader none -> 2, epoch 1 -> 2, clean")
    ]


def test_an_unclean_election_is_an_error() -> None:
    lagging = image(written("orders", state(0, 1, (1,))), base=BEFORE)
    change = step(written("orders", state(0, 3, (3,), epoch=1)), before=lagging)[0]

    assert (change.kind, change.severity) == ("unclean-election", "error")
    assert change.text == "leader 1 -> 3, UNCLEAN: it was not in the ISR 1, epoch 0 -> 1"


def test_a_leader_of_the_isr_that_recovers_was_elected_uncleanly() -> None:
    """KIP-704: what came between, and left the broker out of the ISR, was not seen."""
    assert told(written("orders", state(0, 2, (2,), epoch=1, recovering=True)))[0] == (
        "unclean-election",
        "orders-0",
        "leader 1 -> 2, UNCLEAN: its state is marked as recovering, epoch 0 -> 1",
    )


def test_the_leader_reports_that_it_recovered() -> None:
    recovering = image(written("orders", state(0, 1, (1, 2, 3), recovering=True)), base=BEFORE)
    recovered = written("orders", state(0, 1, (1, 2, 3)))

    assert told(recovered, before=recovering) == [
        ("partition-recovered", "orders-0", "leader 1 recovered from unclean election")
    ]


def test_a_replica_joins_the_isr() -> None:
    lagging = image(written("orders", state(0, 1, (1,))), base=BEFORE)

    assert told(written("orders", state(0, 1, (1, 3, 2))), before=lagging) == [
        ("isr-expanded", "orders-0", "isr 1 -> 1,3,2: 3,2 joined")
    ]


def test_another_order_of_the_isr_is_no_event() -> None:
    assert told(written("orders", state(0, 1, (3, 2, 1)))) == []


def test_a_reassignment_begins_and_ends() -> None:
    moving = TopicAssigned(
        topic="orders", replicas={0: (4, 1, 2, 3), 1: (1, 2, 3)}, adding={0: (4,)}, removing={0: (1,)}
    )
    begun = image(moving, base=BEFORE)
    finished = TopicAssigned(topic="orders", replicas={0: (4, 2, 3), 1: (1, 2, 3)})

    assert told(moving) == [
        ("reassignment-begun", "orders", "reassignment of partition 0 began"),
        ("replicas-changed", "orders-0", "replicas 1,2,3 -> 4,1,2,3"),
    ]
    assert told(finished, before=begun) == [
        ("reassignment-finished", "orders", "reassignment of partition 0 ended"),
        ("replicas-changed", "orders-0", "replicas 4,1,2,3 -> 4,2,3"),
    ]


def _leaderless(elr: tuple[int, ...] | None, last: tuple[int, ...] | None) -> ClusterImage:
    state_ = PartitionState(0, -1, 5, (), elr=elr, last_known_elr=last)
    return image(*brokers(1, 2), TopicAssigned(topic="orders", replicas={0: (4, 1)}), written("orders", state_))


@pytest.mark.parametrize(
    ("elr", "last", "expected"),
    [
        ((4,), (4,), ("partition-online", "back online: leader none -> 4, epoch 5 -> 6, clean")),
        (
            (),
            (4,),
            (
                "last-known-leader",
                "leader none -> 4, the last known leader: if it was killed, it may lack its newest records"
                ", epoch 5 -> 6",
            ),
        ),
        ((1,), (4,), ("unclean-election", "leader none -> 4, UNCLEAN: it was not in the ELR 1, epoch 5 -> 6")),
        ((), (), ("unclean-election", "leader none -> 4, UNCLEAN: nobody was in the ISR, epoch 5 -> 6")),
        (None, None, ("unclean-election", "leader none -> 4, UNCLEAN: nobody was in the ISR, epoch 5 -> 6")),
    ],
)
def test_an_eligible_leader_replica_is_elected_cleanly(
    elr: tuple[int, ...] | None, last: tuple[int, ...] | None, expected: tuple[str, str]
) -> None:
    elected = written("orders", PartitionState(0, 4, 6, (4,), elr=(), last_known_elr=()))
    changes = told(elected, before=_leaderless(elr, last))
    assert [(kind, text) for kind, _, text in changes if kind != "isr-expanded"] == [expected]


KRAFT = image(
    GenerationRecognised(generation="kraft"),
    *(BrokerRegistered(broker=broker, fenced=False) for broker in (1, 2)),
    *topic("orders", (1, 2)),
)
FENCED = image(BrokerFenced(broker=1), base=KRAFT)


def test_groups_are_told_in_the_order_of_their_names() -> None:
    names = [f"g{number}" for number in range(5)]
    found = [subject for _, subject, _ in told(*(consumer(name, "c") for name in reversed(names)))]
    assert found == [f"group {name}" for name in names]


def test_a_member_joined_when_it_says_so() -> None:
    joined = MemberJoined(group="billing", member="c2", subscription={"orders": 1}, pattern="static", joined_ms=77)
    assert [(one.kind, one.time_ms) for one in step(joined)] == [("member-joined", 77)]


def test_what_is_no_longer_asked_for_is_told_in_order() -> None:
    asked = {TopicPartition("orders", number): (1, 2) for number in (1, 0)} | {TopicPartition("a", 3): (1,)}
    before = image(ReassignmentsRequested(targets=asked), base=BEFORE)
    assert "reassignment request gone for 3 partitions: a-3, orders-0, orders-1" in [
        one.text for one in step(ReassignmentsRequested(targets={}), before=before)
    ]


def test_a_cluster_that_gets_to_be_known_by_its_id() -> None:
    assert told(ClusterIdentified(cluster_id="abc")) == [("cluster-identified", "cluster", "cluster id abc")]


def test_assignments_of_other_partitions_and_their_states_are_told_apart() -> None:
    more = TopicAssigned(topic="orders", replicas={0: (1, 2, 3), 1: (1, 2, 3), 2: (3, 2, 1)})
    assert [kind for kind, _, _ in told(more)] == ["partitions-added"]
    assert [kind for kind, _, _ in told(*topic("orders", (1, 2, 3), partitions=2))] == []
