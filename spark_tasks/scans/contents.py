"""A deep scan's part: the records of batches, read and checked, and what they take when they are not compressed.

Batches whose CRC does not hold, or whose header contradicts itself, are told by the walk over headers, and not read.
"""

import numpy as np
from numpy.typing import NDArray

from model.log.records import Damage, RecordBatch, Source, layout, records_of
from model.log.records.record_columns import batch_groups
from model.log.records.windows import BatchWindow
from spark_tasks.scans.findings import Gathered
from spark_tasks.scans.header_walk import contradicts_itself
from spark_tasks.scans.tally import CodecTally, Tally


class ContentsWalk:
    """Reads what is in batches, and adds it to a tally; damage goes among what is gathered."""

    def __init__(self, source: Source, tally: Tally, gathered: Gathered) -> None:
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
