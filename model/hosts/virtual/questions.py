"""ZooKeeper's requests and watches on their way, and a controller's requests as operations of the server in memory."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from model.controller import zookeeper as ours
from model.controller.zookeeper import Answer, Code, Exists, Read, ZooKeeperRequest
from model.controller.zookeeper import Children as ListChildren
from model.hosts.memory_zookeeper import operations as theirs
from model.hosts.memory_zookeeper.operations import Create, Delete, Multi, Operation, Reply, Result, SetData
from model.hosts.memory_zookeeper.state import answer
from model.hosts.memory_zookeeper.watches import SessionEvent
from model.hosts.virtual.assumptions import ZOOKEEPER
from model.hosts.virtual.channels import lose_connection, miss
from model.hosts.virtual.journal import OPERATOR, Transaction
from model.hosts.virtual.scheduled_events import AnswersArrive, QuestionArrives, WatchFires
from model.hosts.virtual.world import UNCONNECTED, Asking, Process, World
from model.hosts.zookeeper.values import Children, Stat, Znode


def operation_of(request: ZooKeeperRequest) -> theirs.Operation:
    """What to ask of the server."""
    return _OPERATIONS[type(request)](request)


def answer_of(request: ZooKeeperRequest | ours.Check, result: theirs.Result) -> Answer:
    """What the server answered."""
    return _ANSWERS[type(result)](request, result)


def _multi(request: ours.Multi) -> theirs.Multi:
    return theirs.Multi(tuple(_OPERATIONS[type(part)](part) for part in request.parts))


_OPERATIONS: Final[Mapping[type, Callable[[Any], Any]]] = {
    ours.Read: lambda read: theirs.GetData(read.path, read.watch),
    ours.Exists: lambda exists: theirs.Exists(exists.path, exists.watch),
    ours.Children: lambda children: theirs.GetChildren(children.path, children.watch),
    ours.Create: lambda create: theirs.Create(create.path, create.data, create.ephemeral, create.sequential),
    ours.SetData: lambda write: theirs.SetData(write.path, write.data, write.version),
    ours.Delete: lambda delete: theirs.Delete(delete.path, delete.version),
    ours.Check: lambda check: theirs.CheckVersion(check.path, check.version),
    ours.Multi: _multi,
}


def _rolled_back(_request: Any, result: theirs.RolledBack) -> Answer:
    failure = next(code for code in result.codes if code is not theirs.ErrorCode.OK)
    return Answer(_code(failure), parts=tuple(Answer(_code(code)) for code in result.codes))


def _committed(request: ours.Multi, result: theirs.Committed) -> Answer:
    pairs = zip(request.parts, result.results, strict=True)
    return Answer(parts=tuple(answer_of(part, each) for part, each in pairs))


def _stat(_request: Any, stat: Stat) -> Answer:
    return Answer(version=stat.version, czxid=stat.czxid, owner=stat.ephemeral_owner)


def _code(code: theirs.ErrorCode) -> Code:
    return _CODES.get(code, Code.OTHER)


_CODES: Final[Mapping[int, Code]] = {int(code): code for code in Code}
_ANSWERS: Final[Mapping[type, Callable[[Any, Any], Answer]]] = {
    theirs.Failed: lambda _, failed: Answer(_code(failed.code)),
    theirs.RolledBack: _rolled_back,
    theirs.Committed: _committed,
    theirs.Created: lambda request, created: _stat(request, created.stat),
    Znode: lambda _, znode: Answer(
        data=znode.data, version=znode.stat.version, czxid=znode.stat.czxid, owner=znode.stat.ephemeral_owner
    ),
    Children: lambda _, children: Answer(names=children.names),
    Stat: _stat,
    type(None): lambda _request, _result: Answer(),
}


_READS = (Read, Exists, ListChildren)
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
    replies = [transact(world, asked.session, operation_of(request), asked.broker) for request in asked.requests]
    process = world.find(asked.broker, asked.number)
    if process is None or process.connection != asked.connection:
        return
    answers = tuple(answer_of(request, reply.result) for request, reply in zip(asked.requests, replies, strict=True))
    arrives = AnswersArrive(asked.broker, asked.number, asked.connection, asked.question, answers, replies[-1].zxid)
    if not world.carry(ZOOKEEPER, asked.broker, _one_way_ms(world, asked.requests), arrives):
        lose_connection(world, process.id)


def transact(world: World, session: int, operation: Operation, by: int) -> Reply:
    """Carry out one operation, and tell those who watch."""
    answered = answer(world.zookeeper, session, operation, world.time_ms)
    world.zookeeper = answered.state
    if isinstance(operation, (Create, SetData, Delete, Multi)):
        world.journal.append(Transaction(world.now_ms, by, answered.reply.zxid, operation, answered.reply.result))
    tell_watchers(world, answered.events)
    return answered.reply


def ask_at_once(world: World, process: Process, request: ZooKeeperRequest) -> Answer | None:
    """One request in a broker's session, beside its controller's; None: it has no connection, or no session."""
    connected = process.connection != UNCONNECTED and not world.is_cut(process.id, ZOOKEEPER)
    if not connected or world.zookeeper.sessions.get(process.session) is None:
        return None
    reply = transact(world, process.session, operation_of(request), process.id)
    return answer_of(request, reply.result)


def write(world: World, operation: Operation) -> Result:
    """Carry out an operation of an operator."""
    return transact(world, world.operator, operation, OPERATOR).result


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
    reads = all(isinstance(request, _READS) for request in requests)
    return (world.assumptions.zookeeper_read_ms if reads else world.assumptions.zookeeper_write_ms) / 2
