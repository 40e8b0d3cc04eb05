"""What a controller knows and is in the middle of telling: the value that every step takes and gives back.

Source: `kafka.controller.ControllerContext` (3.9). It holds no plan of what comes next (`state.ControllerState` does).
"""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum

import msgspec

from model.cluster.ids import NO_LEADER, TopicPartition
from model.controller.ballot import Ballot, Liveness
from model.controller.deletion import DeletionQueues
from model.controller.leader_and_isr import UNLED
from model.controller.request_batch import RequestBatch
from model.controller.settings import Settings
from model.controller.topics import Leadership, Partition, Topics

NO_CONTROLLER = -1
NO_BROKER_EPOCH = -1


class Activity(Enum):
    """Whether this broker is the controller, wants to be, or leaves it to another."""

    INACTIVE = "inactive"
    ELECTING = "electing"
    TAKING_OVER = "taking over"
    ACTIVE = "active"


class LiveBroker(msgspec.Struct, frozen=True):
    """`epoch` is the czxid of the broker's znode, `registration` its payload as it stands."""

    epoch: int
    registration: bytes


class ControllerContext(msgspec.Struct, frozen=True):
    """All of it. `results` holds what the last election came to, by partition, for the step that asked for it."""

    settings: Settings
    broker_epoch: int = NO_BROKER_EPOCH
    """Of the broker this controller runs in, since it registered last."""
    activity: Activity = Activity.INACTIVE
    active_id: int = NO_CONTROLLER
    epoch: int = 0
    epoch_version: int = 0
    now_ms: int = 0
    live: Mapping[int, LiveBroker] = {}
    shutting_down: frozenset[int] = frozenset()
    offline_log_dirs: Mapping[int, frozenset[TopicPartition]] = {}
    topics: Topics = Topics()
    reassigning: frozenset[TopicPartition] = frozenset()
    deletion: DeletionQueues = DeletionQueues()
    batch: RequestBatch = RequestBatch()
    results: Mapping[TopicPartition, str] = {}

    @property
    def broker_id(self) -> int:
        """The broker this controller runs in."""
        return self.settings.broker_id

    @property
    def active(self) -> bool:
        """Whether this is the controller."""
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
        """The same with other fields."""
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
