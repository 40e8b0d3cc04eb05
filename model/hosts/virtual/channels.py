"""On their way: questions to ZooKeeper, its answers and watches, requests to brokers, questions to the controller.

A controller sends a broker one request at a time and in order, again and again until it is answered. Source:
`kafka.controller.ControllerChannelManager`, `RequestSendThread` (3.9). A try that cannot succeed is not made: it waits
until the broker can be reached.
"""

from collections.abc import Iterable

import msgspec

from model.controller.events_and_commands import AnswerRequest, DropRequests, RequestReceived, SendRequest
from model.hosts.memory_zookeeper.state import answer, disconnect
from model.hosts.memory_zookeeper.tree import read
from model.hosts.memory_zookeeper.watches import SessionEvent
from model.hosts.virtual import journal
from model.hosts.virtual.journal import OPERATOR, Transaction
from model.hosts.virtual.scheduled_events import (
    ZOOKEEPER,
    AnswersArrive,
    ChannelTries,
    ControllerIsAsked,
    ControllerReplies,
    QuestionArrives,
    Reconnects,
    RequestArrives,
    ScheduledEvent,
    SessionTimesOut,
    WatchFires,
)
from model.hosts.virtual.virtual_broker import UNREGISTERED
from model.hosts.virtual.world import (
    UNCONNECTED,
    ControllerChannel,
    ControllerWaiter,
    MissedWatches,
    Process,
    Queued,
    World,
    ZooKeeperQuestion,
)
from model.zookeeper import (
    Answer,
    Code,
    EventKind,
    Exists,
    Multi,
    Operation,
    Read,
    Write,
    ZnodeChanged,
    ZooKeeperRequest,
)


def lose_connection(world: World, broker: int) -> None:
    """The connection breaks, if there is one: what is on its way is lost, and the client will look for another one."""
    process = world.processes[broker]
    if process.connection == UNCONNECTED:
        return

    def is_lost(event: ScheduledEvent) -> bool:
        return isinstance(event, WatchFires) and event.connection == process.connection

    withdrawn = world.schedule.withdraw(is_lost)
    unread = filter(is_lost, process.held)  # a paused process has received it, and never reads it
    undelivered = [fires.changed for fires in (*unread, *withdrawn) if isinstance(fires, WatchFires)]
    world.journal.append(journal.ConnectionLost(world.now_ms, process.id, process.session))
    watched = _watched(world, process.session)
    world.zookeeper = disconnect(world.zookeeper, process.session)
    process = world.put(process.replace(connection=UNCONNECTED, watched=watched))
    for changed in undelivered:
        miss(world, process.id, changed)
    note_silence(world, process)
    world.after(world.assumptions.reconnect_ms, Reconnects(process.id, process.number))


def miss(world: World, broker: int, changed: ZnodeChanged) -> None:
    """The server told of a change and forgot the watch, but the client does not know: it believes to be watching."""
    process = world.processes[broker]
    if changed.kind is EventKind.CHILDREN_CHANGED:
        field = "children"
    else:
        field = "existence" if changed.kind is EventKind.CREATED else "data"
    watched = process.watched
    paths = tuple(dict.fromkeys((*getattr(watched, field), changed.path)))
    world.put(process.replace(watched=msgspec.structs.replace(watched, **{field: paths})))


def note_silence(world: World, process: Process) -> None:
    """Begin or cease to wait for the session to time out."""
    session = process.session
    if session not in world.sessions:
        return
    if process.connection != UNCONNECTED and not process.paused and world.find(process.id, process.number):
        forget_silence(world, session)
    elif session not in world.silent:
        since_us = world.silent[session] = world.schedule.now_us
        world.after(world.assumptions.session_timeout_ms, SessionTimesOut(session, since_us))


def forget_silence(world: World, session: int) -> None:
    """Nobody waits for the session to time out: what is due no more must not keep a cluster from being at rest."""
    if world.silent.pop(session, None) is not None:
        world.schedule.withdraw(lambda due: isinstance(due, SessionTimesOut) and due.session == session)


def can_reach_zookeeper(world: World, broker: int) -> bool:
    """Whether the link stands."""
    return not world.is_cut(broker, ZOOKEEPER)


def _watched(world: World, session: int) -> MissedWatches:
    """What the server has of a client's watches, as the client would name them."""
    watches = world.zookeeper.watches
    data = sorted(path for path, watchers in watches.data.items() if session in watchers)
    children = sorted(path for path, watchers in watches.children.items() if session in watchers)
    there = {path for path in data if read(world.zookeeper.tree, Exists(path)).ok}
    missing = tuple(path for path in data if path not in there)
    return MissedWatches(tuple(path for path in data if path in there), missing, tuple(children))


