"""Which batches get index entries. The same rule for appends, for rebuilding and for compaction.

Kafka 3.9.1 `LogSegment.append` and `LogSegment.recover`: a batch is indexed when more than index.interval.bytes lie
between it and the last one indexed; the entry holds the batch's last offset and its position.
"""

from model.log.indexes.entries import OFFSET_ENTRY, TIME_ENTRY, time_entry
from model.log.indexes.entry_file import EntryFile
from model.log.records import RecordBatch

NO_TIMESTAMP = -1


class Indexing:
    """The two indexes of a segment while its batches pass by in order."""

    def __init__(self, base_offset: int, interval_bytes: int, offsets: EntryFile, times: EntryFile) -> None:
        """Goes on after the entries that are there; the distance to the last one indexed starts anew, as in Kafka."""
        self._base_offset = base_offset
        self._interval_bytes = interval_bytes
        self._offsets = offsets
        self._times = times
        self._bytes_since_entry = 0
        self._newest = last_time_entry(times, base_offset)

    @property
    def max_timestamp_ms(self) -> int:
        """The largest timestamp so far; -1 when there is none."""
        return self._newest[0]

    def add(self, batch: RecordBatch, position: int) -> None:
        """Tells of the next batch; `position` is where it lies in the segment's file."""
        self.note_timestamp(batch)
        if self._bytes_since_entry > self._interval_bytes:
            self._offsets.append(OFFSET_ENTRY.pack(batch.last_offset - self._base_offset, position))
            self.add_time_entry()
            self._bytes_since_entry = 0
        self._bytes_since_entry += batch.size

    def note_timestamp(self, batch: RecordBatch) -> None:
        """Tells of a batch that was passed before, for its timestamp alone."""
        if batch.max_timestamp > self._newest[0]:
            self._newest = (batch.max_timestamp, batch.last_offset)

    def add_time_entry(self) -> None:
        """Notes the largest timestamp if it is news: at each indexed batch, and when a segment ends."""
        timestamp_ms, offset = self._newest
        if timestamp_ms > last_time_entry(self._times, self._base_offset)[0]:
            self._times.append(TIME_ENTRY.pack(timestamp_ms, offset - self._base_offset))


def last_time_entry(times: EntryFile, base_offset: int) -> tuple[int, int]:
    """The last timestamp (ms) and offset of a time index; -1 and the base offset when it is empty."""
    if not len(times):
        return NO_TIMESTAMP, base_offset
    return time_entry(times.entries, len(times) - 1, base_offset)
