"""Ways in which a ZooKeeper may lie, each with what a command must say of it."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.zookeeper.lying_zookeeper import (
    CONNECT,
    EXISTS,
    FIRST_ZXID,
    GET_CHILDREN,
    GET_DATA,
    MULTI_READ,
    STATE,
    SYNC,
    TREE,
    Asked,
    Lie,
    LyingZooKeeper,
    Reply,
    Tree,
    buffer,
    framed,
    stat,
    truth,
)

AUTH_FAILED, NO_AUTH, SESSION_EXPIRED = -115, -102, -112
TOPICS = "/brokers/topics"
STATES = "/brokers/topics/orders/partitions"
HUGE = 2_000_000_000
LARGE = 40_000_000
_PIECE = bytes(1 << 20)
_END = struct.pack("!i?i", -1, True, -1)


@dataclass(frozen=True)
class Way:
    """A lie, and what comes of it: words of the one line that is said, or else a picture."""

    lie: Lie = truth
    says: tuple[str, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of a picture: the paths that could not be used, and a word of the reason."""
    tree: Callable[[], Tree] = Tree
    is_old: bool = False
    timeout_s: float = 60.0
    """Short where only the deadline ends it."""


def _lists(asked: Asked) -> bool:
    return TOPICS in asked.paths and asked.opcode in (MULTI_READ, GET_CHILDREN)


def _reads_states(asked: Asked) -> bool:
    return f"{STATES}/0/state" in asked.paths


def instead(lies: Callable[[Asked], bool], told: Callable[[Reply], bytes]) -> Lie:
    """Something else is sent where `lies` says so."""

    def lie(asked: Asked, reply: Reply) -> Iterable[bytes]:
        yield told(reply) if lies(asked) else reply.frame()

    return lie


def _greets(asked: Asked) -> bool:
    return asked.opcode == CONNECT


def closes_after_each_answer(asked: Asked, reply: Reply) -> Iterable[bytes]:
    yield reply.frame()
    if asked.opcode != CONNECT:
        raise ConnectionAbortedError


