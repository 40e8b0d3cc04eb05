"""The header of a log entry: a v2 record batch, or a v0 or v1 message, which may wrap a compressed set.

Values only; the records are elsewhere, and whether the CRC holds is not known here.
"""

from typing import cast

import msgspec

from model.log.records import layout
from model.log.records.layout import Codec, TimestampType

Buffer = bytes | bytearray | memoryview


class RecordBatch(msgspec.Struct, frozen=True, gc=False):
    """What an entry's first bytes say, and where the entry lies. Timestamps are ms since the epoch, -1 for none."""

    position: int
    """Where the entry starts in its file, in bytes."""
    size: int
    """Bytes of the whole entry."""
    base_offset: int
    """v2: the first offset the batch ever held. v0, v1: the entry's offset, which for a compressed set is its LAST one:
    its first is told by its contents only."""
    magic: int
    """The format. A batch of a format after 2 is read as v2, as Kafka does."""
    crc: int
    """As stored. CRC-32C in v2, CRC-32 before."""
    attributes: int
    """The low byte; no release has given the high byte of v2 a meaning."""
    last_offset_delta: int = 0
    base_timestamp: int = layout.NO_TIMESTAMP
    max_timestamp: int = layout.NO_TIMESTAMP
    partition_leader_epoch: int = layout.NO_LEADER_EPOCH
    producer_id: int = layout.NO_PRODUCER_ID
    producer_epoch: int = -1
    base_sequence: int = layout.NO_SEQUENCE
    count: int = -1
    """Records that the header declares; -1 for a compressed v0 or v1 set, whose header does not tell."""

    @property
    def end(self) -> int:
        """The position after the entry."""
        return self.position + self.size

    @property
    def last_offset(self) -> int:
        """The last offset the batch ever held; compaction keeps it."""
        return layout.int64(self.base_offset + self.last_offset_delta)

    @property
    def next_offset(self) -> int:
        """The offset after the batch."""
        return self.last_offset + 1

    @property
    def codec(self) -> Codec | None:
        """How the records are compressed; None for a number that stands for nothing."""
        number = self.attributes & layout.CODEC_MASK
        return Codec(number) if number <= Codec.ZSTD else None

    @property
    def timestamp_type(self) -> TimestampType:
        """Who set the timestamps."""
        if self.magic == 0:
            return TimestampType.NO_TIMESTAMP
        return TimestampType(bool(self.attributes & layout.APPEND_TIME))

    @property
    def is_transactional(self) -> bool:
        """Whether the records are visible to read_committed consumers only once their transaction is committed."""
        return self.magic >= 2 and bool(self.attributes & layout.TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        """Whether the batch is Kafka's own: a transaction's end, or KRaft's."""
        return self.magic >= 2 and bool(self.attributes & layout.CONTROL)

    @property
    def delete_horizon_ms(self) -> int | None:
        """When compaction may drop the batch's tombstones or marker, in ms (KIP-534); None where it is not set."""
        has_horizon = self.magic >= 2 and self.attributes & layout.DELETE_HORIZON
        return self.base_timestamp if has_horizon else None

    @property
    def last_sequence(self) -> int:
        """The sequence of the last offset; -1 without an idempotent producer."""
        if self.base_sequence == layout.NO_SEQUENCE:
            return layout.NO_SEQUENCE
        return layout.add_sequence(self.base_sequence, self.last_offset_delta)


def parse_batch(data: Buffer, at: int, position: int) -> RecordBatch:
    """The header of the entry at `at` of `data`, which lies at `position` of its file.

    The caller has seen that the length is believable for the magic; raises struct.error where `data` is too short.
    """
    if data[at + layout.FRAME_SIZE - 1] < 2:
        return _parse_message(data, at, position)
    fields = layout.BATCH.unpack_from(data, at)
    base, length, epoch, magic, crc, attributes, last_delta, first_time, max_time, pid, p_epoch, sequence, count = (
        fields
    )
    return RecordBatch(
        position,
        length + layout.LOG_OVERHEAD,
        base,
        magic,
        crc,
        attributes & 0xFF,
        last_delta,
        first_time,
        max_time,
        epoch,
        pid,
        p_epoch,
        sequence,
        count,
    )


def _parse_message(data: Buffer, at: int, position: int) -> RecordBatch:
    offset, length, crc, magic, attributes = layout.LEGACY.unpack_from(data, at)
    timestamp = layout.NO_TIMESTAMP
    if magic == 1:
        timestamp = cast(int, layout.TIMESTAMP.unpack_from(data, at + layout.LEGACY.size)[0])
    return RecordBatch(
        position,
        length + layout.LOG_OVERHEAD,
        offset,
        magic,
        crc,
        attributes,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        count=-1 if attributes & layout.CODEC_MASK else 1,
    )
