"""A controller's ZooKeeper requests as operations of the ZooKeeper in memory, and back; and transactions as text.

Translation only: nothing is decided here.
"""

from __future__ import annotations

from typing import Any

from model.controller import zookeeper as ours
from model.controller.zookeeper import Answer, Code
from model.hosts.memory_zookeeper import operations as theirs
from model.hosts.zookeeper.values import Children, Stat, Znode


def operation_of(request: Any) -> theirs.Operation:
    """What to ask of the server."""
    match request:
        case ours.Read(path, watch):
            return theirs.GetData(path, watch)
        case ours.Exists(path, watch):
            return theirs.Exists(path, watch)
        case ours.Children(path, watch):
            return theirs.GetChildren(path, watch)
        case ours.Multi(parts):
            return theirs.Multi(tuple(_part(part) for part in parts))
        case _:
            return _part(request)


def answer_of(request: Any, result: Any) -> Answer:
    """What the server answered."""
    match result:
        case theirs.Failed(code):
            return Answer(_code(code))
        case theirs.RolledBack(codes):
            failure = next(code for code in codes if code != theirs.ErrorCode.OK)
            return Answer(_code(failure), parts=tuple(Answer(_code(code)) for code in codes))
        case theirs.Committed(results):
            return Answer(parts=tuple(answer_of(part, each) for part, each in zip(request.parts, results, strict=True)))
        case Znode(_, data, stat):
            return Answer(data=data, version=stat.version, czxid=stat.czxid, owner=stat.ephemeral_owner)
        case Children(_, names, _):
            return Answer(names=names)
        case theirs.Created(_, stat):
            return answer_of(request, stat)
        case Stat():
            return Answer(version=result.version, czxid=result.czxid, owner=result.ephemeral_owner)
        case _:
            return Answer()


def words_of(request: Any) -> str:
    """A request in the words of the golden traces; reads by their names."""
    match request:
        case ours.Multi(parts):
            return f"multi{{{' ; '.join(map(words_of, parts))}}}"
        case ours.Read() | ours.Exists() | ours.Children():
            return f"{type(request).__name__.lower()} {request.path}{' and watch' if request.watch else ''}"
        case _:
            return _text(_part(request), None)


def transaction(operation: theirs.Operation, result: Any) -> str:
    """A write as the decoder of the golden traces prints it; nothing for a read."""
    match operation, result:
        case theirs.Multi(parts), theirs.Committed(results):
            return f"multi{{{' ; '.join(_text(part, each) for part, each in zip(parts, results, strict=True))}}}"
        case theirs.Multi(parts), theirs.RolledBack(codes):
            texts = (
                _text(part, None) if code == theirs.ErrorCode.OK else f"error {int(code)}"
                for part, code in zip(parts, codes, strict=True)
            )
            return f"multi{{{' ; '.join(texts)}}}"
        case ((theirs.Create() | theirs.SetData() | theirs.Delete()), theirs.Failed(code)):
            return f"error {int(code)}"
        case ((theirs.Create() | theirs.SetData() | theirs.Delete()), _):
            return _text(operation, result)
        case _:
            return ""


def _part(request: Any) -> Any:
    match request:
        case ours.Create(path, data, ephemeral):
            return theirs.Create(path, data, ephemeral)
        case ours.SetData(path, data, version):
            return theirs.SetData(path, data, version)
        case ours.Delete(path, version):
            return theirs.Delete(path, version)
        case ours.Check(path, version):
            return theirs.CheckVersion(path, version)
        case _:
            raise AssertionError(request)


def _code(code: int) -> Code:
    return Code(int(code)) if int(code) in Code.__members__.values() else Code.OTHER


def _text(part: Any, result: Any) -> str:
    match part:
        case theirs.Create(path, data, ephemeral):
            return f"create[{'E' if ephemeral else 'P'}] {path} {data.decode() or 'null'}"
        case theirs.SetData(path, data, version):
            return f"set {path} v{result.version if result is not None else version + 1} {data.decode()}"
        case theirs.Delete(path):
            return f"delete {path}"
        case theirs.CheckVersion(path, version):
            return f"check {path} v{version + 1}"
        case _:
            raise AssertionError(part)
