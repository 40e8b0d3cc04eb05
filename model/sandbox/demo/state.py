"""A demo cluster as a value: its brokers, partitions and consumer groups now, and how they begin by its plan.

Deterministic, but for the moment it begins. `tree` says what happens to it and how it is written.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import sin, tau
from zlib import crc32

from model.sandbox.demo.plan import DemoPlan, DemoTopic, Incident, Reading

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

    plan: DemoPlan
    controller: int
    controller_epoch: int
    began_ms: int
    """When the cluster began."""
    elected_ms: int
    partitions: Mapping[tuple[str, int], DemoPartition]
    groups: tuple[DemoGroup, ...]


def opening_state(plan: DemoPlan, now_ms: int) -> DemoState:
    """The cluster at the moment it begins."""
    healthy = [partition for position, topic in enumerate(plan.topics) for partition in _placed(plan, position, topic)]
    partitions = [_with_incident(plan, _without_dead_broker(plan, each)) for each in healthy]
    sizes = {topic.name: topic.partitions for topic in plan.topics}
    return DemoState(
        plan=plan,
        controller=plan.controller,
        controller_epoch=plan.controller_epoch,
        began_ms=now_ms,
        elected_ms=now_ms,
        partitions={(each.topic, each.number): each for each in partitions},
        groups=tuple(_group(reading, sizes[reading.topics[0]], now_ms) for reading in plan.readings),
    )


def new_consumer(group: str, host: int, now_ms: int) -> DemoConsumer:
    """A consumer of two threads, named as kafka.consumer.ZookeeperConsumerConnector does."""
    name = f"{group}_{group}-{host}-{now_ms}"
    return DemoConsumer(f"{name}-{crc32(name.encode()):08x}", threads=2, joined_ms=now_ms)


def _group(reading: Reading, partitions: int, now_ms: int) -> DemoGroup:
    name, topic = reading.name, reading.topics[0]
    offsets = reading.begins_at or tuple(consumed(reading, topic, each, 0) for each in range(partitions))
    consumers = tuple(new_consumer(name, host, now_ms) for host in range(1, reading.hosts + 1))
    return DemoGroup(name, topic, consumers, offsets, reading.abandoned)


def log_end(topic: str, partition: int, elapsed_ms: int) -> int:
    """The end of a partition's log, so long after the cluster began: producers write at a steady rate."""
    known = crc32(f"{topic}-{partition}".encode())
    return 100_000 + known % 50_000 + _rate(topic, partition) * elapsed_ms // 1_000


def consumed(reading: Reading, topic: str, partition: int, elapsed_ms: int) -> int:
    """How far a group that works as it should has read so long after the cluster began."""
    phase = crc32(f"{reading.name}-{partition}".encode()) % 100 / 50
    wave = 1 + reading.swing * sin(tau * elapsed_ms / 1_000 / reading.period_s + phase)
    return log_end(topic, partition, elapsed_ms) - int(_rate(topic, partition) * reading.lag_s * wave)


def _rate(topic: str, partition: int) -> int:
    """Records a second."""
    return 1 + crc32(f"{partition}-{topic}".encode()) % 7


def _placed(plan: DemoPlan, position: int, topic: DemoTopic) -> Iterator[DemoPartition]:
    """One replica in each rack, leaders and followers spread."""
    racks = plan.candidates(topic)
    for number in range(topic.partitions):
        replicas = tuple(
            rack[(number // 3 + turn * (number // 6) + position) % len(rack)]
            for turn in range(topic.replication_factor)
            if (rack := racks[(position + number + turn) % len(racks)])
        )
        yield DemoPartition(topic.name, number, replicas, replicas[0], replicas, 0, plan.controller_epoch)


def _without_dead_broker(plan: DemoPlan, partition: DemoPartition) -> DemoPartition:
    """What the controller made of the broker's death; the last member of an ISR stays in it."""
    if plan.dead_broker not in partition.replicas:
        return partition
    isr = tuple(broker for broker in partition.isr if broker != plan.dead_broker)
    leader = partition.leader if partition.leader in isr else (*isr, NO_LEADER)[0]
    return replace(partition, isr=isr or partition.isr, leader=leader, leader_epoch=1, is_incident=True)


def _with_incident(plan: DemoPlan, partition: DemoPartition) -> DemoPartition:
    first, *others = partition.replicas
    match plan.incidents.get((partition.topic, partition.number)):
        case Incident.ALONE:
            changed = replace(partition, isr=(first,))
        case Incident.SLOW_FOLLOWER:
            changed = replace(partition, isr=partition.replicas[:-1])
        case Incident.OFF_PREFERRED:
            changed = replace(partition, leader=others[0], leader_epoch=3)
        case Incident.UNCLEAN:
            changed = replace(partition, leader=others[-1], isr=(others[-1],), leader_epoch=2, recovering=True)
        case Incident.UNREADABLE:
            changed = replace(partition, unreadable=True)
        case Incident.MOVING:
            old = others[-1]
            rack = plan.racks[plan.rack_of(old)]
            new = next(each for each in rack if each not in (old, plan.dead_broker))
            changed = replace(partition, replicas=(new, *partition.replicas), adding=(new,), removing=(old,))
        case None:
            return partition
    return replace(changed, is_incident=True)
