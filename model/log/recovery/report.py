"""What opening a log did to its folder, as a value and as sentences."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from model.log.segments.segment import Cut


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
