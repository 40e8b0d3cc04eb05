"""A broker's controller hears events; its sessions end and begin; its process is removed.

Source: `kafka.zookeeper.ZooKeeperClient` (3.9): requests that a broken connection lost are sent again; an expired
session makes the controller forget, and only then is there a new one.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from model.controller import events_and_commands
from model.controller.decide import decide
from model.controller.events_and_commands import (
    AnswerRequest,
    AskZooKeeper,
    CancelTimer,
    DropRequests,
    Event,
    SendRequest,
    StartTimer,
    event_for,
)
from model.hosts.memory_zookeeper.state import end_session, open_session
from model.hosts.memory_zookeeper.tree import read
from model.hosts.virtual import channels
from model.hosts.virtual.channels import ask_zookeeper, send_next, tell_watchers, transact
from model.hosts.virtual.journal import (
    BrokerCrashed,
    ControllerElected,
    ControllerResigned,
    Reasoned,
    SessionEnded,
    SessionOpened,
)
from model.hosts.virtual.leaders import look_soon, note_fetching
from model.hosts.virtual.scheduled_events import (
    AnswersArrive,
    ControllerIsAsked,
    Reconnects,
    SessionTimesOut,
    Timer,
    TimerFires,
    WatchFires,
)
from model.hosts.virtual.virtual_broker import UNREGISTERED
from model.hosts.virtual.world import UNCONNECTED, Process, World
from model.znodes.paths import CONTROLLER, broker_path
from model.zookeeper import Answer, Code, Exists, GetData, SetWatches, ZooKeeperRequest


def hear(world: World, process: Process, event: Event) -> None:
    """Let a process's controller decide on an event, and do all of what it decides."""
    decision = decide(process.controller, msgspec.structs.replace(event, at_ms=world.time_ms))
    before, after = process.controller.context, decision.state.context
    world.put(process.replace(controller=decision.state))
    if before.active and (before.epoch != after.epoch or not after.active):
        world.journal.append(ControllerResigned(world.now_ms, process.id, before.epoch))
    if after.active and (before.epoch != after.epoch or not before.active):
        world.journal.append(_elected(world, process.id, after.epoch))
    world.journal.extend(Reasoned(world.now_ms, process.id, why) for why in decision.reasons)
    for command in decision.commands:
        _CARRY_OUT[type(command)](world, world.processes[process.id], command)


def _elected(world: World, broker: int, epoch: int) -> ControllerElected:
    old, world.controller = world.controller, broker
    return ControllerElected(world.now_ms, broker, epoch, old, tuple(sorted(world.processes)))


def _ask(world: World, process: Process, command: AskZooKeeper) -> None:
    ask_zookeeper(world, process, command.question, command.requests)


def _start_timer(world: World, process: Process, command: StartTimer) -> None:
    timer = Timer(world.schedule.now_us, command.after_ms)
    world.put(process.replace(timers={**process.timers, command.timer: timer}))
    fires = TimerFires(process.id, process.number, command.timer, timer)
    world.after(command.after_ms, fires, idle=True)


def _cancel_timer(world: World, process: Process, command: CancelTimer) -> None:
    timers = {name: timer for name, timer in process.timers.items() if name != command.timer}
    world.put(process.replace(timers=timers))


_CARRY_OUT: Final[Mapping[type, Callable[[World, Process, Any], None]]] = {
    AskZooKeeper: _ask,
    SendRequest: channels.send_request,
    StartTimer: _start_timer,
    CancelTimer: _cancel_timer,
    AnswerRequest: channels.answer_request,
    DropRequests: channels.drop_requests,
}


def hear_answers(world: World, process: Process, arrived: AnswersArrive) -> None:
    """Ask for the rest, or let the controller go on."""
    asking = process.asking
    if arrived.connection != process.connection or asking is None or asking.question != arrived.question:
        return
    requests = asking.requests[asking.done : asking.done + len(arrived.answers)]
    asking = asking.with_answers(arrived.answers)
    is_over = asking.done == len(asking.requests)
    process = world.put(process.replace(asking=None if is_over else asking, zxid=arrived.zxid))
    epoch = _registered(process, requests, arrived.answers)
    if epoch is not None and epoch != process.broker.epoch:
        process = world.put(process.replace(broker=process.broker.with_epochs(broker_epoch=epoch)))
        channels.wake_channels(world)
        process = world.processes[process.id]
    if is_over:
        hear(world, process, events_and_commands.ZooKeeperAnswered(question=asking.question, answers=asking.answers()))
    else:
        send_next(world, process)


