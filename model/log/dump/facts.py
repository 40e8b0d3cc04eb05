"""What files hold, entry by entry: each with the line DumpLogSegments 3.9 prints for it, and ready for JSON.

Offsets are absolute, times are ms since the epoch.
"""

import msgspec

from model.log.records.layout import INT32_MAX


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


class Property(Line, frozen=True, tag="property"):
    """A key of meta.properties or partition.metadata. Kafka has no tool that prints it."""

    key: str
    value: str

    def line(self) -> str:
        return f"{self.key}: {self.value}"


class Said(Line, frozen=True, tag="text"):
    """A line that DumpLogSegments prints about a file as a whole."""

    text: str

    def line(self) -> str:
        return self.text
