"""Brokers with our controller on a ZooKeeper in memory, in virtual time: what is decided is carried out, and no more.

Theory of operation: everything that takes time is put down in a schedule, and `step` makes what is next due happen: a
message reaches somebody, a timer fires, a process begins or ends. No real clock and no dice: the same calls give the
same journal, and a snapshot is some references to values.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import msgspec

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.decide import ControllerState
from model.controller.events_and_commands import (
    AlterPartitionReceived,
    AnswerRequest,
    ControlledShutdownRequested,
    Event,
    RequestReceived,
)
from model.controller.generations import ControllerSettings
from model.hosts.memory_zookeeper.state import ServerState
from model.hosts.virtual import channels, leaders, life, scheduled_events, sessions
from model.hosts.virtual.journal import OPERATOR, ControllerAsked, JournalRecord, RequestAnswered, RequestServed
from model.hosts.virtual.leaders import forget_request, hear_outcome, log_of, look_soon
from model.hosts.virtual.life import controller_in_zookeeper, hear_shutdown
from model.hosts.virtual.scheduled_events import (
    AnswerArrives,
    ControllerIsAsked,
    ControllerIsTold,
    ControllerReplies,
    ForProcess,
    Network,
    RequestArrives,
    ScheduledEvent,
    TimerFires,
    TimingAssumptions,
    microseconds,
    perfect,
)
from model.hosts.virtual.sessions import hear
from model.hosts.virtual.virtual_broker import VirtualBroker, receive
from model.hosts.virtual.world import ControllerChannel, Process, World, WorldMoment
from model.zookeeper import Answer, Operation, ZooKeeperRequest


def serve(world: World, arrived: RequestArrives) -> None:
    """The receiver does as it is told and answers; if it is gone or cut off, the sender will notice."""
    sender, receiver = arrived.sender, arrived.receiver
    if not channels.can_reach(world, sender, receiver):
        channels.lose_request(world, world.find(sender, arrived.sender_number), receiver, arrived.attempt)
        return
    process = world.processes[receiver]
    if process.paused:
        world.put(process.replace(held=(*process.held, arrived)))
        return
    knows_epochs = process.controller.context.settings.forms.broker_epochs
    epoch = arrived.broker_epoch if knows_epochs else process.broker.epoch
    log = log_of(world, world.schedule.now_us)
    broker, answer = receive(process.broker, arrived.request, epoch, world.time_ms, log)
    is_overruled = broker.ruled_by != process.broker.ruled_by
    process = process.replace(broker=broker)
    world.put(forget_request(process) if is_overruled else process)
    world.journal.append(RequestServed(world.now_ms, sender, receiver, arrived.exchange, arrived.request, answer))
    arrives = AnswerArrives(sender, arrived.sender_number, receiver, arrived.exchange, arrived.attempt, answer)
    if not world.carry(receiver, sender, world.assumptions.request_ms / 2, arrives):
        channels.lose_request(world, world.find(sender, arrived.sender_number), receiver, arrived.attempt)
    look_soon(world)


def hear_answer(world: World, process: Process, arrived: AnswerArrives) -> None:
    """The controller learns what a broker made of its request, and sends the next."""
    receiver = arrived.receiver
    channel = process.channels.get(receiver)
    if channel is None or channel.attempt != arrived.attempt or not channel.queue:
        return
    world.journal.append(RequestAnswered(world.now_ms, process.id, receiver, arrived.exchange))
    sent = channel.queue[0].request
    process = channels.put_channel(world, process, receiver, ControllerChannel(channel.queue[1:], channel.attempt))
    channels.try_to_send(world, process, receiver)
    event = events_and_commands.RequestAnswered(broker=receiver, sent=sent, answer=arrived.answer)
    hear(world, world.processes[process.id], event)


def be_asked(world: World, arrived: ControllerIsAsked) -> None:
    """A broker hears a question that is for the controller; whether it is that, it will find out itself."""
    process = world.processes.get(arrived.controller)
    if process is None or world.is_cut(arrived.asker, arrived.controller):
        channels.leave_unanswered(world, arrived.asker, arrived.asker_number, arrived.request)
    elif process.paused:
        world.put(process.replace(held=(*process.held, arrived)))
    else:
        channels.note_question(world, arrived.asker, arrived.asker_number, process, arrived.request)
        hear(world, process, arrived.request)


def hear_reply(world: World, process: Process, arrived: ControllerReplies) -> None:
    """A broker has the controller's answer, or knows that there will be none."""
    if isinstance(arrived.request, AlterPartitionReceived):
        hear_outcome(world, process, arrived.request, arrived.answer)
    elif isinstance(arrived.request, ControlledShutdownRequested):
        hear_shutdown(world, process, arrived.answer)


def fire_timer(world: World, process: Process, fired: TimerFires) -> None:
    """The controller hears of its timer, unless it started it anew or cancelled it."""
    if process.timers.get(fired.timer) is fired.run:
        timers = {name: timer for name, timer in process.timers.items() if name != fired.timer}
        process = world.put(process.replace(timers=timers))
        hear(world, process, events_and_commands.TimerFired(timer=fired.timer))


