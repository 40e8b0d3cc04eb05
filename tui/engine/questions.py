"""What an operator asks, as values: to be worked out (drills, sweeps, previews, plans), or to be done to a cluster.

A question to be worked out is part of the view state and names a result that is kept: the same question is answered
from what was worked out before; another `take` of it is worked out on the cluster as it is then. `stopped`: it is not
worked out further, since the operator ended it. What is to be done is what options say, not yet held against any
cluster: made where the words are typed, turned into proposals by the process that holds the cluster.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from model.actions import Reset
from model.cluster.ids import TopicPartition


class DrillPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be played on a copy of the cluster; another `take` of the same is played on the cluster as it is then.

    `racks_of`: these brokers die with everybody in their racks; `racks`: all in the racks of these names. After them
    those of `stop` leave by a controlled shutdown, then those of `start` start, who are dead. Times are ms;
    restart_after_ms None: nobody who dies or stops comes back.
    """

    kill: tuple[int, ...] = ()
    racks_of: tuple[int, ...] = ()
    racks: tuple[str, ...] = ()
    stop: tuple[int, ...] = ()
    start: tuple[int, ...] = ()
    controllers: Literal["", "active", "majority"] = ""
    """Which voters of a KRaft cluster die, besides."""
    folders: tuple[tuple[int, int], ...] = ()
    """Broker, and which of its log folders fails, from 1 on; past the last one none does."""
    voters: tuple[int, ...] = ()
    """Who votes and is not to, or does not and is to."""
    played: str = ""
    """All that is done, when, and who is the controller first, as `model.drills.scenario.written` writes it; in place
    of everybody above."""
    unclean: bool = False
    session_timeout_ms: int | None = None
    """None: as the cluster has it."""
    restart_after_ms: int | None = None
    take: int = 0
    stopped: bool = False
    """Not to be played on: the operator stopped it."""

    @property
    def is_chosen(self) -> bool:
        """Whether anything is to happen."""
        of_brokers = (self.kill, self.racks_of, self.racks, self.stop, self.start, self.played)
        return any((*of_brokers, self.controllers, self.folders, self.voters))


NO_DRILL = DrillPlan()

EngineKind = Literal["auto", "here", "spark"]
ENGINES: tuple[EngineKind, ...] = ("auto", "here", "spark")
"""Where it is worked out, in the order of the key: where it is done sooner, in this process, on Spark."""

SWEEPS = ("brokers", "pairs", "racks", "brokers-and-racks", "random")
"""Which scenarios a sweep goes through, in the order of the key."""


FLEETS = ("all", "single", "pair", "rack", "rolling", "random")
"""Which scenarios a fleet plays, in the order of the key."""


class SweepQuestion(msgspec.Struct, frozen=True, tag="sweep"):
    """A failure drill over the whole cluster: scenarios of a kind are counted, or those of a fleet played in time."""

    kind: Literal["brokers", "pairs", "racks", "brokers-and-racks", "random"] = "brokers"
    fleet: Literal["", "all", "single", "pair", "rack", "rolling", "random"] = ""
    """Empty: they are counted."""
    unclean: bool = False
    seed: int = 0
    """Of a fleet's random sequences."""
    take: int = 0
    stopped: bool = False
    engine: EngineKind = "auto"


NO_SWEEP = SweepQuestion()


class DeathsQuestion(msgspec.Struct, frozen=True, tag="deaths"):
    """What would happen if each broker, or each rack, failed; worked out again when the cluster is another one."""

    unclean: bool = False
    stopped: bool = False


NO_DEATHS = DeathsQuestion()

MOST_MADE_UP = 200
"""Consumers of a group that is made up: each dies in turn."""


class MadeUp(msgspec.Struct, frozen=True):
    """A consumer group that is not there: so many consumers that read the topics that match (`orders*`)."""

    patterns: tuple[str, ...]
    consumers: int

    @property
    def keys(self) -> tuple[str, str]:
        """Its keys in the lab: as brokers would coordinate it, and as one in ZooKeeper."""
        name = f"made-up {','.join(self.patterns)} by {self.consumers}"
        return name, f"{name} (zookeeper)"


class PreviewQuestion(msgspec.Struct, frozen=True, tag="preview"):
    """Every group under every strategy that its kind can use, when each consumer dies in turn, and when one joins."""

    made_up: MadeUp | None = None
    """A group that is to be previewed before those that there are."""
    take: int = 0
    stopped: bool = False
    engine: EngineKind = "auto"


class LabTrial(msgspec.Struct, frozen=True):
    """What is tried on the group under the cursor: a consumer that dies, members that join, and with which strategy."""

    strategy: str = ""
    leaves: str = ""
    joins: int = 0


PLAYED = 6
"""Frames in which the lab plays what is tried: 0 is now, the last one is then."""
NO_QUESTION = PreviewQuestion()
NO_TRIAL = LabTrial()


class PlanQuestion(msgspec.Struct, frozen=True, tag="plan"):
    """A replica plan; with `asked` False there is none yet."""

    remove: tuple[int, ...] = ()
    add: tuple[tuple[int, str], ...] = ()
    """(id, rack); the rack empty where the broker says it itself."""
    reach: Literal["balance", "forced", "racks", "leaders"] = "balance"
    by: Literal["count", "bytes"] = "count"
    tolerance_percent: float = 0.0
    replication_factor: int | None = None
    topics: tuple[str, ...] = ()
    """Patterns of the topics that may be touched; none: all, or those of a group."""
    topics_of: str = ""
    """Key of the group whose topics may be touched; empty: it is not about one."""
    left_out: tuple[int, ...] = ()
    """Numbers of the batches that the operator leaves out; the plan as such is the same."""
    asked: bool = False
    take: int = 0
    stopped: bool = False


