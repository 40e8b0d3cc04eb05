"""What a log is made of: records in batches (v2) and message sets (v0, v1). Read, checked, written; no files' names.

Reading: `scan` walks the entries of a `SegmentFile` or of bytes and yields a `RecordBatch` for each; `crc_holds` checks
one; `records_of` reads its records. What is damaged is a `Damage`, the last thing that `scan` or `records_of` yields.

    with SegmentFile(path) as file:
        for entry in scan(file):
            match entry:
                case RecordBatch():
                    ...
                case Damage():
                    ...

Writing: `encode_batch`, `encode_message_set`; `stamp` is the leader's part.
"""

from model.log.records.batch import Buffer, ByteSource, InMemory, RecordBatch, SegmentFile, crc_holds
from model.log.records.encoding import Producer, encode_batch, encode_message_set, stamp
from model.log.records.layout import Codec, Damage, DamageKind, TimestampType
from model.log.records.record import (
    MAX_CONTENTS,
    ControlType,
    EndTransactionMarker,
    Header,
    Record,
    control_type,
    end_transaction_marker,
    records_of,
)
from model.log.records.scan import scan

__all__ = [
    "MAX_CONTENTS",
    "Buffer",
    "ByteSource",
    "Codec",
    "ControlType",
    "Damage",
    "DamageKind",
    "EndTransactionMarker",
    "Header",
    "InMemory",
    "Producer",
    "Record",
    "RecordBatch",
    "SegmentFile",
    "TimestampType",
    "control_type",
    "crc_holds",
    "encode_batch",
    "encode_message_set",
    "end_transaction_marker",
    "records_of",
    "scan",
    "stamp",
]
