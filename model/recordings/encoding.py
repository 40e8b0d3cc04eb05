"""Moments → rows of a recording. Keeps what a set has said of rebalances, and rows until they are taken."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import pyarrow as pa

from model.cluster import records as r
from model.cluster.cluster_image import Provenance
from model.recordings.format import MOMENT, REBALANCED, SCHEMA
from model.recordings.payload import encode_payload
from model.recordings.rebalances import RebalanceMemory

_Columns = Mapping[str, Sequence[Any]]

STATE_FIELDS: Final = (
    "partition", "leader", "leader_epoch", "isr", "controller_epoch", "version", "recovering", "zxid", "time_ms",
)  # fmt: skip
"""Columns of a state, in the order of PartitionState's fields."""
TOLD_FIELDS: Final = ("elr", "last_known_elr")
"""Fields of a state that are told of KRaft clusters only: in the row's payload, which releases before them skip."""


class Encoder:
    """For one set. Rows gather until `table` is asked for them and `forget_rows` lets them go."""

    def __init__(self) -> None:
        self._memory = RebalanceMemory()
        self._columns: dict[str, list[Any]] = {}
        self._records = 0
        self.forget_rows()

    def __len__(self) -> int:
        """Rows gathered."""
        return len(self._columns["record"])

    def forget_rows(self) -> None:
        """Another file begins."""
        self._columns = {name: [] for name in SCHEMA.names}
        self._records = 0

    def table(self) -> pa.Table:
        """All rows gathered."""
        return pa.Table.from_pydict(self._columns, schema=SCHEMA)

    def moment(self, at_ms: int, seen: Provenance, records: Iterable[r.Record]) -> None:
        """What was learnt at one moment."""
        self._add(at_ms, MOMENT, 1, {"zxid": [seen.zxid], "time_ms": [seen.time_ms]})
        for record in records:
            self._encode(at_ms, record)

    def _encode(self, at_ms: int, record: r.Record) -> None:
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

    def _add(self, at_ms: int, kind: str, count: int, columns: _Columns) -> None:
        """One fact; a column has a value for each row, or is null."""
        own = {"record": [self._records] * count, "at_ms": [at_ms] * count, "kind": [kind] * count}
        self._records += 1
        empty = [None] * count
        for name, values in self._columns.items():
            values.extend(own.get(name) or columns.get(name, empty))


def _named(record: r.Record, count: int) -> dict[str, Sequence[Any]]:
    """Columns that say what a fact is about."""
    partition = getattr(record, "partition", None)
    columns: dict[str, Sequence[Any]] = {} if partition is None else {"partition": [partition.partition]}
    topic = getattr(record, "topic", None if partition is None else partition.topic)
    values = {"zxid": record.zxid, "time_ms": record.time_ms, "topic": topic}
    values |= {name: getattr(record, name, None) for name in ("broker", "group")}
    return columns | {name: [value] * count for name, value in values.items() if value is not None}


def _states(record: r.PartitionStatesWritten) -> _Columns:
    if not record.states:
        return {}
    columns = {name: [getattr(state, name) for state in record.states] for name in STATE_FIELDS}
    return columns | {"payload": [_told(state) for state in record.states]}


def _told(state: r.PartitionState) -> str | None:
    told = {name: brokers for name in TOLD_FIELDS if (brokers := getattr(state, name)) is not None}
    return msgspec.json.encode(told).decode() if told else None


def _states_removed(record: r.PartitionStatesRemoved) -> _Columns:
    return {"partition": record.partitions} if record.partitions else {}


def _assigned(record: r.TopicAssigned) -> _Columns:
    numbers = sorted({*record.replicas, *record.adding, *record.removing})
    lists = {"replicas": record.replicas, "adding": record.adding, "removing": record.removing}
    columns = {name: [of.get(number) for number in numbers] for name, of in lists.items() if of}
    return {"partition": numbers, **columns} if numbers else {}


_IN_ROWS: Final[Mapping[type[r.Record], tuple[frozenset[str], Callable[[Any], _Columns]]]] = {
    r.PartitionStatesWritten: (frozenset({"states"}), _states),
    r.PartitionStatesRemoved: (frozenset({"partitions"}), _states_removed),
    r.TopicAssigned: (frozenset({"replicas", "adding", "removing"}), _assigned),
}
"""Facts with a row for each partition: the fields that the rows hold, and how."""
