"""What the batches of a segment tell, piece by piece in the order of the file: sums, what is odd, and records.

A deep scan also reads the records, and what they take when they are not compressed. Batches whose CRC does not hold, or
whose header contradicts itself, are told by the walk over headers, and not read.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from model.analyses.scans import findings
from model.analyses.scans.findings import Gathered
from model.analyses.scans.tally import BatchTally, CodecTally
from model.log.records import ByteSource, Damage, RecordBatch, layout, records_of
from model.log.records.columns import HeaderColumns, batch_groups
from model.log.records.layout import INT64_MAX, Codec, unknown_magic
from model.log.records.scan import BatchWindow

MANY = 1 << 12
"""Batches that are worth a look of their own: each takes dozens of numpy calls, however few they are."""


def in_bulk(parts: Iterable[HeaderColumns | Damage]) -> Iterator[HeaderColumns | Damage]:
    """The same, with columns that follow each other put together until they are many."""
    held: list[HeaderColumns] = []
    count = 0
    for part in parts:
        is_damage = isinstance(part, Damage)
        if held and (is_damage or count >= MANY):
            yield _joined(held)
            held, count = [], 0
        if is_damage:
            yield part
        else:
            held.append(part)
            count += len(part.position)
    if held:
        yield _joined(held)


def _joined(some: Sequence[HeaderColumns]) -> HeaderColumns:
    if len(some) == 1:
        return some[0]
    return HeaderColumns(*(np.concatenate([getattr(each, field.name) for each in some]) for field in fields(some[0])))


def chosen(columns: HeaderColumns, places: NDArray[np.bool_]) -> HeaderColumns:
    """The headers at these places."""
    return HeaderColumns(*(getattr(columns, field.name)[places] for field in fields(columns)))


def columns_of(batches: Sequence[RecordBatch], crc_valid: Sequence[bool]) -> HeaderColumns:
    """Columns of batches, and of whether the CRC of each holds."""
    names = [field.name for field in fields(HeaderColumns)[:-1]]
    numbers = (np.array([getattr(batch, name) for batch in batches], np.int64) for name in names)
    return HeaderColumns(*numbers, crc_valid=np.array(crc_valid, np.bool_))


FUTURE_MS = 3_600_000
"""A timestamp so much after now is in the future: the default of message.timestamp.after.max.ms (KIP-937, 4.0)."""

Int64s = NDArray[np.int64]
Flags = NDArray[np.bool_]


class HeaderWalk:
    """One walk over one segment. `first_offset` is -1, and so are epochs, before a batch told one."""

    def __init__(self, base_offset: int, now_ms: int, gathered: Gathered) -> None:
        self.tally = BatchTally(segments=1)
        self.first_offset = -1
        self.last_offset = base_offset - 1
        self.first_epoch = self.last_epoch = -1
        self._lost = False
        self._now_ms = now_ms
        self._gathered = gathered

    def lose(self) -> None:
        """Says that bytes can't be read here, which explains a gap."""
        self._lost = True

    def see(self, columns: HeaderColumns) -> None:
        self.tally.batches += len(columns.position)
        valid = columns.crc_valid
        if not bool(valid.all()):
            self.tally.invalid_batches += int((~valid).sum())
            self._gathered.add_batches(
                "bad-crc", columns, ~valid, lambda place: f"the CRC {columns.crc[place]} does not fit the content"
            )
        places = np.flatnonzero(valid)
        self._gathered.add_batches(
            "unknown-magic",
            columns,
            columns.magic > layout.CURRENT_MAGIC,
            lambda place: unknown_magic(int(columns.magic[place])),
        )
        after_loss = np.diff(places, prepend=-1) > 1
        if len(places):
            after_loss[0] |= self._lost
        self._lost = not len(places) or bool(places[-1] + 1 < len(valid))
        columns = columns if len(places) == len(valid) else chosen(columns, valid)
        if len(places):
            self._see_contents(columns)
            self._see_offsets(columns, after_loss)
            self._see_times(columns)
            self._see_epochs(columns)
            self._see_producers(columns)

    def _see_contents(self, columns: HeaderColumns) -> None:
        """Counts, sizes, codecs."""
        tally, count, codec = self.tally, columns.count, columns.attributes & layout.CODEC_MASK
        is_batch = columns.magic >= 2
        wrong, promised = contradicts_itself(columns), _promised(columns)
        self._gathered.add_batches(
            "bad-records", columns, wrong, lambda place: f"{count[place]:,} records for {promised[place]:,} offsets"
        )
        unknown = (codec > Codec.ZSTD) | (~is_batch & (codec == Codec.ZSTD))
        self._gathered.add_batches("unknown-codec", columns, unknown, lambda place: f"codec {codec[place]}")
        is_data = (count != 0) & ~(is_batch & (columns.attributes & layout.CONTROL > 0))
        tally.batch_bytes.add(columns.size[is_data])
        tally.batch_records.add(count[is_data & (count > 0)])
        tally.records += int(count[count > 0].sum())
        tally.uncounted_sets += int((~is_batch & (count < 0)).sum())
        tally.thinned_batches += int((is_batch & ~wrong & (count < promised)).sum())
        self._see_codecs(columns, codec)
        for magic, batches in zip(*map(np.ndarray.tolist, np.unique(columns.magic, return_counts=True)), strict=True):
            tally.formats[magic] = tally.formats.get(magic, 0) + batches

    def _see_codecs(self, columns: HeaderColumns, codec: Int64s) -> None:
        header = np.where(columns.magic >= 2, layout.BATCH_SIZE, layout.LOG_OVERHEAD + layout.SMALLEST_LENGTH)
        header += np.where(columns.magic == 1, layout.TIMESTAMP.size, 0)
        payload = columns.size - header
        for number in np.unique(codec).tolist():
            those = codec == number
            seen = CodecTally(int(those.sum()), int(columns.size[those].sum()), int(payload[those].sum()))
            self.tally.codecs.setdefault(number, CodecTally()).merge(seen)

    def _see_offsets(self, columns: HeaderColumns, after_loss: Flags) -> None:
        last, before = columns.last_offset, np.concatenate(([self.last_offset], columns.last_offset[:-1]))
        # A compressed old set does not tell its first offset: as far as its header says it has no gap before it.
        first = np.where(columns.count < 0, np.minimum(before + 1, last), columns.base_offset)
        self._gathered.add_batches(
            findings.OFFSETS_BACK,
            columns,
            first <= before,
            lambda place: f"offsets {first[place]} to {last[place]} come after offset {before[place]}",
        )
        missing = np.maximum(first - before - 1, 0)
        self.tally.missing_offsets = min(self.tally.missing_offsets + sum(missing.tolist()), INT64_MAX)
        self.tally.gaps += int((missing > 0).sum())
        self._gathered.add_batches(
            findings.GAP,
            columns,
            (missing > 0) & ~after_loss,
            lambda place: findings.missing(int(before[place]) + 1, int(first[place])),
        )
        if self.first_offset < 0:
            self.first_offset = int(first[0])
        self.last_offset = int(last[-1])

    def _see_times(self, columns: HeaderColumns) -> None:
        tally, newest = self.tally, columns.max_timestamp
        before = np.maximum.accumulate(np.concatenate(([tally.newest_ms], newest)))[:-1]
        late = (newest >= 0) & (newest < before)
        tally.late_batches += int(late.sum())
        tally.latest_by_ms = max(tally.latest_by_ms, int((before - newest)[late].max(initial=0)))
        tally.untimed_batches += int(((newest < 0) & (columns.count != 0) & (columns.magic > 0)).sum())
        tally.future_batches += int((newest > self._now_ms + FUTURE_MS).sum())
        tells_oldest = columns.attributes & (layout.APPEND_TIME | layout.DELETE_HORIZON) == 0
        oldest = np.where(tells_oldest, columns.base_timestamp, newest)
        oldest = oldest[oldest >= 0]
        tally.see_times(int(oldest.min()) if len(oldest) else -1, int(newest.max()))

    def _see_epochs(self, columns: HeaderColumns) -> None:
        epochs = columns.partition_leader_epoch
        known = epochs >= 0
        if not bool(known.any()):
            return
        before = np.maximum.accumulate(np.concatenate(([self.last_epoch], epochs)))[:-1]
        self._gathered.add_batches(
            findings.EPOCHS_BACK,
            columns,
            known & (epochs < before),
            lambda place: f"leader epoch {epochs[place]} after {before[place]}",
        )
        if self.first_epoch < 0:
            self.first_epoch = int(epochs[known][0])
        self.last_epoch = max(self.last_epoch, int(epochs.max()))

    def _see_producers(self, columns: HeaderColumns) -> None:
        tally, ids, is_batch = self.tally, columns.producer_id, columns.magic >= 2
        is_control = is_batch & (columns.attributes & layout.CONTROL > 0)
        tally.control_batches += int(is_control.sum())
        tally.transactional_batches += int(
            (is_batch & ~is_control & (columns.attributes & layout.TRANSACTIONAL > 0)).sum()
        )
        tally.see_producers(np.unique(ids[ids >= 0]).tolist())


