"""Names in a log folder: partition folders and the files in them, both ways. Touches no disk.

Kafka 3.9 `org.apache.kafka.storage.internals.log.LogFileUtils` and `kafka.log.UnifiedLog`.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

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
