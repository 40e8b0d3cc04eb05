"""The header of a log entry (a v2 batch, or a v0 or v1 message), the source that its bytes come from, and its CRC.

Sources are read in pieces, by position rather than mapped: a mapped file that another process cuts ends the reader by a
signal. Batches have a CRC-32C, v0 and v1 messages a CRC-32. The `crc32c` package's own `__init__` reads the metadata of
what is installed and sets up a command line, which takes as long as the CRCs of 500 MB of a log do: so its extension
module is loaded by itself, where it is found.
"""

import errno
import os
import stat
import zlib
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import TracebackType
from typing import Protocol, Self, cast

import msgspec

from model.log.records import layout
from model.log.records.layout import Codec, TimestampType

Buffer = bytes | bytearray | memoryview


class RecordBatch(msgspec.Struct, frozen=True, gc=False):
    """What an entry's first bytes say, and where the entry lies. Timestamps are ms since the epoch, -1 for none."""

    position: int
    """Where the entry starts in its file, in bytes."""
    size: int
    """Bytes of the whole entry."""
    base_offset: int
    """v2: the first offset the batch ever held. v0, v1: the entry's offset, which for a compressed set is its LAST one:
    its first is told by its contents only."""
    magic: int
    """The format. A batch of a format after 2 is read as v2, as Kafka does."""
    crc: int
    """As stored. CRC-32C in v2, CRC-32 before."""
    attributes: int
    """The low byte; no release has given the high byte of v2 a meaning."""
    last_offset_delta: int = 0
    base_timestamp: int = layout.NO_TIMESTAMP
    max_timestamp: int = layout.NO_TIMESTAMP
    partition_leader_epoch: int = layout.NO_LEADER_EPOCH
    producer_id: int = layout.NO_PRODUCER_ID
    producer_epoch: int = -1
    base_sequence: int = layout.NO_SEQUENCE
    count: int = -1
    """Records that the header declares; -1 for a compressed v0 or v1 set, whose header does not tell."""

    @property
    def end(self) -> int:
        """The position after the entry."""
        return self.position + self.size

    @property
    def last_offset(self) -> int:
        """The last offset the batch ever held; compaction keeps it."""
        return layout.int64(self.base_offset + self.last_offset_delta)

    @property
    def next_offset(self) -> int:
        return self.last_offset + 1

    @property
    def codec(self) -> Codec | None:
        """How the records are compressed; None for a number that stands for nothing."""
        number = self.attributes & layout.CODEC_MASK
        return Codec(number) if number <= Codec.ZSTD else None

    @property
    def timestamp_type(self) -> TimestampType:
        if self.magic == 0:
            return TimestampType.NO_TIMESTAMP
        return TimestampType(bool(self.attributes & layout.APPEND_TIME))

    @property
    def is_transactional(self) -> bool:
        """Whether the records are visible to read_committed consumers only once their transaction is committed."""
        return self.magic >= 2 and bool(self.attributes & layout.TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        """Whether the batch is Kafka's own: a transaction's end, or KRaft's."""
        return self.magic >= 2 and bool(self.attributes & layout.CONTROL)

    @property
    def delete_horizon_ms(self) -> int | None:
        """When compaction may drop the batch's tombstones or marker, in ms (KIP-534); None where it is not set."""
        has_horizon = self.magic >= 2 and self.attributes & layout.DELETE_HORIZON
        return self.base_timestamp if has_horizon else None

    @property
    def last_sequence(self) -> int:
        """The sequence of the last offset; -1 without an idempotent producer."""
        if self.base_sequence == layout.NO_SEQUENCE:
            return layout.NO_SEQUENCE
        return layout.add_sequence(self.base_sequence, self.last_offset_delta)


def parse_batch(data: Buffer, at: int, position: int) -> RecordBatch:
    """The header of the entry at `at` of `data`, which lies at `position` of its file.

    The caller has seen that the length is believable for the magic; raises struct.error where `data` is too short.
    """
    if data[at + layout.FRAME_SIZE - 1] < 2:
        return _parse_message(data, at, position)
    fields = layout.BATCH.unpack_from(data, at)
    base, length, epoch, magic, crc, attributes, last_delta, first_time, max_time, pid, p_epoch, sequence, count = (
        fields
    )
    return RecordBatch(
        position,
        length + layout.LOG_OVERHEAD,
        base,
        magic,
        crc,
        attributes & 0xFF,
        last_delta,
        first_time,
        max_time,
        epoch,
        pid,
        p_epoch,
        sequence,
        count,
    )


def _parse_message(data: Buffer, at: int, position: int) -> RecordBatch:
    offset, length, crc, magic, attributes = layout.LEGACY.unpack_from(data, at)
    timestamp = layout.NO_TIMESTAMP
    if magic == 1:
        timestamp = cast(int, layout.TIMESTAMP.unpack_from(data, at + layout.LEGACY.size)[0])
    return RecordBatch(
        position,
        length + layout.LOG_OVERHEAD,
        offset,
        magic,
        crc,
        attributes,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        count=-1 if attributes & layout.CODEC_MASK else 1,
    )


class ByteSource(Protocol):
    """Bytes at positions."""

    @property
    def size(self) -> int: ...

    def read(self, position: int, size: int) -> Buffer:
        """At most `size` bytes from `position` on; fewer only where the source ends."""
        ...


class SegmentFile:
    """A file, open to be read only. Its size is the one at opening: what a broker appends later is not seen.

    Raises OSError when opened or read, and for what is no regular file.
    """

    def __init__(self, path: os.PathLike[str] | str) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # or a pipe would hold us up
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        self.size = status.st_size

    def read(self, position: int, size: int) -> bytes:
        """At most `size` bytes from `position` on; fewer where the file ends or was cut meanwhile."""
        return os.pread(self._descriptor, max(min(size, self.size - position), 0), position)

    def next_data(self, position: int) -> int:
        """The first position from there on that lies in no hole; the size where only a hole follows."""
        try:
            return os.lseek(self._descriptor, position, os.SEEK_DATA)
        except OSError as error:
            return self.size if error.errno == errno.ENXIO else position  # not each file system tells

    def close(self) -> None:
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class InMemory:
    """Bytes in memory; nothing is copied."""

    def __init__(self, data: Buffer) -> None:
        self._view = memoryview(data)
        self.size = len(self._view)

    def read(self, position: int, size: int) -> memoryview:
        """A view on at most `size` bytes from `position` on."""
        return self._view[position : position + size]


def source_of(data: ByteSource | Buffer) -> ByteSource:
    """Bytes as a source; a source as it is."""
    return InMemory(data) if isinstance(data, bytes | bytearray | memoryview) else data


class _Crc32c(Protocol):
    def __call__(self, data: Buffer, value: int = 0, /) -> int: ...


def _loaded() -> _Crc32c:
    package = PathFinder.find_spec("crc32c")
    extension = package and PathFinder.find_spec("crc32c._crc32c", package.submodule_search_locations)
    if not extension or not extension.loader:  # the package is laid out in another way, or is none
        from crc32c import crc32c  # noqa: PLC0415

        return crc32c
    module = module_from_spec(extension)
    extension.loader.exec_module(module)
    return module.crc32c


crc32c = _loaded()
"""The CRC of some bytes, or with `value` of what that is the CRC of with the bytes behind it."""


_PIECE = 1 << 20


def stored_crc(entry: Buffer, magic: int) -> int:
    """The CRC that a whole entry in memory should hold."""
    view = memoryview(entry)
    return crc32c(view[layout.BATCH_CRC_START :]) if magic >= 2 else zlib.crc32(view[layout.LEGACY_CRC_START :])


def crc_holds(source: ByteSource | Buffer, batch: RecordBatch) -> bool:
    """Whether the batch's bytes in its file are those its CRC was made from; read in pieces however large it is."""
    source = source_of(source)
    start, add = (layout.BATCH_CRC_START, crc32c) if batch.magic >= 2 else (layout.LEGACY_CRC_START, zlib.crc32)
    crc = 0
    for position in range(batch.position + start, batch.end, _PIECE):
        crc = add(source.read(position, min(_PIECE, batch.end - position)), crc)
    return crc == batch.crc


class StreamError(ValueError):
    """The bytes are no complete stream of their codec; the message says why."""


class TooLargeError(ValueError):
    """The stream would grow beyond the bound."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"decompresses to more than {limit:,} bytes")