def contradicts_itself(columns: HeaderColumns) -> Flags:
    """The v2 batches whose count of records can't be: negative, more than offsets, or none where there are bytes."""
    count = columns.count
    wrong = (count < 0) | (count > _promised(columns)) | ((count == 0) & (columns.size > layout.BATCH_SIZE))
    return (columns.magic >= 2) & wrong


def _promised(columns: HeaderColumns) -> Int64s:
    """How many offsets each batch takes."""
    return columns.last_offset - columns.base_offset + 1


class ContentsWalk:
    """Reads what is in batches, and adds it to a tally; damage goes among what is gathered."""

    def __init__(self, source: ByteSource, tally: BatchTally, gathered: Gathered) -> None:
        self._source = source
        self._tally = tally
        self._gathered = gathered

    def see_window(self, window: BatchWindow) -> None:
        """Many v2 batches at once."""
        valid = np.frombuffer(window.crc_valid, np.bool_)
        for group in batch_groups(window):
            usable = valid[group.start : group.start + len(group.counts)] & ~contradicts_itself(group.headers)
            is_control = group.headers.attributes & layout.CONTROL > 0
            self._add_plain((group.headers.attributes & layout.CODEC_MASK)[usable], group.sizes[usable])
            counts = np.maximum(group.counts, 0)
            ours = np.repeat(usable & ~is_control, counts)
            self._tally.read_records += int(counts[usable].sum())
            self._tally.keyless_records += int((group.records.key_size[ours] < 0).sum())
            self._tally.tombstones += int((group.records.value_size[ours] < 0).sum())
            for place in np.flatnonzero((group.counts < 0) & usable).tolist():
                self._read(window.batch(group.start + place), unsized=not group.sizes[place])

    def see_batch(self, batch: RecordBatch) -> None:
        """One entry that fits no window: of v0 or v1, or very large."""
        self._read(batch, unsized=True)

    def _read(self, batch: RecordBatch, *, unsized: bool) -> None:
        """Record by record. `unsized`: how much they take is not known yet."""
        plain_bytes = records = keyless = tombstones = 0
        overhead = _message_overhead(batch.magic)
        for record in records_of(self._source, batch):
            if isinstance(record, Damage):
                self._gathered.add_damage(record)
                break
            records += 1
            keyless += record.key is None
            tombstones += record.value is None
            plain_bytes += overhead + len(record.key or b"") + len(record.value or b"")
        tally = self._tally
        tally.read_records += records
        if not batch.is_control:
            tally.keyless_records += keyless
            tally.tombstones += tombstones
        if batch.count < 0 and batch.magic < 2:
            tally.records += records
            tally.uncounted_sets -= 1
            tally.batch_records.add(np.array([records]))
        if unsized:
            is_set = batch.magic >= 2 or batch.attributes & layout.CODEC_MASK
            taken = plain_bytes if is_set else plain_bytes - overhead
            tally.codecs.setdefault(batch.attributes & layout.CODEC_MASK, CodecTally()).plain_bytes += taken

    def _add_plain(self, codecs: NDArray[np.int64], sizes: NDArray[np.int64]) -> None:
        for number in np.unique(codecs).tolist():
            taken = int(sizes[codecs == number].sum())
            self._tally.codecs.setdefault(number, CodecTally()).plain_bytes += taken


def _message_overhead(magic: int) -> int:
    """Bytes of a message in a set besides key and value; of a v2 record at least 7, its lengths being varints."""
    if magic >= 2:
        return 7
    return layout.LOG_OVERHEAD + layout.SMALLEST_LENGTH_BY_MAGIC[magic]
