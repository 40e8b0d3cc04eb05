"""What files hold, entry by entry: each with the line DumpLogSegments 3.9 prints for it, and ready for JSON.

With it the kinds of files by their names, damage and remarks, what an operator asked for, and what DumpLogSegments
calls flags, codecs and kinds of timestamps. Offsets are absolute, times are ms since the epoch.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from model.log.dump.decoders import LEADER_CHANGE_TOLD, LogDecoder, Show, as_java_prints
from model.log.records import Codec, Damage, TimestampType
from model.log.records.layout import CODEC_MASK, INT32_MAX


class Fact(msgspec.Struct, frozen=True, tag_field="kind"):
    """An entry of a file."""


class Line(Fact, frozen=True):
    """An entry that is shown as one line."""

    def line(self) -> str:
        """The entry as text, not yet fit to print where it holds foreign text."""
        raise NotImplementedError


class OffsetIndexEntry(Line, frozen=True, tag="offset-index-entry"):
    """Where in the .log the batch starts that an offset belongs to."""

    offset: int
    position: int

    def line(self) -> str:
        return f"offset: {self.offset} position: {self.position}"


class TimeIndexEntry(Line, frozen=True, tag="time-index-entry"):
    """The offset by which the log had reached a timestamp."""

    timestamp_ms: int
    offset: int

    def line(self) -> str:
        return f"timestamp: {self.timestamp_ms} offset: {self.offset}"


class AbortedTransaction(Line, frozen=True, tag="aborted-transaction"):
    """A transaction that was aborted; `last_offset` is its marker's."""

    version: int
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int

    def line(self) -> str:
        return (
            f"version: {self.version} producerId: {self.producer_id} firstOffset: {self.first_offset} "
            f"lastOffset: {self.last_offset} lastStableOffset: {self.last_stable_offset}"
        )


class ProducerState(Line, frozen=True, tag="producer"):
    """A producer as a snapshot keeps it; -1 stands for none in every field."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp_ms: int
    coordinator_epoch: int
    current_transaction_first_offset: int

    @property
    def first_sequence(self) -> int:
        """Of its last batch; sequences wrap after 2^31 - 1."""
        first = self.last_sequence - self.offset_delta
        return first if first >= 0 else first + INT32_MAX + 1

    def line(self) -> str:
        open_since = self.current_transaction_first_offset
        transaction = f"OptionalLong[{open_since}]" if open_since >= 0 else "OptionalLong.empty"
        line = (
            f"producerId: {self.producer_id} producerEpoch: {self.producer_epoch} "
            f"coordinatorEpoch: {self.coordinator_epoch} currentTxnFirstOffset: {transaction} "
            f"lastTimestamp: {self.timestamp_ms} "
        )
        if self.last_offset < 0:
            return line  # ends with its blank, as there
        return (
            f"{line}firstSequence: {self.first_sequence} lastSequence: {self.last_sequence} "
            f"lastOffset: {self.last_offset} offsetDelta: {self.offset_delta} timestamp: {self.timestamp_ms}"
        )


class PartitionOffset(Line, frozen=True, tag="partition-offset"):
    """A line of a recovery point, high watermark, log start or cleaner checkpoint. Kafka has no tool that prints it."""

    topic: str
    partition: int
    offset: int

    def line(self) -> str:
        return f"topic: {self.topic} partition: {self.partition} offset: {self.offset}"


class EpochStart(Line, frozen=True, tag="epoch-start"):
    """A line of a leader epoch checkpoint. Kafka has no tool that prints it."""

    epoch: int
    start_offset: int

    def line(self) -> str:
        return f"epoch: {self.epoch} startOffset: {self.start_offset}"


class PropertyLine(Line, frozen=True, tag="property"):
    """A key of meta.properties or partition.metadata. Kafka has no tool that prints it."""

    key: str
    value: str

    def line(self) -> str:
        return f"{self.key}: {self.value}"


class TextLine(Line, frozen=True, tag="text"):
    """A line that DumpLogSegments prints about a file as a whole."""

    text: str

    def line(self) -> str:
        return self.text


_TO_BE_DONE = re.compile(r"\.(deleted|cleaned|swap|tmp)$")
_SNAPSHOT_ID = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


class FileKind(StrEnum):
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
    ".log": FileKind.LOG,
    ".index": FileKind.OFFSET_INDEX,
    ".timeindex": FileKind.TIME_INDEX,
    ".txnindex": FileKind.TRANSACTION_INDEX,
    ".snapshot": FileKind.PRODUCER_SNAPSHOT,
    ".checkpoint": FileKind.METADATA_SNAPSHOT,
    "-offset-checkpoint": FileKind.OFFSET_CHECKPOINT,
    "leader-epoch-checkpoint": FileKind.EPOCH_CHECKPOINT,
    "meta.properties": FileKind.PROPERTIES,
    "partition.metadata": FileKind.PROPERTIES,
}
KNOWN_ENDS = tuple(_BY_END)


class FileName(msgspec.Struct, frozen=True):
    """What a name tells."""

    kind: FileKind
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
    if kind is FileKind.METADATA_SNAPSHOT:
        snapshot = _SNAPSHOT_ID.fullmatch(plain)
        title = "KRaft bootstrap snapshot"
        if snapshot:
            title = f"Snapshot end offset: {int(snapshot[1])}, epoch: {int(snapshot[2])}"
    return FileName(kind, base_offset, title)


class Remark(msgspec.Struct, frozen=True):
    """Something worth knowing that is no damage: gaps after compaction, the zeros of a file that is in use."""

    position: int
    """In bytes from the start of the file."""
    text: str


class OlderRule(Remark, frozen=True):
    """Index entries that fit the log by the rule of an older release; DumpLogSegments 3.9 takes them for mismatches."""


Part = bytes | Damage | Remark
"""Bytes are whole lines to print; damage and remarks are about lines before or after them."""


@dataclass(frozen=True)
class DumpOptions:
    """What to show. The index options are those of DumpLogSegments."""

    deep: bool = False
    """Records, not only batches."""
    contents: bool = False
    """Keys and payloads; goes with `deep`."""
    decoder: LogDecoder | None = None
    """What keys and payloads are; None for text."""
    json: bool = False
    verify_index_only: bool = False
    """Checks index entries and prints none."""
    index_sanity_check: bool = False
    """Looks at an index file's size and ends only."""
    release: tuple[int, ...] = LEADER_CHANGE_TOLD
    """Whose text it is, where releases differ."""
    show: Show = as_java_prints


TIME_NAMES = {
    TimestampType.NO_TIMESTAMP: b"NoTimestampType",
    TimestampType.CREATE_TIME: b"CreateTime",
    TimestampType.LOG_APPEND_TIME: b"LogAppendTime",
}
BATCH_TIME_NAMES = (TIME_NAMES[TimestampType.CREATE_TIME], TIME_NAMES[TimestampType.LOG_APPEND_TIME])
FLAGS = (b"false", b"true")
CODEC_NAMES = tuple(
    Codec(number).name.lower().encode() if number <= Codec.ZSTD else b"unknown(%d)" % number
    for number in range(CODEC_MASK + 1)
)
