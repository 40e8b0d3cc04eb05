"""A reassignment in batches, as values: what is asked for, how far it is, what is seen, what is done; its throttle.

All that hold a partition that is copied send slowly, and those that get it receive slowly. Kafka's tool takes every
throttle off at the end; this brings back what was there before.

Source: KIP-73 (0.10.1); `ReassignPartitionsCommand.{calculateLeaderThrottles,calculateFollowerThrottles}` (3.9).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from model.cluster.ids import TopicPartition

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
TOPIC_KEYS = (LEADER_REPLICAS, FOLLOWER_REPLICAS)
BROKER_KEYS = (LEADER_RATE, FOLLOWER_RATE)

Settings = Mapping[str, Mapping[str, str | None]]
"""By entity as it is named below `/config` (`topics/orders`, `brokers/1`): key → value; None: not set."""


class Copying(NamedTuple):
    """A partition, who holds it and who gets a copy."""

    topic: str
    partition: int
    holders: tuple[int, ...]
    receivers: tuple[int, ...]


def throttle_of(copied: Iterable[Copying], rate: int) -> Settings:
    """What has to be set. `rate` is bytes/s that each broker may send, and receive."""
    replicas: dict[str, dict[str, list[str]]] = {}
    brokers: set[int] = set()
    for copy in sorted(copied):
        if not copy.receivers:
            continue
        lists = replicas.setdefault(f"topics/{copy.topic}", {key: [] for key in TOPIC_KEYS})
        for key, ids in zip(TOPIC_KEYS, (copy.holders, copy.receivers), strict=True):
            lists[key] += [f"{copy.partition}:{broker}" for broker in ids]
        brokers |= {*copy.holders, *copy.receivers}
    named = {entity: {key: ",".join(ids) for key, ids in lists.items()} for entity, lists in replicas.items()}
    return named | {f"brokers/{broker}": {key: str(rate) for key in BROKER_KEYS} for broker in sorted(brokers)}


def present_throttle(
    configs: Mapping[str, Mapping[str, str]], entities: Iterable[str]
) -> dict[str, dict[str, str | None]]:
    """What is set of a throttle's keys now; entities that are not known are left out."""
    return {name: {key: configs[name].get(key) for key in keys_of(name)} for name in entities if name in configs}


def keys_of(entity: str) -> tuple[str, ...]:
    """The keys that a throttle sets there."""
    return TOPIC_KEYS if entity.startswith("topics/") else BROKER_KEYS


def missing_throttle(wanted: Settings, now: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str | None]]:
    """What is to be set for `wanted` to hold, of entities that are known."""
    lacks = {
        entity: {key: value for key, value in values.items() if now[entity].get(key) != value}
        for entity, values in wanted.items()
        if entity in now
    }
    return {entity: values for entity, values in lacks.items() if values}


def to_restore(kept: Settings, ours: Sequence[Settings], now: Mapping[str, Mapping[str, str]]) -> Settings:
    """Of what was there before, all that is one of our own values now; what others set meanwhile stays."""
    back = {
        entity: {
            key: before
            for key, before in values.items()
            if any(now[entity].get(key) == mine.get(entity, {}).get(key) for mine in ours)
        }
        for entity, values in kept.items()
        if entity in now
    }
    return missing_throttle(back, now)


Route = Literal["zookeeper", "admin"]


class ReplicaMove(msgspec.Struct, frozen=True, gc=False):
    """The replicas of one partition, preferred leader first."""

    topic: str
    partition: int
    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def name(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)


class ReassignmentPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for. `ends` are the ends of its batches in `moves`; `rate`: bytes/s a broker, or None."""

    source: str
    plan: str
    begun_ms: int
    route: Route
    moves: tuple[ReplicaMove, ...]
    ends: tuple[int, ...]
    rate: int | None = None


class RunState(msgspec.Struct, frozen=True, kw_only=True):
    """How far it is; with the cluster beside it, all that is needed to go on."""

    run: ReassignmentPlan
    phase: Literal["running", "clearing", "ended"] = "running"
    wish: Literal["go", "pause", "cancel"] = "go"
    is_back: bool = False
    """Everything goes back to where it was, the last batch first."""
    batch: int = 0
    """Counted from 0 in the direction of the run."""
    rate: int | None = None
    rates: tuple[int, ...] = ()
    """All that were set."""
    kept: Settings = {}
    """What was set where the throttle is, before it was."""
    is_throttled: bool = False
    """It was seen in place for this direction and rate."""
    foreign: tuple[TopicPartition, ...] = ()
    """Partitions that somebody else moved, or that are gone: nothing is done to them."""
    attempts: int = 0
    reason: str = ""
    """Why the last command was not taken."""


class PartitionNow(msgspec.Struct, frozen=True):
    """One partition as it is. `asked`: what `/admin/reassign_partitions` says of it, None: nothing."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    isr: tuple[int, ...] = ()
    asked: tuple[int, ...] | None = None

    @property
    def is_moving(self) -> bool:
        """Whether it is being reassigned, or about to."""
        return bool(self.adding or self.removing) or self.asked is not None

    @property
    def heading(self) -> tuple[int, ...]:
        return self.asked or tuple(broker for broker in self.replicas if broker not in self.removing)


class ObservedCluster(msgspec.Struct, frozen=True):
    """The cluster as far as the next step needs it (`wanted`). Partitions that are not in it do not exist."""

    partitions: Mapping[TopicPartition, PartitionNow]
    alive: frozenset[int]
    configs: Mapping[str, Mapping[str, str]] = {}
    is_taken: bool = False
    """ZooKeeper's one place for reassignments is in use."""


class WantedReads(msgspec.Struct, frozen=True):
    """What to look at: partitions, and entities whose configs are needed."""

    partitions: tuple[TopicPartition, ...]
    entities: tuple[str, ...] = ()


class Seen(msgspec.Struct, frozen=True):
    """The cluster was looked at."""

    observed: ObservedCluster


class CommandRefused(msgspec.Struct, frozen=True):
    """The last command was not taken, or it is not known whether it was."""

    said: str


class OperatorDecided(msgspec.Struct, frozen=True):
    """The operator decided otherwise. `rate` for `throttle`: bytes/s."""

    wish: Literal["go", "pause", "cancel", "roll-back", "throttle"]
    rate: int = 0


class SetConfigs(msgspec.Struct, frozen=True):
    """Set these configs; None takes one away."""

    values: Settings


class BeginMove(msgspec.Struct, frozen=True):
    """Ask for these replicas."""

    goals: Mapping[TopicPartition, tuple[int, ...]]


Event = Seen | CommandRefused | OperatorDecided
Command = SetConfigs | BeginMove
