"""Headers of many entries as numpy columns, of all formats alike."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from model.log.records import layout
from model.log.records.batch import Buffer
from model.log.records.windows import BatchWindow

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
_HEADER = np.dtype(f"V{layout.BATCH_SIZE}")

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


def window_columns(window: BatchWindow) -> HeaderColumns:
    """Columns of the headers of a window."""
    starts = np.array(window.starts[:-1], np.int64)
    # As if a header began at every byte; those that do are copied.
    anywhere = np.ndarray(len(window.data) - layout.BATCH_SIZE + 1, _HEADER, window.data, strides=(1,))
    return _columns(anywhere[starts], starts + window.position, window.crc_valid)


def header_columns(positions: Sequence[int], headers: Buffer, crc_valid: Buffer) -> HeaderColumns:
    """Columns of headers of 61 bytes each (`SegmentMap`)."""
    return _columns(np.frombuffer(headers, _HEADER), np.array(positions, np.int64), crc_valid)


def _columns(headers: NDArray[np.void], positions: Int64s, crc_valid: Buffer) -> HeaderColumns:
    batch = headers.view(_BATCH)
    columns = {name: batch[name].astype(np.int64) for name in _BATCH.names or ()}
    columns["attributes"] &= 0xFF
    old = np.flatnonzero(columns["magic"] < 2)
    if len(old):
        _read_messages(headers.view(_MESSAGE)[old], old, columns)
    return HeaderColumns(
        position=positions,
        size=columns.pop("length") + layout.LOG_OVERHEAD,
        last_offset=columns["base_offset"] + columns.pop("last_offset_delta"),
        crc_valid=np.frombuffer(crc_valid, np.bool_),
        **columns,
    )


def _read_messages(messages: NDArray[np.void], places: Int64s, columns: dict[str, Int64s]) -> None:
    """Gives the columns what v0 and v1 headers, which are at these places of theirs, say or stand for."""
    timestamps = np.where(columns["magic"][places] == 1, messages["timestamp"], layout.NO_TIMESTAMP)
    meanings = {
        "crc": messages["crc"],
        "attributes": messages["attributes"],
        "last_offset_delta": 0,
        "base_timestamp": timestamps,
        "max_timestamp": timestamps,
        "partition_leader_epoch": layout.NO_LEADER_EPOCH,
        "producer_id": layout.NO_PRODUCER_ID,
        "producer_epoch": -1,
        "base_sequence": layout.NO_SEQUENCE,
        "count": np.where(messages["attributes"] & layout.CODEC_MASK, -1, 1),
    }
    for name, values in meanings.items():
        columns[name][places] = values
