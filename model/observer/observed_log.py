"""An observer's copy of the end of the metadata log: what was handed on, and what may still be truncated.

Source: `org.apache.kafka.raft.KafkaRaftClient.handleFetchResponse`, `KafkaRaftLog.truncateToEndOffset` (4.3).
"""

from typing import Self

import msgspec

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
