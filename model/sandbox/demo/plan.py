"""What a demo cluster is to be, as values: racks, topics, consumer groups, what is wrong with it, what happens to it.

`large_plan` has the one that `kdrill --demo` opens. Nothing here says how any of it is written; `state` begins with it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.sandbox.demo.state import DemoState
    from model.sandbox.demo.tree import Change

DemoStep = Callable[["DemoState", int, int], "Change"]
"""State, number of the step, time (ms) → what the step makes of it."""


class Incident(Enum):
    """What is wrong with a partition from the start."""

    ALONE = "only its leader is in sync"
    SLOW_FOLLOWER = "its last replica has fallen behind"
    OFF_PREFERRED = "led by another than the preferred replica"
    UNCLEAN = "led by its last replica after an unclean election, and recovering"
    UNREADABLE = "its state is cut off"
    MOVING = "moves from its last replica's broker to another of the rack, which has not caught up"
    STUCK = "is to move from its last replica's broker to the dead one"


@dataclass(frozen=True)
class DemoTopic:
    """A topic as somebody created it."""

    name: str
    partitions: int
    config: dict[str, str] = field(default_factory=dict[str, str])
    on_dead_broker: bool = False
    """Created before the broker was being emptied, or after."""
    replication_factor: int = 3
    on_new_broker: bool = False
    """Created since the newest broker came, or before; only where there is one."""
    in_one_rack: bool = False
    """Somebody placed the replicas of each partition by hand, all of them in one rack."""


@dataclass(frozen=True)
class Reading:
    """A group as it is to be: who reads which topics, and how far it is behind."""

    name: str
    topics: tuple[str, ...]
    hosts: int
    abandoned: frozenset[int] = frozenset()
    """Partitions that nobody owns, as after a rebalance that failed half-way."""
    lag_s: float = 8.0
    """So far behind its consumers are, on average, in seconds of what producers write."""
    swing: float = 0.3
    """This part of it comes and goes; below 1."""
    period_s: float = 180.0
    """Within this time."""
    begins_at: tuple[int, ...] = ()
    """The offsets it begins with, by partition; empty: as far as it is behind."""
    assignor: str = "range"
    """Of a classic group: range, or cooperative-sticky."""


@dataclass(frozen=True)
class DemoPlan:
    """A whole cluster before anything has happened to it."""

    cluster_id: str
    racks: Mapping[str, tuple[int, ...]]
    dead_broker: int
    controller: int
    controller_epoch: int
    topics: tuple[DemoTopic, ...]
    topic_being_deleted: str
    """Its deletion can't end: the dead broker holds replicas of it."""
    readings: tuple[Reading, ...]
    """Groups of the old kind, whose members register in ZooKeeper, each with one topic."""
    incidents: Mapping[tuple[str, int], tuple[Incident, int]]
    """What is wrong with which partition, and since which step; 0: from the start."""
    steps: tuple[DemoStep, ...]
    """In turn for ever."""
    classic: tuple[Reading, ...] = ()
    """Groups that a broker coordinates; without hosts, nobody is in it any more."""
    dies_at: int = 0
    """The step at which the dead broker dies; 0: before all began."""
    deletion_at: int = 0
    """The step at which the deletion is asked for; 0: before all began."""
    past: int = 0
    """Steps that lie behind the cluster when it opens."""
    age_ms: int = 0
    """For so long at most its brokers and consumers had been up when all began."""
    new_broker: int | None = None
    """Came lately and holds little."""
    favourites: tuple[int, ...] = ()
    """Brokers that were given twice their share."""

    @property
    def live_brokers(self) -> tuple[int, ...]:
        """Those that stay."""
        return tuple(broker for broker in self.brokers if broker != self.dead_broker)

    @property
    def brokers(self) -> tuple[int, ...]:
        return tuple(sorted(broker for rack in self.racks.values() for broker in rack))

    def candidates(self, topic: DemoTopic) -> list[list[int]]:
        """By rack, the brokers that may hold the topic, as often as their share."""
        absent = {
            None if topic.on_dead_broker else self.dead_broker,
            None if topic.on_new_broker else self.new_broker,
        }
        return [
            [broker for broker in rack if broker not in absent for _ in range(1 + (broker in self.favourites))]
            for rack in self.racks.values()
        ]

    def befalls(self, number: int) -> tuple[tuple[str, int], ...]:
        """The partitions with which something is wrong since this step."""
        return tuple(key for key, (_, since) in self.incidents.items() if since == number)

    def rack_of(self, broker: int) -> str:
        return next(name for name, brokers in self.racks.items() if broker in brokers)
