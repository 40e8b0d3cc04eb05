"""Which segments are known to be whole, and what is wrong with the others: every batch's length and CRC.

A check goes on where the last one stopped. A file that changed is read anew; of a large one that only grew, what was
appended is.
"""

import os
from pathlib import Path

import msgspec

from model.log.records import Damage, RecordBatch, SegmentFile, crc_holds
from model.log.records.windows import BatchWindow, batch_windows

MOST_KEPT = 20_000
SMALL = 4 << 20
"""Bytes of a file that costs little to be read again."""
MOST_TOLD = 20
"""Batches whose CRC does not hold that are told one by one; all are counted."""


class Check(msgspec.Struct, frozen=True):
    """What is known of one segment's batches up to `position`, in bytes."""

    stamp: tuple[int, int, int]
    """The file when it was read: inode, size in bytes, time of the last change in ns."""
    position: int = 0
    batches: int = 0
    invalid: int = 0
    """Batches whose CRC does not hold."""
    worst: tuple[tuple[int, int], ...] = ()
    """(position, base offset) of the first of these."""
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
        return self.damage is not None or self.invalid > 0


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
    batches, invalid, worst, position = check.batches, check.invalid, list(check.worst), check.position
    damage = None
    for found in batch_windows(file, check.position):
        if isinstance(found, Damage):
            damage = found
            break
        bad: list[RecordBatch] = []
        if isinstance(found, BatchWindow):
            batches += len(found)
            bad = [found.batch(index) for index, holds in enumerate(found.crc_valid) if not holds]
            position = found.batch(len(found) - 1).end
        else:
            batches, position = batches + 1, found.end
            bad = [] if crc_holds(file, found) else [found]
        invalid += len(bad)
        worst += [(each.position, each.base_offset) for each in bad[: MOST_TOLD - len(worst)]]
        if position >= until:
            break
    return Check(check.stamp, position, batches, invalid, tuple(worst), damage)
