"""One Parquet file of a recording: written whole or not at all, read with one clear line where it cannot be.

And a set of such files as columns of numbers: what a kernel looks at, and nothing else of it.
"""

import contextlib
import errno
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from model.cluster.whole_file import write_whole
from model.recordings.folder import PartSet, RecordingError
from model.recordings.format import FAMILY, FORMAT, METADATA, SCHEMA, PartHeader
from model.recordings.parquet_checks import check_pages, chunks

MOST_VALUES = 1 << 27
MOST_BYTES = 1 << 30
"""Of one file, before compression: an image of a million partitions has a quarter of both."""
_TEXTS = ("kind", "topic", "group", "payload")
"""Columns that are read as they are stored: each text once."""


def write_part(path: Path, table: pa.Table, header: PartHeader) -> None:
    """Replaces a file that is there already. Raises RecordingError."""
    described = table.replace_schema_metadata({METADATA: msgspec.json.encode(header)})
    encoded = pa.BufferOutputStream()
    pq.write_table(described, encoded, compression="zstd", write_page_checksum=True)  # pyright: ignore[reportUnknownMemberType]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, memoryview(encoded.getvalue()))
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written: {error.strerror or error}") from None


def read_header(path: Path) -> PartHeader:
    """What a file says of itself. Raises RecordingError."""
    with _opened(path) as file:
        return _header(path, file)


def read_part(path: Path, columns: Sequence[str] | None = None) -> tuple[PartHeader, pa.Table]:
    """A file, or some of its columns. Raises RecordingError."""
    with _opened(path) as file:
        header = _header(path, file)
        _check_size(path)
        if not file.schema_arrow.equals(SCHEMA):
            raise ValueError("its columns are not those of a recording")
    with _opened(path, _TEXTS) as file:
        table = file.read(list(columns or SCHEMA.names))  # pyright: ignore[reportUnknownMemberType]
        if table.column("at_ms").null_count:
            raise ValueError("at_ms is not a time in every row")
        _check_texts(path, table)
        types = pa.schema([SCHEMA.field(name) for name in table.column_names])  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        return header, table.cast(types)


@contextlib.contextmanager
def _opened(path: Path, texts_once: Sequence[str] = ()) -> Generator[pq.ParquetFile]:
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "not a regular file", str(path))  # Arrow would wait for a pipe
        with pq.ParquetFile(path, page_checksum_verification=True, read_dictionary=list(texts_once)) as file:
            yield file
    except (pa.ArrowException, LookupError, ValueError) as error:  # Arrow lets some of Python's through
        reason = str(error).partition("\n")[0].partition(". ")[0]
        raise RecordingError(f"{path}: damaged or cut off ({reason}); remove it to read the rest") from None
    except OSError as error:
        reason = error.strerror or str(error).partition("\n")[0]
        raise RecordingError(f"{path}: cannot be read: {reason}") from None


def _check_size(path: Path) -> None:
    """Few bytes may stand for any number of values."""
    with path.open("rb") as file:
        claimed = chunks(file)
        values, size = sum(each.values for each in claimed), sum(each.bytes for each in claimed)
        if values > MOST_VALUES or size > MOST_BYTES:
            raise RecordingError(f"{path}: {values:,} values, {size:,} bytes: too much for one recorded part")
        check_pages(file, claimed)


def _check_texts(path: Path, table: pa.Table) -> None:
    """A long text is there once, for any number of rows, until somebody takes it out."""
    names = [name for name in _TEXTS if name in table.column_names]
    size = sum(_text_bytes(part) for name in names for part in table.column(name).chunks)
    if size > MOST_BYTES:
        raise RecordingError(f"{path}: {size:,} bytes of text: too much for one recorded part")


def _text_bytes(part: Any) -> int:
    compute: Any = pc  # whose types are known in part only
    return compute.sum(compute.binary_length(part.dictionary).take(part.indices)).as_py() or 0


def _header(path: Path, file: pq.ParquetFile) -> PartHeader:
    metadata = file.schema_arrow.metadata or {}
    try:
        found = msgspec.json.decode(metadata.get(METADATA, b"{}"), type=dict[str, object])
        name = str(found.get("format", ""))
        if name.startswith(FAMILY) and name != FORMAT:
            raise RecordingError(f"{path}: {name[:60]}: this kdrill reads /1; upgrade kdrill")
        return msgspec.convert(found, PartHeader)
    except (msgspec.MsgspecError, RecursionError):
        raise RecordingError(f"{path}: Parquet, but no part of a kdrill recording ({FORMAT})") from None


Numbers = NDArray[np.int64]
Table2d = NDArray[np.int32]

NONE: Final = -1
"""Stands for a null in every column, and pads rows of brokers."""

COLUMNS: Final = (
    "at_ms", "kind", "record", "topic", "partition", "leader", "isr", "replicas", "adding", "broker", "group",
    "payload",
)  # fmt: skip
"""What a SetColumns is made of."""


