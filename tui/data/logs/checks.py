"""Which segments are known to be whole, and what is wrong with the others: every batch's length, CRC and magic.

A check goes on where the last one stopped. A file that changed is read anew; of a large one that only grew, what was
appended is.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from model.log.dump.log_damage import damaged_headers
from model.log.records import Damage, DamageKind, RecordBatch, SegmentFile
from model.log.records.windows import BatchWindow, batch_windows

MOST_KEPT = 20_000
SMALL = 4 << 20
"""Bytes of a file that costs little to be read again."""
MOST_TOLD = 20
"""Batches with damaged headers that are told one by one, by kind of damage; all are counted."""


class BadHeaders(msgspec.Struct, frozen=True):
    """Batches whose headers are damaged in one way."""

    count: int
    first: tuple[tuple[int, int], ...]
    """(position, base offset) of the first of them."""
    cause: str
    """What is wrong with the very first."""


def with_header(
    headers: Mapping[DamageKind, BadHeaders], batch: RecordBatch, damage: Damage
) -> Mapping[DamageKind, BadHeaders]:
    """The same, and one more."""
    old = headers.get(damage.kind, BadHeaders(0, (), damage.cause))
    first = (*old.first, (batch.position, batch.base_offset))[:MOST_TOLD]
    return {**headers, damage.kind: BadHeaders(old.count + 1, first, old.cause)}


class Check(msgspec.Struct, frozen=True):
    """What is known of one segment's batches up to `position`, in bytes."""

    stamp: tuple[int, int, int]
    """The file when it was read: inode, size in bytes, time of the last change in ns."""
    position: int = 0
    batches: int = 0
    headers: Mapping[DamageKind, BadHeaders] = {}
    """What is wrong with headers, though what follows can be read."""
    damage: Damage | None = None
    """Why nothing after `position` can be read."""

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.stamp[1]

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to be read."""
        return self.damage is not None or self.position >= self.size

    @property
    def is_damaged(self) -> bool:
        """Whether anything is wrong."""
        return self.damage is not None or bool(self.headers)


class SegmentChecks:
    """Used by one thread at a time."""

    def __init__(self) -> None:
        self._known: dict[Path, Check] = {}

    def known(self, path: Path) -> Check | None:
        """What was found out so far, true or not by now."""
        return self._known.get(path)

    def check(self, path: Path, most_bytes: int) -> tuple[Check, int]:
        """Reads on, about `most_bytes` at most; what is known now, and how many bytes it took. Raises OSError."""
        stamp = _stamp(path)
        before = self._known.pop(path, None)
        now = Check(stamp) if before is None else _gone_on(before, stamp)
        start = now.position
        if not now.is_done and most_bytes > 0:
            with SegmentFile(path) as file:
                now = _read_on(file, now, start + most_bytes)
        self._known[path] = now
        if len(self._known) > MOST_KEPT:
            del self._known[next(iter(self._known))]
        return now, now.position - start


def _stamp(path: Path) -> tuple[int, int, int]:
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns


def _gone_on(before: Check, stamp: tuple[int, int, int]) -> Check:
    """What still holds: all, where nothing changed; what was read, where the file only grew."""
    if before.stamp == stamp:
        return before
    if before.stamp[0] == stamp[0] and stamp[1] > before.size > SMALL:
        return msgspec.structs.replace(before, stamp=stamp, damage=None)
    return Check(stamp)


def _read_on(file: SegmentFile, check: Check, until: int) -> Check:
    batches, headers, position = check.batches, check.headers, check.position
    damage = None
    for found in batch_windows(file, check.position):
        if isinstance(found, Damage):
            damage = found
            break
        is_window = isinstance(found, BatchWindow)
        batches += len(found) if is_window else 1
        position = (found.batch(len(found) - 1) if is_window else found).end
        for batch, wrong in damaged_headers(file, found):
            headers = with_header(headers, batch, wrong)
        if position >= until:
            break
    return Check(check.stamp, position, batches, headers, damage)
