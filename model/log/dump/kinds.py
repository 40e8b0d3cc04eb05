"""What a file of a log folder is, by its name."""

import re
from enum import StrEnum

import msgspec

_TO_BE_DONE = re.compile(r"\.(deleted|cleaned|swap|tmp)$")
_SNAPSHOT_ID = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


class Kind(StrEnum):
    """Kinds of files that can be shown."""

    LOG = "log"
    OFFSET_INDEX = "offset-index"
    TIME_INDEX = "time-index"
    TRANSACTION_INDEX = "transaction-index"
    PRODUCER_SNAPSHOT = "producer-snapshot"
    METADATA_SNAPSHOT = "metadata-snapshot"
    """KRaft's: a log in a file of its own."""
    OFFSET_CHECKPOINT = "offset-checkpoint"
    EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
    PROPERTIES = "properties"


_BY_END = {
    ".log": Kind.LOG,
    ".index": Kind.OFFSET_INDEX,
    ".timeindex": Kind.TIME_INDEX,
    ".txnindex": Kind.TRANSACTION_INDEX,
    ".snapshot": Kind.PRODUCER_SNAPSHOT,
    ".checkpoint": Kind.METADATA_SNAPSHOT,
    "-offset-checkpoint": Kind.OFFSET_CHECKPOINT,
    "leader-epoch-checkpoint": Kind.EPOCH_CHECKPOINT,
    "meta.properties": Kind.PROPERTIES,
    "partition.metadata": Kind.PROPERTIES,
}
KNOWN_ENDS = tuple(_BY_END)


class FileName(msgspec.Struct, frozen=True):
    """What a name tells."""

    kind: Kind
    base_offset: int | None
    """The number that the name starts with, where it does."""
    title: str = ""
    """What DumpLogSegments 3.9 says of a KRaft snapshot."""


def file_name(name: str) -> FileName | None:
    """What the file of that name is; None for what this program cannot show.

    `.deleted`, `.cleaned`, `.swap` and `.tmp` at the end say what Kafka meant to do with the file, not what it is.
    """
    plain = _TO_BE_DONE.sub("", name)
    kind = next((kind for end, kind in _BY_END.items() if plain.endswith(end)), None)
    if kind is None:
        return None
    number = plain.partition(".")[0]
    base_offset = int(number) if number.isascii() and number.isdecimal() and len(number) < 20 + 1 else None
    title = ""
    if kind is Kind.METADATA_SNAPSHOT:
        snapshot = _SNAPSHOT_ID.fullmatch(plain)
        title = "KRaft bootstrap snapshot"
        if snapshot:
            title = f"Snapshot end offset: {int(snapshot[1])}, epoch: {int(snapshot[2])}"
    return FileName(kind, base_offset, title)
