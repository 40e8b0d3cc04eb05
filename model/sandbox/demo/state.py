"""The demo cluster as a value: what its brokers, partitions and consumer groups are right now.

It decides nothing: `scenery` says how it begins, `steps` what happens to it, `tree` how it is written.
"""

from collections.abc import Mapping
from dataclasses import dataclass

LIVE_BROKERS = (1, 2, 3, 4, 6)
DEAD_BROKER = 5
NO_LEADER = -1


@dataclass(frozen=True)
class DemoPartition:
    """A partition as its topic's znode and its own `state` tell it together."""

    topic: str
    number: int
    replicas: tuple[int, ...]
    leader: int
    isr: tuple[int, ...]
    leader_epoch: int
    controller_epoch: int
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    recovering: bool = False
    unreadable: bool = False
    is_incident: bool = False
    """Part of what is wrong from the start: nothing more happens to it."""

    @property
    def is_in_sync(self) -> bool:
        return len(self.isr) == len(self.replicas)


@dataclass(frozen=True)
class DemoConsumer:
    """A consumer process of a group: the old kind, which keeps its membership in ZooKeeper."""

    consumer_id: str
    threads: int
    joined_ms: int


@dataclass(frozen=True)
class DemoGroup:
    """A group that reads one topic; it never loses its last consumer."""

    name: str
    topic: str
    consumers: tuple[DemoConsumer, ...]
    offsets: tuple[int, ...]
    """By partition."""
    abandoned: frozenset[int] = frozenset()
    """Partitions that nobody owns, as after a rebalance that failed half-way."""

    def owners(self) -> dict[int, tuple[DemoConsumer, str]]:
        """By partition, its consumer and thread: kafka.consumer.RangeAssignor (0.8 to 1.1)."""
        threads = sorted(
            (f"{each.consumer_id}-{number}", each) for each in self.consumers for number in range(each.threads)
        )
        if not threads:
            return {}
        share, extra = divmod(len(self.offsets), len(threads))
        counts = (share + (position < extra) for position in range(len(threads)))
        in_turn = [(each, name) for (name, each), count in zip(threads, counts, strict=True) for _ in range(count)]
        return {partition: owner for partition, owner in enumerate(in_turn) if partition not in self.abandoned}


@dataclass(frozen=True)
class DemoState:
    """The whole cluster."""

    controller: int
    controller_epoch: int
    elected_ms: int
    partitions: Mapping[tuple[str, int], DemoPartition]
    groups: tuple[DemoGroup, ...]
