"""Segments on this machine: whether they are whole, a page of their batches, a batch's records; and how that is worded.

A check reads every batch's length and CRC, and goes on where the last one stopped. A file that changed is read anew; of
a large one that only grew, what was appended is. A page has so many batches or records at most, however
large the file.

Keys of rows: a partition folder, then a segment of it, a batch in that, a record in that; tabs between them. A path may
hold anything, tabs as well; so keys are taken apart from their end, where there are only numbers.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from model.analyses.scans.findings import MEANINGS, ZERO_TAIL
from model.log.dump.salvage import damaged_headers
from model.log.records import Damage, DamageKind, Record, RecordBatch, SegmentFile, crc_holds, records_of, scan
from model.log.records.scan import BatchWindow, batch_windows
from tui.engine.rows import Span, span
from tui.engine.sheets import Sheet, clock_text, date_text


def path_key(path: str) -> str:
    """A path as a key. Names that are no UTF-8 become readable, and lead nowhere."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def key_of(path: str, *numbers: int) -> str:
    """A segment's base offset, a batch's position in bytes, a record's offset; as many as are known."""
    return "\t".join((path, *map(str, numbers)))


def parts_of(key: str, count: int) -> tuple[str, tuple[int, ...]] | None:
    """The path and `count` numbers; None for what is no such key."""
    parts = key.rsplit("\t", count)
    try:
        numbers = tuple(int(part) for part in parts[1:])
    except ValueError:
        return None
    return (parts[0], numbers) if len(numbers) == count and parts[0] else None


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


class SegmentCheck(msgspec.Struct, frozen=True):
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
        self._known: dict[Path, SegmentCheck] = {}

    def known(self, path: Path) -> SegmentCheck | None:
        """What was found out so far, true or not by now."""
        return self._known.get(path)

    def check(self, path: Path, most_bytes: int) -> tuple[SegmentCheck, int]:
        """Reads on, about `most_bytes` at most; what is known now, and how many bytes it took. Raises OSError."""
        stamp = _stamp(path)
        before = self._known.pop(path, None)
        now = SegmentCheck(stamp) if before is None else _gone_on(before, stamp)
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


def _gone_on(before: SegmentCheck, stamp: tuple[int, int, int]) -> SegmentCheck:
    """What still holds: all, where nothing changed; what was read, where the file only grew."""
    if before.stamp == stamp:
        return before
    if before.stamp[0] == stamp[0] and stamp[1] > before.size > SMALL:
        return msgspec.structs.replace(before, stamp=stamp, damage=None)
    return SegmentCheck(stamp)


def _read_on(file: SegmentFile, check: SegmentCheck, until: int) -> SegmentCheck:
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
    return SegmentCheck(check.stamp, position, batches, headers, damage)


MOST_BATCHES = 2_000
MOST_BYTES = 16 << 20
MOST_RECORDS = 2_000


class BatchPage(msgspec.Struct, frozen=True):
    """Batches from `start` on, in bytes. `after`: where the next page begins; None at the end."""

    start: int
    size: int
    """Bytes of the file when it was read."""
    batches: tuple[RecordBatch, ...] = ()
    damaged: Mapping[int, tuple[DamageKind, ...]] = {}
    """Position of a batch → what is wrong with its header."""
    damage: Damage | None = None
    after: int | None = None


class RecordPage(msgspec.Struct, frozen=True):
    """The first records of a batch. `batch` None: there is none at that place any more."""

    batch: RecordBatch | None = None
    records: tuple[Record, ...] = ()
    damage: Damage | None = None
    is_cut: bool = False
    crc_valid: bool = True


def batch_page(path: Path, start: int, most: int = MOST_BATCHES) -> BatchPage:
    """The page that begins at a batch's position. Raises OSError."""
    batches: list[RecordBatch] = []
    damaged: dict[int, tuple[DamageKind, ...]] = {}
    damage = None
    with SegmentFile(path) as file:
        for found in batch_windows(file, start):
            if isinstance(found, Damage):
                damage = found
                break
            batches += map(found.batch, range(len(found))) if isinstance(found, BatchWindow) else [found]
            for batch, wrong in damaged_headers(file, found):
                damaged[batch.position] = (*damaged.get(batch.position, ()), wrong.kind)
            if len(batches) >= most or batches[-1].end - start >= MOST_BYTES:
                break
        shown = tuple(batches[:most])
        end = shown[-1].end if shown else start
        is_cut = len(batches) > most or (damage is None and end < file.size)
        return BatchPage(start, file.size, shown, damaged, None if is_cut else damage, end if is_cut else None)


