"""The lines that DumpLogSegments 3.9 prints for records (`printRecordLevel`), for one or for many at once."""

import numpy as np

from model.log.dump.control_text import control_text
from model.log.dump.decoders import Decoder, decoded_bytes
from model.log.dump.java_text import Show
from model.log.dump.names import FLAGS, TIME_NAMES
from model.log.dump.rows import Choice, Column, Int64s, rows
from model.log.records import Record, RecordBatch
from model.log.records.record_columns import RecordColumns


def record_line(
    record: Record, batch: RecordBatch, contents: bool, show: Show, decoder: Decoder | None = None
) -> bytes:
    """The line of one record. `contents` adds key and payload, though not those of control records."""
    key, value = record.key, record.value
    line = b"| offset: %d %b: %d keySize: %d valueSize: %d" % (
        record.offset,
        TIME_NAMES[batch.timestamp_type],
        record.timestamp,
        -1 if key is None else len(key),
        -1 if value is None else len(value),
    )
    if batch.magic >= 2:
        keys = b",".join(show(name) for name, _ in record.headers)
        line += b" sequence: %d headerKeys: [%b]" % (record.sequence, keys)
    else:
        line += b" isValid: %b crc: %d}" % (FLAGS[record.crc_valid], record.crc or 0)  # with its stray brace
    if batch.is_control:
        return line + b" " + control_text(record).encode() + b"\n"
    if contents and decoder is not None:
        key, value = decoded_bytes(decoder, record)
    shown_key = (b" key: ", show(key)) if contents and key is not None else ()
    shown_value = (b" payload: ", show(value)) if contents and value is not None else ()
    return b"".join((line, *shown_key, *shown_value, b"\n"))  # in one go: a value may be large


def record_lines(records: RecordColumns, time_names: Choice, contents: bool, show: Show) -> list[bytes]:
    """The lines of records of v2 batches without headers, none of them control records."""
    if not len(records):
        return []
    nothing = Choice((b"",), np.zeros(len(records), np.int64))
    key, value = (b"", nothing), (b"", nothing)
    if contents:
        key = _field(records.data, b" key: ", records.key_start, records.key_size, show)
        value = _field(records.data, b" payload: ", records.value_start, records.value_size, show)
    return rows(
        [
            (b"| offset: ", records.offset),
            (b" ", time_names),
            (b": ", records.timestamp),
            (b" keySize: ", records.key_size),
            (b" valueSize: ", records.value_size),
            (b" sequence: ", records.sequence),
            (b" headerKeys: []", nothing),
            key,
            value,
            (b"\n", nothing),
        ]
    )


def _field(data: bytes, label: bytes, starts: Int64s, sizes: Int64s, show: Show) -> tuple[bytes, Column]:
    """A field's label and its shown bytes; of a null neither."""
    places = zip(starts.tolist(), (starts + sizes).tolist(), strict=True)
    if bool((sizes < 0).any()):
        return b"", [label + show(data[start:end]) if end >= start else b"" for start, end in places]
    pieces = [data[start:end] for start, end in places]
    joined = b"".join(pieces)
    if joined.isascii() and show(joined) == joined:  # so it is of every piece, and needs not be asked again
        return label, pieces
    return label, [show(piece) for piece in pieces]
