"""What is wrong with bytes of a log, as values: reading damaged data never raises."""

from enum import StrEnum

import msgspec


class DamageKind(StrEnum):
    """What kind of damage. Contents that do not fit their batch leave the batches around them readable."""

    TORN = "torn"
    """Too few bytes for an entry's first fields: a write was cut short."""
    TRUNCATED = "truncated"
    """The entry's length leads past the end."""
    ZEROS = "zeros"
    """Nothing but zeros up to the end: a preallocated file, or one that was never synced."""
    BAD_LENGTH = "bad-length"
    """A length smaller than any entry of its format."""
    UNKNOWN_MAGIC = "unknown-magic"
    BAD_CRC = "bad-crc"
    UNKNOWN_CODEC = "unknown-codec"
    BAD_STREAM = "bad-stream"
    """The compressed bytes cannot be decompressed."""
    TOO_LARGE = "too-large"
    """More bytes than the reader was allowed to take, compressed or not."""
    BAD_RECORDS = "bad-records"
    """The records do not fit their batch's header or their own lengths."""
    BAD_ENTRY = "bad-entry"
    """An entry of an index, a snapshot or a checkpoint that cannot be right."""


class Damage(msgspec.Struct, frozen=True):
    """Bytes that cannot be read as what they should be."""

    position: int
    """Where the damaged entry starts, in bytes from the start of the file."""
    size: int
    """Bytes that are lost with it: the entry's, or all up to the end where its length cannot be believed."""
    kind: DamageKind
    cause: str
    """One sentence, without its subject."""


def unknown_magic(magic: int) -> str:
    """The cause of UNKNOWN_MAGIC: what consumers and followers refuse (`ByteBufferLogInputStream` 3.9)."""
    return f"magic {magic} is no format that any Kafka writes: 0, 1 and 2 are known"
