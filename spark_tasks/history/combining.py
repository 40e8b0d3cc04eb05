"""Tables of many days → each cluster's history. The order in which tables come does not matter."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from model.recordings.times import said
from spark_tasks.analysis import Arrays
from spark_tasks.history.results import (
    ClusterHistory,
    ControllerChange,
    GroupRebalances,
    IsrHour,
    Leaderless,
    Outage,
    PartitionFlaps,
    Storm,
    TopicFlaps,
    WorstMoment,
)
from spark_tasks.history.set_columns import NONE, Numbers
from spark_tasks.history.set_facts import NAMED, WIDTHS

STORM = 5
STORM_GAP_MS = 120_000
MOST_OUTAGES = 100
MOST_PARTITIONS = 1_000

_Tables = Mapping[str, Numbers]


def histories_of(batches: Sequence[Arrays], clusters: Sequence[tuple[str, str]]) -> Iterator[ClusterHistory]:
    """Of each cluster (name, folder) that anything is known of."""
    tables, names = _together(batches)
    for number, (name, folder) in enumerate(clusters):
        own = {table: rows[rows[:, 0] == number][:, 1:] for table, rows in tables.items()}
        if len(own["observed"]):
            yield _history(name, folder, own, names)


def _together(batches: Sequence[Arrays]) -> tuple[_Tables, list[str]]:
    """The tables of all batches, their names numbered anew."""
    numbers: dict[str, int] = {}
    parts: dict[str, list[Any]] = {name: [np.empty((0, 1 + width), np.int64)] for name, width in WIDTHS.items()}
    for batch in batches:
        names = msgspec.json.decode(batch["names"].tobytes(), type=list[str])
        anew = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
        for table, rows in parts.items():
            told = np.array(batch[table], np.int64)
            if table in NAMED and len(told):
                told[:, 1] = anew[told[:, 1]]
            rows.append(told)
    return {table: np.concatenate(rows) for table, rows in parts.items()}, list(numbers)


def _history(name: str, folder: str, own: _Tables, names: list[str]) -> ClusterHistory:
    observed = joined(own["observed"][:, :2])
    end_ms = int(observed[-1, 1])
    changes = _summed(own["leaders"], 2)
    rebalances = _rebalances(own["rebalances"], names)
    storms = [storm for group, of in rebalances for storm in _storms(group, of)]
    return ClusterHistory(
        cluster=name,
        from_ms=int(observed[0, 0]),
        to_ms=end_ms,
        observed_ms=int((observed[:, 1] - observed[:, 0]).sum()),
        gaps=len(observed) - 1,
        moments=int(own["observed"][:, 2].sum()),
        leader_changes=int(changes[:, 2].sum()),
        topics=_topics(changes, names),
        partitions=_partitions(changes, names),
        leaderless=_leaderless(joined(own["outages"]), names, end_ms),
        isr=tuple(IsrHour(*row) for row in _by_most(_summed(own["isr"], 2), slice(2, 4)).tolist()),
        groups=_groups(rebalances, storms),
        storms=tuple(sorted(storms, key=lambda storm: (-storm.rebalances, storm.from_ms, storm.group))),
        controllers=tuple(
            ControllerChange(at_ms, *(None if broker == NONE else broker for broker in brokers))
            for at_ms, *brokers in np.unique(own["controllers"], axis=0).tolist()
        ),
        worst=_worst(own["worst"], folder),
    )


def joined(rows: Numbers) -> Numbers:
    """Times [N, …, from, to] of the same thing that touch or overlap, as one; by thing and time."""
    if not len(rows):
        return rows
    rows = rows[np.lexsort(rows.T[::-1])]
    is_new = (np.diff(rows[:, :-2], axis=0) != 0).any(axis=1)
    group = np.concatenate([[0], is_new.cumsum()])
    # Ends only grow within a thing once each is raised above the one before; things are kept apart by their number.
    span = int(rows[:, -1].max()) + 1
    reached = np.maximum.accumulate(rows[:, -1] + group * span) - group * span
    is_first = np.concatenate([[True], is_new | (rows[1:, -2] > reached[:-1])])
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(rows)) - 1
    return np.column_stack([rows[starts, :-1], reached[ends]])


def _summed(rows: Numbers, keys: int) -> Numbers:
    """Rows with the same first columns as one, the others added."""
    distinct, place = np.unique(rows[:, :keys], axis=0, return_inverse=True)
    sums = np.zeros((len(distinct), rows.shape[1] - keys), np.int64)
    np.add.at(sums, place.reshape(-1), rows[:, keys:])
    return np.column_stack([distinct, sums])


def _by_most(rows: Numbers, by: slice) -> Numbers:
    return rows[np.lexsort((*rows.T[::-1], -rows[:, by].sum(axis=1)))]


def _listed(rows: Numbers) -> list[list[int]]:
    return rows.tolist()


def _topics(changes: Numbers, names: list[str]) -> tuple[TopicFlaps, ...]:
    by_topic = _summed(np.column_stack([changes[:, 0], changes[:, 2], np.ones(len(changes), np.int64)]), 1)
    flaps = [TopicFlaps(names[topic], times, partitions) for topic, times, partitions in _listed(by_topic)]
    return tuple(sorted(flaps, key=lambda one: (-one.changes, one.topic)))


def _partitions(changes: Numbers, names: list[str]) -> tuple[PartitionFlaps, ...]:
    flaps = [PartitionFlaps(names[topic], partition, times) for topic, partition, times in _listed(changes)]
    return tuple(sorted(flaps, key=lambda one: (-one.changes, one.topic, one.partition))[:MOST_PARTITIONS])


def _leaderless(outages: Numbers, names: list[str], end_ms: int) -> Leaderless:
    took = outages[:, 3] - outages[:, 2]
    least = np.sort(took)[-MOST_OUTAGES:][:1]
    chosen = _listed(outages[took >= (least if len(least) else 0)])
    long = [Outage(names[topic], *rest) for topic, *rest in chosen]
    long.sort(key=lambda one: (one.from_ms - one.to_ms, one.topic, one.partition, one.from_ms))
    total_ms = int(took.sum())
    return Leaderless(
        outages=len(outages),
        total_ms=total_ms,
        mean_ms=total_ms / len(outages) if len(outages) else 0.0,
        longest=tuple(long[:MOST_OUTAGES]),
        still=int((outages[:, 3] == end_ms).sum()),
    )


def _rebalances(rows: Numbers, names: list[str]) -> list[tuple[str, Numbers]]:
    """By group, its rebalances [at, took, moved, generations]; one that was told twice as it was told last."""
    last: dict[tuple[int, int], dict[int, list[int]]] = {}
    for group, is_classic, *one in _listed(rows[np.lexsort(rows.T[::-1])]):
        last.setdefault((group, is_classic), {})[one[0]] = one
    return [
        (
            names[group] + (" (classic)" if is_classic and (group, 0) in last else ""),
            np.array(list(of.values()), np.int64),
        )
        for (group, is_classic), of in last.items()
    ]


def _storms(group: str, rebalances: Numbers) -> Iterator[Storm]:
    cuts = np.flatnonzero(np.diff(rebalances[:, 0]) > STORM_GAP_MS) + 1
    for run in np.split(rebalances, cuts):
        count = int(run[:, 3].sum())
        if count >= STORM:
            yield Storm(group, int(run[0, 0]), int(run[-1, 0]), count)


def _groups(rebalances: list[tuple[str, Numbers]], storms: list[Storm]) -> tuple[GroupRebalances, ...]:
    found = [
        GroupRebalances(
            group,
            int(of[:, 3].sum()),
            int(of[:, 2].sum()),
            int(of[:, 1].clip(0).sum()),
            sum(storm.group == group for storm in storms),
        )
        for group, of in rebalances
    ]
    return tuple(sorted(found, key=lambda one: (-one.rebalances, one.group)))


def _worst(rows: Numbers, folder: str) -> WorstMoment | None:
    if not len(rows):
        return None
    at_ms, offline, under_replicated = rows[np.lexsort((rows[:, 0], -rows[:, 2], -rows[:, 1]))[0]].tolist()
    return WorstMoment(at_ms, offline, under_replicated, f"{folder}@{said(at_ms)}")
