"""What can be due in a virtual cluster and when, and what it assumes: how long things take, what becomes of messages.

Facts of the near future; what comes of them is in `virtual_cluster`. A process is named by its broker's id and its
`number`, which counts boots: what was meant for the process before this one finds nobody.
"""

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from model.broker.commands import ProposeIsr
from model.controller.events_and_commands import AnswerRequest, BrokerAnswer, BrokerRequest, Event, RequestReceived
from model.zookeeper import Answer, ZnodeChanged, ZooKeeperRequest


class TimingAssumptions(msgspec.Struct, frozen=True, kw_only=True):
    """All times in ms; fractions are kept to the microsecond. Decisions themselves take no time.

    Defaults are Kafka 3.9's settings where there is one. The others were measured, with both ends on one machine:
    `python -m tests.benchmarks assumed_times`.
    """

    session_timeout_ms: float = 18_000
    """zookeeper.session.timeout.ms (2.5 and later; 6,000 before): a silent broker loses its session after this."""
    zookeeper_read_ms: float = 1.0
    """From asking ZooKeeper to its answer, for reads; half of it each way. Measured: ten in 0.9 to 1.2 ms."""
    zookeeper_write_ms: float = 2.0
    """The same for a question, or part of one, that writes: it is on the disks of a quorum by then.
    Measured, without a quorum: ten in 1.2 to 1.9 ms."""
    in_flight: int = 10
    """zookeeper.max.in.flight.requests: so many requests of a question share the time of one."""
    request_ms: float = 15.0
    """From sending a broker a request to its answer; half of it each way. Measured: a LeaderAndIsr of 20 partitions to
    Kafka 3.9.1 in 15 to 16 ms."""
    retry_backoff_ms: float = 100
    """Before a controller sends a broker again what got lost (`kafka.controller.RequestSendThread`)."""
    reconnect_ms: float = 100
    """From the loss of a ZooKeeper connection, or the end of what kept it from working, to the next one."""
    catch_up_ms: float | None = 500
    """From a follower's first fetch until it is in sync, and the leader asks for it to be in the ISR. None: never."""
    replica_lag_ms: float | None = None
    """replica.lag.time.max.ms: a follower that does not fetch for so long leaves the ISR. None: it never does, for
    nothing is produced (an idle follower does not lag), or because its session ends sooner."""
    shutdown_retries: int = 3
    """controlled.shutdown.max.retries."""
    shutdown_backoff_ms: float = 5_000
    """controlled.shutdown.retry.backoff.ms."""
    start_ms: int = 0
    """When it begins, in ms since the epoch, UTC: the time in znodes. Records count from there."""


def microseconds(ms: float) -> int:
    """A time of the schedule."""
    return round(ms * 1_000)


ZOOKEEPER: Final = -1
"""The ensemble, where otherwise a broker's id stands."""


class SentMessage(msgspec.Struct, frozen=True, gc=False):
    """A message that sets out; `number` counts all messages of a cluster, so that dice can be a function of it."""

    number: int
    source: int
    target: int
    at_ms: float


class MessageDelivery(msgspec.Struct, frozen=True, gc=False):
    """Lost, or `late_ms` later than assumed. Messages of one link stay in order: a late one holds up the next."""

    late_ms: float = 0.0
    lost: bool = False


ON_TIME: Final = MessageDelivery()
LOST: Final = MessageDelivery(lost=True)


class Network(Protocol):
    """Decides on each message. It must be a function of the passage alone: then every run is the same."""

    def __call__(self, passage: SentMessage, /) -> MessageDelivery: ...


def perfect(_passage: SentMessage) -> MessageDelivery:
    """Everything arrives, and on time."""
    return ON_TIME


T = TypeVar("T")


class Due(NamedTuple, Generic[T]):
    """Something due. `number` counts what was put down; `idle`: a cluster with nothing else to do is at rest."""

    at_us: int
    number: int
    what: T
    idle: bool


