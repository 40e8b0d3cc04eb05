"""Brokers with our controller on a ZooKeeper in memory, in virtual time: what is decided is carried out, and no more.

Theory of operation: everything that takes time is put down in a schedule, and `step` makes what is next due happen.
No real clock and no dice: the same calls give the same journal, and a snapshot is some references to values.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from model.cluster.ids import TopicPartition
from model.controller.commands import AnswerRequest
from model.controller.events import Event, RequestReceived
from model.controller.settings import Settings
from model.controller.state import ControllerState
from model.controller.zookeeper import Answer, ZooKeeperRequest
from model.hosts.memory_zookeeper.operations import Operation, Result
from model.hosts.memory_zookeeper.state import ServerState
from model.hosts.virtual import (
    deliveries,
    faults,
    leaders,
    life,
    questions,
    scheduled_events,
    sessions,
)
from model.hosts.virtual.assumptions import Assumptions, microseconds
from model.hosts.virtual.channels import try_again
from model.hosts.virtual.journal import Record
from model.hosts.virtual.network import Network, perfect
from model.hosts.virtual.process import Process
from model.hosts.virtual.scheduled_events import ForProcess, ScheduledEvent
from model.hosts.virtual.virtual_broker import VirtualBroker
from model.hosts.virtual.world import Moment, World


class VirtualCluster:
    """All times are in ms of virtual time since the start; brokers are named by their ids, ZooKeeper is -1 in links."""

    def __init__(
        self,
        assumptions: Assumptions = Assumptions(),  # noqa: B008 (a frozen value)
        state: ServerState | None = None,
        network: Network = perfect,
    ) -> None:
        """state: the ZooKeeper to begin with; a new one if None. network: says which messages get lost or are late."""
        self._world = World(assumptions, state, network)

    # What is

    @property
    def now_ms(self) -> float:
        """The time since the start."""
        return self._world.now_ms

    @property
    def assumptions(self) -> Assumptions:
        """What was assumed."""
        return self._world.assumptions

    @property
    def zookeeper(self) -> ServerState:
        """The server as a value."""
        return self._world.zookeeper

    @property
    def journal(self) -> Sequence[Record]:
        """All that happened, in order. Remember its length to see later what came after."""
        return self._world.journal

    @property
    def brokers(self) -> tuple[int, ...]:
        """Brokers whose process is there, paused or not, in ascending order."""
        return tuple(sorted(self._world.processes))

    def process(self, broker: int) -> Process:
        """A broker's process as a value: its session, its controller, its virtual broker. Raises KeyError."""
        return self._world.processes[broker]

    @property
    def controllers(self) -> tuple[int, ...]:
        """Brokers that believe to be the controller, the newest epoch first: more than one only until they meet."""
        active = [process for process in self._world.processes.values() if process.controller.context.active]
        return tuple(p.broker.id for p in sorted(active, key=lambda p: p.controller.context.epoch, reverse=True))

    @property
    def next_ms(self) -> float:
        """When the next thing is due; now if nothing is."""
        next_us = self._world.schedule.next_us
        return self.now_ms if next_us is None else next_us / 1_000

    @property
    def at_rest(self) -> bool:
        """Whether nothing happens any more but timers of controllers."""
        return self._world.schedule.at_rest

    # The lives of brokers

    def boot(self, broker: int, registration: bytes, settings: Settings) -> None:
        """Start a broker's process, with a new session.

        Raises ValueError if one of that id runs already or is cut off from ZooKeeper.
        """
        life.boot(self._world, broker, registration, settings)

    def adopt(self, broker: VirtualBroker, session: int, controller: ControllerState, registration: bytes) -> None:
        """A broker that lives already, with its session in `state`. The watches it would have are set.

        broker: with its epoch and replicas; a PersistentMap over a lazy mapping costs nothing until it is read.
        controller: with nothing to do; active if `/controller` names its broker.
        """
        life.adopt(self._world, broker, session, controller, registration)

    def crash(self, broker: int) -> None:
        """kill -9. Its session, and so its znodes, live until the session timeout is over."""
        life.crash(self._world, broker)

    def shut_down(self, broker: int) -> None:
        """Begin a controlled shutdown: it asks the controller, as often as it is set to, then leaves."""
        life.shut_down(self._world, broker)

    def pause(self, broker: int) -> None:
        """SIGSTOP: it does nothing, what it is sent waits, and its session ends unless it goes on in time."""
        faults.pause(self._world, broker)

    def resume(self, broker: int) -> None:
        """SIGCONT: it first does what it was sent, then learns whether its session is gone."""
        faults.resume(self._world, broker)

    def expire(self, broker: int) -> None:
        """ZooKeeper ends the broker's session now, as if it had been silent for the timeout; also after a crash."""
        faults.expire(self._world, broker)

    def fail_log_dir(self, broker: int, partitions: Collection[TopicPartition]) -> None:
        """The log dir with these replicas breaks, until the process is another one; the broker says so in ZooKeeper."""
        faults.fail_log_dir(self._world, broker, partitions)

    # Links

    def cut(self, one: int, other: int) -> None:
        """Let nothing pass between two brokers, or a broker and ZooKeeper (-1)."""
        faults.cut(self._world, one, other)

    def mend(self, one: int, other: int) -> None:
        """Let messages pass again."""
        faults.mend(self._world, one, other)

    # What people and tools do

    def write(self, operation: Operation) -> Result:
        """Carry out an operation in ZooKeeper at once, as a tool with a connection of its own."""
        return questions.write(self._world, operation)

    def ask_zookeeper(self, broker: int, request: ZooKeeperRequest) -> Answer | None:
        """One request in a broker's own session, answered at once, as by what of the broker is not modelled here.

        None: it has no connection, or no session any more. Raises KeyError for a broker that does not run.
        """
        return questions.ask_at_once(self._world, self._world.processes[broker], request)

    def ask(self, request: RequestReceived, broker: int | None = None) -> int:
        """Send a request to a broker, None: the controller that ZooKeeper names. The number to find the answer by.

        The number in `request` is replaced. Nobody to ask, or nobody who lives to answer: no answer ever comes.
        """
        return deliveries.ask(self._world, request, broker)

    def answer(self, number: int) -> AnswerRequest | None:
        """The answer to what was asked; None if there is none, or none yet."""
        return self._world.answers.get(number)

    def tell(self, broker: int, event: Event) -> None:
        """Let a broker's controller hear, next, of what nothing here would tell it, such as a dynamic configuration."""
        deliveries.tell(self._world, broker, event)

    # Time

    def step(self) -> bool:
        """Make the next thing happen; False if nothing is due."""
        due = self._world.schedule.take()
        if due is not None:
            _dispatch(self._world, due.what)
        return due is not None

    def run_until(self, at_ms: float) -> None:
        """Let happen all that is due until then, and let it be then."""
        until_us = microseconds(at_ms)
        while (next_us := self._world.schedule.next_us) is not None and next_us <= until_us:
            self.step()
        self._world.schedule.wait(until_us)

    def run_until_quiet(self, limit_ms: float) -> bool:
        """Let things happen until the cluster is at rest, for `limit_ms` at most; whether it is."""
        until_us = self._world.schedule.now_us + microseconds(limit_ms)
        while not self.at_rest:
            next_us = self._world.schedule.next_us
            if next_us is None or next_us > until_us:
                break
            self.step()
        return self.at_rest

    # Moments

    def snapshot(self) -> Moment:
        """This moment. It costs a reference for each broker and each thing that is due."""
        return self._world.moment()

    def restore(self, moment: Moment) -> None:
        """Go back, or forth, to a moment of this cluster; as often as you like."""
        self._world = World.at(moment)