def record_page(path: Path, position: int) -> RecordPage:
    """The records of the batch at a position. Raises OSError."""
    with SegmentFile(path) as file:
        batch = next(scan(file, position), None)
        if not isinstance(batch, RecordBatch):
            return RecordPage()
        records: list[Record] = []
        damage = None
        for found in records_of(file, batch, MOST_BYTES):
            if isinstance(found, Damage):
                damage = found
            elif len(records) == MOST_RECORDS:
                return RecordPage(batch, tuple(records), is_cut=True, crc_valid=crc_holds(file, batch))
            else:
                records.append(found)
        return RecordPage(batch, tuple(records), damage, crc_valid=crc_holds(file, batch))


_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
HOLDS = "CRCs hold"
BAD_HEADERS = {DamageKind.BAD_CRC: "bad CRC", DamageKind.UNKNOWN_MAGIC: "bad magic"}
"""Kinds of damage that leave what follows readable, in a word or two."""
_UNDER_WAY = "In the newest segment of a running broker it may also be a write that is under way: r looks again."


def size_text(number: int) -> str:
    """`812 B`, `1.5 MiB`."""
    return next((f"{number / length:,.1f} {unit}" for unit, length in _UNITS if number >= length), f"{number} B")


def bytes_as_text(data: bytes | None, most: int = 200) -> str:
    """A key or value to be read: UTF-8, other bytes as escapes; `null` where there is none."""
    if data is None:
        return "null"
    return data[:most].decode("utf-8", "backslashreplace") + ("…" if len(data) > most else "")


def verdict(checks: Sequence[SegmentCheck], segments: int) -> tuple[str, Span]:
    """Mark and words for segments of which this is known."""
    wrong = Counter[DamageKind]()
    for each in checks:
        wrong.update({kind: bad.count for kind, bad in each.headers.items()})
    damages = [each.damage for each in checks if each.damage is not None]
    if wrong:
        kind, count = wrong.most_common(1)[0]
        return "X", span(f"{count:,} {BAD_HEADERS[kind]}", "error")
    if damages:
        is_zero = all(damage.kind is DamageKind.ZEROS for damage in damages)
        return ("~", span("zeros at end", "warn")) if is_zero else ("X", span(f"{damages[0].kind} end", "error"))
    if len(checks) == segments and all(each.is_done for each in checks):
        return "", span(HOLDS, "ok") if any(each.batches for each in checks) else span("empty", "dim")
    return "", span("not checked" if not checks else "partly checked", "dim")


def tell_damage(sheet: Sheet, check: SegmentCheck | None, *, is_active: bool) -> None:
    """What is wrong with a segment, what it means and what to do; or that nothing is."""
    if check is None or not (check.is_done or check.is_damaged):
        read = 0 if check is None else check.position
        sheet.fact("checked", f"{size_text(read)} so far; kdrill scan checks all", "dim")
    elif not check.is_damaged:
        batches = counted(check.batches, "batch", "batches")
        sheet.fact("checked", f"{batches}: lengths and CRCs hold; kdrill scan looks into records and indexes", "ok")
    if check is None:
        return
    for kind, bad in check.headers.items():
        first = ", ".join(f"at byte {position:,} (offset {offset:,})" for position, offset in bad.first[:3])
        cause = "" if kind is DamageKind.BAD_CRC else f": {bad.cause}"
        sheet.fact(BAD_HEADERS[kind], f"{counted(bad.count, 'batch', 'batches')}, {first}{cause}", "error")
        sheet.say(MEANINGS[kind])
    if check.damage is not None:
        tell_end(sheet, check.damage.position, check.damage.kind, check.damage.cause, is_active=is_active)


def tell_end(sheet: Sheet, position: int, kind: DamageKind, cause: str, *, is_active: bool) -> None:
    """Why nothing can be read from a position on."""
    is_room = kind is DamageKind.ZEROS and is_active
    sheet.fact("damage", f"at byte {position:,}: {cause}", "warn" if is_room else "error")
    sheet.say(MEANINGS[ZERO_TAIL if is_room else kind])
    if is_active and kind in (DamageKind.TORN, DamageKind.TRUNCATED):
        sheet.say(_UNDER_WAY, "dim")


def when(at_ms: int) -> str:
    """`2026-03-01 12:03:58.412Z`."""
    return f"{date_text(at_ms)[:10]} {clock_text(at_ms)}Z" if at_ms > 0 else "no time"


def counted(number: int, one: str, many: str = "") -> str:
    """`1 batch`, `3 batches`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(texts: Iterable[str], most: int = 12) -> str:
    """The first of some texts, commas between them."""
    every = list(texts)
    return ", ".join(every[:most]) + (f" and {len(every) - most:,} more" if len(every) > most else "")
