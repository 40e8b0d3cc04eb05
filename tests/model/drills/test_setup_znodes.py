"""A cluster's image as znodes and as controllers' memories: both say what the image says."""

from __future__ import annotations

import pytest
from hypothesis import given

from model.broker.partition import FollowerProgress, Partition
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.ids import KafkaGeneration, TopicPartition
from model.cluster.records import (
    ClusterIdentified,
    ConfigChanged,
    PartitionState,
    PartitionStatesWritten,
    PreferredElectionRequested,
    ReassignmentsRequested,
    TopicAssigned,
    TopicDeletionRequested,
)
from model.controller.events_and_commands import LeaderAndIsrRequest, PartitionToServe
from model.controller.state_machines import PartitionState as ControllersState
from model.controller.state_machines import ReplicaState
from model.drills.drill import DEFAULT
from model.drills.setup import ClusterSetup, brokers_of, controllers_of, topics_of
from model.drills.setup_znodes import ClusterZnodes
from model.hosts.memory_zookeeper.persistent_map import PersistentMap
from model.hosts.virtual.virtual_broker import receive
from model.sources.zookeeper.translate import is_read, translate
from model.zookeeper import Znode
from tests.model.drills.clusters import EPOCH, NOW_MS, T0, cluster, clusters, topic

SESSIONS = {broker: broker for broker in range(1, 10)}


def read_back(image: ClusterImage) -> ClusterImage:
    """What a source makes of the znodes."""
    nodes = ClusterZnodes(image, SESSIONS, topics_of(image))
    assert len(set(nodes)) == len(nodes)
    znodes = [Znode(path, nodes[path].data, nodes[path].stat) for path in nodes if is_read(path)]
    delta = ClusterDelta(EMPTY).replay_all(translate(znodes, 0))
    return delta.apply(image.provenance)


@given(clusters())
def test_what_is_planted_is_read_as_it_was(image: ClusterImage) -> None:
    found = read_back(image)
    assert found.brokers == image.brokers
    assert (found.controller, found.generation) == (image.controller, image.generation)
    assert found.configs == image.configs
    for name, planted in image.topics.items():
        assert list(found.topics[name].rows()) == list(planted.rows())
        for column in ("leader_epoch", "controller_epoch", "version", "recovering"):
            assert getattr(found.topics[name], column).tolist() == getattr(planted, column).tolist()
    assert found.unreadable == {}


def test_pending_work_orphans_and_partitions_without_a_state_are_planted_too() -> None:
    image = cluster(
        [1, 2],
        ClusterIdentified(cluster_id="abc"),
        TopicAssigned(topic="t", replicas={0: (1, 2), 1: (2, 1)}, adding={0: (2,)}, removing={1: (1,)}),
        PartitionStatesWritten(topic="t", states=(PartitionState(0, 1, 3, (1,), EPOCH, 4, recovering=True),)),
        PartitionStatesWritten(topic="orphan", states=(PartitionState(5, 2, 3, (2,), EPOCH, 4),)),
        ConfigChanged(entity="brokers/<default>", config={"min.insync.replicas": "2"}),
        ReassignmentsRequested(targets={T0: (2,)}),
        PreferredElectionRequested(partitions=(T0,)),
        TopicDeletionRequested(topic="u"),
    )
    found = read_back(image)
    assert found.admin == image.admin
    assert found.cluster_id == "abc"
    assert found.configs == image.configs
    assert found.topics["t"].adding == {0: (2,)}
    assert found.topics["t"].removing == {1: (1,)}
    assert found.topics["t"].recovering.tolist() == [True, False]
    assert found.topics["t"].version.tolist() == [4, -1]
    assert list(found.topics["orphan"].rows()) == [(5, (), 2, (2,))]


