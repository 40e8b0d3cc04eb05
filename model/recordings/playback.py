"""Moments as rows of a recording, both ways, and a recording played: the image at a moment, every moment after, and
how far to play so that only so many are held.

An encoder keeps what a set has said of rebalances, and rows until they are taken.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.recordings.folder import ClusterFolder, PartSet, RecordingError, said
from model.recordings.format import (
    MOMENT,
    REBALANCED,
    SCHEMA,
    NewRebalances,
    RebalanceMemory,
    decode_payload,
    encode_payload,
)
from model.recordings.part_file import read_header, read_part

_Fields = Mapping[str, Sequence[Any]]

STATE_FIELDS: Final = (
    "partition", "leader", "leader_epoch", "isr", "controller_epoch", "version", "recovering", "zxid", "time_ms",
)  # fmt: skip
"""Columns of a state, in the order of PartitionState's fields."""
TOLD_FIELDS: Final = ("elr", "last_known_elr", "directories")
"""Fields of a state that are told of KRaft clusters only: in the row's payload, which releases before them skip."""


class Encoder:
    """For one set. Rows gather until `table` is asked for them and `forget_rows` lets them go."""

    def __init__(self) -> None:
        self._memory = RebalanceMemory()
        self._columns: dict[str, list[Any]] = {}
        self._records = 0
        self.forget_rows()

    def __len__(self) -> int:
        return len(self._columns["record"])

    def forget_rows(self) -> None:
        """Another file begins."""
        self._columns = {name: [] for name in SCHEMA.names}
        self._records = 0

    def table(self) -> pa.Table:
        return pa.Table.from_pydict(self._columns, schema=SCHEMA)

    def moment(self, at_ms: int, seen: Provenance, records: Iterable[r.ClusterRecord]) -> None:
        self._add(at_ms, MOMENT, 1, {"zxid": [seen.zxid], "time_ms": [seen.time_ms]})
        for record in records:
            self._encode(at_ms, record)

    def _encode(self, at_ms: int, record: r.ClusterRecord) -> None:
        kind = type(record).__name__
        if isinstance(record, r.GroupRebalancesSeen):
            rest = msgspec.json.encode(self._memory.shortened(record)).decode()
            self._add(at_ms, REBALANCED, 1, {**_named(record, 1), "payload": [rest]})
            return
        in_rows = _IN_ROWS.get(type(record))
        if in_rows is None:
            self._add(at_ms, kind, 1, {**_named(record, 1), "payload": [encode_payload(record)]})
            return
        fields, rows_of = in_rows
        rows = rows_of(record)
        count = len(rows.get("partition", ())) or 1  # a fact about no partition has a row all the same
        rest = {"payload": [encode_payload(record, fields), *[None] * (count - 1)]}
        self._add(at_ms, kind, count, {**_named(record, count), **rest, **rows})

    def _add(self, at_ms: int, kind: str, count: int, columns: _Fields) -> None:
        """One fact; a column has a value for each row, or is null."""
        own = {"record": [self._records] * count, "at_ms": [at_ms] * count, "kind": [kind] * count}
        self._records += 1
        empty = [None] * count
        for name, values in self._columns.items():
            values.extend(own.get(name) or columns.get(name, empty))


def _named(record: r.ClusterRecord, count: int) -> dict[str, Sequence[Any]]:
    """Columns that say what a fact is about."""
    partition = getattr(record, "partition", None)
    columns: dict[str, Sequence[Any]] = {} if partition is None else {"partition": [partition.partition]}
    topic = getattr(record, "topic", None if partition is None else partition.topic)
    values = {"zxid": record.zxid, "time_ms": record.time_ms, "topic": topic}
    values |= {name: getattr(record, name, None) for name in ("broker", "group")}
    return columns | {name: [value] * count for name, value in values.items() if value is not None}


def _state_rows(record: r.PartitionStatesWritten) -> _Fields:
    if not record.states:
        return {}
    columns = {name: [getattr(state, name) for state in record.states] for name in STATE_FIELDS}
    return columns | {"payload": [_told_rows(state) for state in record.states]}


def _told_rows(state: r.PartitionState) -> str | None:
    told = {name: brokers for name in TOLD_FIELDS if (brokers := getattr(state, name)) is not None}
    return msgspec.json.encode(told).decode() if told else None


def _states_removed(record: r.PartitionStatesRemoved) -> _Fields:
    return {"partition": record.partitions} if record.partitions else {}


def _assigned_rows(record: r.TopicAssigned) -> _Fields:
    numbers = sorted({*record.replicas, *record.adding, *record.removing})
    lists = {"replicas": record.replicas, "adding": record.adding, "removing": record.removing}
    columns = {name: [of.get(number) for number in numbers] for name, of in lists.items() if of}
    return {"partition": numbers, **columns} if numbers else {}


