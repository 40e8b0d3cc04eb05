"""What is asked of recordings, the days that this means, the answer as values that travel as JSON, and how the
facts of many sets come to it.

All times are ms since the epoch, UTC. Folders are listed, no recording is opened.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from model.analyses.analysis import Arrays
from model.analyses.history.facts import NAMED, WIDTHS
from model.recordings.folder import DAY_MS, ClusterFolder, RecordingError, clusters_in, said
from model.recordings.part_file import NONE, Numbers

HISTORY_FORMAT = "kdrill.history/1"


class ClusterDay(msgspec.Struct, frozen=True):
    """The unit of work. `path` is the cluster's folder, `day` is `2026-11-20`."""

    cluster: str
    path: str
    day: str
    size_bytes: int


class HistoryParameters(msgspec.Struct, frozen=True):
    """Which days of which clusters, and the time within them: from `from_ms` to before `to_ms`."""

    days: tuple[ClusterDay, ...]
    from_ms: int
    to_ms: int
    drills: bool = True
    """Whether a drill is played on each cluster's worst moment."""


class PartitionFlaps(msgspec.Struct, frozen=True):
    """How often a partition's leader changed: each time that somebody else, or somebody again, led it."""

    topic: str
    partition: int
    changes: int


class TopicFlaps(msgspec.Struct, frozen=True):
    """The same of a topic's partitions together; `partitions` are those with any change."""

    topic: str
    changes: int
    partitions: int


class Outage(msgspec.Struct, frozen=True):
    """One partition without a live leader. It may have begun before the recording, or go on after it."""

    topic: str
    partition: int
    from_ms: int
    to_ms: int


class Leaderless(msgspec.Struct, frozen=True):
    """Time that partitions were without a live leader; an outage over midnight is one."""

    outages: int
    total_ms: int
    mean_ms: float
    longest: tuple[Outage, ...]
    """Up to a hundred, the longest first."""
    still: int
    """Outages that last until the end of what is known."""


class IsrHour(msgspec.Struct, frozen=True):
    """How often a broker left ISRs and came back to them within the hour that begins at `hour_ms`."""

    broker: int
    hour_ms: int
    left: int
    joined: int


class GroupRebalances(msgspec.Struct, frozen=True):
    """A group's rebalances; `moved` partitions in all, `took_ms` in all as far as they ended.

    One that went through several generations before anybody looked counts as so many, here and in storms.
    """

    group: str
    rebalances: int
    moved: int
    took_ms: int
    storms: int


class Storm(msgspec.Struct, frozen=True):
    """Five rebalances of a group or more, none later than two minutes after the one before."""

    group: str
    from_ms: int
    to_ms: int
    rebalances: int


class ControllerChange(msgspec.Struct, frozen=True):
    """Another broker became controller, or none is (null)."""

    at_ms: int
    before: int | None
    after: int | None


class WorstDrill(msgspec.Struct, frozen=True):
    """What one more death would have done at the worst moment: each live broker in turn.

    `kill` is the broker whose death would have hurt most partitions; null where none would have hurt any.
    """

    scenarios: int
    hurting: int
    kill: int | None = None
    newly_offline: int = 0
    newly_under_min_isr: int = 0
    note: str = ""
    """Why there is no answer, where there is none."""


class WorstMoment(msgspec.Struct, frozen=True):
    """Most partitions without a live leader at once, and of such moments the one with most under-replicated ones.

    `source` opens it: `kdrill SOURCE`.
    """

    at_ms: int
    offline: int
    under_replicated: int
    source: str
    drill: WorstDrill | None = None


class ClusterHistory(msgspec.Struct, frozen=True):
    """One cluster. `observed_ms` is how much of the time from `from_ms` to `to_ms` is known; lists: the most first."""

    cluster: str
    from_ms: int
    to_ms: int
    observed_ms: int
    gaps: int
    moments: int
    leader_changes: int
    topics: tuple[TopicFlaps, ...]
    partitions: tuple[PartitionFlaps, ...]
    """Up to a thousand."""
    leaderless: Leaderless
    isr: tuple[IsrHour, ...]
    groups: tuple[GroupRebalances, ...]
    storms: tuple[Storm, ...]
    controllers: tuple[ControllerChange, ...]
    """In order of time."""
    worst: WorstMoment | None
    """None: all was well all the time."""


class HistoryResult(msgspec.Struct, frozen=True):
    """By cluster, in order of their names."""

    clusters: tuple[ClusterHistory, ...]


FOREVER_MS = 2**62


def parameters_of(
    folders: Sequence[Path], clusters: Sequence[str] = (), from_ms: int = 0, to_ms: int = FOREVER_MS
) -> HistoryParameters:
    """The days recorded in these folders, of all clusters or those named. Raises RecordingError where there is none."""
    found = [each for folder in folders for each in clusters_in(folder)]
    unknown = [name for name in clusters if name not in {each.name for each in found}]
    if unknown:
        known = ", ".join(sorted(each.name for each in found))
        raise RecordingError(f"no recording of cluster {unknown[0]!r}; there are: {known}")
    chosen = [each for each in found if not clusters or each.name in clusters]
    days = [
        ClusterDay(each.name, each.path, day, sum(Path(file.path).stat().st_size for file in each.files(day)))
        for each in chosen
        for day in each.days()
        if _begin_ms(day) < to_ms and _begin_ms(day) + DAY_MS > from_ms
    ]
    if not days:
        raise RecordingError(f"{', '.join(map(str, folders))}: nothing is recorded of that time")
    return HistoryParameters(tuple(days), from_ms, to_ms)


def folder_of(day: ClusterDay) -> ClusterFolder:
    """Where a day's files are."""
    return ClusterFolder(day.cluster, day.path)


def _begin_ms(day: str) -> int:
    try:
        return round(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        raise RecordingError(f"day={day}: no day of a recording; remove it to read the rest") from None


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
