"""Transactions and requests in the words of the golden traces. Translation only."""

from __future__ import annotations

from model.zookeeper import (
    Answer,
    Check,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Multi,
    SetData,
    Write,
    ZooKeeperRequest,
)

READS = {GetData: "read", Exists: "exists", GetChildren: "children"}


def words_of(request: ZooKeeperRequest) -> str:
    """What a controller asks of ZooKeeper; reads by their names."""
    match request:
        case Multi(parts):
            return f"multi{{{' ; '.join(_text(part, None) for part in parts)}}}"
        case GetData() | Exists() | GetChildren():
            return f"{READS[type(request)]} {request.path}{' and watch' if request.watch else ''}"
        case _:
            return _text(request, None)


def transaction(operation: Write | Multi, answer: Answer) -> str:
    """A write as the decoder of the golden traces prints it."""
    match operation:
        case Multi(parts) if answer.ok:
            return f"multi{{{' ; '.join(_text(part, each) for part, each in zip(parts, answer.parts, strict=True))}}}"
        case Multi(parts) if answer.parts:
            texts = (
                _text(part, None) if each.ok else f"error {int(each.code)}"
                for part, each in zip(parts, answer.parts, strict=True)
            )
            return f"multi{{{' ; '.join(texts)}}}"
        case Create() | SetData() | Delete() if answer.ok:
            return _text(operation, answer)
        case _:
            return f"error {int(answer.code)}"


def _text(part: Write | Check, answer: Answer | None) -> str:
    match part:
        case Create(path, data, ephemeral):
            made = answer.path if answer is not None else path
            return f"create[{'E' if ephemeral else 'P'}] {made} {data.decode() or 'null'}"
        case SetData(path, data, version):
            return f"set {path} v{answer.version if answer is not None else version + 1} {data.decode()}"
        case Delete(path):
            return f"delete {path}"
        case Check(path, version):
            return f"check {path} v{version + 1}"
