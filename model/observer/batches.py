"""Raw record batches of the metadata log: cut apart, checked, and a snapshot's file as a whole. No record is decoded.

Sources: `org.apache.kafka.raft.KafkaRaftClient` (4.3: batches of a Fetch are appended whole, an epoch never decreases
along the log), `org.apache.kafka.snapshot.RecordsSnapshotWriter` (header first, footer last, own offsets from 0).
"""

from model.log.records.batch import RecordBatch, crc_holds
from model.log.records.layout import INT64_MAX, Damage, DamageKind
from model.log.records.record import ControlType, Record, control_type, records_of
from model.log.records.scan import scan
from model.observer.messages import LogBatch, LogPosition

_CUT_SHORT = frozenset({DamageKind.TORN, DamageKind.TRUNCATED})


class GarbledError(Exception):
    """Bytes that no controller would send; the message is one clause."""


def fetched_batches(data: bytes, end: LogPosition, leader_epoch: int) -> tuple[LogBatch, ...]:
    """The batches that continue a log at `end`, whether committed or not. Raises GarbledError.

    The last one may be cut short by the size that was asked for, and is left out then; the first one never is.
    """
    batches: list[LogBatch] = []
    for batch in scan(data):
        if isinstance(batch, Damage):
            if batches and batch.kind in _CUT_SHORT:
                break
            raise GarbledError(f"{batch.kind} behind offset {end.offset}: {batch.cause}")
        if batch.base_offset != end.offset or not end.offset <= batch.last_offset < INT64_MAX:
            raise GarbledError(f"a batch of offsets {batch.base_offset} to {batch.last_offset}, {end.offset} was due")
        if not end.epoch <= batch.partition_leader_epoch <= leader_epoch:
            raise GarbledError(
                f"a batch of epoch {batch.partition_leader_epoch} behind one of {end.epoch}, in epoch {leader_epoch}"
            )
        _check(data, batch)
        raw = data[batch.position : batch.end]
        end = LogPosition(batch.next_offset, batch.partition_leader_epoch)
        batches.append(LogBatch(batch.base_offset, end.offset, end.epoch, batch.max_timestamp, raw))
    return tuple(batches)


def check_snapshot(data: bytes, snapshot: LogPosition) -> None:
    """Raises GarbledError for what is no whole snapshot of this id."""
    last: RecordBatch | None = None
    due = 0
    for batch in scan(data):
        if isinstance(batch, Damage):
            raise GarbledError(f"snapshot {snapshot}: {batch.kind}: {batch.cause}")
        if batch.base_offset != due or batch.partition_leader_epoch != snapshot.epoch or batch.last_offset_delta < 0:
            raise GarbledError(
                f"snapshot {snapshot}: a batch of offset {batch.base_offset} and epoch {batch.partition_leader_epoch}, "
                f"offset {due} was due"
            )
        _check(data, batch)
        if last is None and _first_type(data, batch) is not ControlType.SNAPSHOT_HEADER:
            raise GarbledError(f"snapshot {snapshot} has no header")
        last, due = batch, batch.next_offset
    if last is None or _first_type(data, last) is not ControlType.SNAPSHOT_FOOTER:
        raise GarbledError(f"snapshot {snapshot} has no footer")


def _check(data: bytes, batch: RecordBatch) -> None:
    if batch.magic != 2:
        raise GarbledError(f"the batch of offset {batch.base_offset} is of format {batch.magic}")
    if not crc_holds(data, batch):
        raise GarbledError(f"the CRC of the batch of offset {batch.base_offset} does not hold")


def _first_type(data: bytes, batch: RecordBatch) -> ControlType | None:
    """What a control batch's first record is."""
    first = next(records_of(data, batch), None) if batch.is_control else None
    return control_type(first.key) if isinstance(first, Record) else None
