"""Opens a partition's folder as a log: finishes what a crash interrupted, cuts what it tore, and reports what was done.

Kafka 3.9 `kafka.log.LogLoader`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from model.log.checkpoints import (
    NO_EPOCH,
    LeaderEpochs,
    catch_up,
    latest_producers,
    read_leader_epochs,
    remove_snapshots,
    replay_batch,
    snapshot_offsets,
    snapshot_path,
    stray_snapshots,
    take_snapshot,
    write_leader_epochs,
)
from model.log.names import (
    DELETED,
    LEADER_EPOCH_FILE,
    SEGMENT_KINDS,
    SWAP,
    DamagedFileError,
    NumberedFile,
    leftovers,
    orphaned_indexes,
    segment_bases,
)
from model.log.partition_log import LogOffsets, PartitionLog
from model.log.producers import Producers
from model.log.records import RecordBatch
from model.log.segment import Cut, Segment
from model.log.segment_list import SegmentList
from model.log.settings import LogSettings


@dataclass(frozen=True)
class RebuiltSegment:
    """A segment whose indexes were made anew from its batches, each of which was checked."""

    base_offset: int
    why: str


@dataclass(frozen=True)
class RecoveryReport:
    """Empty but for `clean` when there was nothing to do."""

    folder: Path
    clean: bool
    """The last stop was orderly, so segments were not checked."""
    removed_files: tuple[str, ...] = ()
    """Leftovers: deleted files, half-done compaction, indexes without a log, snapshots without a segment."""
    completed_swaps: tuple[int, ...] = ()
    """Base offsets of compacted segments that were put into their place."""
    rebuilt: tuple[RebuiltSegment, ...] = ()
    cut: Cut | None = None
    """The tail that was not good; all segments behind it are dropped."""
    dropped_segments: tuple[int, ...] = ()
    """Base offsets of whole segments that were given up; their files are called `.deleted`."""
    bad_snapshots: tuple[str, ...] = ()
    epochs_rebuilt: str = ""
    """Why the leader epochs were read from the batches instead of their checkpoint."""
    started_anew_at: int | None = None
    """The log ended before its start offset, so it was emptied and goes on there."""

    def sentences(self) -> Iterator[str]:
        """What was done, one line each, what was lost first; nothing when nothing was done."""
        if self.cut:
            yield (
                f"{self.cut.path.name}: cut {self.cut.size_bytes:,} bytes from byte {self.cut.position:,} on, "
                f"the log goes on at offset {self.cut.offset}: {self.cut.why}"
            )
        if self.dropped_segments:
            yield f"dropped what followed: segments {', '.join(map(str, self.dropped_segments))}"
        if self.started_anew_at is not None:
            yield f"the log ended before its start, and begins anew at offset {self.started_anew_at}"
        if self.epochs_rebuilt:
            yield f"read the leader epochs from the batches: {self.epochs_rebuilt}"
        yield from (f"removed a producer snapshot: {snapshot}" for snapshot in self.bad_snapshots)
        yield from (f"put compacted segment {base} into its place" for base in self.completed_swaps)
        yield from (f"rebuilt the indexes of segment {each.base_offset}: {each.why}" for each in self.rebuilt)
        if self.removed_files:
            yield f"removed leftovers: {', '.join(self.removed_files)}"


@dataclass(frozen=True)
class Checkpointed:
    """What the log folder's checkpoints say about a partition, and whether the last stop was orderly."""

    clean: bool = False
    recovery_point: int = 0
    high_watermark: int = 0
    log_start_offset: int = 0


