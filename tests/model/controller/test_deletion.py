"""The queues of topics to be deleted, played through with the replica state machine as Kafka's TopicDeletionManagerTest
plays it: two partitions a topic, three replicas each."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from model.cluster.ids import TopicPartition
from model.controller.state_machines import REPLICAS, PartitionAndReplica, ReplicaAction, ReplicaState
from model.controller.topics import DeletionQueues, fail_deletions, replicas_to_retry, resume_deletions, start_deletion
from tests.model.controller.ballots import BROKERS

NON_EXISTENT, NEW, ONLINE, OFFLINE, STARTED, SUCCESSFUL, INELIGIBLE = ReplicaState


class Cluster:
    """A controller that does nothing but delete topics: it moves replicas as it is told, and notes what it did."""

    def __init__(self, *topics: str, live: Iterable[int] = (1, 2, 3)) -> None:
        self.live = set(live)
        self.queues = DeletionQueues()
        self.states = {
            topic: {
                PartitionAndReplica(TopicPartition(topic, partition), broker): ONLINE
                for partition in (0, 1)
                for broker in (1, 2, 3)
            }
            for topic in topics
        }
        self.unseen: list[str] = []

    def move(self, replicas: Iterable[PartitionAndReplica], target: ReplicaState) -> None:
        for replica in replicas:
            states = self.states[replica.partition.topic]
            assert isinstance(REPLICAS.action(states[replica], target), ReplicaAction), (replica, target)
            states[replica] = target

    def on(self, *brokers: int, topic: str = "foo") -> list[PartitionAndReplica]:
        return [replica for replica in self.states[topic] if replica.replica in brokers]

    def in_state(self, state: ReplicaState, topic: str = "foo") -> list[PartitionAndReplica]:
        return [replica for replica, found in self.states[topic].items() if found is state]

    def enqueue(self, *topics: str) -> None:
        self.queues = self.queues.enqueue(topics)
        self.resume()

    def resume(self) -> None:
        todo = resume_deletions(self.queues, {topic: states.values() for topic, states in self.states.items()})
        for topic in todo.complete:
            self.move(self.in_state(SUCCESSFUL, topic), NON_EXISTENT)
            del self.states[topic]
        self.queues = self.queues.finish(todo.complete)
        for topic in todo.retry:
            self.move(replicas_to_retry(self.states[topic]), OFFLINE)
        if todo.start:
            start = start_deletion(
                self.queues,
                {topic: self.states[topic] for topic in todo.start},
                lambda replica: replica.replica in self.live,
            )
            self.unseen += start.unseen
            self.move(start.dead, INELIGIBLE)
            self.move(start.deletable, OFFLINE)
            self.move(start.deletable, STARTED)
            self.queues = start.queues

    def deleted(self, replicas: Iterable[PartitionAndReplica]) -> None:
        self.move(replicas, SUCCESSFUL)
        self.resume()

    def failed(self, replicas: Iterable[PartitionAndReplica]) -> None:
        failed, self.queues = fail_deletions(self.queues, replicas)
        self.move(failed, INELIGIBLE)
        self.resume()

    def dies(self, broker: int) -> None:
        self.live.discard(broker)
        for topic in self.states:
            self.move((r for r in self.on(broker, topic=topic) if self.states[topic][r] is ONLINE), OFFLINE)

    def comes_back(self, broker: int) -> None:
        self.live.add(broker)
        self.queues = self.queues.lift(self.states)
        self.resume()


def queues(*, queued: str = "", started: str = "", ineligible: str = "") -> DeletionQueues:
    return DeletionQueues(*(frozenset(names.split()) for names in (queued, started, ineligible)))


def test_topics_are_deleted() -> None:
    cluster = Cluster("foo", "bar")

    cluster.enqueue("foo", "bar")
    assert cluster.in_state(STARTED) == cluster.on(1, 2, 3)
    assert cluster.in_state(STARTED, "bar") == cluster.on(1, 2, 3, topic="bar")
    assert cluster.queues == queues(queued="foo bar", started="foo bar")
    assert cluster.unseen == ["bar", "foo"]

    cluster.deleted(cluster.on(1, 2, 3))
    assert list(cluster.states) == ["bar"]
    cluster.deleted(cluster.on(1, 2, 3, topic="bar"))
    assert cluster.queues == queues()
    assert cluster.unseen == ["bar", "foo"]


def test_a_dead_broker_is_waited_for() -> None:
    cluster = Cluster("foo", "bar")
    cluster.dies(2)

    cluster.enqueue("foo")
    assert cluster.in_state(STARTED) == cluster.on(1, 3)
    assert cluster.in_state(INELIGIBLE) == cluster.on(2)
    assert cluster.queues == queues(queued="foo", started="foo", ineligible="foo")

    cluster.deleted(cluster.on(1, 3))
    assert cluster.in_state(SUCCESSFUL) == cluster.on(1, 3)
    assert cluster.in_state(OFFLINE) == cluster.on(2)
    assert cluster.queues == queues(queued="foo", started="foo", ineligible="foo")

    cluster.comes_back(2)
    assert cluster.in_state(SUCCESSFUL) == cluster.on(1, 3)
    assert cluster.in_state(STARTED) == cluster.on(2)

    cluster.deleted(cluster.on(2))
    assert list(cluster.states) == ["bar"]
    assert cluster.queues == queues()
    assert cluster.unseen == ["foo"]


def test_a_broker_dies_after_deletion_started() -> None:
    cluster = Cluster("foo", "bar")
    cluster.enqueue("foo")

    cluster.dies(2)
    cluster.failed(cluster.on(2))
    assert cluster.queues == queues(queued="foo", started="foo", ineligible="foo")
    assert cluster.in_state(INELIGIBLE) == cluster.on(2)
    assert cluster.in_state(STARTED) == cluster.on(1, 3)

    cluster.comes_back(2)
    assert cluster.queues == queues(queued="foo", started="foo")
    assert cluster.in_state(INELIGIBLE) == cluster.on(2), "as long as others have not answered"

    cluster.deleted(cluster.on(1, 3))
    assert cluster.in_state(SUCCESSFUL) == cluster.on(1, 3)
    assert cluster.in_state(STARTED) == cluster.on(2)

    cluster.deleted(cluster.on(2))
    assert list(cluster.states) == ["bar"]


def test_a_new_controller_takes_over() -> None:
    found = DeletionQueues().enqueue(["foo", "bar"]).halt(["bar", "baz"])
    assert found == queues(queued="foo bar", ineligible="bar")


def test_only_queued_topics_are_halted_lifted_and_failed() -> None:
    assert queues().halt(["foo"]) == queues().lift(["foo"]) == queues()
    assert queues(queued="foo", ineligible="foo").lift(["foo"]) == queues(queued="foo")
    replica = PartitionAndReplica(TopicPartition("foo", 0), 1)
    assert fail_deletions(queues(queued="bar"), [replica]) == ((), queues(queued="bar"))


def test_a_topic_of_which_no_replica_is_known_is_complete() -> None:
    todo = resume_deletions(queues(queued="foo"), {})
    assert (todo.complete, todo.retry, todo.start) == (("foo",), (), ())


def test_an_ineligible_topic_is_tried_again_without_being_started() -> None:
    todo = resume_deletions(queues(queued="foo", ineligible="foo"), {"foo": [SUCCESSFUL, INELIGIBLE]})
    assert (todo.complete, todo.retry, todo.start) == ((), ("foo",), ())


steps = st.lists(st.tuples(st.sampled_from(("dies", "back", "deleted", "failed", "enqueue")), st.integers(1, 3)))


@given(steps)
def test_whatever_happens_deletion_ends_once_all_brokers_are_back(history: list[tuple[str, int]]) -> None:
    cluster = Cluster("foo")
    cluster.enqueue("foo")
    for what, broker in history:
        _play(cluster, what, broker)
    for broker in sorted(BROKERS & {1, 2, 3}):
        if broker not in cluster.live:
            cluster.comes_back(broker)
    for _ in range(3):
        for broker in (1, 2, 3):
            _play(cluster, "deleted", broker)
        cluster.queues = cluster.queues.lift(["foo"])
        cluster.resume()
    assert cluster.states == {}
    assert cluster.queues == queues()


def _play(cluster: Cluster, what: str, broker: int) -> None:
    if "foo" not in cluster.states:
        return
    waiting = [replica for replica in cluster.on(broker) if cluster.states["foo"][replica] is STARTED]
    if what == "dies":
        cluster.dies(broker)
        cluster.failed(waiting)
    elif what == "back" and broker not in cluster.live:
        cluster.comes_back(broker)
    elif what == "deleted" and broker in cluster.live:
        cluster.deleted(waiting)
    elif what == "failed":
        cluster.failed(waiting)
    elif what == "enqueue":
        cluster.enqueue("foo")