def ask(world: World, request: RequestReceived, broker: int | None) -> int:
    """A request of an operator, which nothing keeps from arriving if there is a process to hear it."""
    controller = controller_in_zookeeper(world) if broker is None else broker
    request = msgspec.structs.replace(request, request=world.next_number())
    world.journal.append(ControllerAsked(world.now_ms, OPERATOR, controller, request))
    world.after(world.assumptions.request_ms / 2, ControllerIsAsked(OPERATOR, 0, controller, request))
    return request.request


def tell(world: World, broker: int, event: Event) -> None:
    """An event that comes from nowhere in this world."""
    world.after(0, ControllerIsTold(broker, world.processes[broker].number, event))


def hear_from_outside(world: World, process: Process, told: ControllerIsTold) -> None:
    """The controller hears of it. Whoever asks this way is an operator."""
    if isinstance(told.event, RequestReceived):
        channels.note_question(world, OPERATOR, 0, process, told.event)
    hear(world, process, told.event)


class VirtualCluster:
    """All times are in ms of virtual time since the start; brokers are named by their ids, ZooKeeper is -1 in links."""

    def __init__(
        self,
        assumptions: TimingAssumptions = TimingAssumptions(),  # noqa: B008 (a frozen value)
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
    def assumptions(self) -> TimingAssumptions:
        return self._world.assumptions

    @property
    def zookeeper(self) -> ServerState:
        return self._world.zookeeper

    @property
    def journal(self) -> Sequence[JournalRecord]:
        """All that happened, in order. Remember its length to see later what came after."""
        return self._world.journal

    @property
    def brokers(self) -> tuple[int, ...]:
        """Brokers whose process is there, paused or not, in ascending order."""
        return tuple(sorted(self._world.processes))

    def process(self, broker: int) -> Process:
        """A broker's process as a value: its session, its controller, its virtual broker. Raises KeyError."""
        return self._world.processes[broker]

    def has_left_traces(self, broker: int) -> bool:
        """Whether a broker's process still runs, or a session of it is not over."""
        return broker in self._world.processes or broker in self._world.sessions.values()

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

    def boot(self, broker: int, registration: bytes, settings: ControllerSettings) -> None:
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
        life.pause(self._world, broker)

    def resume(self, broker: int) -> None:
        """SIGCONT: it first does what it was sent, then learns whether its session is gone."""
        life.resume(self._world, broker)

    def expire(self, broker: int) -> None:
        """ZooKeeper ends the broker's session now, as if it had been silent for the timeout; also after a crash."""
        life.expire(self._world, broker)

    def fail_log_dir(self, broker: int, partitions: Collection[TopicPartition]) -> None:
        """The log dir with these replicas breaks, until the process is another one; the broker says so in ZooKeeper."""
        life.fail_log_dir(self._world, broker, partitions)

    # Links

    def cut(self, one: int, other: int) -> None:
        """Let nothing pass between two brokers, or a broker and ZooKeeper (-1)."""
        life.cut(self._world, one, other)

    def mend(self, one: int, other: int) -> None:
        """Let messages pass again."""
        life.mend(self._world, one, other)

    # What people and tools do

    def write(self, operation: Operation) -> Answer:
        return channels.write(self._world, operation)

    def ask_zookeeper(self, broker: int, request: ZooKeeperRequest) -> Answer | None:
        """One request in a broker's own session, answered at once, as by what of the broker is not modelled here.

        None: it has no connection, or no session any more. Raises KeyError for a broker that does not run.
        """
        return channels.ask_at_once(self._world, self._world.processes[broker], request)

    def ask(self, request: RequestReceived, broker: int | None = None) -> int:
        """Send a request to a broker, None: the controller that ZooKeeper names. The number to find the answer by.

        The number in `request` is replaced. Nobody to ask, or nobody who lives to answer: no answer ever comes.
        """
        return ask(self._world, request, broker)

    def answer(self, number: int) -> AnswerRequest | None:
        """The answer to what was asked; None if there is none, or none yet."""
        return self._world.answers.get(number)

    def tell(self, broker: int, event: Event) -> None:
        """Let a broker's controller hear, next, of what nothing here would tell it, such as a dynamic configuration."""
        tell(self._world, broker, event)

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

    def snapshot(self) -> WorldMoment:
        """This moment. It costs a reference for each broker and each thing that is due."""
        return self._world.moment()

    def forget(self) -> None:
        """Let the journal be empty. What happens does not depend on it."""
        self._world.journal = []

    def restore(self, moment: WorldMoment) -> None:
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
    scheduled_events.QuestionArrives: channels.arrive,
    scheduled_events.RequestArrives: serve,
    scheduled_events.ControllerIsAsked: be_asked,
}
_TO_PROCESSES: Final[Mapping[type[ForProcess], Callable[[World, Process, Any], None]]] = {
    scheduled_events.AnswersArrive: sessions.hear_answers,
    scheduled_events.WatchFires: sessions.hear_watch,
    scheduled_events.Reconnects: sessions.reconnect,
    scheduled_events.ChannelTries: channels.try_again,
    scheduled_events.AnswerArrives: hear_answer,
    scheduled_events.TimerFires: fire_timer,
    scheduled_events.LeaderLooks: leaders.look,
    scheduled_events.LeaderWrites: leaders.write_isrs,
    scheduled_events.FollowerLags: leaders.note_lag,
    scheduled_events.ControllerReplies: hear_reply,
    scheduled_events.ControllerIsTold: hear_from_outside,
    scheduled_events.ShutdownGoesOn: life.go_on_shutting_down,
}
