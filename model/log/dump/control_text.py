"""What DumpLogSegments 3.9 prints of a control record: a transaction's end, or KRaft's own records as JSON."""

import json
import struct

from model.log.records import ControlType, Record, control_type, end_transaction_marker

_INT16 = struct.Struct(">h")
_SNAPSHOT_HEADER = struct.Struct(">hq")
_KRAFT_VERSION = struct.Struct(">hh")


def control_text(record: Record) -> str:
    """The text after the record's sizes; what cannot be read is named by its number."""
    marker = end_transaction_marker(record)
    if marker is not None:
        kind = "COMMIT" if marker.committed else "ABORT"
        return f"endTxnMarker: {kind} coordinatorEpoch: {marker.coordinator_epoch}"
    kind = control_type(record.key)
    if kind is None or record.key is None:
        return "controlType: UNKNOWN"
    described = _described(kind, record.value or b"")
    number = _INT16.unpack_from(record.key, 2)[0]
    return described or f"controlType: {kind.name}({number})"


def _described(kind: ControlType, value: bytes) -> str | None:
    try:
        match kind:
            case ControlType.SNAPSHOT_HEADER:
                version, timestamp = _SNAPSHOT_HEADER.unpack_from(value)
                return _text("SnapshotHeader", {"version": version, "lastContainedLogTimestamp": timestamp})
            case ControlType.SNAPSHOT_FOOTER:
                return _text("SnapshotFooter", {"version": _INT16.unpack_from(value)[0]})
            case ControlType.KRAFT_VERSION:
                version, level = _KRAFT_VERSION.unpack_from(value)
                return _text("KRaftVersion", {"version": version, "kRaftVersion": level})
            case _:
                return None
    except struct.error:
        return None


def _text(name: str, fields: dict[str, int]) -> str:
    return f"{name} {json.dumps(fields, separators=(',', ':'))}"
