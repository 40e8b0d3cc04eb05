"""A virtual cluster at a moment: brokers' processes as values, what is due, and how a message sets out.

The one place that changes: every part that it refers to is a value, so a moment is a copy of the references.
"""

from collections.abc import Iterator, Mapping
from typing import cast

import msgspec

from model.controller.decide import ControllerState
from model.controller.events_and_commands import AnswerRequest, BrokerRequest, RequestReceived
from model.hosts.memory_zookeeper.state import ServerState, new_server, open_session
from model.hosts.virtual.journal import JournalRecord
from model.hosts.virtual.scheduled_events import (
    Due,
    Network,
    Schedule,
    ScheduledEvent,
    SentMessage,
    Timer,
    TimingAssumptions,
    microseconds,
)
from model.hosts.virtual.virtual_broker import VirtualBroker
from model.zookeeper import Answer, ZooKeeperRequest

UNCONNECTED = 0


class ZooKeeperQuestion(msgspec.Struct, frozen=True):
    """A question that ZooKeeper has not answered to its end. `before` are earlier answers, the newest first."""

    question: int
    requests: tuple[ZooKeeperRequest, ...]
    done: int = 0
    before: "Answers" = None

    def with_answers(self, answers: tuple[Answer, ...]) -> "ZooKeeperQuestion":
        """The same with the next answers."""
        return ZooKeeperQuestion(self.question, self.requests, self.done + len(answers), (self.before, answers))

    def answers(self) -> tuple[Answer, ...]:
        """All answers so far, in order."""
        parts: list[tuple[Answer, ...]] = []
        before = self.before
        while before is not None:
            before, part = before
            parts.append(part)
        return tuple(answer for part in reversed(parts) for answer in part)


Answers = tuple["Answers", tuple[Answer, ...]] | None


class Queued(msgspec.Struct, frozen=True):
    """A request to a broker. `exchange` names it in the journal."""

    exchange: int
    broker_epoch: int
    request: BrokerRequest


class ControllerChannel(msgspec.Struct, frozen=True):
    """What a controller has to tell one broker, oldest first; only the first is ever on its way.

    `attempt` counts tries, so that what is known of an earlier one is ignored. `parked`: the broker cannot be reached,
    and there is no use in trying before something changes.
    """

    queue: tuple[Queued, ...] = ()
    attempt: int = 0
    busy: bool = False
    parked: bool = False


class MissedWatches(msgspec.Struct, frozen=True):
    """What a client watched when its connection broke, as it names them to the next server (`SetWatches`)."""

    data: tuple[str, ...] = ()
    existence: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


class Process(msgspec.Struct, frozen=True):
    """`number` counts boots. `adopted`: it lives since before the beginning, and where it is not in sync nobody knows
    what it lacks: there it stays so. `expired`: it knows that its session is gone and has no other yet.

    `held` is what reached it while `paused`. `looking` is when it next looks at its followers (µs). `proposing` is the
    number of its AlterPartition under way, 0 for none; `has_news`: it is to look again once that is answered. `leaving`
    is how often it asked to shut down. `silent` are followers that do not fetch from it, and since when (µs);
    `lagging` those of them that have not for too long.
    """

    number: int
    broker: VirtualBroker
    registration: bytes
    controller: ControllerState
    session: int
    connection: int = UNCONNECTED
    zxid: int = 0
    adopted: bool = False
    expired: bool = False
    watched: MissedWatches = MissedWatches()
    asking: ZooKeeperQuestion | None = None
    channels: Mapping[int, ControllerChannel] = {}
    timers: Mapping[str, Timer] = {}
    paused: bool = False
    held: tuple[ScheduledEvent, ...] = ()
    looking: int | None = None
    proposing: int = 0
    has_news: bool = False
    leaving: int = 0
    silent: Mapping[int, int] = {}
    lagging: frozenset[int] = frozenset()

    @property
    def id(self) -> int:
        return self.broker.id

    @property
    def active(self) -> bool:
        """Whether it believes to be the controller."""
        return self.controller.context.active

    def replace(self, **changes: object) -> "Process":
        return msgspec.structs.replace(self, **changes)

    def parked(self) -> Iterator[int]:
        """Brokers that it could not reach when it tried."""
        return (receiver for receiver, channel in self.channels.items() if channel.parked)


