"""Where the fields of log entries lie (v0 and v1 messages, v2 record batches), and what can be wrong with them.

All integers are big-endian. Every entry starts with an offset (8 bytes) and the length of what follows (4 bytes); the
magic byte is the 17th in all formats and decides the rest. Layouts as in `org.apache.kafka.common.record`
(LegacyRecord, DefaultRecordBatch) 3.9. Parses nothing; reading damaged data never raises.
"""

import struct
from enum import IntEnum, StrEnum

import msgspec

LOG_OVERHEAD = 12
"""Bytes of the offset and the length: an entry takes this plus its length."""
FRAME = struct.Struct(">qi4xb")
"""Offset, length, magic: the start of every entry."""
FRAME_SIZE = FRAME.size
FRAME_START = struct.Struct(">qi")
"""Offset, length."""
LENGTH = struct.Struct(">i")

LEGACY = struct.Struct(">qiIbB")
"""v0 and v1: offset, length, CRC-32 of what follows it, magic, attributes; v1 goes on with TIMESTAMP."""
TIMESTAMP = struct.Struct(">q")
LEGACY_CRC_START = 16
"""The CRC of v0 and v1 covers everything from here on."""

BATCH = struct.Struct(">qiibIhiqqqhii")
"""v2: base offset, length, partition leader epoch, magic, CRC-32C, attributes, last offset delta, base timestamp, max
timestamp, producer id, producer epoch, base sequence, count of records; the records follow."""
BATCH_SIZE = BATCH.size
BATCH_CRC_AT = 17
BATCH_CRC_START = 21
"""The CRC of v2 covers everything from here on: neither base offset, leader epoch nor magic."""
BATCH_START = struct.Struct(">qiibI")
BATCH_COVERED = struct.Struct(">hiqqqhii")
"""BATCH in two parts: up to the CRC, and what it covers."""

CURRENT_MAGIC = 2
"""The newest format (`RecordBatch.CURRENT_MAGIC_VALUE`)."""

SMALLEST_LENGTH = 14
"""No entry of any format declares less."""
SMALLEST_LENGTH_BY_MAGIC = (14, 22, BATCH_SIZE - LOG_OVERHEAD)
"""By format; index 2 stands for all later ones."""

CODEC_MASK = 0x07
APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40
"""Bits of the attributes; the last three are v2's, and append time is unknown to v0."""

NO_TIMESTAMP = -1
NO_PRODUCER_ID = -1
NO_SEQUENCE = -1
NO_LEADER_EPOCH = -1
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


class Codec(IntEnum):
    """Compression by its number in the attributes. ZSTD is v2's only (KIP-110)."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class TimestampType(IntEnum):
    """Who set the timestamps; NO_TIMESTAMP is v0, which has none."""

    NO_TIMESTAMP = -1
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


def int64(number: int) -> int:
    """The number as Java's long would hold it: sums of damaged fields wrap there."""
    return (number + 2**63) % 2**64 - 2**63


def add_sequence(sequence: int, increment: int) -> int:
    """A sequence number further on; after 2^31 - 1 comes 0 (`DefaultRecordBatch.incrementSequence`)."""
    total = sequence + increment
    return total if total <= INT32_MAX else total - INT32_MAX - 1


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