@dataclass(frozen=True, eq=False)
class SetColumns:
    """N rows. Kinds, topics and groups are numbers of names."""

    from_ms: int
    until_ms: int
    kinds: tuple[str, ...]
    topics: tuple[str, ...]
    groups: tuple[str, ...]
    at_ms: Numbers  # [N]
    kind: Numbers  # [N]
    record: Numbers  # [N], growing over all files
    topic: Numbers  # [N]
    partition: Numbers  # [N]
    leader: Numbers  # [N]
    broker: Numbers  # [N]
    group: Numbers  # [N]
    isr: Table2d  # [N, W]
    replicas: Table2d  # [N, RF]
    adding: Table2d  # [N, A]
    has_replicas: NDArray[np.bool_]  # [N]
    payload: Any  # [N] an Arrow array of texts

    def of_kind(self, *names: str) -> Numbers:
        """Rows of these kinds, in order."""
        wanted = [number for number, name in enumerate(self.kinds) if name in names]
        return np.flatnonzero(np.isin(self.kind, wanted))


def check_part(path: Path) -> PartHeader:
    """What a file says of itself, once it is known to claim no more than it may. Raises RecordingError."""
    with _opened(path) as file:
        header = _header(path, file)
        _check_size(path)
        return header


Rows = pa.Table
"""Some of a file, with the columns and types of a recording."""
_arrow: Any = pa  # whose stubs leave the types of values open


def rows_by_file(batches: Iterable[Any], file: str) -> dict[str, Rows]:
    """Rows that were read elsewhere, with all of COLUMNS; `file` is another column, the name of each row's file."""
    found: dict[str, list[Any]] = {}
    for batch in batches:
        for name, rows in _by_file(_arrow.Table.from_batches([batch]), file):
            found.setdefault(name, []).append(rows)
    return {name: pa.concat_tables(rows).unify_dictionaries() for name, rows in found.items()}


def _by_file(rows: Any, file: str) -> Iterator[tuple[str, Any]]:
    recorded: Any = SCHEMA
    files = rows.column(file).combine_chunks().dictionary_encode()
    whole = _arrow.table({name: _as_recorded(rows.column(name), recorded.field(name).type) for name in COLUMNS})
    numbers = np.asarray(files.indices)
    for number, name in enumerate(files.dictionary.to_pylist()):
        yield name, whole if len(files.dictionary) == 1 else whole.take(np.flatnonzero(numbers == number))


def _as_recorded(column: Any, kind: Any) -> Any:
    return column.dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)


def read_set(whole: PartSet) -> SetColumns:
    """Raises RecordingError where a file cannot be read."""
    read = [read_part(Path(file.path), COLUMNS) for file in whole.parts]
    return set_of(whole.from_ms, read[-1][0].until_ms, [part for _, part in read])


def set_of(from_ms: int, until_ms: int, read: Sequence[Rows]) -> SetColumns:
    """Of tables with the columns and types of a recording, one a file, in order. Raises what Arrow raises."""
    table = pa.concat_tables(read).unify_dictionaries().combine_chunks()
    chunks: dict[str, Any] = {name: _chunk(table, name) for name in COLUMNS}
    lengths = [len(part) for part in read]
    before = np.cumsum([0, *(int(_numbers(_chunk(part, "record")).max(initial=NONE)) + 1 for part in read[:-1])])
    kind, topic, group = (_codes(chunks[name]) for name in ("kind", "topic", "group"))
    return SetColumns(
        from_ms=from_ms,
        until_ms=until_ms,
        kinds=kind[1],
        topics=topic[1],
        groups=group[1],
        at_ms=_numbers(chunks["at_ms"]),
        kind=kind[0],
        record=_numbers(chunks["record"]) + np.repeat(before, lengths),
        topic=topic[0],
        partition=_numbers(chunks["partition"]),
        leader=_numbers(chunks["leader"]),
        broker=_numbers(chunks["broker"]),
        group=group[0],
        isr=_padded(chunks["isr"]),
        replicas=_padded(chunks["replicas"]),
        adding=_padded(chunks["adding"]),
        has_replicas=np.asarray(chunks["replicas"].is_valid(), dtype=np.bool_),
        payload=chunks["payload"],
    )


def _chunk(table: pa.Table, name: str) -> Any:
    column: Any = table.column(name)
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _numbers(chunk: Any) -> Numbers:
    return np.asarray(chunk.fill_null(NONE)).astype(np.int64)


def _codes(chunk: Any) -> tuple[Numbers, tuple[str, ...]]:
    return _numbers(chunk.indices), tuple(chunk.dictionary.to_pylist())


def _padded(chunk: Any) -> Table2d:
    lengths = _numbers(chunk.value_lengths().fill_null(0))
    width = max(int(lengths.max(initial=0)), 1)
    rows = np.full((len(lengths), width), NONE, np.int32)
    rows[np.arange(width) < lengths[:, None]] = np.asarray(chunk.flatten())
    return rows
