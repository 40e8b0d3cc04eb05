"""A controller's ZooKeeper requests as operations of the ZooKeeper in memory, and its results as answers.

Translation only: nothing is decided or carried out here.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from model.controller import zookeeper as ours
from model.controller.zookeeper import Answer, Code, ZooKeeperRequest
from model.hosts.memory_zookeeper import operations as theirs
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
