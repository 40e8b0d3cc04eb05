"""A demo cluster as a value: what it is to be, by its plan, and its brokers, partitions and consumer groups now.

A plan says racks, topics, consumer groups, what is wrong with it and what happens to it; `script` has the one that
`kdrill --demo` opens. Deterministic, but for the moment it begins. `tree` says what happens and how it is written.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from math import sin, tau
from typing import TYPE_CHECKING
from zlib import crc32

from model.cluster.ids import TopicPartition

if TYPE_CHECKING:
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
    """Part of what is wrong, or will be: nothing else happens to it."""

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
class DemoClient:
    """A member of a classic group."""

    member_id: str
    client_id: str
    host: str


@dataclass(frozen=True)
class ClassicGroup:
    """A group that a broker coordinates: who is in it, and who reads what. No ZooKeeper knows of it."""

    name: str
    assignor: str
    clients: tuple[DemoClient, ...]
    partitions: tuple[TopicPartition, ...]
    """All that it reads."""
    owners: Mapping[TopicPartition, str]
    generation: int
    is_rebalancing: bool = False

    def rebalanced(self) -> "ClassicGroup":
        """Once its members have joined again, in the next generation."""
        members = sorted(client.member_id for client in self.clients)
        deal = _levelled if self.assignor == "cooperative-sticky" else _ranges
        owners = deal(members, self.partitions, self.owners) if members else {}
        return replace(self, owners=owners, generation=self.generation + 1, is_rebalancing=False)


def _ranges(
    members: Sequence[str], partitions: Sequence[TopicPartition], _before: Mapping[TopicPartition, str]
) -> dict[TopicPartition, str]:
    """Topic by topic (org.apache.kafka.clients.consumer.RangeAssignor)."""
    owners: dict[TopicPartition, str] = {}
    for topic in dict.fromkeys(each.topic for each in partitions):
        own = [each for each in partitions if each.topic == topic]
        share, extra = divmod(len(own), len(members))
        counts = [share + (place < extra) for place in range(len(members))]
        in_turn = [name for name, count in zip(members, counts, strict=True) for _ in range(count)]
        owners.update(zip(own, in_turn, strict=True))
    return owners


def _levelled(
    members: Sequence[str], partitions: Sequence[TopicPartition], before: Mapping[TopicPartition, str]
) -> dict[TopicPartition, str]:
    """As even as can be with the fewest moves, as org.apache.kafka.clients.consumer.CooperativeStickyAssignor aims."""
    most = -(-len(partitions) // len(members))
    held: dict[str, list[TopicPartition]] = {name: [] for name in members}
    free: list[TopicPartition] = []
    for each in partitions:
        mine = held.get(before.get(each, ""))
        (free if mine is None or len(mine) >= most else mine).append(each)
    for each in free:
        min(held.values(), key=len).append(each)
    while len(max(held.values(), key=len)) - len(min(held.values(), key=len)) > 1:
        min(held.values(), key=len).append(max(held.values(), key=len).pop())
    return {each: name for name, own in held.items() for each in own}


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
    classic: tuple[ClassicGroup, ...] = ()


def opening_state(plan: DemoPlan, now_ms: int) -> DemoState:
    """The cluster at the moment it begins."""
    healthy = [partition for position, topic in enumerate(plan.topics) for partition in _placed(plan, position, topic)]
    partitions = [_at_first(plan, each) for each in healthy]
    joined_ms = now_ms - plan.age_ms // 30
    sizes = {topic.name: topic.partitions for topic in plan.topics}
    return DemoState(
        plan=plan,
        controller=plan.controller,
        controller_epoch=plan.controller_epoch,
        began_ms=now_ms,
        elected_ms=now_ms - plan.age_ms // 9,
        partitions={(each.topic, each.number): each for each in partitions},
        groups=tuple(_group(reading, sizes[reading.topics[0]], joined_ms) for reading in plan.readings),
        classic=tuple(_classic(reading, sizes) for reading in plan.classic),
    )


def new_consumer(group: str, host: int, now_ms: int) -> DemoConsumer:
    """A consumer of two threads, named as kafka.consumer.ZookeeperConsumerConnector does."""
    name = f"{group}_{group}-{host}-{now_ms}"
    return DemoConsumer(f"{name}-{crc32(name.encode()):08x}", threads=2, joined_ms=now_ms)


def new_client(group: str, host: int, joined: int = 0) -> DemoClient:
    """A member that joined as the so manieth since the group began, with an id as a coordinator gives one."""
    name = f"{group}-{host}"
    seed = f"{name}-{joined}".encode()
    digits = "".join(f"{crc32(bytes([part]) + seed):08x}" for part in range(4))
    unique = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))
    return DemoClient(f"{name}-{unique}", name, f"/10.0.{crc32(group.encode()) % 50}.{host}")


def _classic(reading: Reading, sizes: Mapping[str, int]) -> ClassicGroup:
    clients = tuple(new_client(reading.name, host) for host in range(1, reading.hosts + 1))
    partitions = tuple(TopicPartition(topic, each) for topic in reading.topics for each in range(sizes[topic]))
    generation = 20 + crc32(reading.name.encode()) % 60
    return ClassicGroup(reading.name, reading.assignor, clients, partitions, {}, generation).rebalanced()


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
    if topic.in_one_rack:
        held = list(dict.fromkeys(racks[position % len(racks)]))
        racks = [held[turn:] + held[:turn] for turn in range(len(held))]
    for number in range(topic.partitions):
        replicas = tuple(
            rack[(number // 3 + turn * (number // 6) + position) % len(rack)]
            for turn in range(topic.replication_factor)
            if (rack := racks[(position + number + turn) % len(racks)])
        )
        yield DemoPartition(topic.name, number, replicas, replicas[0], replicas, 0, plan.controller_epoch)


def _at_first(plan: DemoPlan, partition: DemoPartition) -> DemoPartition:
    key = partition.topic, partition.number
    is_incident = key in plan.incidents or plan.dead_broker in partition.replicas
    partition = replace(partition, is_incident=is_incident)
    if not plan.dies_at:
        partition = without_dead_broker(plan, partition)
    return with_incident(plan, partition) if key in plan.befalls(0) else partition


def without_dead_broker(plan: DemoPlan, partition: DemoPartition) -> DemoPartition:
    """What the controller made of the broker's death; the last member of an ISR stays in it."""
    if plan.dead_broker not in partition.replicas:
        return partition
    isr = tuple(broker for broker in partition.isr if broker != plan.dead_broker)
    leader = partition.leader if partition.leader in isr else (*isr, NO_LEADER)[0]
    return replace(partition, isr=isr or partition.isr, leader=leader, leader_epoch=partition.leader_epoch + 1)


def with_incident(plan: DemoPlan, partition: DemoPartition) -> DemoPartition:
    """The partition with what is wrong with it by the plan."""
    first, *others = partition.replicas
    incident, _ = plan.incidents[partition.topic, partition.number]
    match incident:
        case Incident.ALONE:
            return replace(partition, isr=(first,))
        case Incident.SLOW_FOLLOWER:
            return replace(partition, isr=partition.replicas[:-1])
        case Incident.OFF_PREFERRED:
            return replace(partition, leader=others[0], leader_epoch=3)
        case Incident.UNCLEAN:
            return replace(partition, leader=others[-1], isr=(others[-1],), leader_epoch=2, recovering=True)
        case Incident.UNREADABLE:
            return replace(partition, unreadable=True)
        case Incident.MOVING | Incident.STUCK:
            old = others[-1]
            rack = plan.racks[plan.rack_of(old)]
            new = next(each for each in rack if each not in (old, plan.dead_broker))
            new = plan.dead_broker if incident is Incident.STUCK else new
            return replace(partition, replicas=(new, *partition.replicas), adding=(new,), removing=(old,))
