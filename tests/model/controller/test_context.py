"""Questions about many partitions at once have the answers of the same questions about each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.cluster.ids import TopicPartition
from model.controller.context import BrokerAndEpoch, ControllerContext
from model.controller.generations import ControllerSettings
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.controller.state_machines import PartitionAndReplica, PartitionState
from model.controller.topics import Leadership, Partition, Topic, Topics

brokers = st.integers(1, 4)
names = st.builds(TopicPartition, st.sampled_from(("a", "b", "gone")), st.integers(0, 2))
leaderships = st.none() | st.builds(
    Leadership, st.builds(LeaderAndIsr, st.sampled_from((-1, 1, 2, 3, 4)), st.just(0), st.just((1,))), st.just(1)
)
partitions = st.builds(
    Partition,
    st.builds(ReplicaAssignment, st.lists(brokers, min_size=1, max_size=3, unique=True).map(tuple)),
    leaderships,
    st.sampled_from(PartitionState),
)
topics = st.dictionaries(
    st.sampled_from(("a", "b")), st.builds(Topic, st.none(), st.dictionaries(st.integers(0, 2), partitions))
)
contexts = st.builds(
    ControllerContext,
    settings=st.just(ControllerSettings(broker_id=1)),
    live=st.dictionaries(brokers, st.just(BrokerAndEpoch(1, b""))),
    shutting_down=st.frozensets(brokers),
    offline_log_dirs=st.just({}) | st.dictionaries(brokers, st.frozensets(names, max_size=3), max_size=2),
    topics=st.builds(Topics, topics),
)


@given(contexts)
def test_who_is_online(context: ControllerContext) -> None:
    is_online, liveness = context.who_is_online(), context.livenesses()
    for name, partition in context.topics.items():
        replicas = partition.assignment.replicas
        assert is_online(name, replicas) == tuple(context.online(name, replica) for replica in replicas)
        assert liveness(name) == context.liveness(name)


@given(contexts)
def test_whose_leader_cannot_serve(context: ControllerContext) -> None:
    assert list(context.led_offline()) == [
        name
        for name, partition in context.topics.items()
        if partition.leadership is not None and not context.online(name, partition.leadership.state.leader)
    ]


@given(contexts, st.frozensets(brokers), st.lists(names))
def test_partitions_are_found_in_order(
    context: ControllerContext, some: frozenset[int], wanted: list[TopicPartition]
) -> None:
    known = context.topics
    assert list(known.on_brokers(some)) == [
        PartitionAndReplica(name, replica)
        for name, partition in known.items()
        for replica in partition.assignment.replicas
        if replica in some
    ]
    assert list(known.not_online()) == [pair for pair in known.items() if pair[1].state is not PartitionState.ONLINE]
    assert list(known.known(wanted)) == [
        (name, found) for name in wanted if (found := known.partition(name)) is not None
    ]
