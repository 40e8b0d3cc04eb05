"""The end of the metadata log as an observer has it: raw batches cut apart and checked, what was handed on, what may
still be truncated. No record is decoded.

Sources: `org.apache.kafka.raft.KafkaRaftClient` (4.3: batches of a Fetch are appended whole, an epoch never decreases
along the log; handleFetchResponse), `KafkaRaftLog.truncateToEndOffset` (4.3),
`org.apache.kafka.snapshot.RecordsSnapshotWriter` (header first, footer last, own offsets from 0).
"""

from typing import Self

import msgspec

from model.log.records.batch import RecordBatch, crc_holds
from model.log.records.layout import INT64_MAX, Damage, DamageKind
from model.log.records.record import ControlType, Record, control_type, records_of
from model.log.records.scan import scan
from model.observer.messages import UNKNOWN, LogBatch, LogPosition


class LostRecordsError(Exception):
    """The quorum does not have what it had committed; the message is one clause."""


class ObservedLog(msgspec.Struct, frozen=True):
    """Everything below `handed` was committed and handed on; `pending` comes next, none of it known to be committed."""

    handed: LogPosition = LogPosition()
    pending: tuple[LogBatch, ...] = ()
    high_watermark: int = UNKNOWN
    """The largest that any leader told, as far as this log reaches. It never falls."""

    @property
    def end(self) -> LogPosition:
        if not self.pending:
            return self.handed
        last = self.pending[-1]
        return LogPosition(last.next_offset, last.epoch)

    def appended(self, batches: tuple[LogBatch, ...]) -> Self:
        """With these behind its end."""
        return msgspec.structs.replace(self, pending=self.pending + batches)

    def committed(self, high_watermark: int) -> tuple[Self, tuple[LogBatch, ...]]:
        """After a leader, whose log has all of this one, told its high watermark; what is committed by it.

        UNKNOWN, as leaders say after an election, changes nothing. A batch is committed as a whole.
        """
        mark = max(self.high_watermark, min(high_watermark, self.end.offset))
        batches = self.pending
        count = next((index for index, batch in enumerate(batches) if batch.next_offset > mark), len(batches))
        if count == 0:
            return msgspec.structs.replace(self, high_watermark=mark), ()
        last = batches[count - 1]
        handed = LogPosition(last.next_offset, last.epoch)
        return msgspec.structs.replace(self, handed=handed, pending=batches[count:], high_watermark=mark), (
            batches[:count]
        )

    def truncated(self, diverging: LogPosition) -> Self:
        """Without what cannot be in the log of a leader that answered so. Raises LostRecordsError.

        `diverging` is the leader's largest epoch not above ours, and where it ends; 0-0 where it has none.
        """
        end = self._end_of(diverging.epoch)
        if diverging.epoch in (end.epoch, 0):
            end = LogPosition(min(end.offset, diverging.offset), end.epoch)
        safe = max(self.handed.offset, self.high_watermark)
        if end.offset < safe:
            raise LostRecordsError(
                f"its log of epoch {diverging.epoch} ends at {diverging.offset}, yet offset {safe - 1} was committed: "
                "the quorum lost committed records, or this is another cluster"
            )
        kept = tuple(batch for batch in self.pending if batch.next_offset <= end.offset)
        return msgspec.structs.replace(self, pending=kept)

    def _end_of(self, epoch: int) -> LogPosition:
        """Of our largest epoch that is not above this one."""
        ends = (LogPosition(batch.next_offset, batch.epoch) for batch in reversed(self.pending))
        return next((end for end in (*ends, self.handed) if end.epoch <= epoch), LogPosition())

    def replaced(self, snapshot: LogPosition) -> Self:
        """As it is once a snapshot of this id was read. Raises LostRecordsError where that would be a step back."""
        if snapshot.offset <= max(self.handed.offset, self.high_watermark):
            raise LostRecordsError(
                f"snapshot {snapshot} is offered, yet offset {self.handed.offset - 1} was committed in epoch "
                f"{self.handed.epoch}: the quorum lost committed records, or this is another cluster"
            )
        return type(self)(snapshot, (), snapshot.offset)


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