@pytest.mark.parametrize(("generation", "version"), [("0.8", 1), ("0.9-1.x", 1), ("3.x", 3)])
def test_payloads_are_those_of_the_generation(generation: KafkaGeneration, version: int) -> None:
    image = cluster([1], *topic((1,), (1,), 1), generation=generation)
    nodes = ClusterZnodes(image, SESSIONS, topics_of(image))
    assert b'"version":%d' % version in nodes["/brokers/topics/t"].data


def test_the_controller_in_office_knows_everything_and_the_others_who_it_is() -> None:
    records = [*topic((1, 2, 9), (1, 2), 1, 4), *topic((9,), (9,), -1, name="dead"), TopicDeletionRequested(topic="t")]
    image = cluster([1, 2], *records, controller=2)
    controllers = controllers_of(image, topics_of(image))
    assert not controllers[1].context.active
    assert controllers[1].context.active_id == 2
    context = controllers[2].context
    assert (context.active, context.epoch, sorted(context.live)) == (True, EPOCH, [1, 2])
    assert context.deletion.queued == {"t"} == context.deletion.ineligible
    known, dead = context.topics.partition(T0), context.topics.partition(TopicPartition("dead", 0))
    assert known is not None
    assert dead is not None
    assert (known.state, dead.state) == (ControllersState.ONLINE, ControllersState.OFFLINE)
    assert known.replica_state(9) is ReplicaState.DELETION_INELIGIBLE
    assert dead.replica_state(9) is ReplicaState.OFFLINE
    assert context.leader_of(T0) == 1


def test_a_stage_is_at_rest_and_its_brokers_hold_what_they_were_told() -> None:
    image = cluster([1, 2], *topic((1, 2), (1, 2), 1, 4))
    stage = ClusterSetup(image, DEFAULT)
    cluster_ = stage.reset()
    assert cluster_.at_rest
    assert cluster_.brokers == (1, 2)
    assert cluster_.controllers == (1,)
    replica = cluster_.process(2).broker.held.get(T0)
    assert replica is not None
    assert (replica.state.leader, replica.state.leader_epoch) == (1, 4)
    assert stage.assumptions.start_ms == NOW_MS
    assert image.provenance == Provenance("test", 10_000, NOW_MS, complete=True)


@pytest.mark.parametrize("recovering", [False, True])
def test_an_adopted_broker_holds_what_it_would_hold_if_it_had_been_told(recovering: bool) -> None:
    states = (PartitionState(0, 1, 3, (1, 2), EPOCH, 4, recovering=recovering),)
    assigned = TopicAssigned(topic="t", replicas={0: (1, 2, 3)}, topic_id="A" * 22)
    image = cluster([1, 2, 3], assigned, PartitionStatesWritten(topic="t", states=states))
    topics = topics_of(image)
    known = topics.partition(T0)
    assert known is not None
    assert known.leadership is not None
    told = PartitionToServe(T0, known.leadership.state, EPOCH, known.assignment, is_new=False)
    request = LeaderAndIsrRequest(1, EPOCH, (told,), (1,), (("t", "A" * 22),))
    for broker in (1, 2, 3):
        adopted = brokers_of(image, topics, growing=True)[broker]
        fresh = adopted.replace(held=PersistentMap(), joinable=frozenset())
        after, answer = receive(fresh, request, -1, image.provenance.time_ms)
        mine, theirs = adopted.held.get(T0), after.held.get(T0)
        assert answer.partition_errors == ()
        assert mine is not None
        assert theirs is not None
        assert with_followers_caught_up(theirs, NOW_MS) == mine
        assert after.joinable == adopted.joinable


def with_followers_caught_up(partition: Partition, at_ms: int) -> Partition:
    """Nobody knows since when it leads: all of its followers are taken to have fetched all there is."""
    if partition.leading is None:
        return partition
    caught_up = FollowerProgress(log_end=0, fetched_ms=at_ms, caught_up_ms=at_ms)
    return partition.lead(followers=dict.fromkeys(partition.leading.followers, caught_up))
