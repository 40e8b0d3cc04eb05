"""Tables of what recordings tell, as rows of numbers: what they hold, and how those of many sets, days and tasks become
one. Sums of sums: merged in any order and grouping they come to the same.

What grows with the changes is summed up where it is found. What has to be kept row by row grows with hours, brokers,
partitions and rebalances only, so that a month of any number of changes needs no more memory than its partitions do.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from model.analyses.analysis import Arrays
from model.recordings.part_file import Numbers

HOUR_MS = 3_600_000

WIDTHS: Mapping[str, int] = {
    "observed": 7,  # from_ms, to_ms, moments; offline and under-replicated partitions at its begin, and at its end
    "edges": 4,  # topic, partition, from_ms, to_ms of outages that reach its begin or its end
    "lost": 4,  # topic, outages, total_ms, longest_ms of all others
    "longest": 4,  # the same as of edges, of the longest of these
    "leaders": 3,  # topic, partition, changes
    "hours": 5,  # broker, hour_ms, times it left an ISR, joined one, led a partition no more
    "rebalances": 6,  # group, is classic, at_ms, took_ms (-1: not over), moved, generations
    "controllers": 3,  # at_ms, before, after (-1: none)
    "worst": 4,  # at_ms, offline, under-replicated, whether it was so before: by hour, when it got worse
}
"""Name of a table → its columns."""

NAMED: Mapping[str, str] = {
    "edges": "topics", "lost": "topics", "longest": "topics", "leaders": "topics", "rebalances": "groups",
}  # fmt: skip
"""Tables whose first column is a number of these names."""

MOST_OUTAGES = 100
"""Outages that are kept one by one."""

Facts = Mapping[str, Numbers]


def empty(before: int = 0) -> dict[str, Numbers]:
    """No rows; with so many columns before those of each table."""
    return {name: np.empty((0, before + width), np.int64) for name, width in WIDTHS.items()}


def grouped(keys: Numbers) -> tuple[Numbers, Numbers]:
    """Distinct rows in order, and which of them each row is. As np.unique over rows, which is many times slower."""
    low, high = keys.min(axis=0, initial=0), keys.max(axis=0, initial=0)
    sizes = [int(size) for size in high - low + 1]
    if np.prod(np.array(sizes, float)) >= MOST_PACKED:
        distinct, place = np.unique(keys, axis=0, return_inverse=True)
        return distinct, place.reshape(-1)
    packed = np.zeros(len(keys), np.int64)
    for column, size in enumerate(sizes):
        packed = packed * size + (keys[:, column] - low[column])
    _, first, place = np.unique(packed, return_index=True, return_inverse=True)
    return keys[first], place.reshape(-1)


MOST_PACKED = 2.0**62
"""Rows of numbers that could take more values than this are not made one number each."""


def counted(keys: Numbers) -> Numbers:
    """Distinct rows, each with how often it is there as another column."""
    distinct, place = grouped(keys)
    return np.column_stack([distinct, np.bincount(place, minlength=len(distinct)).astype(np.int64)])


def joined(rows: Numbers) -> Numbers:
    """Times [N, …, from, to] of the same thing that touch or overlap, as one; by thing and time."""
    if not len(rows):
        return rows
    rows = rows[np.lexsort(rows.T[::-1])]
    is_new = (np.diff(rows[:, :-2], axis=0) != 0).any(axis=1)
    group = np.concatenate([[0], is_new.cumsum()])
    # Ends only grow within a thing once each is raised above the one before; things are kept apart by their number.
    low = int(rows[:, -2].min())
    span = int(rows[:, -1].max()) - low + 1
    reached = np.maximum.accumulate(rows[:, -1] - low + group * span) - group * span + low
    is_first = np.concatenate([[True], is_new | (rows[1:, -2] > reached[:-1])])
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(rows)) - 1
    return np.column_stack([rows[starts, :-1], reached[ends]])


def summed(rows: Numbers, keys: int) -> Numbers:
    """Rows with the same first columns as one, the others added."""
    distinct, place = grouped(rows[:, :keys])
    sums = np.zeros((len(distinct), rows.shape[1] - keys), np.int64)
    np.add.at(sums, place, rows[:, keys:])
    return np.column_stack([distinct, sums])


def lost(outages: Numbers) -> Numbers:
    """[…, partition, from, to] → […, outages, total, longest], without the partition."""
    took = outages[:, -1] - outages[:, -2]
    return totalled(np.column_stack([outages[:, :-3], np.ones(len(took), np.int64), took, took]))


def totalled(rows: Numbers) -> Numbers:
    """[…, outages, total, longest] of the same thing as one."""
    distinct, place = grouped(rows[:, :-3])
    sums = np.zeros((len(distinct), 3), np.int64)
    np.add.at(sums[:, :2], place, rows[:, -3:-1])
    np.maximum.at(sums[:, 2], place, rows[:, -1])
    return np.column_stack([distinct, sums])


def by_length(outages: Numbers, names: Sequence[str]) -> Numbers:
    """The order of [N, topic, partition, from, to]: the longest first, else by topic's name, partition and time."""
    rank = np.zeros(len(names), np.int64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    took = outages[:, 3] - outages[:, 2]
    return np.lexsort((outages[:, 2], outages[:, 1], rank[outages[:, 0]], -took))


def worst_of_hours(rows: Numbers) -> Numbers:
    """[N, thing, at, offline, under-replicated, whether it was so before]: the worst of each thing's hours, those that
    were so before apart."""
    order = np.lexsort((rows[:, 1], -rows[:, 3], -rows[:, 2], rows[:, 1] // HOUR_MS, rows[:, 4], rows[:, 0]))
    rows = rows[order]
    hours = np.column_stack([rows[:, 0], rows[:, 4], np.where(rows[:, 4], rows[:, 1], rows[:, 1] // HOUR_MS)])
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (np.diff(hours, axis=0) != 0).any(axis=1)
    return rows[is_first]


class HistoryTables(msgspec.Struct, frozen=True):
    """All tables, each with the number of its cluster's folder before its columns. Folders, topics and groups are
    numbers of `names`; a table is its rows as little-endian integers of 64 bits."""

    names: tuple[str, ...] = ()
    rows: Mapping[str, bytes] = {}

    def tables(self) -> dict[str, Numbers]:
        """As numbers."""
        return {
            name: np.frombuffer(self.rows.get(name, b""), "<i8").reshape(-1, 1 + width)
            for name, width in WIDTHS.items()
        }


def told(cluster: str, facts: Facts, names: Mapping[str, Sequence[str]]) -> HistoryTables:
    """What one set of a cluster's folder tells; `names`: topics and groups, which its numbers stand for."""
    every = [cluster, *names["topics"], *names["groups"]]
    after = {"topics": 1, "groups": 1 + len(names["topics"])}
    tables = {
        name: np.column_stack(
            [np.zeros(len(rows), np.int64), rows[:, :1] + after.get(NAMED.get(name, ""), 0), rows[:, 1:]]
        )
        for name, rows in facts.items()
    }
    return _packed(every, tables)


def merged(parts: Sequence[HistoryTables]) -> HistoryTables:
    """All of them as one."""
    numbers: dict[str, int] = {}
    found: dict[str, list[Numbers]] = {name: [rows] for name, rows in empty(1).items()}
    for part in parts:
        anew = np.array([numbers.setdefault(name, len(numbers)) for name in part.names], np.int64)
        for name, rows in part.tables().items():
            renamed = rows.copy()
            for column in (0, 1) if name in NAMED else (0,):
                renamed[:, column] = anew[rows[:, column]] if len(rows) else rows[:, column]
            found[name].append(renamed)
    names = list(numbers)
    return _packed(names, _summed_up({name: np.concatenate(rows) for name, rows in found.items()}, names))


def _packed(names: Sequence[str], tables: Facts) -> HistoryTables:
    return HistoryTables(
        tuple(names), {name: np.ascontiguousarray(rows, "<i8").tobytes() for name, rows in tables.items() if len(rows)}
    )


def _summed_up(tables: Mapping[str, Numbers], names: Sequence[str]) -> dict[str, Numbers]:
    return {
        "observed": np.unique(tables["observed"], axis=0),
        "edges": joined(tables["edges"]),
        "lost": totalled(tables["lost"]),
        "longest": _longest(tables["longest"], names),
        "leaders": summed(tables["leaders"], 3),
        "hours": summed(tables["hours"], 3),
        "rebalances": _as_told_last(tables["rebalances"]),
        "controllers": np.unique(tables["controllers"], axis=0),
        "worst": worst_of_hours(tables["worst"]),
    }


def _longest(rows: Numbers, names: Sequence[str]) -> Numbers:
    kept = [rows[:0]]
    for cluster in np.unique(rows[:, 0]).tolist():
        own = rows[rows[:, 0] == cluster]
        kept.append(own[by_length(own[:, 1:], names)[:MOST_OUTAGES]])
    return np.concatenate(kept)


def _as_told_last(rows: Numbers) -> Numbers:
    """[N, cluster, group, is classic, at, took, …]: one that was told twice, as it was told when it was over."""
    rows = rows[np.lexsort(rows.T[::-1])]
    is_last = np.ones(len(rows), np.bool_)
    is_last[:-1] = (np.diff(rows[:, :4], axis=0) != 0).any(axis=1)
    return rows[is_last]


def arrays_of(tables: HistoryTables) -> Arrays:
    """As what a kernel returns."""
    return {"names": np.frombuffer(msgspec.json.encode(tables.names), np.uint8), **tables.tables()}


def tables_of(arrays: Arrays) -> HistoryTables:
    """What `arrays_of` was given."""
    names = msgspec.json.decode(arrays["names"].tobytes(), type=list[str])
    return _packed(names, {name: np.asarray(arrays[name], np.int64) for name in WIDTHS})
