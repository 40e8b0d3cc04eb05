"""The demo cluster as a value: its brokers, partitions and consumer groups now, and how they begin.

A shop's topics on six brokers in three racks, with a realistic amount of trouble. Deterministic, but for the moment
it opens. `tree` says what happens to it and how it is written.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from zlib import crc32

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


CLUSTER_ID = "kdrill-demo-cluster-00"
RACKS = {"rack-a": (1, 4), "rack-b": (2, 5), "rack-c": (3, 6)}
CONTROLLER = 4
CONTROLLER_EPOCH = 7
TOPIC_BEING_DELETED = "legacy-events"
"""Its deletion can't end: the dead broker holds replicas of it."""


@dataclass(frozen=True)
class DemoTopic:
    """A topic as somebody created it."""

    name: str
    partitions: int
    config: dict[str, str] = field(default_factory=dict[str, str])
    on_dead_broker: bool = False
    """Created before the broker was being emptied, or after."""
    replication_factor: int = 3


TOPICS = (
    DemoTopic("orders", 12, {"min.insync.replicas": "2", "retention.ms": "604800000"}),
    DemoTopic("payments", 12, {"min.insync.replicas": "2", "unclean.leader.election.enable": "false"}),
    DemoTopic("shipments", 9, {"min.insync.replicas": "2"}, on_dead_broker=True),
    DemoTopic("returns", 6),
    DemoTopic("customers", 6, {"cleanup.policy": "compact"}),
    DemoTopic("inventory", 6, {"cleanup.policy": "compact"}),
    DemoTopic("prices", 6, {"cleanup.policy": "compact,delete"}),
    DemoTopic("clicks", 18, {"retention.ms": "86400000", "compression.type": "lz4"}),
    DemoTopic("page-views", 12, {"retention.ms": "86400000"}),
    DemoTopic("search-queries", 6, on_dead_broker=True),
    DemoTopic("fraud-scores", 9, {"unclean.leader.election.enable": "true"}),
    DemoTopic("audit-log", 3, {"min.insync.replicas": "2", "retention.ms": "-1"}),
    DemoTopic("dead-letters", 6, on_dead_broker=True, replication_factor=1),
    DemoTopic(TOPIC_BEING_DELETED, 3, on_dead_broker=True),
    DemoTopic("__consumer_offsets", 12, {"cleanup.policy": "compact", "segment.bytes": "104857600"}),
)


def opening_state(now_ms: int) -> DemoState:
    """The cluster at the moment it opens."""
    healthy = (partition for position, topic in enumerate(TOPICS) for partition in _placed(position, topic))
    return DemoState(
        controller=CONTROLLER,
        controller_epoch=CONTROLLER_EPOCH,
        elected_ms=now_ms,
        partitions={(each.topic, each.number): _with_incident(_without_dead_broker(each)) for each in healthy},
        groups=(
            # Six threads for twelve partitions.
            _group("billing", "payments", 12, hosts=3, now_ms=now_ms, abandoned=frozenset({11})),
            # Four threads for three partitions: one is idle.
            _group("audit-archiver", "audit-log", 3, hosts=2, now_ms=now_ms),
        ),
    )


def new_consumer(group: str, host: int, now_ms: int) -> DemoConsumer:
    """A consumer of two threads, named as kafka.consumer.ZookeeperConsumerConnector does."""
    name = f"{group}_{group}-{host}-{now_ms}"
    return DemoConsumer(f"{name}-{crc32(name.encode()):08x}", threads=2, joined_ms=now_ms)


def _group(
    name: str, topic: str, partitions: int, *, hosts: int, now_ms: int, abandoned: frozenset[int] = frozenset()
) -> DemoGroup:
    offsets = tuple(180_000 + crc32(f"{name}-{partition}".encode()) % 20_000 for partition in range(partitions))
    consumers = tuple(new_consumer(name, host, now_ms) for host in range(1, hosts + 1))
    return DemoGroup(name, topic, consumers, offsets, abandoned)


def _placed(position: int, topic: DemoTopic) -> Iterator[DemoPartition]:
    """One replica in each rack, leaders and followers spread."""
    racks = [[broker for broker in rack if topic.on_dead_broker or broker != DEAD_BROKER] for rack in RACKS.values()]
    for number in range(topic.partitions):
        replicas = [
            rack[(number // 3 + turn * (number // 6) + position) % len(rack)]
            for turn in range(topic.replication_factor)
            if (rack := racks[(position + number + turn) % len(racks)])
        ]
        yield DemoPartition(topic.name, number, tuple(replicas), replicas[0], tuple(replicas), 0, CONTROLLER_EPOCH)


def _without_dead_broker(partition: DemoPartition) -> DemoPartition:
    """What the controller made of the broker's death; the last member of an ISR stays in it."""
    if DEAD_BROKER not in partition.replicas:
        return partition
    isr = tuple(broker for broker in partition.isr if broker != DEAD_BROKER)
    leader = partition.leader if partition.leader in isr else (*isr, NO_LEADER)[0]
    return replace(partition, isr=isr or partition.isr, leader=leader, leader_epoch=1, is_incident=True)


def _with_incident(partition: DemoPartition) -> DemoPartition:
    first, *others = partition.replicas
    match partition.topic, partition.number:
        case "payments", 4:  # under its min.insync.replicas
            changed = replace(partition, isr=(first,))
        case "orders", 7:  # a slow follower
            changed = replace(partition, isr=partition.replicas[:-1])
        case "page-views", 5:  # led by another than the preferred replica
            changed = replace(partition, leader=others[0], leader_epoch=3)
        case "fraud-scores", 4:  # after an unclean election
            changed = replace(partition, leader=others[-1], isr=(others[-1],), leader_epoch=2, recovering=True)
        case "inventory", 5:
            changed = replace(partition, unreadable=True)
        case "clicks", 3:  # moves from its last replica's broker to the rack's other one, which has not caught up
            old = others[-1]
            new = next(
                each for rack in RACKS.values() if old in rack for each in rack if each not in (old, DEAD_BROKER)
            )
            changed = replace(partition, replicas=(new, *partition.replicas), adding=(new,), removing=(old,))
        case _:
            return partition
    return replace(changed, is_incident=True)
