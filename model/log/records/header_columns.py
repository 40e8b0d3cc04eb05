"""Headers of many entries as numpy columns, of all formats alike."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from model.log.records import layout

_BATCH = np.dtype(
    [
        ("base_offset", ">i8"),
        ("length", ">i4"),
        ("partition_leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
        ("base_timestamp", ">i8"),
        ("max_timestamp", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("count", ">i4"),
    ]
)
_MESSAGE = np.dtype(
    {
        "names": ["crc", "attributes", "timestamp"],
        "formats": [">u4", "u1", ">i8"],
        "offsets": [12, 17, layout.LEGACY.size],
        "itemsize": layout.BATCH_SIZE,
    }
)

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class HeaderColumns:
    """A field of `RecordBatch` each, with its meaning for old messages too; timestamps in ms, sizes in bytes."""

    position: Int64s
    size: Int64s
    base_offset: Int64s
    last_offset: Int64s
    partition_leader_epoch: Int64s
    magic: Int64s
    crc: Int64s
    attributes: Int64s
    base_timestamp: Int64s
    max_timestamp: Int64s
    producer_id: Int64s
    producer_epoch: Int64s
    base_sequence: Int64s
    count: Int64s
    crc_valid: NDArray[np.bool_]

    def part(self, start: int, stop: int) -> "HeaderColumns":
        """The headers of some entries that follow each other."""
        return HeaderColumns(*(getattr(self, field.name)[start:stop] for field in fields(self)))


def header_columns(positions: Sequence[int], headers: bytes | bytearray, crc_valid: bytes | bytearray) -> HeaderColumns:
    """Columns of headers of 61 bytes each (`SegmentMap`)."""
    batch = np.frombuffer(headers, _BATCH)
    message = np.frombuffer(headers, _MESSAGE)
    magic = batch["magic"].astype(np.int64)
    is_batch = magic >= 2
    mixed = not bool(is_batch.all())

    def field(name: str, otherwise: Int64s | int) -> Int64s:
        column = batch[name].astype(np.int64)
        return np.where(is_batch, column, otherwise) if mixed else column

    attributes = field("attributes", message["attributes"].astype(np.int64)) & 0xFF
    timestamp = np.where(magic == 1, message["timestamp"].astype(np.int64), layout.NO_TIMESTAMP)
    base_offset = batch["base_offset"].astype(np.int64)
    return HeaderColumns(
        position=np.array(positions, np.int64),
        size=batch["length"].astype(np.int64) + layout.LOG_OVERHEAD,
        base_offset=base_offset,
        last_offset=base_offset + field("last_offset_delta", 0),
        partition_leader_epoch=field("partition_leader_epoch", layout.NO_LEADER_EPOCH),
        magic=magic,
        crc=field("crc", message["crc"].astype(np.int64)),
        attributes=attributes,
        base_timestamp=field("base_timestamp", timestamp),
        max_timestamp=field("max_timestamp", timestamp),
        producer_id=field("producer_id", layout.NO_PRODUCER_ID),
        producer_epoch=field("producer_epoch", -1),
        base_sequence=field("base_sequence", layout.NO_SEQUENCE),
        count=field("count", np.where(attributes & layout.CODEC_MASK, -1, 1)),
        crc_valid=np.frombuffer(crc_valid, np.bool_),
    )
