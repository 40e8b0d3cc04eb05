"""Batches of the metadata log as an observer hands them on, told to a replay record by record."""

from typing import cast

from model.log.records import Record, RecordBatch, records_of, scan
from model.log.records.columns import batch_columns
from model.metadata_log.decoder import Decoded, decode_control
from model.metadata_log.partition_records import Values
from model.metadata_log.replay import SNAPSHOT_HEADER, Replay
from model.metadata_log.topics import RecordPlace
from model.observer.messages import LogPosition


def replay_snapshot(replay: Replay, snapshot: LogPosition, data: bytes) -> RecordPlace:
    """A whole snapshot, whose bytes were checked. Where and when its last record was written."""
    replay_batches(replay, data, is_snapshot=True)
    return RecordPlace(snapshot.offset - 1, snapshot.epoch, snapshot_time(data))


def replay_batches(replay: Replay, data: bytes, *, is_snapshot: bool = False) -> RecordPlace:
    """Batches that follow each other, of the log or of a snapshot; the last record of the log."""
    at = RecordPlace()
    for batch in scan(data):
        if not isinstance(batch, RecordBatch):
            break
        if is_snapshot and not batch.is_control and (columns := batch_columns(data, batch)) is not None:
            replay.load(Values(columns.data, columns.value_start, columns.value_size))
            continue
        for record in records_of(data, batch):
            if not isinstance(record, Record):
                replay.note(f"a batch is damaged: {record.cause}", at)
                break
            at = place = RecordPlace(record.offset, batch.partition_leader_epoch, batch.max_timestamp)
            if batch.is_control:
                replay.take_control(control_number(record.key), record.value, RecordPlace() if is_snapshot else place)
            else:
                replay.take(record.value, RecordPlace() if is_snapshot else place)
        at = RecordPlace(batch.last_offset, batch.partition_leader_epoch, batch.max_timestamp)
    return at


def snapshot_time(data: bytes) -> int:
    """When its last record was written, as its header says, ms; 0 where it does not."""
    first = next((batch for batch in scan(data) if isinstance(batch, RecordBatch)), None)
    record = None if first is None else next(records_of(data, first), None)
    return header_time(record.value) if isinstance(record, Record) else 0


def control_number(key: bytes | None) -> int:
    """The type of a control record; -1 for a key that is too short."""
    return -1 if key is None or len(key) < 4 else int.from_bytes(key[2:4], "big", signed=True)


def header_time(value: bytes | None) -> int:
    """When the last record that a snapshot holds was written, as its header says, ms; 0 where it does not."""
    found = decode_control(SNAPSHOT_HEADER, value)
    return cast(int, found.fields["lastContainedLogTimestamp"]) if isinstance(found, Decoded) else 0
