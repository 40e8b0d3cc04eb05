"""States counted over columns are those in the memory of a controller: a staged one, and one that really took over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given, settings

from model.cluster.cluster_image import EMPTY, ClusterImage
from model.cluster.ids import KafkaGeneration
from model.cluster.partition_columns import stacked
from model.cluster.records import TopicAssigned, TopicDeletionRequested
from model.controller.context import ControllerContext
from model.controller.state_machines import PartitionState, ReplicaState
from model.drills.drill import DEFAULT, PlayedDrill, play_on
from model.drills.scenario import of_brokers
from model.drills.setup import ClusterSetup, StateCounts, controllers_of, held_states, topics_of
from tests.model.drills.clusters import cluster, clusters, topic


def counted(image: ClusterImage) -> StateCounts:
    return held_states(image, stacked(tuple(image.topics.values())))


def held_by(context: ControllerContext) -> StateCounts:
    """The same, one by one, of what a controller remembers."""
    known = [partition for topic in context.topics.by_name.values() for partition in topic.partitions.values()]
    partitions = Counter(partition.state for partition in known)
    replicas = Counter(p.replica_state(replica) for p in known for replica in p.assignment.replicas)
    return StateCounts(
        {state: partitions[state] for state in PartitionState}, {state: replicas[state] for state in ReplicaState}
    )


def in_office(stage: ClusterSetup) -> ControllerContext:
    return stage.cluster.process(stage.cluster.controllers[0]).controller.context


def killed(stage: ClusterSetup, brokers: Iterable[int]) -> PlayedDrill:
    steps = play_on(stage, of_brokers(brokers))
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@given(clusters())
def test_they_are_those_that_a_staged_controller_holds(image: ClusterImage) -> None:
    new = cluster([], TopicAssigned(topic="new", replicas={0: (min(image.brokers), 9), 1: (9,)})).topics
    image = msgspec.structs.replace(image, topics={**image.topics, **new})
    office = image.controller.broker
    assert office is not None
    staged = controllers_of(image, topics_of(image))[office].context
    assert counted(image) == held_by(staged)
    assert counted(image).partitions[PartitionState.NEW] == 2
    assert sum(counted(image).partitions.values()) == image.partition_count


@settings(max_examples=25, deadline=None)
@given(clusters())
def test_they_are_those_of_a_controller_that_took_over_and_read_everything(image: ClusterImage) -> None:
    office = image.controller.broker
    assert office is not None
    stage = ClusterSetup(image, DEFAULT)
    after = killed(stage, [office]).after
    assert in_office(stage).broker_id == after.controller.broker != office
    assert counted(after) == held_by(in_office(stage))


def test_a_deletion_that_nothing_stops_is_under_way() -> None:
    image = cluster([1, 2], *topic((1, 2), (1, 2), 1), TopicDeletionRequested(topic="t"))
    wanted = counted(image)
    assert wanted.partitions[PartitionState.NON_EXISTENT] == 1
    assert wanted.replicas[ReplicaState.DELETION_STARTED] == 2
    stage = ClusterSetup(image, DEFAULT)
    running = stage.reset()
    while held_by(in_office(stage)) != wanted and not running.at_rest:
        running.step()
    assert held_by(in_office(stage)) == wanted


@pytest.mark.parametrize("adding", [{}, {0: (2,)}])
def test_a_deletion_that_waits_leaves_its_topic_as_it_is(adding: dict[int, tuple[int, ...]]) -> None:
    dead = () if adding else (9,)
    image = cluster(
        [1, 2], *topic((1, 2, *dead), (1,), 1, adding=adding), TopicDeletionRequested(topic="t"), controller=2
    )
    stage = ClusterSetup(image, DEFAULT)
    running = stage.reset()
    while not running.at_rest:
        running.step()
    assert held_by(in_office(stage)) == counted(image)
    assert counted(image).replicas[ReplicaState.OFFLINE] == len(dead)
    after = killed(stage, [2]).after
    assert held_by(in_office(stage)) == counted(after)
    assert after.admin.delete_topics == {"t"}


@pytest.mark.parametrize("generation", ["0.8", "0.9-1.x"])
def test_early_releases_keep_what_is_marked_unless_they_are_told_otherwise(generation: KafkaGeneration) -> None:
    records = [*topic((1,), (1,), 1), TopicDeletionRequested(topic="t")]
    held = counted(cluster([1], *records, generation=generation))
    deleted = generation != "0.8"
    assert held.partitions[PartitionState.NON_EXISTENT] == deleted
    assert held.partitions[PartitionState.ONLINE] == (not deleted)


def test_nothing_is_held_of_an_empty_cluster() -> None:
    held = counted(EMPTY)
    assert set(held.partitions.values()) == {0} == set(held.replicas.values())