def open_log(
    folder: Path, settings: LogSettings, checkpointed: Checkpointed = Checkpointed(), *, now_ms: int
) -> tuple[PartitionLog, RecoveryReport]:
    """The log in a folder, which is made if there is none. It may take as long as reading what is to be checked.

    Raises OSError when the disk fails, and DamagedFileError for a segment that had counted as on disk, and yet can't be
    read where producers have to be looked for in it.

    After a disorderly stop, segments from the recovery point on are checked batch by batch. Everything before it was
    on disk by then, and is taken as it is.
    """
    folder.mkdir(parents=True, exist_ok=True)
    opening = _Opening(folder, settings, checkpointed, now_ms)
    opening.tidy_up()
    opening.load_segments()
    return opening.finish()


@dataclass
class _Opening:
    """What is known so far about a folder that is being opened."""

    folder: Path
    settings: LogSettings
    checkpointed: Checkpointed
    now_ms: int
    segments: SegmentList = field(default_factory=SegmentList)
    epochs: LeaderEpochs = field(default_factory=LeaderEpochs)
    stored_epochs: LeaderEpochs | None = None
    removed: list[str] = field(default_factory=list[str])
    swapped: list[int] = field(default_factory=list[int])
    rebuilt: list[RebuiltSegment] = field(default_factory=list[RebuiltSegment])
    dropped: list[int] = field(default_factory=list[int])
    bad_snapshots: list[str] = field(default_factory=list[str])
    epochs_rebuilt: str = ""
    cut: Cut | None = None
    started_anew_at: int | None = None

    def tidy_up(self) -> None:
        """Finishes or undoes deletions and compactions."""
        found = leftovers(self._names())
        self._remove(found.remove)
        for base_offset in found.swap:
            self._complete_swap(base_offset)
        self._remove(orphaned_indexes(self._names()))

    def _complete_swap(self, base_offset: int) -> None:
        compacted = self._segment(base_offset, SWAP)
        end_offset = max(compacted.end_offset(), base_offset + 1)
        for replaced in segment_bases(self._names()):
            if base_offset <= replaced < end_offset:
                names = (str(NumberedFile(replaced, kind)) for kind in SEGMENT_KINDS)
                self._remove(name for name in names if (self.folder / name).exists())
        compacted.change_suffix("")  # without its indexes: they are made anew
        compacted.close()
        self.swapped.append(base_offset)

    def load_segments(self) -> None:
        """Finds the segments and mends those that need it."""
        self.segments = SegmentList(self._segment(base) for base in segment_bases(self._names()))
        self._read_epochs()
        unchecked = [] if self.checkpointed.clean else self.segments.from_offset(self.checkpointed.recovery_point)
        for segment in self.segments:
            if segment not in unchecked and (why := self._complaint(segment)):
                self._rebuild(segment, why)
        if unchecked:
            self._check(unchecked)

    def _complaint(self, segment: Segment) -> str | None:
        if segment is self.segments.active:
            try:
                segment.end_offset()
            except DamagedFileError as error:
                return str(error)
        return segment.complaint()

    def _check(self, unchecked: list[Segment]) -> None:
        remove_snapshots(self.folder, after=unchecked[0].base_offset)
        for number, segment in enumerate(unchecked):
            self._rebuild(segment, "it was not known to be on disk")
            if self.cut:
                for later in unchecked[number + 1 :]:
                    self._drop(later)
                return

    def _rebuild(self, segment: Segment, why: str) -> None:
        producers = self._producers_at(segment.base_offset)

        def replay(batch: RecordBatch) -> None:
            for aborted in replay_batch(producers, segment, batch):
                segment.transaction_index.append(aborted)
            latest = self.epochs.latest
            if batch.partition_leader_epoch > (NO_EPOCH if latest is None else latest):
                self.epochs = self.epochs.assign(batch.partition_leader_epoch, batch.base_offset)

        self.rebuilt.append(RebuiltSegment(segment.base_offset, why))
        self.cut = segment.rebuild(replay) or self.cut
        if segment is not self.segments.active:
            take_snapshot(self.folder, producers)

    def _read_epochs(self) -> None:
        try:
            self.stored_epochs = self.epochs = read_leader_epochs(self.folder / LEADER_EPOCH_FILE)
        except DamagedFileError as error:
            self.epochs_rebuilt = str(error)
            for segment in self.segments:
                self._epochs_of(segment)

    def _epochs_of(self, segment: Segment) -> None:
        try:
            for batch in segment.batches():
                if batch.magic >= 2 and batch.partition_leader_epoch != NO_EPOCH:
                    self.epochs = self.epochs.assign(batch.partition_leader_epoch, batch.base_offset)
        except DamagedFileError:
            return  # recovery cuts the segment there

    def finish(self) -> tuple[PartitionLog, RecoveryReport]:
        """Settles where the log starts and ends, and hands it over."""
        wanted = self.checkpointed.log_start_offset
        if not len(self.segments):
            self.segments.add(self._segment(wanted))
        end_offset = self.segments.active.end_offset()
        if end_offset < wanted:
            for segment in self.segments:
                self._drop(segment)
            self.segments.add(self._segment(wanted))
            self.started_anew_at = end_offset = wanted
        self.segments.active.activate()
        start_offset = max(wanted, self.segments.first.base_offset)
        offsets = LogOffsets(
            start_offset,
            end_offset,
            min(max(self.checkpointed.high_watermark, start_offset), end_offset),
            end_offset if self.checkpointed.clean else min(self.checkpointed.recovery_point, end_offset),
        )
        self._settle_epochs(start_offset, end_offset)
        log = PartitionLog(
            self.folder,
            self.settings,
            segments=self.segments,
            offsets=offsets,
            epochs=self.epochs,
            producers=self._settle_producers(start_offset, end_offset),
        )
        return log, self._report()

    def _settle_epochs(self, start_offset: int, end_offset: int) -> None:
        path = self.folder / LEADER_EPOCH_FILE
        self.epochs = self.epochs.truncate_from_end(end_offset).truncate_from_start(start_offset)
        if self.epochs != self.stored_epochs:
            write_leader_epochs(path, self.epochs)

    def _settle_producers(self, start_offset: int, end_offset: int) -> Producers:
        for offset in stray_snapshots(snapshot_offsets(self.folder), [each.base_offset for each in self.segments]):
            self._remove([snapshot_path(self.folder, offset).name])
        remove_snapshots(self.folder, after=end_offset)
        producers, bad = latest_producers(self.folder, end_offset, start_offset)
        self.bad_snapshots += [f"{each.path.name}: {each.why}" for each in bad]
        producers.expire(self.now_ms, self.settings.producer_id_expiration_ms)
        catch_up(producers, self.segments, end_offset)
        take_snapshot(self.folder, producers)
        return producers

    def _producers_at(self, offset: int) -> Producers:
        producers, bad = latest_producers(self.folder, offset, self.segments.first.base_offset)
        self.bad_snapshots += [f"{each.path.name}: {each.why}" for each in bad]
        catch_up(producers, self.segments, offset)
        return producers

    def _drop(self, segment: Segment) -> None:
        segment.close()
        self.segments.remove(segment.base_offset)
        self.dropped.append(segment.base_offset)
        for path in segment.files():
            path.replace(path.with_name(path.name + DELETED))

    def _segment(self, base_offset: int, suffix: str = "") -> Segment:
        return Segment(self.folder, base_offset, self.settings, now_ms=self.now_ms, suffix=suffix)

    def _names(self) -> list[str]:
        return [path.name for path in self.folder.iterdir() if path.is_file()]

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            (self.folder / name).unlink(missing_ok=True)
            self.removed.append(name)

    def _report(self) -> RecoveryReport:
        return RecoveryReport(
            self.folder,
            self.checkpointed.clean,
            tuple(self.removed),
            tuple(self.swapped),
            tuple(self.rebuilt),
            self.cut,
            tuple(self.dropped),
            tuple(self.bad_snapshots),
            self.epochs_rebuilt,
            self.started_anew_at,
        )