def send_request(world: World, process: Process, command: SendRequest) -> None:
    """Queue a request, and send it if nothing is before it."""
    channel = process.channels.get(command.broker, ControllerChannel())
    queued = Queued(world.next_number(), command.broker_epoch, command.request)
    put_channel(world, process, command.broker, msgspec.structs.replace(channel, queue=(*channel.queue, queued)))
    if not channel.busy:
        try_to_send(world, world.processes[process.id], command.broker)


def drop_requests(world: World, process: Process, command: DropRequests) -> None:
    """Forget what waits; what is on its way arrives, but nobody waits for the answer."""
    channel = process.channels.get(command.broker)
    if channel is None:
        return
    channels = {broker: other for broker, other in process.channels.items() if broker != command.broker}
    world.put(process.replace(channels=channels))
    if channel.queue:
        dropped = tuple(queued.exchange for queued in channel.queue)
        world.journal.append(journal.RequestsDropped(world.now_ms, process.id, command.broker, dropped))


def try_to_send(world: World, process: Process, receiver: int) -> None:
    """Send the first of the queue, or wait until the broker can be reached."""
    channel = process.channels[receiver]
    if not channel.queue:
        return
    first = channel.queue[0]
    reachable = can_reach(world, process.id, receiver)
    channel = ControllerChannel(channel.queue, world.next_number(), True, not reachable)
    process = put_channel(world, process, receiver, channel)
    if not reachable:
        return
    world.journal.append(journal.RequestSent(world.now_ms, process.id, receiver, first.exchange, first.request))
    arrives = RequestArrives(
        process.id, process.number, receiver, first.exchange, channel.attempt, first.broker_epoch, first.request
    )
    if not world.carry(process.id, receiver, world.assumptions.request_ms / 2, arrives):
        lose_request(world, process, receiver, channel.attempt)


def lose_request(world: World, process: Process | None, receiver: int, attempt: int) -> None:
    """The request or its answer is lost, if this is still the newest try: try again after the back-off."""
    channel = None if process is None else process.channels.get(receiver)
    if process is None or channel is None or channel.attempt != attempt or not channel.queue:
        return
    world.journal.append(journal.RequestLost(world.now_ms, process.id, receiver, channel.queue[0].exchange))
    try_later(world, process, receiver)


def try_later(world: World, process: Process, receiver: int) -> None:
    """Try again after the back-off; what comes of the try before is ignored."""
    channel = process.channels[receiver]
    attempt = world.next_number()
    process = put_channel(world, process, receiver, ControllerChannel(channel.queue, attempt, True))
    tries = ChannelTries(process.id, process.number, receiver, attempt)
    world.after(world.assumptions.retry_backoff_ms, tries)


def try_again(world: World, process: Process, tries: ChannelTries) -> None:
    """The back-off is over."""
    channel = process.channels.get(tries.receiver)
    if channel is not None and channel.attempt == tries.attempt:
        try_to_send(world, process, tries.receiver)


def can_reach(world: World, sender: int, receiver: int) -> bool:
    """Whether a message would find somebody who listens. A paused broker does: it reads later."""
    process = world.processes.get(receiver)
    return process is not None and process.broker.epoch != UNREGISTERED and not world.is_cut(sender, receiver)


def wake_channels(world: World) -> None:
    """Brokers can be reached that could not before: what waited for them is sent."""
    for process in tuple(world.processes.values()):
        for receiver in tuple(process.parked()):
            if can_reach(world, process.id, receiver):
                try_later(world, world.processes[process.id], receiver)


def break_channels_to(world: World, receiver: int) -> None:
    """A broker's process is gone, and with it what it was sent and had not read yet."""
    for process in tuple(world.processes.values()):
        channel = process.channels.get(receiver)
        if channel is not None and channel.busy and not channel.parked and channel.queue:
            lose_request(world, process, receiver, channel.attempt)


def put_channel(world: World, process: Process, receiver: int, channel: ControllerChannel) -> Process:
    """The process with this channel to a broker."""
    return world.put(process.replace(channels={**process.channels, receiver: channel}))


def ask_controller(world: World, asker: Process, controller: int, request: RequestReceived) -> None:
    """A broker asks the controller."""
    world.journal.append(journal.ControllerAsked(world.now_ms, asker.id, controller, request))
    arrives = ControllerIsAsked(asker.id, asker.number, controller, request)
    if not world.carry(asker.id, controller, world.assumptions.request_ms / 2, arrives):
        leave_unanswered(world, asker.id, asker.number, request)


def answer_request(world: World, process: Process, command: AnswerRequest) -> None:
    """The controller's answer sets out."""
    asked = world.asked.pop(command.request, None)
    if asked is None:
        return
    world.journal.append(journal.ControllerAnswered(world.now_ms, asked.asker, process.id, command))
    if asked.asker == journal.OPERATOR:
        world.answers[command.request] = command
        return
    replies = ControllerReplies(asked.asker, asked.asker_number, asked.request, command)
    if not world.carry(process.id, asked.asker, world.assumptions.request_ms / 2, replies):
        leave_unanswered(world, asked.asker, asked.asker_number, asked.request)