_IN_ROWS: Final[Mapping[type[r.ClusterRecord], tuple[frozenset[str], Callable[[Any], _Fields]]]] = {
    r.PartitionStatesWritten: (frozenset({"states"}), _state_rows),
    r.PartitionStatesRemoved: (frozenset({"partitions"}), _states_removed),
    r.TopicAssigned: (frozenset({"replicas", "adding", "removing"}), _assigned_rows),
}
"""Facts with a row for each partition: the fields that the rows hold, and how."""


_Columns = Mapping[str, list[Any]]

_KINDS: Final[Mapping[str, type[r.ClusterRecord]]] = {kind.__name__: kind for kind in r.ClusterRecord.__subclasses__()}
_NAMING: Final = ("topic", "broker", "group")


class RowError(Exception):
    """Rows that make no sense; the message says why."""


class RecordedMoment(msgspec.Struct, frozen=True):
    """What was learnt at one moment; `zxid` and `time_ms` are its image's provenance."""

    at_ms: int
    zxid: int
    time_ms: int
    records: tuple[r.ClusterRecord, ...]


class SetDecoder:
    """For one set: its files' tables in order."""

    def __init__(self) -> None:
        self._memory = RebalanceMemory()

    def moments(self, table: pa.Table) -> Iterator[RecordedMoment]:
        """All moments of a file. Raises RowError where rows make no sense."""
        try:
            yield from self._moments(table)
        except (msgspec.MsgspecError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise RowError(f"a row makes no sense: {error}"[:200]) from None

    def _moments(self, table: pa.Table) -> Iterator[RecordedMoment]:
        of: _Columns = {name: _values(table.column(name)) for name in table.column_names}
        numbers = table.column("record").to_numpy()
        starts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
        head, records = None, list[r.ClusterRecord]()
        for start, end in pairwise([*starts, len(numbers)]):
            if of["kind"][start] != MOMENT:
                records.append(self._record(of, start, end))
                continue
            if head is not None:
                yield _moment(of, head, records)
            head, records = start, []
        if head is not None:
            yield _moment(of, head, records)

    def _record(self, of: _Columns, start: int, end: int) -> r.ClusterRecord:
        name = of["kind"][start]
        fields: dict[str, Any] = {"zxid": of["zxid"][start], "time_ms": of["time_ms"][start]}
        if name == REBALANCED:
            if (group := of["group"][start]) is None:
                raise ValueError("rebalances of no group")
            new = msgspec.json.decode(of["payload"][start], type=NewRebalances)
            return self._memory.whole(group, new, fields)
        kind = _KINDS[name]
        fields |= {column: of[column][start] for column in _NAMING if of[column][start] is not None}
        fields |= decode_payload(name, of["payload"][start])
        if kind is r.PartitionStatesWritten:
            return r.PartitionStatesWritten(topic=fields["topic"], states=_states(of, start, end))
        if kind is r.PartitionStatesRemoved:
            fields["partitions"] = [number for number in of["partition"][start:end] if number is not None]
        elif kind is r.TopicAssigned:
            fields |= _assigned(of, start, end)
        elif of["partition"][start] is not None:
            fields["partition"] = (fields.pop("topic"), of["partition"][start])
        return msgspec.convert(fields, kind, str_keys=True)


def _values(column: Any) -> list[Any]:
    return [None] * len(column) if column.null_count == len(column) else column.to_pylist()


def _moment(of: _Columns, head: int, records: list[r.ClusterRecord]) -> RecordedMoment:
    at_ms, zxid, time_ms = (of[name][head] for name in ("at_ms", "zxid", "time_ms"))
    if None in (at_ms, zxid, time_ms):
        raise ValueError("a moment is not whole")
    return RecordedMoment(at_ms, zxid, time_ms, tuple(records))


def _states(of: _Columns, start: int, end: int) -> tuple[r.PartitionState, ...]:
    columns = {name: of[name][start:end] for name in STATE_FIELDS}
    if columns["partition"] == [None]:
        return ()
    if any(None in values for values in columns.values()):
        raise ValueError("a partition's state is not whole")
    columns["isr"] = [tuple(isr) for isr in columns["isr"]]
    payloads: list[str | None] = of["payload"][start:end]
    told = {text: _told(text) for text in set(payloads)}  # few texts, which many rows share
    both = (*(columns[name] for name in STATE_FIELDS), *zip(*(told[text] for text in payloads), strict=True))
    return tuple(map(r.PartitionState, *both))


def _told(payload: str | None) -> tuple[tuple[int, ...] | None, ...]:
    found = {} if payload is None else msgspec.json.decode(payload, type=dict[str, tuple[int, ...]])
    return tuple(found.get(name) for name in TOLD_FIELDS)


def _assigned(of: _Columns, start: int, end: int) -> dict[str, dict[int, list[int]]]:
    numbers = of["partition"][start:end]
    return {
        name: {
            number: brokers for number, brokers in zip(numbers, of[name][start:end], strict=True) if brokers is not None
        }
        for name in ("replicas", "adding", "removing")
    }


def image_at(folder: ClusterFolder, at_ms: int | None = None) -> ClusterImage:
    """The cluster as it was at a time (ms), by default at the end. Raises RecordingError, also where it is unknown."""
    whole = set_at(folder, at_ms)
    delta, seen = ClusterDelta(EMPTY), None
    for moment in told(whole, at_ms):
        delta.replay_all(moment.records)
        seen = moment
    if seen is None:
        raise RecordingError(f"{whole.parts[0].path}: holds no image; remove it to read the rest")
    return delta.apply(_provenance(_source_of(whole), seen))


def images(folder: ClusterFolder, from_ms: int, to_ms: int) -> Iterator[tuple[int, ClusterImage]]:
    """When each moment from one time to another (ms, both included) was recorded, and the cluster then. What was before
    goes into the first one at once. Raises RecordingError.
    """
    sets = [whole for whole in folder.sets() if whole.from_ms <= to_ms]
    for whole, later in zip(sets, [*sets[1:], None], strict=True):
        if later is not None and later.from_ms <= from_ms:
            continue
        delta, source = ClusterDelta(EMPTY), _source_of(whole)
        for moment in told(whole, to_ms):
            delta.replay_all(moment.records)
            if moment.at_ms >= from_ms:
                image = delta.apply(_provenance(source, moment))
                yield moment.at_ms, image
                delta = ClusterDelta(image)


def told(whole: PartSet, to_ms: int | None = None) -> Iterator[RecordedMoment]:
    """The moments of a set, its image first, until a time (ms). Raises RecordingError."""
    decoder = SetDecoder()
    for file in whole.parts:
        if to_ms is not None and file.from_ms > to_ms:
            return
        path = Path(file.path)
        try:
            for moment in decoder.moments(read_part(path)[1]):
                if to_ms is not None and moment.at_ms > to_ms:
                    return
                yield moment
        except RowError as error:
            raise RecordingError(f"{path}: damaged ({error}); remove it to read the rest") from None


def set_at(folder: ClusterFolder, at_ms: int | None) -> PartSet:
    """The set that knows of a time, by default the last. Raises RecordingError where none does."""
    sets = list(folder.sets())
    if not sets:
        raise RecordingError(f"{folder.path}: nothing is recorded here")
    if at_ms is None:
        return sets[-1]
    begun = [each for each in sets if each.from_ms <= at_ms]
    if not begun:
        raise RecordingError(f"{folder.path}: recorded from {said(sets[0].from_ms)} on, not at {said(at_ms)}")
    last = begun[-1]
    until_ms = read_header(Path(last.parts[-1].path)).until_ms
    if at_ms > until_ms:
        later = [each.from_ms for each in sets if each.from_ms > at_ms]
        again = f", and again from {said(min(later))} on" if later else ""
        raise RecordingError(f"{folder.path}: recorded until {said(until_ms)}{again}, not at {said(at_ms)}")
    return last


def _source_of(whole: PartSet) -> str:
    return read_header(Path(whole.parts[0].path)).source


def _provenance(source: str, moment: RecordedMoment) -> Provenance:
    return Provenance(source, moment.zxid, moment.time_ms, complete=True)


Times = npt.NDArray[np.int64]
"""ms since epoch, ascending, each once."""


class Stretch(msgspec.Struct, frozen=True):
    """Moments one after the other, from one time to another (ms, both included)."""

    from_ms: int
    to_ms: int
    count: int
    """Times at which something was recorded."""
    is_first: bool
    """Nothing was recorded before it."""
    is_last: bool
    """Nor anything after it."""


def stretch_around(folder: ClusterFolder, at_ms: int, most: int) -> Stretch:
    """Half of `most` times before the last one until `at_ms`, and half from it on; more of these where those are few.

    Reads no more days than it takes. Raises RecordingError.
    """
    sets = list(folder.sets())
    if not sets:
        raise RecordingError(f"{folder.path}: nothing is recorded here")
    first = last = max((place for place, whole in enumerate(sets) if whole.from_ms <= at_ms), default=0)
    times = _times(sets[first])
    while first > 0 and np.searchsorted(times, at_ms) < most:
        first -= 1
        times = np.union1d(_times(sets[first]), times)
    while last < len(sets) - 1 and len(times) - np.searchsorted(times, at_ms) < most:
        last += 1
        times = np.union1d(times, _times(sets[last]))
    if not len(times):
        raise RecordingError(f"{folder.path}: nothing is recorded here")
    middle = max(int(np.searchsorted(times, at_ms, side="right")) - 1, 0)
    start = max(min(middle - most // 2, len(times) - most), 0)
    end = min(start + most, len(times))
    is_first, is_last = first == start == 0, last == len(sets) - 1 and end == len(times)
    return Stretch(int(times[start]), int(times[end - 1]), end - start, is_first, is_last)


def _times(whole: PartSet) -> Times:
    parts = [read_part(Path(file.path), ("at_ms",))[1].column("at_ms").to_numpy() for file in whole.parts]
    return np.unique(np.concatenate(parts))
