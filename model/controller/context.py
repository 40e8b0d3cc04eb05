"""What a controller knows and is in the middle of telling, and a step: one thing that it does with that.

The context is the value that every step takes and gives back (`kafka.controller.ControllerContext`, 3.9). The batch of
requests that a change of states gives rise to is a part of it, gathered per broker, so that a broker gets at most one
of each kind (`AbstractControllerBrokerRequestBatch`): a partition added twice keeps the newer state; `is_new` and
`delete` once said stay said.

Theory of operation: the plan is data, there is no coroutine. `begin` of a step says what follows from what the
controller knows. If it has to ask ZooKeeper first, it returns the question in `ask`, and `resume` of the same step
goes on with the answers; nothing else happens in between but that events queue up. Steps in `then` come before what
was on the agenda already, so a plan is a stack. An empty question is answered at once with no answers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import TypeVar

import msgspec

from model.cluster.ids import NO_LEADER, TopicPartition
from model.controller.elections import Ballot, Liveness
from model.controller.events_and_commands import Command, Event, PartitionToServe, PartitionToStop
from model.controller.generations import ControllerSettings
from model.controller.leader_and_isr import UNLED
from model.controller.topics import DeletionQueues, Leadership, Partition, Topics
from model.zookeeper import Answer, ZooKeeperRequest

Entry = TypeVar("Entry", PartitionToServe, PartitionToStop)


class RequestBatch(msgspec.Struct, frozen=True):
    """By broker the partitions to serve and to stop, and the partitions to know (in parts) for all `receivers`.

    Receivers without partitions are still told who is live.
    """

    serve: Mapping[int, Mapping[TopicPartition, PartitionToServe]] = {}
    stop: Mapping[int, Mapping[TopicPartition, PartitionToStop]] = {}
    know: tuple[tuple[TopicPartition, ...], ...] = ()
    receivers: frozenset[int] = frozenset()

    def serving(self, entries: Iterable[tuple[PartitionToServe, Iterable[int]]]) -> "RequestBatch":
        """With each of these partitions to be served by the brokers beside it."""
        added: dict[int, dict[TopicPartition, PartitionToServe]] = {}
        for entry, brokers in entries:
            for broker in brokers:
                mine = _mine(added, self.serve, broker)
                before = mine.get(entry.partition)
                stays_new = before is not None and before.is_new and not entry.is_new
                mine[entry.partition] = msgspec.structs.replace(entry, is_new=True) if stays_new else entry
        return msgspec.structs.replace(self, serve={**self.serve, **added})

    def serving_on(self, broker: int, entries: Mapping[TopicPartition, PartitionToServe]) -> "RequestBatch":
        """The same for one broker: a failover has every broker serve everything anew."""
        if broker in self.serve:
            return self.serving((entry, (broker,)) for entry in entries.values())
        return msgspec.structs.replace(self, serve={**self.serve, broker: entries})

    def stopping(self, entries: Iterable[tuple[PartitionToStop, int]]) -> "RequestBatch":
        """With each of these partitions to be stopped by the broker beside it."""
        added: dict[int, dict[TopicPartition, PartitionToStop]] = {}
        for entry, broker in entries:
            mine = _mine(added, self.stop, broker)
            before = mine.get(entry.partition)
            stays_deleted = before is not None and before.delete and not entry.delete
            mine[entry.partition] = msgspec.structs.replace(entry, delete=True) if stays_deleted else entry
        return msgspec.structs.replace(self, stop={**self.stop, **added})

    def telling(self, partitions: tuple[TopicPartition, ...], receivers: Iterable[int]) -> "RequestBatch":
        """With these partitions to be known, and these brokers among those who are told."""
        receivers = self.receivers.union(receivers)
        return msgspec.structs.replace(self, know=(*self.know, partitions), receivers=receivers)


def _mine(
    added: dict[int, dict[TopicPartition, Entry]], before: Mapping[int, Mapping[TopicPartition, Entry]], broker: int
) -> dict[TopicPartition, Entry]:
    """What a broker gets, to be added to: copied once a call, not once a partition."""
    mine = added.get(broker)
    if mine is None:
        mine = added[broker] = dict(before.get(broker, {}))
    return mine


NO_CONTROLLER = -1
NO_BROKER_EPOCH = -1


class Activity(Enum):
    """Whether this broker is the controller, wants to be, or leaves it to another."""

    INACTIVE = "inactive"
    ELECTING = "electing"
    TAKING_OVER = "taking over"
    ACTIVE = "active"


class BrokerAndEpoch(msgspec.Struct, frozen=True):
    """`epoch` is the czxid of the broker's znode, `registration` its payload as it stands."""

    epoch: int
    registration: bytes