Link = tuple[int, int]
"""Two ends, the smaller id first; ZooKeeper is -1."""


class ControllerWaiter(msgspec.Struct, frozen=True):
    """Who waits for the controller's answer, and which process it is to come from."""

    asker: int
    asker_number: int
    controller: int
    controller_number: int
    request: RequestReceived


class WorldMoment(msgspec.Struct, frozen=True):
    """All of a World, to go back to: its attributes, and how the schedule and the journal, which go on, were then."""

    attributes: Mapping[str, object]
    now_us: int
    due: tuple[Due[ScheduledEvent], ...]
    scheduled: int
    recorded: int
    """How much of the journal had happened by then."""


class World:
    """Processes by broker id; sessions by the broker they belong to; since when (µs) silent sessions are so."""

    def __init__(self, assumptions: TimingAssumptions, state: ServerState | None, network: Network) -> None:
        self.assumptions = assumptions
        self.network = network
        self.schedule: Schedule[ScheduledEvent] = Schedule()
        self.zookeeper, self.operator = open_session(state or new_server(), 0)
        self.processes: dict[int, Process] = {}
        self.sessions: dict[int, int] = {}
        self.silent: dict[int, int] = {}
        self.cuts: frozenset[Link] = frozenset()
        self.arrivals: dict[Link, int] = {}
        """When the newest message from one to another arrives: the next one does not overtake it."""
        self.asked: dict[int, ControllerWaiter] = {}
        self.answers: dict[int, AnswerRequest] = {}
        self.controller: int | None = None
        """Who was elected last, as it says itself; None: nobody yet."""
        self.journal: list[JournalRecord] = []
        self._counted = 0

    @property
    def now_ms(self) -> float:
        return self.schedule.now_us / 1_000

    @property
    def time_ms(self) -> int:
        """Since the epoch, UTC."""
        return self.assumptions.start_ms + self.schedule.now_us // 1_000

    def next_number(self) -> int:
        """A number that nothing else has: processes, connections, exchanges, requests and messages share one count."""
        self._counted += 1
        return self._counted

    def find(self, broker: int, number: int) -> Process | None:
        process = self.processes.get(broker)
        return process if process is not None and process.number == number else None

    def put(self, process: Process) -> Process:
        self.processes[process.id] = process
        return process

    def after(self, ms: float, event: ScheduledEvent, *, idle: bool = False) -> None:
        """Schedule an event so much later."""
        self.schedule.put(self.schedule.now_us + microseconds(ms), event, idle=idle)

    def is_cut(self, one: int, other: int) -> bool:
        """Whether nothing passes between the two."""
        return bool(self.cuts) and link(one, other) in self.cuts

    def carry(self, source: int, target: int, ms: float, event: ScheduledEvent) -> bool:
        """Send a message that takes so long; False if it gets lost. What a broker tells itself is never late."""
        late_ms = 0.0
        if source != target:
            if self.is_cut(source, target):
                return False
            fate = self.network(SentMessage(self.next_number(), source, target, self.now_ms))
            if fate.lost:
                return False
            late_ms = fate.late_ms
        way = (source, target)
        at_us = max(self.schedule.now_us + microseconds(ms + late_ms), self.arrivals.get(way, 0))
        self.arrivals[way] = at_us
        self.schedule.put(at_us, event)
        return True

    def moment(self) -> WorldMoment:
        schedule = self.schedule
        return WorldMoment(_copied(vars(self)), schedule.now_us, schedule.due, schedule.number, len(self.journal))

    @classmethod
    def at(cls, moment: WorldMoment) -> "World":
        world = cls.__new__(cls)
        vars(world).update(_copied(moment.attributes))
        world.schedule = Schedule(moment.now_us, moment.due, moment.scheduled)
        world.journal = world.journal[: moment.recorded]
        return world


def _copied(attributes: Mapping[str, object]) -> dict[str, object]:
    """What changes in place is copied; all else is values."""
    return {
        name: dict(cast(dict[object, object], value)) if isinstance(value, dict) else value
        for name, value in attributes.items()
    }


def link(one: int, other: int) -> Link:
    """The link between two."""
    return (one, other) if one < other else (other, one)