class Schedule(Generic[T]):
    """A heap, and the time: that of what was taken last. Times are in microseconds since the start."""

    def __init__(self, now_us: int = 0, due: tuple[Due[T], ...] = (), number: int = 0) -> None:
        """due, number: of an earlier schedule, to go on from."""
        self.now_us = now_us
        self.number = number
        self._heap = list(due)
        self._busy = sum(not one.idle for one in due)

    @property
    def due(self) -> tuple[Due[T], ...]:
        """All of it, in no useful order."""
        return tuple(self._heap)

    @property
    def at_rest(self) -> bool:
        """Whether nothing is due but what is idle."""
        return not self._busy

    @property
    def next_us(self) -> int | None:
        """When the next is due; None if nothing is."""
        return self._heap[0].at_us if self._heap else None

    def put(self, at_us: int, what: T, *, idle: bool = False) -> int:
        """Put something down, not before now; its number."""
        self.number += 1
        heappush(self._heap, Due(max(at_us, self.now_us), self.number, what, idle))
        self._busy += not idle
        return self.number

    def take(self) -> Due[T] | None:
        """What is next due, and it is that time now; None if nothing is due."""
        if not self._heap:
            return None
        due = heappop(self._heap)
        self.now_us = due.at_us
        self._busy -= not due.idle
        return due

    def wait(self, until_us: int) -> None:
        """Let time pass in which nothing is due."""
        self.now_us = max(self.now_us, until_us)

    def withdraw(self, unwanted: Callable[[T], bool]) -> Iterator[T]:
        """Take out what is not to happen, in order."""
        gone = sorted(due for due in self._heap if unwanted(due.what))
        if gone:
            numbers = {due.number for due in gone}
            self._heap = [due for due in self._heap if due.number not in numbers]
            heapify(self._heap)
            self._busy -= sum(not due.idle for due in gone)
        return (due.what for due in gone)


class Timer(msgspec.Struct, frozen=True, gc=False):
    """A timer that runs."""

    started_us: int
    after_ms: int


class ScheduledEvent(msgspec.Struct, frozen=True):
    """Something that is due."""


class SessionTimesOut(ScheduledEvent, frozen=True):
    """Nobody was heard of for the session timeout, if it is still that silence."""

    session: int
    silent_since_us: int


class QuestionArrives(ScheduledEvent, frozen=True):
    """Requests of a question reach ZooKeeper, whatever became of the process that asked."""

    broker: int
    number: int
    session: int
    connection: int
    question: int
    requests: tuple[ZooKeeperRequest, ...]


class RequestArrives(ScheduledEvent, frozen=True):
    """A controller's request reaches a broker, whichever process has its address now."""

    sender: int
    sender_number: int
    receiver: int
    exchange: int
    attempt: int
    broker_epoch: int
    request: BrokerRequest


class ControllerIsAsked(ScheduledEvent, frozen=True):
    """A request to the controller reaches a broker."""

    asker: int
    asker_number: int
    controller: int
    request: RequestReceived


class ForProcess(ScheduledEvent, frozen=True):
    """Something for one process alone: it waits while the process is paused, and comes to nothing if it is gone."""

    broker: int
    number: int


class AnswersArrive(ForProcess, frozen=True):
    """ZooKeeper's answers to part of a question."""

    connection: int
    question: int
    answers: tuple[Answer, ...]
    zxid: int


class WatchFires(ForProcess, frozen=True):
    """ZooKeeper tells of a change."""

    connection: int
    changed: ZnodeChanged


class Reconnects(ForProcess, frozen=True):
    """The process tries to reach ZooKeeper again: with the session it has, if it has one."""


class ChannelTries(ForProcess, frozen=True):
    """A controller tries again to send to a broker."""

    receiver: int
    attempt: int


class AnswerArrives(ForProcess, frozen=True):
    """A broker's answer reaches the controller that sent the request."""

    receiver: int
    exchange: int
    attempt: int
    answer: BrokerAnswer


class TimerFires(ForProcess, frozen=True):
    """A timer of a controller is up, unless another one of this name runs by now."""

    timer: str
    run: Timer


class LeaderLooks(ForProcess, frozen=True):
    """A leader looks which followers are in sync and which lag."""


class LeaderWrites(ForProcess, frozen=True):
    """A leader's writes of ISRs reach ZooKeeper (up to 2.6)."""

    wanted: tuple[ProposeIsr, ...]


class FollowerLags(ForProcess, frozen=True):
    """A follower has not fetched from this leader for replica.lag.time.max.ms, if it is still that silence."""

    follower: int
    silent_since_us: int


class ControllerReplies(ForProcess, frozen=True):
    """The controller's answer, or None: the connection broke before there was one."""

    request: RequestReceived
    answer: AnswerRequest | None


class ControllerIsTold(ForProcess, frozen=True):
    """An event that nothing in a virtual cluster brings about, told from outside."""

    event: Event


class ShutdownGoesOn(ForProcess, frozen=True):
    """A broker that shuts down asks the controller, once more."""
