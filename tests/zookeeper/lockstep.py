"""A real server and one in memory, made to do the same, and compared after every step.

They agree when every reply, every event and their order in each session are the same, zxids included; only the
ids of sessions differ, and the times of znodes, which are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any, Self

from msgspec import Struct, structs

from model.hosts.memory_zookeeper.state import Planted
from model.hosts.memory_zookeeper.tree import read
from model.sandbox.java import find_java
from model.zookeeper import Create, Delete, Exists, GetChildren, GetData, Operation, Read, SetWatches, Stat
from tests.harness.planted_zookeeper import planted_server
from tests.harness.waiting import eventually
from tests.zookeeper.memory_zookeeper import MemorySession, MemoryZooKeeper
from tests.zookeeper.raw_session import RawSession

ROOT = "/both"
"""Everything happens under it: the real server outlives many comparisons."""


class Lockstep:
    """Two servers with an empty root. Nobody else may write to the real one meanwhile."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._java_has_the_order = find_java().feature < 19  # see closing_order.py
        self._observer = RawSession(port)
        remove(self._observer, ROOT)
        zxid = self._observer.ask(Create(ROOT)).zxid
        self.memory = MemoryZooKeeper(lambda: 0, planted_server({ROOT: Planted(czxid=zxid)}, zxid=zxid))
        self._pairs: list[tuple[RawSession, MemorySession]] = []
        self._ids = {0: 0}

    def __len__(self) -> int:
        """How many sessions are open."""
        return len(self._pairs)

    def open(self) -> None:
        real, memory = RawSession(self._port), self.memory.open()
        self._ids[real.id] = memory.id
        self._pairs.append((real, memory))

    def ask(self, number: int, operation: Operation) -> None:
        real, memory = self._pairs[number]
        real.ask(operation)
        memory.ask(operation)
        self._compare(number)

    def close(self, number: int) -> None:
        real, memory = self._pairs[number]
        real.close()
        memory.close()
        self._compare(number)
        del self._pairs[number]

    def expire(self, number: int) -> None:
        real, memory = self._pairs.pop(number)
        before = self._zxid()
        real.vanish()
        self.memory.expire(memory.id)
        eventually(lambda: self._zxid() > before)

    def reconnect(self, number: int, again: SetWatches) -> None:
        """Lose a session's connection, get another one, and set watches again."""
        self.ask(number, Exists(ROOT))  # nothing is on its way any more
        real, memory = self._pairs[number]
        real.reconnect()
        self.memory.disconnect(memory.id)
        self.ask(number, again)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Compare all that was not compared yet, whole trees too; end every session."""
        if kind is None:
            for number in range(len(self)):
                self.ask(number, Exists(ROOT))
            state, ids = self.memory.state, self._ids
            there = dict(tree(lambda one: normal(self._observer.ask(one).answer, ids)))
            assert there == dict(tree(lambda one: normal(read(state.tree, one))))
        for pair in self._pairs:
            pair[0].close()
        self._observer.close()

    def _compare(self, number: int) -> None:
        real, memory = self._pairs[number]
        seen = [normal(message, self._ids) for message in real.take()]
        expected = [normal(message) for message in memory.take()]
        if not self._java_has_the_order:
            seen, expected = by_transaction(seen), by_transaction(expected)
        assert seen == expected

    def _zxid(self) -> int:
        return self._observer.ask(Exists(ROOT)).zxid


def by_transaction(messages: list[Any]) -> list[Any]:
    """The messages, those about one transaction in an order of their own."""
    return [one for _, some in groupby(messages, lambda message: message.zxid) for one in sorted(some, key=repr)]


def normal(value: Any, ids: Mapping[int, int] | None = None) -> Any:
    """The value without times, and with the ids of memory's sessions."""
    if isinstance(value, tuple):
        return tuple(normal(one, ids) for one in value)
    if isinstance(value, Stat):
        owner = value.ephemeral_owner
        return structs.replace(value, ctime_ms=0, mtime_ms=0, ephemeral_owner=ids[owner] if ids else owner)
    if isinstance(value, Struct):
        return type(value)(*(normal(getattr(value, field), ids) for field in value.__struct_fields__))
    return value


def tree(answer: Callable[[Read], Any], path: str = ROOT) -> Iterator[tuple[str, Any]]:
    """What reads answer about every znode from this one down."""
    children = answer(GetChildren(path))
    yield path, (answer(GetData(path)), children)
    for name in children.names:
        yield from tree(answer, f"{path}/{name}")


def remove(session: RawSession, path: str) -> None:
    """Delete a znode and all below, if it is there."""
    children = session.ask(GetChildren(path)).answer
    if children.ok:
        for name in children.names:
            remove(session, f"{path}/{name}")
        session.ask(Delete(path))