class ControllerContext(msgspec.Struct, frozen=True):
    """All of it. `elected`: who got a leader in the last election, for the step that asked for it."""

    settings: ControllerSettings
    broker_epoch: int = NO_BROKER_EPOCH
    """Of the broker this controller runs in, since it registered last."""
    activity: Activity = Activity.INACTIVE
    active_id: int = NO_CONTROLLER
    epoch: int = 0
    epoch_version: int = 0
    now_ms: int = 0
    live: Mapping[int, BrokerAndEpoch] = {}
    shutting_down: frozenset[int] = frozenset()
    offline_log_dirs: Mapping[int, frozenset[TopicPartition]] = {}
    topics: Topics = Topics()
    reassigning: frozenset[TopicPartition] = frozenset()
    deletion: DeletionQueues = DeletionQueues()
    batch: RequestBatch = RequestBatch()
    elected: frozenset[TopicPartition] = frozenset()

    @property
    def broker_id(self) -> int:
        """The broker this controller runs in."""
        return self.settings.broker_id

    @property
    def active(self) -> bool:
        return self.activity is Activity.ACTIVE or self.activity is Activity.TAKING_OVER

    @property
    def reachable(self) -> tuple[int, ...]:
        """Brokers that are live or shutting down, ascending: requests go to them."""
        return tuple(sorted(self.live))

    def liveness(self, partition: TopicPartition) -> Liveness:
        """Which brokers can serve a partition."""
        offline = frozenset(broker for broker, failed in self.offline_log_dirs.items() if partition in failed)
        return Liveness(frozenset(self.live), self.shutting_down, offline)

    def livenesses(self) -> Callable[[TopicPartition], Liveness]:
        """`liveness`, to be asked about many partitions."""
        if self.offline_log_dirs:
            return self.liveness
        same = Liveness(frozenset(self.live), self.shutting_down)
        return lambda _: same

    def online(self, partition: TopicPartition, replica: int) -> bool:
        """Whether a copy can serve (`isReplicaOnline`)."""
        return (
            replica in self.live
            and replica not in self.shutting_down
            and partition not in self.offline_log_dirs.get(replica, ())
        )

    def who_is_online(self) -> Callable[[TopicPartition, tuple[int, ...]], tuple[bool, ...]]:
        """`online` for all copies of a partition, to be asked about many partitions."""
        if self.offline_log_dirs:
            return lambda name, replicas: tuple(self.online(name, replica) for replica in replicas)
        up = frozenset(self.live.keys() - self.shutting_down)
        known: dict[tuple[int, ...], tuple[bool, ...]] = {}

        def who(_name: TopicPartition, replicas: tuple[int, ...]) -> tuple[bool, ...]:
            online = known.get(replicas)
            if online is None:
                online = known[replicas] = tuple(replica in up for replica in replicas)
            return online

        return who

    def led_offline(self) -> Iterator[TopicPartition]:
        """Partitions whose leader cannot serve, also where there is none."""
        up = self.live.keys() - self.shutting_down - self.offline_log_dirs.keys()
        for name, partition in self.topics.led_besides(up):
            if partition.leadership is not None and not self.online(name, partition.leadership.state.leader):
                yield name

    def deleting(self, topic: str) -> bool:
        """Whether a topic is queued for deletion, started or not."""
        return topic in self.deletion.queued

    def replace(self, **changes: object) -> "ControllerContext":
        return msgspec.structs.replace(self, **changes)

    def with_partitions(self, changes: Mapping[TopicPartition, Partition]) -> "ControllerContext":
        """The same with these partitions replaced or added."""
        return self.replace(topics=self.topics.with_partitions(changes)) if changes else self

    def with_leaderships(self, changes: Mapping[TopicPartition, Leadership]) -> "ControllerContext":
        """The same with these leaderships, of the partitions that are still known."""
        return self.with_partitions(
            {
                name: msgspec.structs.replace(partition, leadership=changes[name])
                for name, partition in self.topics.known(changes)
            }
        )

    def leader_of(self, partition: TopicPartition) -> int:
        """Its leader as far as is known, -1 for none."""
        found = self.topics.partition(partition)
        return NO_LEADER if found is None or found.leadership is None else found.leadership.state.leader

    def ballot(self, name: TopicPartition, partition: Partition) -> Ballot:
        """What an election of this partition would decide on, as far as the controller remembers."""
        current = UNLED if partition.leadership is None else partition.leadership.state
        return Ballot(current, partition.assignment, self.liveness(name))


class Step(msgspec.Struct, frozen=True):
    """Something to do. Its fields say to what."""

    def begin(self, context: ControllerContext) -> "StepOutcome":
        """What follows, or what to ask ZooKeeper first."""
        raise NotImplementedError

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> "StepOutcome":
        """What follows from the answers, one for each request of `ask`, in order."""
        raise NotImplementedError


class StepOutcome(msgspec.Struct, frozen=True):
    """What a step came to. `why` is a sentence for an operator that names the rule, empty if nothing was decided.

    `queue` are events the controller tells itself, behind those that wait already.
    """

    context: ControllerContext
    commands: tuple[Command, ...] = ()
    ask: tuple[ZooKeeperRequest, ...] | None = None
    then: tuple[Step, ...] = ()
    queue: tuple[Event, ...] = ()
    why: str = ""
