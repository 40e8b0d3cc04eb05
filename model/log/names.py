"""Names in a log folder, what they say about interrupted work, and the errors that name a log. Touches no disk.

Kafka 3.9 `org.apache.kafka.storage.internals.log.LogFileUtils` and `kafka.log.UnifiedLog`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

LOG = ".log"
INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
SNAPSHOT = ".snapshot"
INDEXES = (INDEX, TIME_INDEX, TRANSACTION_INDEX)
SEGMENT_KINDS = (LOG, *INDEXES)
"""The files of one segment that share its base offset; a producer snapshot belongs to an offset, not to a segment."""

DELETED = ".deleted"
CLEANED = ".cleaned"
SWAP = ".swap"

LOCK_FILE = ".lock"
CLEAN_SHUTDOWN_FILE = ".kafka_cleanshutdown"
META_PROPERTIES_FILE = "meta.properties"
PARTITION_METADATA_FILE = "partition.metadata"
RECOVERY_POINT_FILE = "recovery-point-offset-checkpoint"
HIGH_WATERMARK_FILE = "replication-offset-checkpoint"
LOG_START_OFFSET_FILE = "log-start-offset-checkpoint"
CLEANER_OFFSET_FILE = "cleaner-offset-checkpoint"
LEADER_EPOCH_FILE = "leader-epoch-checkpoint"

LONGEST_NAME = 255

_NUMBERED = re.compile(r"(\d{20})(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)(\.deleted|\.cleaned|\.swap)?")
_FOLDER = re.compile(r"(?P<topic>.+)-(?P<partition>\d+)")
_MARKED = re.compile(r"(?P<name>.+)\.(?P<id>[0-9a-f]{32})-(?P<role>delete|future|stray)")


@dataclass(frozen=True, order=True)
class NumberedFile:
    """A file named by an offset. `suffix` is empty, or says what is still to be done to it."""

    offset: int
    kind: str
    suffix: str = ""

    def __str__(self) -> str:
        return f"{self.offset:020d}{self.kind}{self.suffix}"


def numbered_file(name: str) -> NumberedFile | None:
    """The parts of a file's name; None for a name that no offset begins."""
    match = _NUMBERED.fullmatch(name)
    return NumberedFile(int(match[1]), match[2], match[3] or "") if match else None


class FolderRole(StrEnum):
    """What a partition folder is for; the value is the end of its name."""

    CURRENT = ""
    DELETE = "delete"
    """Waits for its deletion."""
    FUTURE = "future"
    """Is being filled by a move between log folders; renamed to the plain name at its end."""
    STRAY = "stray"
    """This broker should not have it (3.4+)."""


@dataclass(frozen=True)
class PartitionFolder:
    """A partition folder's name. `unique_id` is the 32 hex digits of a folder that is not current.

    The topic of a folder to be deleted may be cut, for the whole name has at most 255 characters.
    """

    topic: str
    partition: int
    role: FolderRole = FolderRole.CURRENT
    unique_id: str = ""

    def __str__(self) -> str:
        if self.role is FolderRole.CURRENT:
            return f"{self.topic}-{self.partition}"
        end = f"-{self.partition}.{self.unique_id}-{self.role}"
        return self.topic[: LONGEST_NAME - len(end)] + end


def partition_folder(name: str) -> PartitionFolder | None:
    """The parts of a folder's name; None for other folders. The partition stands after the last hyphen."""
    marked = _MARKED.fullmatch(name)
    match = _FOLDER.fullmatch(marked["name"] if marked else name)
    if not match:
        return None
    role = FolderRole(marked["role"]) if marked else FolderRole.CURRENT
    return PartitionFolder(match["topic"], int(match["partition"]), role, marked["id"] if marked else "")


class LogError(Exception):
    """A request that the log refuses. `kafka_error` is the name of Kafka's error code that says so on the wire."""

    def __init__(self, kafka_error: str, why: str) -> None:
        super().__init__(why)
        self.kafka_error = kafka_error


class DamagedFileError(Exception):
    """A file whose content can't be used: where, and what is wrong with it."""

    def __init__(self, path: Path, why: str, line: int | None = None) -> None:
        """`line` counts from 1, for text files."""
        super().__init__(f"{path}{'' if line is None else f', line {line}'}: {why}")
        self.path = path


class FolderInUseError(Exception):
    """Another process holds the lock of a log folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder} is in use by another process: stop that broker, or use another folder")


@dataclass(frozen=True)
class Leftovers:
    """Files to be removed, and compacted segments (base offsets, rising) to be put into their place."""

    remove: tuple[str, ...]
    swap: tuple[int, ...]


def leftovers(names: Iterable[str]) -> Leftovers:
    """What is to be done before segments are read.

    A `.cleaned` file means that its compaction (or split) was not done: it goes, and with it every `.swap` that lies
    not below it. The `.swap` logs left are whole: they win over what they were made from.
    """
    files = _numbered(names)
    unfinished = min((file.offset for file in files if file.suffix == CLEANED), default=None)
    swapped = [file for file in files if file.suffix == SWAP]
    valid = [file for file in swapped if unfinished is None or file.offset < unfinished]
    logs = sorted(file.offset for file in valid if file.kind == LOG)
    remove = [file for file in files if file.suffix in (DELETED, CLEANED)]
    remove += [file for file in swapped if not (file.kind == LOG and file.offset in logs)]  # indexes are made anew
    return Leftovers(tuple(map(str, sorted(remove))), tuple(logs))


def orphaned_indexes(names: Iterable[str]) -> list[str]:
    """Indexes that belong to no log."""
    files = [file for file in _numbered(names) if not file.suffix]
    logs = {file.offset for file in files if file.kind == LOG}
    return sorted(str(file) for file in files if file.kind in INDEXES and file.offset not in logs)


def segment_bases(names: Iterable[str]) -> list[int]:
    """The base offsets of all segments, rising."""
    return sorted(file.offset for file in _numbered(names) if file.kind == LOG and not file.suffix)


def _numbered(names: Iterable[str]) -> list[NumberedFile]:
    return [file for name in names if (file := numbered_file(name))]
