"""Writes v0 and v1 message sets, plain or wrapped in one compressed message.

As `org.apache.kafka.common.record.MemoryRecordsBuilder` and `LegacyRecord` 3.9 do.
"""

import zlib
from collections.abc import Sequence

from model.log.records import layout
from model.log.records.codecs import compress
from model.log.records.layout import Codec
from model.log.records.record import Record


def encode_message_set(
    records: Sequence[Record], magic: int, codec: Codec = Codec.NONE, append_time_ms: int | None = None
) -> bytes:
    """The records at their offsets: an entry for each, or one wrapper around all if there is a codec.

    Headers and sequences cannot be kept by these formats, nor timestamps by v0: they are left out. With
    `append_time_ms` (v1) every message takes that time. Raises ValueError for no records, zstd, or another magic.
    """
    if magic not in (0, 1) or codec is Codec.ZSTD or not records:
        raise ValueError(f"no message set of {len(records)} records with magic {magic} and codec {codec.name.lower()}")
    time_bit = layout.APPEND_TIME if magic == 1 and append_time_ms is not None else 0
    times = [record.timestamp if append_time_ms is None else append_time_ms for record in records]
    if codec is Codec.NONE:
        each = zip(records, times, strict=True)
        return b"".join(_message(r.offset, magic, time_bit, time, r.key, r.value) for r, time in each)
    base = records[0].offset if magic == 1 else 0
    each = zip(records, times, strict=True)
    inner = b"".join(_message(r.offset - base, magic, time_bit, time, r.key, r.value) for r, time in each)
    payload = compress(codec, inner, magic)
    return _message(records[-1].offset, magic, codec | time_bit, max(times), None, payload)


def _message(offset: int, magic: int, attributes: int, timestamp: int, key: bytes | None, value: bytes | None) -> bytes:
    covered = b"".join(
        (
            bytes((magic, attributes)),
            layout.TIMESTAMP.pack(timestamp) if magic == 1 else b"",
            _field(key),
            _field(value),
        )
    )
    crc = zlib.crc32(covered).to_bytes(4, "big")
    return layout.FRAME_START.pack(offset, len(crc) + len(covered)) + crc + covered


def _field(field: bytes | None) -> bytes:
    return layout.LENGTH.pack(-1) if field is None else layout.LENGTH.pack(len(field)) + field
