"""Transactions and requests in the words of the golden traces. Translation only."""

from __future__ import annotations

from typing import Any

from model.controller import zookeeper as ours
from model.hosts.memory_zookeeper import operations as theirs
from model.hosts.virtual.questions import operation_of


def words_of(request: ours.ZooKeeperRequest) -> str:
    """What a controller asks of ZooKeeper; reads by their names."""
    match request:
        case ours.Multi(parts):
            return f"multi{{{' ; '.join(_text(_translated(part), None) for part in parts)}}}"
        case ours.Read() | ours.Exists() | ours.Children():
            return f"{type(request).__name__.lower()} {request.path}{' and watch' if request.watch else ''}"
        case _:
            return _text(operation_of(request), None)


def transaction(operation: theirs.Write, result: Any) -> str:
    """A write as the decoder of the golden traces prints it."""
    match operation, result:
        case theirs.Multi(parts), theirs.Committed(results):
            return f"multi{{{' ; '.join(_text(part, each) for part, each in zip(parts, results, strict=True))}}}"
        case theirs.Multi(parts), theirs.RolledBack(codes):
            texts = (
                _text(part, None) if code == theirs.ErrorCode.OK else f"error {int(code)}"
                for part, code in zip(parts, codes, strict=True)
            )
            return f"multi{{{' ; '.join(texts)}}}"
        case _, theirs.Failed(code):
            return f"error {int(code)}"
        case _:
            return _text(operation, result)


def _translated(part: Any) -> Any:
    return theirs.CheckVersion(part.path, part.version) if isinstance(part, ours.Check) else operation_of(part)


def _text(part: Any, result: Any) -> str:
    match part:
        case theirs.Create(path, data, ephemeral):
            made = result.path if isinstance(result, theirs.Created) else path
            return f"create[{'E' if ephemeral else 'P'}] {made} {data.decode() or 'null'}"
        case theirs.SetData(path, data, version):
            return f"set {path} v{result.version if result is not None else version + 1} {data.decode()}"
        case theirs.Delete(path):
            return f"delete {path}"
        case theirs.CheckVersion(path, version):
            return f"check {path} v{version + 1}"
        case _:
            raise AssertionError(part)
