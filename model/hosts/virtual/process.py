"""A broker's process as a value: its controller, its replicas, and what it has under way. It does nothing by itself."""

from collections.abc import Iterator, Mapping

import msgspec

from model.controller.requests import BrokerRequest
from model.controller.state import ControllerState
from model.controller.zookeeper import Answer, ZooKeeperRequest
from model.hosts.virtual.scheduled_events import ScheduledEvent, Timer
from model.hosts.virtual.virtual_broker import VirtualBroker

UNCONNECTED = 0


class Asking(msgspec.Struct, frozen=True):
    """A question that ZooKeeper has not answered to its end. `before` are earlier answers, the newest first."""

    question: int
    requests: tuple[ZooKeeperRequest, ...]
    done: int = 0
    before: "Answers" = None

    def with_answers(self, answers: tuple[Answer, ...]) -> "Asking":
        """The same with the next answers."""
        return Asking(self.question, self.requests, self.done + len(answers), (self.before, answers))

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


class Channel(msgspec.Struct, frozen=True):
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
    asking: Asking | None = None
    channels: Mapping[int, Channel] = {}
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
        """The broker's id."""
        return self.broker.id

    @property
    def active(self) -> bool:
        """Whether it believes to be the controller."""
        return self.controller.context.active

    def replace(self, **changes: object) -> "Process":
        """The same with other fields."""
        return msgspec.structs.replace(self, **changes)

    def parked(self) -> Iterator[int]:
        """Brokers that it could not reach when it tried."""
        return (receiver for receiver, channel in self.channels.items() if channel.parked)
