"""What a controller knows and is in the middle of telling: the value that every step takes and gives back.

Source: `kafka.controller.ControllerContext` (3.9). It holds no plan of what comes next (`state.ControllerState` does).
"""

from collections.abc import Mapping
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


class Activity(Enum):
    """Whether this broker is the controller, wants to be, or leaves it to another."""

    INACTIVE = "inactive"
    ELECTING = "electing"
    ACTIVE = "active"


class LiveBroker(msgspec.Struct, frozen=True):
    """`epoch` is the czxid of the broker's znode, `registration` its payload as it stands."""

    epoch: int
    registration: bytes


class ControllerContext(msgspec.Struct, frozen=True):
    """All of it. `results` holds what the last election came to, by partition, for the step that asked for it."""

    settings: Settings
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
        return self.activity is Activity.ACTIVE

    @property
    def reachable(self) -> tuple[int, ...]:
        """Brokers that are live or shutting down, ascending: requests go to them."""
        return tuple(sorted(self.live))

    def liveness(self, partition: TopicPartition) -> Liveness:
        """Which brokers can serve a partition."""
        offline = frozenset(broker for broker, failed in self.offline_log_dirs.items() if partition in failed)
        return Liveness(frozenset(self.live), self.shutting_down, offline)

    def online(self, partition: TopicPartition, replica: int) -> bool:
        """Whether a copy can serve (`isReplicaOnline`)."""
        return (
            replica in self.live
            and replica not in self.shutting_down
            and partition not in self.offline_log_dirs.get(replica, ())
        )

    def offline_replicas(self, partition: TopicPartition, replicas: tuple[int, ...]) -> tuple[int, ...]:
        """Those of a partition's copies that cannot serve."""
        return tuple(replica for replica in replicas if not self.online(partition, replica))

    def is_led_offline(self, name: TopicPartition, partition: Partition) -> bool:
        """Whether its leader cannot serve, also where there is none."""
        leadership = partition.leadership
        return leadership is not None and not self.online(name, leadership.state.leader)

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