NO_PLAN = PlanQuestion()


class HistoryQuestion(msgspec.Struct, frozen=True, tag="history"):
    """What a recording tells of days and months."""

    folder: str = ""
    """Of recordings; empty: the recording that is open."""
    engine: EngineKind = "auto"
    take: int = 0
    stopped: bool = False


NO_HISTORY = HistoryQuestion()


FORECASTS = (10_000, 100_000, 1_000_000)
"""How many random years are played, in the order of the key: intervals narrow with the square root."""


SETTABLE = ("min.insync.replicas", "unclean.leader.election.enable", "rf")
"""Of topics, what a forecast may be asked with."""


def setting_of(text: str) -> tuple[str, str, str]:
    """`TOPIC:KEY=VALUE`, TOPIC with `*` or without. Raises ValueError, which says in a line what it has to be."""
    topic, colon, setting = text.partition(":")
    key, equals, value = setting.partition("=")
    if not (topic and colon and equals) or key not in SETTABLE:
        raise ValueError(f"{text!r} is not TOPIC:KEY=VALUE with a KEY of {', '.join(SETTABLE)}")
    if key == "unclean.leader.election.enable":
        if value not in ("true", "false"):
            raise ValueError(f"{text!r}: {key} is true or false")
    elif not (value.isascii() and value.isdigit() and len(value) < 5 and int(value)):
        raise ValueError(f"{text!r}: {key} is a number from 1 on")
    return topic, key, value


def added_of(text: str) -> tuple[int, str]:
    """`ID` or `ID:RACK`. Raises ValueError."""
    number, colon, rack = text.partition(":")
    if not (number.isascii() and number.isdigit() and len(number) < 10) or (colon and not rack):
        raise ValueError(f"{text!r}: write it as ID or ID:RACK")
    return int(number), rack


class ForecastQuestion(msgspec.Struct, frozen=True, tag="forecast"):
    """What a year brings, by so many random ones, at the rates that are assumed; and with a change beside it."""

    histories: int = FORECASTS[0]
    settings: tuple[tuple[str, str, str], ...] = ()
    """(topic or pattern, key of SETTABLE, value)"""
    add: tuple[tuple[int, str], ...] = ()
    """Brokers that come, and the racks of these."""
    plan: PlanQuestion | None = None
    take: int = 0
    stopped: bool = False
    engine: EngineKind = "auto"

    @property
    def is_changed(self) -> bool:
        """Whether another cluster is played beside the one there is."""
        return bool(self.settings or self.add or self.plan)


NO_FORECAST = ForecastQuestion()

Question = SweepQuestion | DeathsQuestion | PreviewQuestion | PlanQuestion | HistoryQuestion | ForecastQuestion


Assignment = tuple[tuple[int, ...], ...]
"""Brokers of each partition in turn."""


class CreateTopic(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Without `assignment` the replicas are placed as Kafka places them."""

    topic: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: Assignment = ()
    configs: Mapping[str, str] = {}
    ignores_racks: bool = False
    if_not_exists: bool = False


class AddPartitions(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """`topic` is a name or a regular expression; `partitions`: how many there shall be in all."""

    topic: str
    partitions: int
    assignment: Assignment = ()
    ignores_racks: bool = False
    if_exists: bool = False


class DeleteTopics(msgspec.Struct, frozen=True, tag=True):
    """`topic`: names with commas between, or a regular expression."""

    topic: str
    if_exists: bool = False


class RemoveDeleteMarker(msgspec.Struct, frozen=True, tag=True):
    """Of one topic."""

    topic: str


class AlterConfigs(msgspec.Struct, frozen=True, tag=True):
    """Of one entity: `kind` is topics, brokers, clients, users or ips."""

    kind: str
    name: str
    add: Mapping[str, str] = {}
    remove: tuple[str, ...] = ()


class ElectPreferred(msgspec.Struct, frozen=True, tag=True):
    """Of `topic`, or only its `partitions`; or of those `listed`; else wherever another replica leads."""

    topic: str | None = None
    partitions: tuple[int, ...] = ()
    listed: tuple[TopicPartition, ...] | None = None


class ElectUnclean(msgspec.Struct, frozen=True, tag=True):
    """Of `topic`, or only its `partitions`; or of those `listed`; else wherever nobody leads."""

    topic: str | None = None
    partitions: tuple[int, ...] = ()
    listed: tuple[TopicPartition, ...] | None = None


class ResetOffsets(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Of `topics`, `NAME` or `NAME:0,1` each, else of all that the group has committed; or one `listed` each."""

    group: str
    topics: tuple[str, ...] = ()
    reset: Reset
    listed: tuple[tuple[TopicPartition, int], ...] | None = None


class DeleteGroup(msgspec.Struct, frozen=True, tag=True):
    """With its offsets."""

    group: str


Request = (
    CreateTopic
    | AddPartitions
    | DeleteTopics
    | RemoveDeleteMarker
    | AlterConfigs
    | ElectPreferred
    | ElectUnclean
    | ResetOffsets
    | DeleteGroup
)
