"""The queues of topics to be deleted: which deletion is complete, is tried again, can start. It deletes nothing.

Source: `kafka.controller.TopicDeletionManager`, 1.1 to 3.9, where delete.topic.enable is true. The states of replicas
belong to `replica_states`; here it is only said which of them are to be moved.

A deletion waits while a replica is offline or a partition is being reassigned. It goes on when a broker comes
back, a reassignment is complete or a controller takes over. Once started it cannot be taken back.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec

from model.controller.replica_states import PartitionAndReplica, ReplicaState

ReplicaStates = Mapping[PartitionAndReplica, ReplicaState]
"""The states of all replicas of a topic."""


class DeletionQueues(msgspec.Struct, frozen=True, gc=False):
    """Topics by how far their deletion is. `queued` contains the others; `ineligible` ones have to wait."""

    queued: frozenset[str] = frozenset()
    started: frozenset[str] = frozenset()
    ineligible: frozenset[str] = frozenset()

    def enqueue(self, topics: Iterable[str]) -> "DeletionQueues":
        """Topics that were marked for deletion."""
        return msgspec.structs.replace(self, queued=self.queued | set(topics))

    def halt(self, topics: Iterable[str]) -> "DeletionQueues":
        """Topics that cannot be deleted now. One that is not queued is none of ours, also if it is queued next."""
        return msgspec.structs.replace(self, ineligible=self.ineligible | (self.queued & set(topics)))

    def lift(self, topics: Iterable[str]) -> "DeletionQueues":
        """Topics whose deletion may be tried again (`resumeDeletionForTopics`)."""
        return msgspec.structs.replace(self, ineligible=self.ineligible - (self.queued & set(topics)))

    def finish(self, topics: Iterable[str]) -> "DeletionQueues":
        """Topics that are gone."""
        gone = set(topics)
        return DeletionQueues(self.queued - gone, self.started - gone, self.ineligible - gone)


class Resumption(msgspec.Struct, frozen=True, gc=False):
    """What to do about queued topics, by name and in this order."""

    complete: tuple[str, ...]
    """All replicas are deleted: forget the topic and remove its znodes, the marker last."""
    retry: tuple[str, ...]
    """Every replica that was tried has answered, and some could not be deleted: these go back to OfflineReplica."""
    start: tuple[str, ...]
    """Deletion starts, or starts again for what is left."""


class DeletionStart(msgspec.Struct, frozen=True, gc=False):
    """What starting the deletion of topics takes, in this order."""

    unseen: tuple[str, ...]
    """Topics that start for the first time: their partitions go Offline, then NonExistent."""
    dead: tuple[PartitionAndReplica, ...]
    """To ReplicaDeletionIneligible."""
    deletable: tuple[PartitionAndReplica, ...]
    """To OfflineReplica, then ReplicaDeletionStarted."""
    queues: DeletionQueues
    """Afterwards. A topic with a dead replica is ineligible from now on."""


def resume(queues: DeletionQueues, states: Mapping[str, Collection[ReplicaState]]) -> Resumption:
    """Look at every queued topic (`resumeDeletions`), given the states of its replicas.

    A topic of which no replica is known is complete.
    """
    complete: list[str] = []
    retry: list[str] = []
    start: list[str] = []
    for topic in sorted(queues.queued):
        present = set(states.get(topic, ()))
        if present <= {ReplicaState.DELETION_SUCCESSFUL}:
            complete.append(topic)
        elif ReplicaState.DELETION_STARTED not in present:
            if ReplicaState.DELETION_INELIGIBLE in present:
                retry.append(topic)
            if topic not in queues.ineligible:
                start.append(topic)
    return Resumption(tuple(complete), tuple(retry), tuple(start))


def replicas_to_retry(states: ReplicaStates) -> tuple[PartitionAndReplica, ...]:
    """Replicas that go back to OfflineReplica when deletion is tried again."""
    return tuple(replica for replica, state in states.items() if state is ReplicaState.DELETION_INELIGIBLE)


def start_deletion(
    queues: DeletionQueues, topics: Mapping[str, ReplicaStates], online: Callable[[PartitionAndReplica], bool]
) -> DeletionStart:
    """Start, or start again, the deletion of these topics (`onTopicDeletion`), given their replicas' states."""
    replicas = [
        (replica, state, online(replica)) for topic in sorted(topics) for replica, state in topics[topic].items()
    ]
    left = [(replica, alive) for replica, state, alive in replicas if state is not ReplicaState.DELETION_SUCCESSFUL]
    started = msgspec.structs.replace(queues, started=queues.started | set(topics))
    return DeletionStart(
        unseen=tuple(sorted(set(topics) - queues.started)),
        dead=tuple(replica for replica, alive in left if not alive),
        deletable=tuple(replica for replica, alive in left if alive),
        # Also a replica that was deleted before its broker died makes the topic wait, as in Kafka.
        queues=started.halt(replica.partition.topic for replica, _, alive in replicas if not alive),
    )


def fail(
    queues: DeletionQueues, replicas: Iterable[PartitionAndReplica]
) -> tuple[tuple[PartitionAndReplica, ...], DeletionQueues]:
    """Replicas that could not be deleted, or whose broker died: those that go to ReplicaDeletionIneligible, and the
    queues, in which their topics now wait. Replicas of topics that are not queued are left alone.
    """
    failed = tuple(replica for replica in replicas if replica.partition.topic in queues.queued)
    return failed, queues.halt(replica.partition.topic for replica in failed)
