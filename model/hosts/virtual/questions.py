"""Requests to the ZooKeeper in memory, their answers, and watches, on their way."""

from collections.abc import Iterable

from model.hosts.memory_zookeeper.state import answer
from model.hosts.memory_zookeeper.watches import SessionEvent
from model.hosts.virtual.assumptions import ZOOKEEPER
from model.hosts.virtual.channels import lose_connection, miss
from model.hosts.virtual.journal import OPERATOR, Transaction
from model.hosts.virtual.scheduled_events import AnswersArrive, QuestionArrives, WatchFires
from model.hosts.virtual.world import UNCONNECTED, Asking, Process, World
from model.zookeeper.operations import Answer, Code, Multi, Operation, Read, Write, ZooKeeperRequest

_EXPIRED = Answer(Code.SESSION_EXPIRED)


def ask_zookeeper(world: World, process: Process, question: int, requests: tuple[ZooKeeperRequest, ...]) -> None:
    """Begin to ask. Without a session all is answered with SESSION_EXPIRED."""
    process = world.put(process.replace(asking=Asking(question, requests)))
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
    reads = all(isinstance(request, Read) for request in requests)
    return (world.assumptions.zookeeper_read_ms if reads else world.assumptions.zookeeper_write_ms) / 2
