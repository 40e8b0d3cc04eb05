"""A set of a recording as columns of numbers: what a kernel looks at, and nothing else of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from model.recordings.folder import PartSet
from model.recordings.part_file import read_part

Numbers = NDArray[np.int64]
Table2d = NDArray[np.int32]

NONE: Final = -1
"""Stands for a null in every column, and pads rows of brokers."""

_COLUMNS: Final = (
    "at_ms", "kind", "record", "topic", "partition", "leader", "isr", "replicas", "adding", "broker", "group",
    "payload",
)  # fmt: skip


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


def read_set(whole: PartSet) -> SetColumns:
    """Raises RecordingError where a file cannot be read."""
    read = [read_part(Path(file.path), _COLUMNS) for file in whole.parts]
    table = pa.concat_tables([part for _, part in read]).unify_dictionaries().combine_chunks()
    chunks: dict[str, Any] = {name: _chunk(table, name) for name in _COLUMNS}
    lengths = [len(part) for _, part in read]
    before = np.cumsum([0, *(int(_numbers(_chunk(part, "record")).max(initial=NONE)) + 1 for _, part in read[:-1])])
    kind, topic, group = (_codes(chunks[name]) for name in ("kind", "topic", "group"))
    return SetColumns(
        from_ms=whole.from_ms,
        until_ms=read[-1][0].until_ms,
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