def _dispatch(world: World, event: ScheduledEvent) -> None:
    """What is for a paused process waits; for one that is gone, it is nothing."""
    if not isinstance(event, ForProcess):
        _TO_ALL[type(event)](world, event)
        return
    process = world.find(event.broker, event.number)
    if process is None:
        return
    if process.paused:
        world.put(process.replace(held=(*process.held, event)))
    else:
        _TO_PROCESSES[type(event)](world, process, event)


_TO_ALL: Final[Mapping[type[ScheduledEvent], Callable[[World, Any], None]]] = {
    scheduled_events.SessionTimesOut: sessions.time_out,
    scheduled_events.QuestionArrives: questions.arrive,
    scheduled_events.RequestArrives: deliveries.serve,
    scheduled_events.ControllerIsAsked: deliveries.be_asked,
}
_TO_PROCESSES: Final[Mapping[type[ForProcess], Callable[[World, Process, Any], None]]] = {
    scheduled_events.AnswersArrive: sessions.hear_answers,
    scheduled_events.WatchFires: sessions.hear_watch,
    scheduled_events.Reconnects: sessions.reconnect,
    scheduled_events.ChannelTries: try_again,
    scheduled_events.AnswerArrives: deliveries.hear_answer,
    scheduled_events.TimerFires: deliveries.fire_timer,
    scheduled_events.LeaderLooks: leaders.look,
    scheduled_events.LeaderWrites: leaders.write_isrs,
    scheduled_events.FollowerLags: leaders.note_lag,
    scheduled_events.ControllerReplies: deliveries.hear_reply,
    scheduled_events.ControllerIsTold: deliveries.hear_from_outside,
    scheduled_events.ShutdownGoesOn: life.go_on_shutting_down,
}
