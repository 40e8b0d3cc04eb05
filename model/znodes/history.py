"""What znodes were: the values seen of each, within bounds; who wrote a partition's state; where two payloads differ.

Values are kept without secrets: what is hidden on a screen is not here either. A history has one caller at a time.

Only controllers raise `leader_epoch` (`kafka.controller.PartitionStateMachine`, `ReplicaStateMachine`): at an
election, and for every replica that leaves the ISR because it is offline. A change of the ISR that keeps
`leader_epoch` is the leader's own (`kafka.cluster.Partition`); who puts it into ZooKeeper depends on
inter.broker.protocol.version (KIP-497). What is not certain is not said.

JSON differs field by field, other payloads by lines, else by bytes. A JSON list is one value: an ISR is read as a
whole. Numbers and texts that only look alike are different.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, cast

import msgspec

from model.znodes.cluster import ControllerEpoch, ControllerRegistration
from model.znodes.codec import decode, redact
from model.znodes.topics import LeaderIsrAndControllerEpoch

PATH_VERSIONS = 64
"""Values kept of one path."""

PATH_BYTES = 2 * 1024 * 1024
"""Bytes kept of one path; the newest value is kept whatever its size."""

TOTAL_BYTES = 16 * 1024 * 1024
"""Bytes kept of all paths together."""

OVERHEAD_BYTES = 256
"""What a value is counted for besides its data."""


class Version(msgspec.Struct, frozen=True, gc=False):
    """A value of a znode. `at_ms` is when it was written, or when it was noticed that the znode is gone.

    `data` is None where it is gone; then the other numbers are those of the value before.
    """

    at_ms: int
    version: int
    """ZooKeeper's data version: grows by one with every write, and begins at 0."""
    mzxid: int
    czxid: int
    data: bytes | None

    @property
    def is_created(self) -> bool:
        """Whether the transaction that wrote this value created the znode."""
        return self.data is not None and self.mzxid == self.czxid

    @property
    def size(self) -> int:
        """What it is counted for, in bytes."""
        return OVERHEAD_BYTES + len(self.data or b"")


class ZnodeHistory:
    """Values by path. Where the bound in all is reached, the path that changed longest ago loses its oldest value."""

    def __init__(self, total_bytes: int = TOTAL_BYTES) -> None:
        self._total_bytes = total_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, tuple[Version, ...]] = OrderedDict()

    def of(self, path: str) -> tuple[Version, ...]:
        """The values of a znode, oldest first; none where none was seen, or all had to make room."""
        return self._kept.get(path, ())

    @property
    def bytes(self) -> int:
        """What all values are counted for; never above the bound."""
        return self._bytes

    def has_room(self, path: str, data_bytes: int) -> bool:
        """Whether the next value of this path is the next of some, or pushes nothing out."""
        return path in self._kept or self._bytes + OVERHEAD_BYTES + data_bytes <= self._total_bytes

    def worth_seeing(self, paths: Sequence[str]) -> Sequence[int]:
        """Which of many paths, that only stand there, may have room: all, or in the end those that are known."""
        if self._bytes + OVERHEAD_BYTES + self._total_bytes // 64 <= self._total_bytes:
            return range(len(paths))
        return [row for row, path in enumerate(paths) if path in self._kept]

    def see(self, path: str, version: Version) -> None:
        """A value that is news, or was seen before, or is older than what is known; the last two change nothing."""
        kept = self._kept.get(path, ())
        if kept and version.mzxid <= kept[-1].mzxid:
            return
        self._append(path, kept, msgspec.structs.replace(version, data=redact(path, version.data or b"")))

    def miss(self, path: str, at_ms: int) -> None:
        """The znode is gone; nothing where nothing was known of it."""
        kept = self._kept.get(path, ())
        if kept and kept[-1].data is not None:
            self._append(path, kept, msgspec.structs.replace(kept[-1], at_ms=at_ms, data=None))

    def forget(self) -> None:
        """All of it: what comes is of another cluster, or of another life of this one."""
        self._kept.clear()
        self._bytes = 0

    def _append(self, path: str, kept: tuple[Version, ...], version: Version) -> None:
        self._kept[path] = (*kept, version)
        self._kept.move_to_end(path)
        self._bytes += version.size
        of_path = sum(one.size for one in self._kept[path])
        while len(self._kept[path]) > PATH_VERSIONS or (of_path > PATH_BYTES and len(self._kept[path]) > 1):
            of_path -= self._drop_oldest(path)
        while self._bytes > self._total_bytes:
            self._drop_oldest(next(iter(self._kept)))

    def _drop_oldest(self, path: str) -> int:
        first, *rest = self._kept[path]
        self._bytes -= first.size
        if rest:
            self._kept[path] = tuple(rest)
        else:
            del self._kept[path]
        return first.size


BY_LEADER = (
    "The ISR is as leader {leader} wants it: leader_epoch stayed. Before inter.broker.protocol.version 2.7-IV2 "
    "the leader writes it itself, from then on the controller does, asked by AlterPartition."
)
RECOVERED = "Leader {leader} told the controller that it recovered from an unclean election (AlterPartition)."
CREATED = "The controller of epoch {controller} wrote this: only controllers create partition states."
RAISED = "The controller of epoch {controller} wrote this: only controllers raise leader_epoch."


NOBODY_KNOWN: Mapping[int, int] = {}


