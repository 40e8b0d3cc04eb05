"""Recordings of any size, made of arrays: a month of a hundred million changes takes minutes, not days.

Brokers fail and come back, one after the other, all day: when one does, each of its partitions leaves its ISR, and
those that it leads get another leader; half a minute later it is back in the ISRs, and leads again. Between them one
rack of partitions has nobody to lead it for a while. A change is a partition's new state.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from model.recordings.folder import DAY_MS, part_path
from model.recordings.format import FORMAT, SCHEMA, PartHeader
from model.recordings.part_file import write_part

FIRST_MS = 20_000 * DAY_MS
PART_ROWS, SET_ROWS = 50_000, 200_000
BACK_MS, LEADS_AGAIN_MS = 30_000, 60_000

Ids = NDArray[np.int64]
_compute: Any = pc
_arrow: Any = pa


@dataclass(frozen=True)
class Size:
    """Changes are of one cluster and day, as many as fit into whole failures."""

    changes: int
    days: int = 1
    clusters: int = 1
    brokers: int = 12
    topics: int = 100
    partitions: int = 100
    """Of a topic."""


def write(folder: Path, size: Size) -> int:
    """Changes in all. Days differ in their dates alone, and clusters in their names."""
    world = _World(size)
    failures = max(round(size.changes / world.changes), 1)
    for name in range(size.clusters):
        for day in range(size.days):
            _write_day(folder, f"c{name}", FIRST_MS + day * DAY_MS, world, failures)
    return world.changes * failures * size.days * size.clusters


def _write_day(folder: Path, cluster: str, from_ms: int, world: _World, failures: int) -> None:
    number, part, rows, began_ms = 0, 0, 0, from_ms
    gathered = [world.image(from_ms)]
    for turn in range(failures):
        at_ms = from_ms + 1_000 + turn * (DAY_MS - 2 * LEADS_AGAIN_MS) // failures
        gathered.append(world.failure(turn % world.size.brokers, at_ms))
        until_ms = gathered[-1].column("at_ms")[-1].as_py() + 1 if turn < failures - 1 else from_ms + DAY_MS
        rows += len(gathered[-1])
        is_last = turn == failures - 1
        if is_last or rows > SET_ROWS or sum(map(len, gathered)) > PART_ROWS:
            header = PartHeader(
                format=FORMAT, cluster=cluster, source="synthetic", session="1a", image_set=number, part=part,
                from_ms=began_ms, until_ms=until_ms,
            )  # fmt: skip
            write_part(part_path(folder, cluster, "1a", number, part, began_ms), _numbered(gathered), header)
            gathered, part, began_ms = [], part + 1, until_ms
        if not is_last and rows > SET_ROWS:
            number, part, rows, gathered = number + 1, 0, 0, [world.image(until_ms)]


def _numbered(tables: list[pa.Table]) -> pa.Table:
    """One after the other, their records counted on."""
    table = pa.concat_tables(tables).unify_dictionaries()
    starts = np.cumsum([0, *(int(each.column("record")[-1].as_py()) + 1 for each in tables[:-1])])
    shift = np.repeat(starts, [len(each) for each in tables])
    return _with(table, record=_compute.add(table.column("record"), pa.chunked_array([pa.array(shift)])))


class _World:
    """The cluster when all is well, and what is written when a broker fails, comes back and leads again."""

    def __init__(self, size: Size) -> None:
        self.size = size
        dice = np.random.default_rng(7)
        count = size.topics * size.partitions
        first = dice.integers(0, size.brokers, count)
        step = 1 + dice.integers(0, (size.brokers - 1) // 2, count)
        self.replicas = (first[:, None] + step[:, None] * np.arange(3)) % size.brokers + 1
        self._image = pa.concat_tables([self._moment(), self._brokers(), self._assigned(), self._states(None, 0)])
        self._failures = [self._failure(broker) for broker in range(1, size.brokers + 1)]
        self.changes = round(
            sum(len(table) - _count(table, ("Moment", "BrokerLost", "BrokerRegistered")) for table in self._failures)
            / size.brokers
        )

    def image(self, at_ms: int) -> pa.Table:
        return _at(_counted(self._image), at_ms)

    def failure(self, place: int, at_ms: int) -> pa.Table:
        return _at(self._failures[place], at_ms)

    def _failure(self, broker: int) -> pa.Table:
        registered = self._rows(1, kind="BrokerRegistered", broker=[broker])
        lost = self._rows(1, kind="BrokerLost", broker=[broker])
        steps = (
            (0, [lost]), (1_000, [self._states(broker, 1)]), (BACK_MS, [registered]),
            (BACK_MS + 1_000, [self._states(broker, 2)]), (LEADS_AGAIN_MS, [self._states(broker, 3)]),
        )  # fmt: skip
        tables = [_at(table, later_ms) for later_ms, told in steps for table in (self._moment(), *told)]
        return _counted(pa.concat_tables(tables))

    def _states(self, broker: int | None, step: int) -> pa.Table:
        """0: as all begin; then a broker's partitions when it fails, when it is in sync again, when it leads again."""
        replicas = self.replicas
        rows = np.arange(len(replicas)) if broker is None else np.flatnonzero((replicas == broker).any(axis=1))
        if step == 3:
            rows = rows[replicas[rows, 0] == broker]
        isr, leader = replicas[rows], replicas[rows, 0]
        if step == 1:
            isr = isr[isr != broker].reshape(len(rows), 2)
        if step in (1, 2):
            leader = np.where(leader == broker, replicas[rows, 1], leader)
            alone = rows % 97 == 0
            leader = np.where(alone & (replicas[rows, 0] == broker) & (step == 1), -1, leader)
        zeros = np.zeros(len(rows), np.int64)
        return self._rows(
            len(rows), kind="PartitionStatesWritten", topic=self._topics(rows), partition=rows % self.size.partitions,
            leader=leader, leader_epoch=zeros + step, controller_epoch=zeros + 1, version=zeros + step,
            recovering=zeros == 1, isr=_lists(isr),
        )  # fmt: skip

    def _topics(self, rows: Ids) -> Any:
        names = pa.array([f"topic-{number:04}" for number in range(self.size.topics)])
        return pa.DictionaryArray.from_arrays(pa.array(rows // self.size.partitions, pa.int32()), names)

    def _assigned(self) -> pa.Table:
        rows = np.arange(len(self.replicas))
        place = {"topic": self._topics(rows), "partition": rows % self.size.partitions}
        return self._rows(len(rows), kind="TopicAssigned", replicas=_lists(self.replicas), **place)

    def _brokers(self) -> pa.Table:
        ids = np.arange(1, self.size.brokers + 1)
        return self._rows(len(ids), kind="BrokerRegistered", broker=ids)

    def _moment(self) -> pa.Table:
        return self._rows(1, kind="Moment")

    @staticmethod
    def _rows(count: int, *, kind: str, **columns: Any) -> pa.Table:
        zeros = np.zeros(count, np.int64)
        columns |= {"at_ms": zeros, "record": zeros, "kind": [kind] * count, "zxid": zeros + 7}
        columns["time_ms"] = zeros + FIRST_MS
        arrays = [
            _compute.cast(pa.array(columns[field.name]), field.type)
            if field.name in columns and not isinstance(columns[field.name], pa.Array)
            else columns.get(field.name, pa.nulls(count, field.type))
            for field in SCHEMA
        ]
        return pa.table(dict(zip(SCHEMA.names, arrays, strict=True)), schema=SCHEMA)


def _lists(rows: Ids) -> Any:
    starts: Any = np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int32)
    return _arrow.ListArray.from_arrays(pa.array(starts), pa.array(rows.reshape(-1), pa.int32()))


def _counted(table: pa.Table) -> pa.Table:
    """A record for each topic of a fact: rows of one fact stand together."""
    table = table.unify_dictionaries().combine_chunks()
    named: Any = table
    kind, topic = (named.column(name).combine_chunks().indices.fill_null(-1).to_numpy() for name in ("kind", "topic"))
    broker = named.column("broker").combine_chunks().fill_null(-1).to_numpy()
    changes = np.diff(kind, prepend=kind[:1]) | np.diff(topic, prepend=topic[:1]) | np.diff(broker, prepend=broker[:1])
    return _with(table, record=pa.array((changes != 0).cumsum().astype(np.int64)))


def _at(table: pa.Table, at_ms: int) -> pa.Table:
    return _with(table, at_ms=_compute.add(table.column("at_ms"), pa.scalar(at_ms)))


def _with(table: pa.Table, **columns: Any) -> pa.Table:
    for name, column in columns.items():
        table = table.set_column(table.schema.get_field_index(name), SCHEMA.field(name), column)
    return table


def _count(table: pa.Table, kinds: tuple[str, ...]) -> int:
    return sum(kind in kinds for kind in table.column("kind").to_pylist())
