"""A reassignment in batches, as values: what is asked for, how far it is, what is seen, and what may be told to do."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from model.actions.throttle import Settings
from model.cluster.ids import TopicPartition

Route = Literal["zookeeper", "admin"]


class Move(msgspec.Struct, frozen=True, gc=False):
    """The replicas of one partition, preferred leader first."""

    topic: str
    partition: int
    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def name(self) -> TopicPartition:
        """The partition."""
        return TopicPartition(self.topic, self.partition)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for. `ends` are the ends of its batches in `moves`; `rate`: bytes/s a broker, or None."""

    source: str
    plan: str
    begun_ms: int
    route: Route
    moves: tuple[Move, ...]
    ends: tuple[int, ...]
    rate: int | None = None


class RunState(msgspec.Struct, frozen=True, kw_only=True):
    """How far it is; with the cluster beside it, all that is needed to go on."""

    run: Run
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
        """The replicas it will have."""
        return self.asked or tuple(broker for broker in self.replicas if broker not in self.removing)


class Standing(msgspec.Struct, frozen=True):
    """The cluster as far as the next step needs it (`wanted`). Partitions that are not in it do not exist."""

    partitions: Mapping[TopicPartition, PartitionNow]
    alive: frozenset[int]
    configs: Mapping[str, Mapping[str, str]] = {}
    is_taken: bool = False
    """ZooKeeper's one place for reassignments is in use."""


class Wanted(msgspec.Struct, frozen=True):
    """What to look at: partitions, and entities whose configs are needed."""

    partitions: tuple[TopicPartition, ...]
    entities: tuple[str, ...] = ()


class Seen(msgspec.Struct, frozen=True):
    """The cluster was looked at."""

    standing: Standing


class Refused(msgspec.Struct, frozen=True):
    """The last command was not taken, or it is not known whether it was."""

    said: str


class Asked(msgspec.Struct, frozen=True):
    """The operator decided otherwise. `rate` for `throttle`: bytes/s."""

    wish: Literal["go", "pause", "cancel", "roll-back", "throttle"]
    rate: int = 0


class SetConfigs(msgspec.Struct, frozen=True):
    """Set these configs; None takes one away."""

    values: Settings


class Begin(msgspec.Struct, frozen=True):
    """Ask for these replicas."""

    goals: Mapping[TopicPartition, tuple[int, ...]]


Event = Seen | Refused | Asked
Command = SetConfigs | Begin
