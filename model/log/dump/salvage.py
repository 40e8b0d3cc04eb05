"""Goes on after damage: finds the next batch that can be trusted, where a length led nowhere or may be false.

What fails its checksum has a length to be trusted only if it leads to a sound entry. Only v2 batches are found: the CRC
of what looks like one has to hold. The work is bounded by the size of the file. What DumpLogSegments 3.9 says of such
damage is here, too.
"""

from collections.abc import Generator, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from model.log.records import ByteSource, Damage, DamageKind, RecordBatch
from model.log.records.batch import crc_holds, parse_batch
from model.log.records.layout import BATCH_SIZE, CURRENT_MAGIC, FRAME_SIZE, unknown_magic
from model.log.records.scan import WINDOW, BatchWindow, batch_windows, damage_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from model.log.records.columns import HeaderColumns

_PIECE = 1 << 20
_FIRST_PIECE = 1 << 12
_TRIES = 100_000
_HIGHEST_BYTES = ((0, 0, 0), (8, 0, 127), (16, 2, 2), (21, 0, 0), (22, 0, 127), (23, 0, 127), (57, 0, 127))
"""Place, smallest and largest value: base offset, length, magic, attributes (both bytes), last offset delta, count."""


def batch_windows_past_damage(source: ByteSource, window: int) -> Iterator[BatchWindow | RecordBatch | Damage]:
    """As `batch_windows`, but after a Damage it goes on where it finds another batch; the Damage ends there.

    An entry whose CRC fails may have swallowed a sound batch: then that one comes next, though the entry's own length
    leads past its start.
    """
    position = 0
    while position < source.size:
        for part in batch_windows(source, position, window=window):
            if not isinstance(part, Damage):
                swallowed = yield from _up_to_false_length(source, part)
                if swallowed is None:
                    continue
                position = swallowed
                break
            found = None if part.kind is DamageKind.ZEROS else next_batch(source, part.position + 1)
            yield part if found is None else msgspec.structs.replace(part, size=found - part.position)
            position = source.size if found is None else found
            break
        else:
            return


def batches_past_damage(source: ByteSource) -> Iterator[tuple[RecordBatch, bool] | Damage]:
    """The same one by one, each batch with whether its CRC holds."""
    for part in batch_windows_past_damage(source, WINDOW):
        if isinstance(part, Damage):
            yield part
        elif isinstance(part, RecordBatch):
            yield part, crc_holds(source, part)
        else:
            yield from ((part.batch(place), bool(is_valid)) for place, is_valid in enumerate(part.crc_valid))


def _up_to_false_length(
    source: ByteSource, part: BatchWindow | RecordBatch
) -> Generator[BatchWindow | RecordBatch, None, int | None]:
    """Yields the part, or what of it comes up to a false length; returns where the batch begins that was swallowed."""
    if isinstance(part, RecordBatch):
        yield part
        return None if crc_holds(source, part) else _swallowed(source, part)
    at = part.crc_valid.find(0)
    while at >= 0:
        found = _swallowed(source, part.batch(at))
        if found is not None:
            yield BatchWindow(part.position, part.data, part.starts[: at + 2], part.crc_valid[: at + 1])
            return found
        at = part.crc_valid.find(0, at + 1)
    yield part
    return None


def _swallowed(source: ByteSource, batch: RecordBatch) -> int | None:
    """Where a sound batch begins within one whose CRC fails, because its length is false; None where there is none.

    A length that leads to a sound entry, or to the end, is false only if sound batches lead there too: batches may also
    be what a record holds.
    """
    is_likely = batch.end == source.size or _sound_end(source, batch.end) is not None
    found = next_batch(source, batch.position + 1, batch.end)
    while is_likely and found is not None:
        end: int | None = found
        while end is not None and end < batch.end:
            end = _sound_end(source, end)
        if end is not None:
            break
        found = next_batch(source, found + 1, batch.end)
    return found


def _sound_end(source: ByteSource, position: int) -> int | None:
    """Where the entry at this position ends; None where there is none whose CRC holds."""
    header = source.read(position, BATCH_SIZE)
    if damage_at(source, header, 0, position, source.size) is not None:
        return None
    batch = parse_batch(header, 0, position)
    return batch.end if crc_holds(source, batch) else None


def next_batch(source: ByteSource, start: int, stop: int | None = None) -> int | None:
    """Where the first v2 batch begins, from `start` on and before `stop`, whose CRC holds.

    None if there is none, or it takes too long.
    """
    budget = 4 * (source.size - start) + _PIECE
    for position in islice(_candidates(source, start), _TRIES):
        if stop is not None and position >= stop:
            return None
        header = source.read(position, BATCH_SIZE)
        if damage_at(source, header, 0, position, source.size) is not None:
            continue
        batch = parse_batch(header, 0, position)
        budget -= batch.size
        if budget < 0:
            return None
        if crc_holds(source, batch):
            return position
    return None


def _candidates(source: ByteSource, start: int) -> Iterator[int]:
    """Positions where the bytes could be a batch's header, by the values that their highest bytes always have."""
    import numpy as np  # noqa: PLC0415 - most files are whole

    position, size = start, _FIRST_PIECE
    while position + BATCH_SIZE <= source.size:
        piece = np.frombuffer(source.read(position, size + BATCH_SIZE - 1), np.uint8)
        starts = len(piece) - BATCH_SIZE + 1
        could_be = np.ones(max(starts, 0), np.bool_)
        for at, smallest, largest in _HIGHEST_BYTES:
            column = piece[at : at + starts]
            could_be &= (column >= smallest) & (column <= largest)
        for found in np.flatnonzero(could_be).tolist():
            yield position + found
        position, size = position + size, min(2 * size, _PIECE)


def damaged_headers(source: ByteSource, found: BatchWindow | RecordBatch) -> Iterator[tuple[RecordBatch, Damage]]:
    """Each damaged header among what `batch_windows` of the source found, and what is wrong with it."""
    if isinstance(found, RecordBatch):
        yield from ((found, damage) for damage in header_damage(found, crc_holds(source, found)))
        return
    from model.log.records.columns import window_columns  # noqa: PLC0415 - numpy takes long to load

    headers = window_columns(found)
    for place in is_damaged(headers).nonzero()[0].tolist():
        batch = found.batch(place)
        yield from ((batch, damage) for damage in header_damage(batch, bool(headers.crc_valid[place])))


def is_damaged(headers: "HeaderColumns") -> "NDArray[np.bool_]":
    """Of which headers `header_damage` has anything to say."""
    return ~headers.crc_valid | (headers.magic > CURRENT_MAGIC)


def header_damage(batch: RecordBatch, crc_valid: bool) -> Iterator[Damage]:
    """What `isvalid: false` stands for, and a magic that no CRC covers: DumpLogSegments calls any sound."""
    if not crc_valid:
        yield Damage(batch.position, batch.size, DamageKind.BAD_CRC, f"the CRC {batch.crc} does not fit the content")
    if batch.magic > CURRENT_MAGIC:
        yield Damage(batch.position, batch.size, DamageKind.UNKNOWN_MAGIC, unknown_magic(batch.magic))


def ends_quietly(damage: Damage, size: int) -> bool:
    """Whether DumpLogSegments 3.9 takes this for the end of a file of `size` bytes; of other damage it dies."""
    is_short = damage.kind is DamageKind.ZEROS and damage.size <= FRAME_SIZE
    is_cut = damage.kind in (DamageKind.TORN, DamageKind.TRUNCATED)
    return (is_short or is_cut) and damage.position + damage.size == size