def controllers_of(elected: Iterable[Version], epochs: Iterable[Version]) -> Mapping[int, int]:
    """Controller epoch → broker, from values of `/controller` and `/controller_epoch`.

    Known from 2.1 on only: since then one transaction writes both (KAFKA-6082).
    """
    payloads = ((one.mzxid, decode("/controller_epoch", one.data)) for one in epochs if one.data is not None)
    epoch_of = {mzxid: payload.epoch for mzxid, payload in payloads if isinstance(payload, ControllerEpoch)}
    brokers = ((one.mzxid, decode("/controller", one.data)) for one in elected if one.is_created)
    return {
        epoch_of[mzxid]: payload.broker_id
        for mzxid, payload in brokers
        if mzxid in epoch_of and isinstance(payload, ControllerRegistration)
    }


def state_writer(
    path: str, before: Version | None, after: Version, controllers: Mapping[int, int] = NOBODY_KNOWN
) -> str:
    """A sentence, or nothing where it cannot be told: no two states in a row, or another kind of znode.

    `controllers` as `controllers_of` has them; it names the brokers of those.
    """
    state = _state(path, after)
    if state is None:
        return ""
    broker = controllers.get(state.controller_epoch)
    controller = f"{state.controller_epoch}" + ("" if broker is None else f" (broker {broker})")
    if after.is_created:
        return CREATED.format(controller=controller)
    known = None if before is None else _state(path, before)
    if before is None or known is None or before.czxid != after.czxid or before.version + 1 != after.version:
        return ""
    if state.leader_epoch > known.leader_epoch:
        return RAISED.format(controller=controller)
    if state.leader_epoch < known.leader_epoch or state.leader != known.leader or state.leader < 0:
        return ""
    if state.isr != known.isr:
        return BY_LEADER.format(leader=state.leader)
    return RECOVERED.format(leader=state.leader) if state.leader_recovery_state < known.leader_recovery_state else ""


def _state(path: str, version: Version) -> LeaderIsrAndControllerEpoch | None:
    payload = decode(path, version.data) if version.data is not None else None
    return payload if isinstance(payload, LeaderIsrAndControllerEpoch) else None


class Absent(Enum):
    """What stands for a field that is not there; JSON's null is another thing."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


class ValueDifference(msgspec.Struct, frozen=True):
    """One place and its values. `where` are the keys from the outside in; empty: the payload itself.

    Values are JSON as Python has it, or ABSENT.
    """

    where: tuple[str, ...]
    before: Any
    after: Any


def differences(before: bytes, after: bytes) -> tuple[ValueDifference, ...]:
    """How to get from one payload to the other; empty where they say the same. Never raises."""
    if before == after:
        return ()
    try:
        return tuple(_between((), msgspec.json.decode(before), msgspec.json.decode(after)))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _of_text(before, after)


def difference_text(difference: ValueDifference) -> str:
    """A difference in a line: `isr 1,2,3 -> 2,3`; of lists of objects, only what went and what came."""
    before, after = difference.before, difference.after
    place = ".".join(difference.where) + (" " if difference.where else "")
    if isinstance(before, list) and isinstance(after, list):
        old, new = cast(list[Any], before), cast(list[Any], after)
        if any(isinstance(item, dict | list) for item in (*old, *new)):
            return place + _items(old, new)
    is_text = isinstance(before, str | Absent) and isinstance(after, str | Absent)
    if before is ABSENT:
        return f"{place}{_value(after, is_text)} is new"
    if after is ABSENT:
        return f"{place}{_value(before, is_text)} is gone"
    return f"{place}{_value(before, is_text)} -> {_value(after, is_text)}"


def _between(where: tuple[str, ...], before: Any, after: Any) -> list[ValueDifference]:
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = cast(dict[str, Any], before), cast(dict[str, Any], after)
        return [
            found
            for key in dict.fromkeys((*new, *old))
            for found in _between((*where, key), old.get(key, ABSENT), new.get(key, ABSENT))
        ]
    is_same = before is after or (ABSENT not in (before, after) and _json(before) == _json(after))
    return [] if is_same else [ValueDifference(where, before, after)]


def _of_text(before: bytes, after: bytes) -> tuple[ValueDifference, ...]:
    try:
        return (_middle("line", before.decode().split("\n"), after.decode().split("\n"), "\n".join),)
    except UnicodeDecodeError:
        return (_middle("byte", before, after, lambda part: bytes(part).hex(" ")),)


def _middle(unit: str, before: Sequence[Any], after: Sequence[Any], joined: Callable[[Any], str]) -> ValueDifference:
    """What lies between the parts that both begin with and those that both end with."""
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    most = shorter - start
    end = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    where = (f"from {unit} {start + 1}",) if max(len(before), len(after)) > 1 else ()
    return ValueDifference(where, joined(old) if old else ABSENT, joined(new) if new else ABSENT)


def _items(before: list[Any], after: list[Any]) -> str:
    old, new = (Counter(map(_json, items)) for items in (before, after))
    signed = [*(f"- {item}" for item in (old - new).elements()), *(f"+ {item}" for item in (new - old).elements())]
    return ", ".join(signed) or "in another order"


def _value(value: Any, is_text: bool) -> str:
    if is_text and isinstance(value, str) and value:
        return value
    if isinstance(value, list) and value and all(type(item) is int for item in cast(list[Any], value)):
        return ",".join(map(str, cast(list[int], value)))
    return _json(value)


def _json(value: Any) -> str:
    """Compact, with keys in order: the same text is the same value."""
    return msgspec.json.encode(value, order="sorted").decode()
