"""The log of one partition: appended to, read, cut and cleared away, with the numbers that belong to it.

Kafka 3.9 `kafka.log.UnifiedLog` and `LocalLog`. It does not know who leads or what is replicated: it is told the high
watermark. Nothing is synced to disk but by `flush` and `close` (and flush.messages): Kafka trusts replication too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model.log.appending import Batches, from_client, from_leader, with_markers
from model.log.checkpoints import (
    NO_EPOCH,
    LeaderEpochs,
    catch_up,
    fsync_folder,
    latest_producers,
    remove_snapshots,
    snapshot_path,
    take_snapshot,
    write_leader_epochs,
)
from model.log.names import LEADER_EPOCH_FILE, LogError
from model.log.producers import Origin, Producers
from model.log.records import Buffer
from model.log.segment import Segment
from model.log.segment_list import (
    DoomedFiles,
    Ending,
    Fetched,
    SegmentList,
    TimestampedOffset,
    find_timestamp,
    read_batches,
)
from model.log.settings import Deletion, LogSettings, RetainedSegment, RollReason, roll_reason, segments_to_delete


@dataclass(frozen=True)
class Appended:
    """What an append did. A duplicate wrote nothing; its offsets are those of the batch that it repeats."""

    first_offset: int
    last_offset: int
    append_time_ms: int = -1
    """What all records got as their time; -1 where they keep theirs."""
    duplicate: bool = False
    rolled: RollReason | None = None
    """Why a new segment was begun for it."""


@dataclass
class LogOffsets:
    """The numbers of a log, all offsets. What lies below `recovery_point` is known to be on disk."""

    start: int = 0
    end: int = 0
    high_watermark: int = 0
    recovery_point: int = 0


class PartitionLog:
    """An open log; `recovery.open_log` makes one. Calls are short and for one thread; OSError means a failing disk."""

    def __init__(
        self,
        folder: Path,
        settings: LogSettings,
        *,
        segments: SegmentList,
        offsets: LogOffsets,
        epochs: LeaderEpochs,
        producers: Producers,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.segments = segments
        self.epochs = epochs
        self.producers = producers
        self._offsets = offsets
        self._doomed = DoomedFiles()
        self._new_files = True
        self._new_epochs = False
        self.removals = 0
        """How often something was truncated or deleted: whoever works on the log over several steps compares."""

    # The numbers.

    @property
    def start_offset(self) -> int:
        """The first offset that is served; it may lie within a segment."""
        return self._offsets.start

    @property
    def end_offset(self) -> int:
        """The offset that the next record gets."""
        return self._offsets.end

    @property
    def recovery_point(self) -> int:
        """The first offset that may be lost in a power cut."""
        return self._offsets.recovery_point

    @property
    def high_watermark(self) -> int:
        """Below it everything is replicated."""
        return self._offsets.high_watermark

    @property
    def last_stable_offset(self) -> int:
        """Below it no transaction is open, nor ended by a marker that is not replicated."""
        unstable = self.producers.first_unstable_offset(self.high_watermark)
        return self.high_watermark if unstable is None else min(max(unstable, self.start_offset), self.high_watermark)

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self.segments)

    def set_high_watermark(self, offset: int) -> int:
        """Notes what is replicated, within the log's bounds, and returns it."""
        self._offsets.high_watermark = min(max(offset, self.start_offset), self.end_offset)
        self.producers.forget_replicated(self.high_watermark)
        return self.high_watermark

    # Writing.

    def append_as_leader(
        self, data: Buffer, *, leader_epoch: int, now_ms: int, origin: Origin = Origin.CLIENT
    ) -> Appended:
        """Writes what a producer sent, with the next offsets; without a whole batch in it nothing, at offset -1.

        Raises LogError: RECORD_LIST_TOO_LARGE, and what `from_client`, ProducerState.after_data and after_marker raise.
        Then nothing is written.
        """
        append_time_ms = now_ms if self.settings.message_timestamp_type == "LogAppendTime" else None
        batches = from_client(
            data,
            self.settings,
            next_offset=self.end_offset,
            leader_epoch=leader_epoch,
            append_time_ms=append_time_ms,
            of_client=origin is Origin.CLIENT,
        )
        if batches is None:
            return Appended(-1, -1)
        return self._append(batches, origin, now_ms, -1 if append_time_ms is None else append_time_ms)

    def append_as_follower(self, data: Buffer, *, now_ms: int) -> Appended | None:
        """Writes what a leader sent, at the offsets it gave; None when that holds no whole batch.

        Raises LogError: CORRUPT_MESSAGE, OFFSET_OUT_OF_RANGE for offsets that do not go on from the log's end.
        """
        batches = from_leader(data, self.end_offset)
        return None if batches is None else self._append(batches, Origin.REPLICATION, now_ms)

    def assign_epoch(self, epoch: int, start_offset: int | None = None) -> None:
        """Notes that a leader's epoch begins, here at the log's end; in a log of an older format there are none."""
        if self.settings.message_format < 2:
            return
        self._set_epochs(self.epochs.assign(epoch, self.end_offset if start_offset is None else start_offset))

    def _append(self, batches: Batches, origin: Origin, now_ms: int, append_time_ms: int = -1) -> Appended:
        if len(batches.data) > self.settings.segment_bytes:
            raise LogError(
                "RECORD_LIST_TOO_LARGE",
                f"{len(batches.data)} bytes at once, segment.bytes is {self.settings.segment_bytes}",
            )
        update = self.producers.check(with_markers(batches), origin)
        if update.duplicate:
            return Appended(update.duplicate.first_offset, update.duplicate.last_offset, duplicate=True)
        rolled = roll_reason(self.segments.active.as_active(), batches.as_addition, self.settings, now_ms)
        if rolled:
            self.roll(now_ms, batches.first_offset)
        self.segments.active.append(batches.data, batches.batches)
        self._offsets.end = batches.last_offset + 1
        for batch in batches.batches:
            if batch.magic >= 2 and batch.partition_leader_epoch != NO_EPOCH:
                self._set_epochs(self.epochs.assign(batch.partition_leader_epoch, batch.base_offset))
        for aborted in self.producers.apply(update, self.end_offset):
            self.segments.active.transaction_index.append(aborted)
        if self.end_offset - self.recovery_point >= self.settings.flush_messages:
            self.flush()
        return Appended(batches.first_offset, batches.last_offset, append_time_ms, rolled=rolled)

    def roll(self, now_ms: int, base_offset: int = 0) -> Segment:
        """Begins a new segment at the log's end, or later for offsets that leave a gap. An empty one stays in use."""
        base_offset = max(base_offset, self.end_offset)
        if self.segments.active.size_bytes == 0 and self.segments.active.base_offset == base_offset:
            return self.segments.active
        self.segments.active.deactivate()
        take_snapshot(self.folder, self._producers_at(base_offset))
        segment = Segment(self.folder, base_offset, self.settings, now_ms=now_ms)
        segment.activate()
        self.segments.add(segment)
        self._offsets.end = base_offset
        self._new_files = True
        return segment

    def _producers_at(self, end_offset: int) -> Producers:
        self.producers.end_offset = end_offset
        return self.producers

    def _set_epochs(self, epochs: LeaderEpochs) -> None:
        if epochs is not self.epochs:
            self.epochs = epochs
            # A sync for each would take seconds where a broker comes to lead a thousand partitions at once.
            write_leader_epochs(self.folder / LEADER_EPOCH_FILE, epochs, fsync=False)
            self._new_epochs = True

    # Reading.

    def read(
        self,
        offset: int,
        *,
        max_bytes: int,
        end_offset: int | None = None,
        at_least_one: bool = True,
        ending: Ending = Ending.WHOLE,
    ) -> Fetched:
        """Batches from `offset` on, below `end_offset` (default: the log's end), of one segment.

        `end_offset` is the high watermark for consumers, the last stable offset for readers of committed records.
        Raises LogError OFFSET_OUT_OF_RANGE, and DamagedFileError where no batch can be made out. CRCs are not checked.
        """
        self._check_offset(offset)
        end_offset = self.end_offset if end_offset is None else min(end_offset, self.end_offset)
        return read_batches(
            self.segments, offset, max_bytes=max_bytes, end_offset=end_offset, at_least_one=at_least_one, ending=ending
        )

    def find_timestamp(self, timestamp_ms: int) -> TimestampedOffset | None:
        """The first record that is not older than a time; None when all are."""
        return find_timestamp(self.segments, timestamp_ms, self.start_offset)

    def _check_offset(self, offset: int) -> None:
        if not self.start_offset <= offset <= self.end_offset:
            raise LogError(
                "OFFSET_OUT_OF_RANGE",
                f"offset {offset} is not in this log, which has those from {self.start_offset} to {self.end_offset}",
            )

    # Cutting and clearing away.

    def truncate_to(self, offset: int, *, now_ms: int) -> bool:
        """Gives up everything from `offset` on, as a follower does. Returns False when there is nothing to give up.

        A batch that holds the offset goes as a whole, and yet the log then ends at `offset`, as in Kafka.
        """
        if offset >= self.end_offset:
            self._set_epochs(self.epochs.truncate_from_end(offset))
            return False
        self.removals += 1
        if offset < self.segments.first.base_offset:
            self.truncate_fully_and_start_at(offset, now_ms=now_ms)
            return True
        for segment in self.segments:
            if segment.base_offset > offset:
                self._doom(segment, now_ms)
        self.segments.active.truncate_to(offset)
        self.segments.active.activate()
        now = self._offsets
        self._offsets = LogOffsets(
            min(now.start, offset), offset, min(now.high_watermark, offset), min(now.recovery_point, offset)
        )
        self._set_epochs(self.epochs.truncate_from_end(offset))
        self._reload_producers(now_ms)
        return True

    def truncate_fully_and_start_at(self, offset: int, *, now_ms: int) -> None:
        """Gives up everything; the log goes on at `offset`."""
        for segment in self.segments:
            self._doom(segment, now_ms)
        self._set_epochs(LeaderEpochs())
        self._offsets = LogOffsets(offset, offset, offset, offset)
        remove_snapshots(self.folder, after=-1)
        self.producers = Producers(offset)
        segment = Segment(self.folder, offset, self.settings, now_ms=now_ms)
        segment.activate()
        self.segments.add(segment)
        self._new_files = True

    def _reload_producers(self, now_ms: int) -> None:
        remove_snapshots(self.folder, after=self.end_offset)
        self.producers, _ = latest_producers(self.folder, self.end_offset, self.start_offset)
        self.producers.expire(now_ms, self.settings.producer_id_expiration_ms)
        catch_up(self.producers, self.segments, self.end_offset)

    def advance_start(self, offset: int) -> None:
        """Serves nothing before `offset` any more (DeleteRecords); `apply_retention` removes whole segments later.

        Raises LogError OFFSET_OUT_OF_RANGE for an offset above the high watermark.
        """
        if offset > self.high_watermark:
            raise LogError("OFFSET_OUT_OF_RANGE", f"records up to {offset} are not all replicated")
        if offset > self.start_offset:
            self._offsets.start = offset
            self._set_epochs(self.epochs.truncate_from_start(offset))

    def apply_retention(self, now_ms: int) -> list[Deletion]:
        """Deletes the old segments that settings and log start no longer cover, and says which and why."""
        facts = [
            RetainedSegment(
                each.base_offset,
                self.segments.end_of(each, self.end_offset),
                each.size_bytes,
                each.age_timestamp_ms,
            )
            for each in self.segments
        ]
        deletions = segments_to_delete(
            facts,
            high_watermark=self.high_watermark,
            log_start_offset=self.start_offset,
            settings=self.settings,
            now_ms=now_ms,
        )
        if len(deletions) == len(facts):
            self.roll(now_ms)
        bases = {deletion.base_offset for deletion in deletions}
        for segment in self.segments:
            if segment.base_offset in bases:
                self._doom(segment, now_ms)
        self.advance_start(self.segments.first.base_offset)
        return deletions

    def _doom(self, segment: Segment, now_ms: int) -> None:
        self.removals += 1
        self.segments.remove(segment.base_offset)
        segment.close()
        snapshot = snapshot_path(self.folder, segment.base_offset)
        doomed = [*segment.files(), *([snapshot] if snapshot.exists() else [])]
        self._doomed.doom(doomed, now_ms + self.settings.file_delete_delay_ms)

    def remove_deleted_files(self, now_ms: int) -> list[Path]:
        """Removes files that were deleted file.delete.delay.ms ago, and says which."""
        return self._doomed.remove_due(now_ms)

    def replace_segments(self, cleaned: Segment, replaced: Sequence[Segment], *, now_ms: int) -> None:
        """Puts a compacted segment, whose files end in `.cleaned`, into the place of those it was made from."""
        cleaned.change_suffix(".swap")
        for segment in replaced:
            self.segments.remove(segment.base_offset)
            segment.close()
            keeps_snapshot = segment.base_offset == cleaned.base_offset
            snapshot = snapshot_path(self.folder, segment.base_offset)
            doomed = [*segment.files(), *([snapshot] if snapshot.exists() and not keeps_snapshot else [])]
            self._doomed.doom(doomed, now_ms + self.settings.file_delete_delay_ms)
        cleaned.change_suffix("")
        fsync_folder(self.folder)
        self.segments.add(cleaned)

    # Keeping.

    def rename_to(self, folder: Path) -> None:
        """Renames the log's folder; the log stays open. Raises OSError where that fails."""
        self.folder.rename(folder)
        self.folder = folder
        for segment in self.segments:
            segment.move_to(folder)
        self._doomed.move_to(folder)

    def flush(self) -> None:
        """Makes everything up to the log's end outlast a power cut."""
        for segment in self.segments.from_offset(self.recovery_point):
            segment.flush()
        if self._new_epochs:
            write_leader_epochs(self.folder / LEADER_EPOCH_FILE, self.epochs)
            self._new_epochs = False
        if self._new_files:
            fsync_folder(self.folder)
            self._new_files = False
        self._offsets.recovery_point = self.end_offset

    def closed_and_unflushed(self) -> tuple[int, list[Path]]:
        """Where the active segment begins, and the files before it that may not be on disk: for a thread to sync.

        `flushed_to` is told then. Files may be gone by the time.
        """
        active = self.segments.active.base_offset
        closed = (each for each in self.segments.from_offset(self.recovery_point) if each.base_offset < active)
        return active, [path for each in closed for path in each.files()]

    def flushed_to(self, offset: int) -> None:
        """What lies below is on disk. To be told only if nothing was truncated meanwhile (`removals`)."""
        self._offsets.recovery_point = max(self.recovery_point, min(offset, self.end_offset))

    def close(self, *, now_ms: int) -> None:
        """Syncs all, takes a snapshot of the producers and lets the files go: an orderly end."""
        self.producers.expire(now_ms, self.settings.producer_id_expiration_ms)
        take_snapshot(self.folder, self._producers_at(self.end_offset), fsync=True)
        self.segments.active.deactivate()
        self.flush()
        for segment in self.segments:
            segment.close()
