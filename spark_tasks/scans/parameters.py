"""What is to be scanned: log folders, their partition folders and segments, as they were listed. Plain values."""

import msgspec

from model.log.names import FolderRole


class FoundSegment(msgspec.Struct, frozen=True, array_like=True):
    """A .log file. `bytes` is its size when it was listed."""

    base_offset: int
    bytes: int


class FoundPartition(msgspec.Struct, frozen=True):
    """A partition folder, and what its log folder's checkpoints say of it: -1 where they say nothing."""

    path: str
    topic: str
    partition: int
    """-1 for a folder whose name tells none."""
    segments: tuple[FoundSegment, ...]
    """By base offset, rising."""
    role: FolderRole = FolderRole.CURRENT
    time_indexed: bool = False
    """There are time indexes, as since 0.10.1."""
    other_bytes: int = 0
    """What all files that are no segment take on disk: indexes, snapshots, leftovers."""
    high_watermark: int = -1
    recovery_point: int = -1
    compacted: bool | None = None
    """Whether the log cleaner has been here; None without a log folder that would tell."""


class FoundLogFolder(msgspec.Struct, frozen=True):
    """A broker's log folder, or the folder that a partition folder lies in."""

    path: str
    partitions: tuple[FoundPartition, ...]
    broker: int | None = None
    cluster_id: str = ""
    clean_stop: bool = False
    """There is the mark of an orderly stop: no broker runs on it, and none crashed."""
    damaged_checkpoints: tuple[tuple[str, str], ...] = ()
    """Files of the log folder itself that can't be used: path, cause."""


class ScanParameters(msgspec.Struct, frozen=True):
    """What is asked. A folder that has changed makes another question."""

    log_folders: tuple[FoundLogFolder, ...]
    now_ms: int
    """Timestamps well after it are in the future."""
    deep: bool = False
    """Records too: decompressed, each one's lengths checked."""
    most_findings: int = 200
    """So many are told one by one; all are counted."""