def hear_watch(world: World, process: Process, fired: WatchFires) -> None:
    """Tell the controller, if it cares."""
    if fired.connection != process.connection:
        return
    process = world.put(process.replace(zxid=max(process.zxid, fired.changed.zxid)))
    event = event_for(fired.changed.path, fired.changed.kind, world.time_ms)
    if event is not None:
        hear(world, process, event)


def time_out(world: World, due: SessionTimesOut) -> None:
    """End the session, unless it was heard of since."""
    if world.silent.get(due.session) == due.silent_since_us:
        end(world, due.session, expired=True)


def end(world: World, session: int, *, expired: bool) -> None:
    """The server ends a session. Its client, if there is one, learns of it when it next connects."""
    channels.forget_silence(world, session)
    broker = world.sessions.pop(session)
    found = read(world.zookeeper.tree, Exists(CONTROLLER))
    controls = found.ok and found.owner == session
    ended = end_session(world.zookeeper, session)
    world.zookeeper = ended.state
    world.journal.append(SessionEnded(world.now_ms, broker, session, expired, controls))
    tell_watchers(world, ended.events)
    process = world.processes.get(broker)
    if process is not None and process.session == session and process.connection != UNCONNECTED:
        world.after(world.assumptions.reconnect_ms, Reconnects(process.id, process.number))


def reconnect(world: World, process: Process, _due: Reconnects) -> None:
    """Go on with the session if it lives, learn that it does not, or begin the next one."""
    if not channels.can_reach_zookeeper(world, process.id):
        return
    if process.expired:
        _renew(world, process)
    elif world.zookeeper.sessions.get(process.session) is None:
        _forget_session(world, process)
    elif process.connection == UNCONNECTED:
        process = world.put(process.replace(connection=world.next_number()))
        channels.note_silence(world, process)
        watched = process.watched
        again = SetWatches(process.zxid, watched.data, watched.existence, watched.children)
        transact(world, process.session, again, process.id)
        send_next(world, world.processes[process.id])
        look_soon(world)


def begin_session(world: World, process: Process) -> Process:
    """A new session, connected."""
    timeout_ms = round(world.assumptions.session_timeout_ms)
    world.zookeeper, session = open_session(world.zookeeper, timeout_ms)
    world.sessions[session] = process.id
    world.journal.append(SessionOpened(world.now_ms, process.id, session))
    return world.put(
        process.replace(session=session, connection=world.next_number(), zxid=world.zookeeper.zxid, expired=False)
    )


def _renew(world: World, process: Process) -> None:
    before = process.session
    process = begin_session(world, process)
    event = events_and_commands.SessionEstablished(
        registration=process.registration, previous_session=before, session=process.session
    )
    hear(world, process, event)
    look_soon(world)


def _forget_session(world: World, process: Process) -> None:
    if process.broker.epoch == UNREGISTERED:
        # Kafka's start fails with its first session, and the process exits.
        world.journal.append(BrokerCrashed(world.now_ms, process.id))
        remove_process(world, process)
        return
    asking = process.asking
    process = world.put(process.replace(connection=UNCONNECTED, expired=True, asking=None))
    hear(world, process, events_and_commands.SessionExpired())
    if asking is not None:
        answers = (Answer(Code.SESSION_EXPIRED),) * len(asking.requests)
        answered = events_and_commands.ZooKeeperAnswered(question=asking.question, answers=answers)
        hear(world, world.processes[process.id], answered)
    world.after(world.assumptions.zookeeper_write_ms, Reconnects(process.id, process.number))


def _registered(process: Process, requests: tuple[ZooKeeperRequest, ...], answers: tuple[Answer, ...]) -> int | None:
    """The broker's epoch, if these answers say that its znode is there: the transaction that made it."""
    path = broker_path(process.id)
    for request, answer in zip(requests, answers, strict=True):
        if isinstance(request, GetData) and request.path == path and answer.owner == process.session:
            return answer.czxid
    return None


def remove_process(world: World, process: Process) -> None:
    """The process is gone, with all it knew and all it was sent. Its session lives on until it times out."""
    del world.processes[process.id]
    channels.note_silence(world, process)
    channels.break_channels_to(world, process.id)
    channels.break_questions_to(world, process)
    for held in process.held:
        if isinstance(held, ControllerIsAsked):
            channels.leave_unanswered(world, held.asker, held.asker_number, held.request)
    note_fetching(world)
