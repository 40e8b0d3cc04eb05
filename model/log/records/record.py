"""One record, whatever format it was stored in, and the values found in control records."""

import struct
from enum import IntEnum

import msgspec

from model.log.records.layout import NO_SEQUENCE, NO_TIMESTAMP

Header = tuple[bytes, bytes | None]
"""Key and value. Keys are meant to be UTF-8, which nothing enforces on disk."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """A record at its absolute offset."""

    offset: int
    timestamp: int = NO_TIMESTAMP
    """Milliseconds since the epoch, -1 for none. With append time all records of a batch have the batch's."""
    key: bytes | None = None
    value: bytes | None = None
    """None is a tombstone, where there is a key."""
    headers: tuple[Header, ...] = ()
    """v2 only; keys may repeat."""
    sequence: int = NO_SEQUENCE
    """Of an idempotent producer; v2 only."""
    crc: int | None = None
    """v0 and v1: the message's own stored CRC-32."""
    crc_valid: bool = True
    """v0 and v1: whether that CRC holds."""


class ControlType(IntEnum):
    """What a control record says (`org.apache.kafka.common.record.ControlRecordType`, 3.9)."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


_CONTROL_KEY = struct.Struct(">hh")
_END_MARKER = struct.Struct(">hi")


class EndTransactionMarker(msgspec.Struct, frozen=True):
    """The record that ends a transaction in a partition (KIP-98)."""

    committed: bool
    coordinator_epoch: int

    def as_record(self, offset: int, timestamp: int) -> Record:
        """The one record of a control batch; `timestamp` in ms."""
        kind = ControlType.COMMIT if self.committed else ControlType.ABORT
        value = _END_MARKER.pack(0, self.coordinator_epoch)
        return Record(offset, timestamp, _CONTROL_KEY.pack(0, kind), value)


def control_type(key: bytes | None) -> ControlType | None:
    """What a control record's key says: UNKNOWN for types of later releases, None for a key that is too short."""
    if key is None or len(key) < _CONTROL_KEY.size:
        return None
    number = _CONTROL_KEY.unpack_from(key)[1]
    return ControlType(number) if number in ControlType.__members__.values() else ControlType.UNKNOWN


def end_transaction_marker(record: Record) -> EndTransactionMarker | None:
    """The marker in a record of a control batch; None for any other, or a value that is too short."""
    kind = control_type(record.key)
    if kind not in (ControlType.ABORT, ControlType.COMMIT) or len(record.value or b"") < _END_MARKER.size:
        return None
    return EndTransactionMarker(kind == ControlType.COMMIT, _END_MARKER.unpack_from(record.value or b"")[1])