def closes_in_mid_answer(asked: Asked, reply: Reply) -> Iterable[bytes]:
    frame = reply.frame()
    yield frame[: len(frame) // 2] if _lists(asked) else frame
    if _lists(asked):
        raise ConnectionAbortedError


def closes_without_a_word(_asked: Asked, _reply: Reply) -> Iterable[bytes]:
    raise ConnectionAbortedError


def goes_back(asked: Asked, reply: Reply) -> Iterable[bytes]:
    """Each connection knows less than the one before, and breaks before everything is read."""
    yield replace(reply, zxid=reply.zxid - asked.connection).frame()
    if asked.opcode == SYNC:
        raise ConnectionAbortedError


def silent_where(lies: Callable[[Asked], bool]) -> Lie:
    def lie(asked: Asked, reply: Reply) -> Iterable[bytes]:
        if not lies(asked):
            yield reply.frame()

    return lie


def drips(asked: Asked, reply: Reply) -> Iterator[bytes]:
    """A byte each 50 ms."""
    frame = reply.frame()
    if not _lists(asked):
        yield frame
        return
    for byte in frame:
        time.sleep(0.05)
        yield bytes([byte])


def pings_for_ever(asked: Asked, reply: Reply) -> Iterator[bytes]:
    """Answers the listing by what answers a ping, for so long that only a deadline ends it."""
    if not _lists(asked):
        yield reply.frame()
        return
    for _ in range(600):
        time.sleep(0.05)
        yield Reply(-2, FIRST_ZXID).frame()


def floods_with_events(asked: Asked, reply: Reply) -> Iterator[bytes]:
    yield reply.frame()
    if asked.opcode != CONNECT:
        for path in (b"/brokers/topics/\x1b[31m", b"", b"no path", b"/" + b"a/" * 500):
            yield Reply(-1, -1, 0, struct.pack("!ii", 3, 3) + buffer(path)).frame() * 20


def garbage_before_each(asked: Asked, reply: Reply) -> Iterator[bytes]:
    if _lists(asked):
        yield b"\x7f" * 1_000
    yield reply.frame()


def _many(items: bytes) -> Callable[[Reply], bytes]:
    return lambda reply: reply.with_body(items + _END).frame()


def _names(count: int) -> Callable[[Reply], bytes]:
    return _many(struct.pack("!i?ii", 8, False, 0, count) + bytes(16))


def _one_name(length: int) -> Callable[[Reply], bytes]:
    return _many(struct.pack("!i?iii", 8, False, 0, 1, length) + bytes(16))


def _data(length: int) -> Callable[[Reply], bytes]:
    return _many(struct.pack("!i?ii", 4, False, 0, length) + stat(FIRST_ZXID))


def large_payloads(asked: Asked, reply: Reply) -> Iterator[bytes]:
    """40 MB for each state, in pieces: so much is never there at once."""
    states = [path for path in asked.paths if path.endswith("/state")]
    if not states or asked.opcode not in (MULTI_READ, GET_DATA):
        yield reply.frame()
        return
    if asked.opcode == GET_DATA:
        head = struct.pack("!iqi", reply.xid, reply.zxid, 0)
        yield struct.pack("!i", len(head) + 4 + LARGE + 68) + head
        yield from _large(b"")
        return
    others = [path for path in asked.paths if path not in states]
    item = struct.pack("!i?i", 4, False, 0)
    first = b"".join(item + buffer(TREE[path]) + stat(FIRST_ZXID) if path in TREE else _missing() for path in others)
    assert asked.paths == (*others, *states)
    head = struct.pack("!iqi", reply.xid, reply.zxid, 0) + first
    yield struct.pack("!i", len(head) + len(states) * (9 + 4 + LARGE + 68) + 9) + head
    for _ in states:
        yield from _large(item)
    yield _END


def _missing() -> bytes:
    return struct.pack("!i?ii", -1, False, -101, -101)


def _large(item: bytes) -> Iterator[bytes]:
    yield item + struct.pack("!i", LARGE)
    sent = 0
    while sent < LARGE:
        yield (piece := _PIECE[: LARGE - sent])
        sent += len(piece)
    yield stat(FIRST_ZXID, LARGE)


class HostileNames(Tree):
    """Names that are listed and not there, with control characters in them."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._hostile = [f"\x1b[31m{number:07}" + "\x01" * 38 for number in range(count)]

    def names(self, path: str) -> Sequence[str] | None:
        return [*self._hostile, "orders"] if path == TOPICS else super().names(path)


class Renamed(Tree):
    """Another list of topics."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self._renamed = names

    def names(self, path: str) -> Sequence[str] | None:
        return self._renamed if path == TOPICS else super().names(path)


def eight_states() -> Tree:
    numbers = ",".join(f'"{number}":[1]' for number in range(8))
    topic = {"/brokers/topics/orders": b'{"version":1,"partitions":{' + numbers.encode() + b"}}"}
    return Tree({**TREE, **topic, **{f"{STATES}/{number}/state": STATE for number in range(8)}})


_TOO_LARGE = {f"{STATES}/{number}/state": "too large to be Kafka's" for number in range(8)}
_THRICE = "(3 times the same)"

WAYS: Mapping[str, Way] = {
    "the truth": Way(),
    "the truth, before 3.6": Way(is_old=True),
    "closes after each answer": Way(closes_after_each_answer, ("nothing new", "times", "closed the con"), timeout_s=4),
    "closes after each answer, before 3.6": Way(
        closes_after_each_answer, ("nothing new", "times", "closed the con"), is_old=True, timeout_s=4
    ),
    "closes in mid answer": Way(
        closes_in_mid_answer, ("/brokers/ids and", "never read whole", "closed the con"), timeout_s=4
    ),
    "closes without a word": Way(closes_without_a_word, ("closed the connection",)),
    "is behind after each connection": Way(goes_back, ("knows less than it has told before",)),
    "does not greet": Way(silent_where(_greets), ("no answer",)),
    "does not answer the first read": Way(silent_where(lambda asked: asked.paths == ("/",)), ("no answer",)),
    "does not answer the listing": Way(silent_where(_lists), ("nothing new", "connected once"), timeout_s=4),
    "drips": Way(drips, ("nothing new", "connected once"), timeout_s=4),
    "pings for ever": Way(pings_for_ever, ("nothing new", "connected once"), timeout_s=4),
    "greets in HTTP": Way(
        instead(_greets, lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n"), ("garbled", "times the same")
    ),
    "greets by less than a greeting": Way(instead(_greets, lambda _: framed(b"abc")), ("invalid server response",)),
    "greets by a negative length": Way(instead(_greets, lambda _: struct.pack("!i", -5)), ("garbled", "-5 bytes")),
    "greets by 2 GiB": Way(instead(_greets, lambda _: struct.pack("!i", 0x7FFFFFFF)), ("garbled", "2147483647 bytes")),
    "gives no session": Way(
        instead(_greets, lambda _: framed(struct.pack("!iiqi", 0, 0, 0, 16) + bytes(17))), ("expired",)
    ),
    "refuses the login": Way(
        instead(lambda asked: asked.opcode == MULTI_READ, lambda reply: replace(reply, error=AUTH_FAILED).frame()),
        ("authentication failed",),
    ),
    "permits nothing": Way(
        instead(
            lambda asked: asked.opcode == GET_CHILDREN, lambda reply: replace(reply, error=NO_AUTH, body=b"").frame()
        ),
        ("no permission to read /",),
        is_old=True,
    ),
    "permits one znode less": Way(
        instead(
            lambda asked: asked.paths == ("/controller",), lambda reply: Reply(reply.xid, FIRST_ZXID, NO_AUTH).frame()
        ),
        unreadable={"/controller": "no permission"},
        is_old=True,
    ),
    "expires each session": Way(
        instead(_lists, lambda reply: replace(reply, error=SESSION_EXPIRED, body=b"").frame()), ("lost",), timeout_s=4
    ),
    "answers another request": Way(
        instead(_lists, lambda reply: replace(reply, xid=reply.xid + 1).frame()), ("garbled", _THRICE)
    ),
    "answers twice": Way(
        instead(lambda asked: asked.opcode not in (CONNECT, EXISTS), lambda reply: reply.frame() * 2),
        ("garbled", "times the same"),
    ),
    "a frame of negative length": Way(instead(_lists, lambda _: struct.pack("!i", -5)), ("garbled", "-5 bytes")),
    "a frame of 2 GiB": Way(instead(_lists, lambda _: struct.pack("!i", 0x7FFFFFFF)), ("garbled", "2147483647 bytes")),
    "garbage before an answer": Way(garbage_before_each, ("garbled", "times the same")),
    "promises more than it sends": Way(
        instead(_lists, lambda reply: struct.pack("!i", 60_000) + reply.frame()),
        ("nothing new", "connected once"),
        timeout_s=4,
    ),
    "an unknown error": Way(instead(_lists, lambda reply: replace(reply, error=-9999).frame()), ("garbled", _THRICE)),
    "an answer cut short": Way(
        instead(_lists, lambda reply: reply.with_body(reply.body[:20]).frame()), ("garbled", _THRICE)
    ),
    "answers to fewer questions": Way(instead(_lists, _many(b"")), ("garbled", _THRICE)),
    "-2,000,000,000 names": Way(instead(_lists, _names(-HUGE)), ("-2000000000 names announced", _THRICE)),
    "2,000,000,000 names": Way(instead(_lists, _names(HUGE)), ("2000000000 names announced", _THRICE)),
    "a name of -2,000,000,000 bytes": Way(instead(_lists, _one_name(-HUGE)), ("-2000000000 bytes", _THRICE)),
    "a name of 2,000,000,000 bytes": Way(instead(_lists, _one_name(HUGE)), ("2000000000 bytes", _THRICE)),
    "a name that is no text": Way(
        instead(_lists, _many(struct.pack("!i?ii", 8, False, 0, 1) + buffer(b"\xff\xfe"))), ("garbled", _THRICE)
    ),
    "data of -2,000,000,000 bytes": Way(instead(_reads_states, _data(-HUGE)), ("-2000000000 bytes", _THRICE)),
    "data of 2,000,000,000 bytes": Way(instead(_reads_states, _data(HUGE)), ("bytes announced", _THRICE)),
    "states of 40 MB": Way(large_payloads, unreadable=_TOO_LARGE, tree=eight_states),
    "states of 40 MB, before 3.6": Way(
        large_payloads, unreadable={path: _TOO_LARGE[path] for path in sorted(_TOO_LARGE)[:2]}, is_old=True
    ),
    "names that are not there": Way(tree=lambda: HostileNames(5_000)),
    "names that are no names": Way(
        tree=lambda: Renamed("", ".", "..", "a/b", "orders/partitions/0/state", "\0", "orders")
    ),
    "the same name again and again": Way(tree=lambda: Renamed(*["orders"] * 1_000)),
    "events of everything": Way(floods_with_events),
}


def served(way: Way) -> LyingZooKeeper:
    """To be entered."""
    return LyingZooKeeper(way.lie, way.tree(), is_old=way.is_old)
