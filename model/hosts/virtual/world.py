"""What a virtual cluster consists of at a moment, and how a message sets out. What comes of anything is elsewhere.

The one place that changes: every part that it refers to is a value, so a moment is a copy of the references.
"""

from collections.abc import Mapping

import msgspec

from model.controller.commands import AnswerRequest
from model.controller.events import RequestReceived
from model.hosts.memory_zookeeper.state import ServerState, new_server, open_session
from model.hosts.virtual.assumptions import Assumptions, microseconds
from model.hosts.virtual.journal import Record
from model.hosts.virtual.network import Network, Passage
from model.hosts.virtual.process import Process
from model.hosts.virtual.schedule import Due, Schedule
from model.hosts.virtual.scheduled_events import ScheduledEvent

Link = tuple[int, int]
"""Two ends, the smaller id first; ZooKeeper is -1."""


class Asked(msgspec.Struct, frozen=True):
    """Who waits for the controller's answer, and which process it is to come from."""

    asker: int
    asker_number: int
    controller: int
    controller_number: int
    request: RequestReceived


class Moment(msgspec.Struct, frozen=True):
    """All of a World, to go back to. `recorded` is how much of `journal` had happened by then."""

    assumptions: Assumptions
    network: Network
    now_us: int
    due: tuple[Due[ScheduledEvent], ...]
    scheduled: int
    zookeeper: ServerState
    operator: int
    processes: Mapping[int, Process]
    sessions: Mapping[int, int]
    silent: Mapping[int, int]
    cuts: frozenset[Link]
    arrivals: Mapping[Link, int]
    counted: int
    asked: Mapping[int, Asked]
    answers: Mapping[int, AnswerRequest]
    journal: list[Record]
    recorded: int


class World:
    """Processes by broker id; sessions by the broker they belong to; since when (µs) silent sessions are so."""

    def __init__(self, assumptions: Assumptions, state: ServerState | None, network: Network) -> None:
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
        self.asked: dict[int, Asked] = {}
        self.answers: dict[int, AnswerRequest] = {}
        self.journal: list[Record] = []
        self._counted = 0

    @property
    def now_ms(self) -> float:
        """Since the start."""
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
        """The process, if it is still there."""
        process = self.processes.get(broker)
        return process if process is not None and process.number == number else None

    def put(self, process: Process) -> Process:
        """The process as it is from now on."""
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
            fate = self.network(Passage(self.next_number(), source, target, self.now_ms))
            if fate.lost:
                return False
            late_ms = fate.late_ms
        way = (source, target)
        at_us = max(self.schedule.now_us + microseconds(ms + late_ms), self.arrivals.get(way, 0))
        self.arrivals[way] = at_us
        self.schedule.put(at_us, event)
        return True

    def moment(self) -> Moment:
        """Everything as it is now."""
        schedule = self.schedule
        return Moment(
            self.assumptions,
            self.network,
            schedule.now_us,
            schedule.due,
            schedule.number,
            self.zookeeper,
            self.operator,
            dict(self.processes),
            dict(self.sessions),
            dict(self.silent),
            self.cuts,
            dict(self.arrivals),
            self._counted,
            dict(self.asked),
            dict(self.answers),
            self.journal,
            len(self.journal),
        )

    @classmethod
    def at(cls, moment: Moment) -> "World":
        """The world as it was then."""
        world = cls.__new__(cls)
        world.assumptions = moment.assumptions
        world.network = moment.network
        world.schedule = Schedule(moment.now_us, moment.due, moment.scheduled)
        world.zookeeper = moment.zookeeper
        world.operator = moment.operator
        world.processes = dict(moment.processes)
        world.sessions = dict(moment.sessions)
        world.silent = dict(moment.silent)
        world.cuts = moment.cuts
        world.arrivals = dict(moment.arrivals)
        world.asked = dict(moment.asked)
        world.answers = dict(moment.answers)
        world.journal = moment.journal[: moment.recorded]
        world._counted = moment.counted
        return world


def link(one: int, other: int) -> Link:
    """The link between two."""
    return (one, other) if one < other else (other, one)