def leave_unanswered(world: World, asker: int, asker_number: int, request: RequestReceived) -> None:
    """The connection to the controller broke: the asker notices after the back-off."""
    if asker != journal.OPERATOR:
        replies = ControllerReplies(asker, asker_number, request, None)
        world.after(world.assumptions.retry_backoff_ms, replies)


def break_questions_to(world: World, process: Process) -> None:
    """A controller's process is gone: nobody who waits for its answers will get one."""
    for number, asked in tuple(world.asked.items()):
        if asked.controller_number == process.number:
            del world.asked[number]
            leave_unanswered(world, asked.asker, asked.asker_number, asked.request)


def note_question(world: World, asker: int, asker_number: int, controller: Process, request: RequestReceived) -> None:
    """The controller has the question, and the answer will find the way back."""
    world.asked[request.request] = ControllerWaiter(asker, asker_number, controller.id, controller.number, request)


_EXPIRED = Answer(Code.SESSION_EXPIRED)


def ask_zookeeper(world: World, process: Process, question: int, requests: tuple[ZooKeeperRequest, ...]) -> None:
    """Begin to ask. Without a session all is answered with SESSION_EXPIRED."""
    process = world.put(process.replace(asking=ZooKeeperQuestion(question, requests)))
    if process.expired:
        answers = (_EXPIRED,) * len(requests)
        expired = AnswersArrive(process.id, process.number, UNCONNECTED, question, answers, process.zxid)
        world.after(0, expired)
    else:
        send_next(world, process)


def send_next(world: World, process: Process) -> None:
    """Send the next requests of the question, if there is one and a connection."""
    asking = process.asking
    if asking is None or process.connection == UNCONNECTED:
        return
    requests = asking.requests[asking.done : asking.done + world.assumptions.in_flight]
    sent = QuestionArrives(process.id, process.number, process.session, process.connection, asking.question, requests)
    if not world.carry(process.id, ZOOKEEPER, _one_way_ms(world, requests), sent):
        lose_connection(world, process.id)


def arrive(world: World, asked: QuestionArrives) -> None:
    """The server answers, also a process that is gone by now; not one that has another connection or no session."""
    process = world.find(asked.broker, asked.number)
    if process is not None and process.connection != asked.connection:
        return
    if world.zookeeper.sessions.get(asked.session) is None:
        return
    answers = tuple(transact(world, asked.session, request, asked.broker) for request in asked.requests)
    zxid = world.zookeeper.zxid
    process = world.find(asked.broker, asked.number)
    if process is None or process.connection != asked.connection:
        return
    arrives = AnswersArrive(asked.broker, asked.number, asked.connection, asked.question, answers, zxid)
    if not world.carry(ZOOKEEPER, asked.broker, _one_way_ms(world, asked.requests), arrives):
        lose_connection(world, process.id)


def transact(world: World, session: int, operation: Operation, by: int) -> Answer:
    """Carry out one operation, and tell those who watch."""
    answered = answer(world.zookeeper, session, operation, world.time_ms)
    world.zookeeper = answered.state
    if isinstance(operation, Write | Multi):
        world.journal.append(Transaction(world.now_ms, by, answered.state.zxid, operation, answered.answer))
    tell_watchers(world, answered.events)
    return answered.answer


def ask_at_once(world: World, process: Process, request: ZooKeeperRequest) -> Answer | None:
    """One request in a broker's session, beside its controller's; None: it has no connection, or no session."""
    connected = process.connection != UNCONNECTED and not world.is_cut(process.id, ZOOKEEPER)
    if not connected or world.zookeeper.sessions.get(process.session) is None:
        return None
    return transact(world, process.session, request, process.id)


def write(world: World, operation: Operation) -> Answer:
    """Carry out an operation of an operator."""
    return transact(world, world.operator, operation, OPERATOR)


def tell_watchers(world: World, events: Iterable[SessionEvent]) -> None:
    """Events set out to the brokers whose sessions they are for."""
    for event in events:
        process = world.processes.get(world.sessions.get(event.session, ZOOKEEPER))
        if process is None or process.session != event.session:
            continue
        fires = WatchFires(process.id, process.number, process.connection, event.changed)
        half_ms = world.assumptions.zookeeper_read_ms / 2
        if process.connection == UNCONNECTED or not world.carry(ZOOKEEPER, process.id, half_ms, fires):
            lose_connection(world, process.id)
            miss(world, process.id, event.changed)


def _one_way_ms(world: World, requests: Iterable[ZooKeeperRequest]) -> float:
    for request in requests:  # not all(…): it is asked at every step
        if not isinstance(request, Read):
            return world.assumptions.zookeeper_write_ms / 2
    return world.assumptions.zookeeper_read_ms / 2
