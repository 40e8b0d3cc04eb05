"""The producers of a partition as they stood at an offset: the .snapshot file, as bytes and values.

`org.apache.kafka.storage.internals.log.ProducerStateManager` (3.9). Who the producers are is kept elsewhere.
"""

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

from model.log.indexes.entries import Buffer
from model.log.records.crc32c import crc32c

_HEADER = Struct(">hIi")
_ENTRY = Struct(">qhiqiqiq")
_VERSION = 1
_CRC_END = 6


class SnapshotEntry(NamedTuple):
    """One producer. `offset_delta` is last less first offset of its last batch; -1 stands for none in every field."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp_ms: int
    coordinator_epoch: int
    current_transaction_first_offset: int


def encode_snapshot(entries: Iterable[SnapshotEntry]) -> bytes:
    """The content of a file: 10 bytes when there are no producers."""
    packed = [_ENTRY.pack(*entry) for entry in entries]
    body = Struct(">i").pack(len(packed)) + b"".join(packed)
    return Struct(">hI").pack(_VERSION, crc32c(body)) + body


def decode_snapshot(data: Buffer) -> list[SnapshotEntry]:
    """The producers in a file. Raises ValueError saying what is wrong with it."""
    if len(data) < _HEADER.size:
        raise ValueError(f"{len(data)} bytes are too few for a snapshot")
    version, crc, count = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise ValueError(f"the version is {version}, not {_VERSION}")
    if crc != crc32c(bytes(data[_CRC_END:])):
        raise ValueError("the CRC does not match the content")
    if len(data) != _HEADER.size + count * _ENTRY.size:
        raise ValueError(f"{count} producers are promised, {(len(data) - _HEADER.size) / _ENTRY.size:g} are there")
    return [SnapshotEntry(*fields) for fields in _ENTRY.iter_unpack(data[_HEADER.size :])]
