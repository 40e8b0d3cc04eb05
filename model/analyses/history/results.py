"""What is asked of recordings, the days that this means, the answer as values that travel as JSON, and how the
facts of many sets come to it.

All times are ms since the epoch, UTC. Folders are listed, no recording is opened.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np

from model.analyses.history.tables import (
    MOST_OUTAGES,
    Facts,
    HistoryTables,
    by_length,
    joined,
    lost,
    summed,
    totalled,
)
from model.recordings.folder import DAY_MS, ClusterFolder, PartSet, RecordingError, clusters_in, said
from model.recordings.part_file import NONE, Numbers

HISTORY_FORMAT = "kdrill.history/1"
MOST_SETS = 1 << 30
PART_BYTES = 4 << 20
"""Of files, from which on a day is more than one unit of work: a million rows or so."""


class ClusterDay(msgspec.Struct, frozen=True):
    """The unit of work: a day, or so many sets of a large one from a first one on.

    `path` is the cluster's folder, `day` is `2026-11-20`.
    """

    cluster: str
    path: str
    day: str
    size_bytes: int
    first_set: int = 0
    sets: int = MOST_SETS


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


class TopicOutages(msgspec.Struct, frozen=True):
    """Time that a topic's partitions were without a live leader, all of them together."""

    topic: str
    outages: int
    total_ms: int
    longest_ms: int


class Leaderless(msgspec.Struct, frozen=True):
    """Time that partitions were without a live leader; an outage over midnight is one."""

    outages: int
    total_ms: int
    mean_ms: float
    topics: tuple[TopicOutages, ...]
    longest: tuple[Outage, ...]
    """Up to a hundred, the longest first."""
    still: int
    """Outages that last until the end of what is known."""


class BrokerHour(msgspec.Struct, frozen=True):
    """How often a broker left ISRs and came back to them within the hour that begins at `hour_ms`, and how many
    leaderships it lost: partitions that it led, and then did not."""

    broker: int
    hour_ms: int
    left: int
    joined: int
    lost: int


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


class Gap(msgspec.Struct, frozen=True):
    """A time of which nothing was recorded."""

    from_ms: int
    to_ms: int


class ClusterHistory(msgspec.Struct, frozen=True):
    """One cluster. `observed_ms` is how much of the time from `from_ms` to `to_ms` is known; lists: the most first."""

    cluster: str
    from_ms: int
    to_ms: int
    observed_ms: int
    gaps: int
    unknown: tuple[Gap, ...]
    """These gaps, the longest first, up to a hundred."""
    moments: int
    leader_changes: int
    topics: tuple[TopicFlaps, ...]
    partitions: tuple[PartitionFlaps, ...]
    """Up to a thousand."""
    leaderless: Leaderless
    hours: tuple[BrokerHour, ...]
    groups: tuple[GroupRebalances, ...]
    storms: tuple[Storm, ...]
    controllers: tuple[ControllerChange, ...]
    """In order of time."""
    worst: WorstMoment | None
    """None: all was well all the time."""
    moments_by_hour: tuple[WorstMoment, ...]
    """Of each hour in which it got worse the worst moment, up to a hundred, without a drill."""


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
        part
        for each in chosen
        for day in each.days()
        if _begin_ms(day) < to_ms and _begin_ms(day) + DAY_MS > from_ms
        for part in _parts(each, day)
    ]
    if not days:
        raise RecordingError(f"{', '.join(map(str, folders))}: nothing is recorded of that time")
    return HistoryParameters(tuple(days), from_ms, to_ms)


def _parts(folder: ClusterFolder, day: str) -> Iterator[ClusterDay]:
    sizes = [sum(Path(part.path).stat().st_size for part in whole.parts) for whole in folder.sets([day])]
    first, size = 0, 0
    for number, more in enumerate(sizes):
        if size and size + more > PART_BYTES:
            yield ClusterDay(folder.name, folder.path, day, size, first, number - first)
            first, size = number, 0
        size += more
    yield ClusterDay(folder.name, folder.path, day, size, first)


def sets_of_day(day: ClusterDay) -> list[PartSet]:
    """The sets that are meant. Raises RecordingError."""
    return list(ClusterFolder(day.cluster, day.path).sets([day.day]))[day.first_set : day.first_set + day.sets]


def _begin_ms(day: str) -> int:
    try:
        return round(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        raise RecordingError(f"day={day}: no day of a recording; remove it to read the rest") from None


MOST_MOMENTS = 100
MOST_GAPS = 100
STORM = 5
STORM_GAP_MS = 120_000
MOST_PARTITIONS = 1_000


def histories_of(tables: HistoryTables, clusters: Sequence[tuple[str, str]]) -> Iterator[ClusterHistory]:
    """Of each cluster (name, folder) that anything is known of."""
    names, every = list(tables.names), tables.tables()
    for name, folder in clusters:
        number = names.index(folder) if folder in names else NONE
        own = {table: rows[rows[:, 0] == number][:, 1:] for table, rows in every.items()}
        if len(own["observed"]):
            yield _history(name, folder, own, names)


def _history(name: str, folder: str, own: Facts, names: list[str]) -> ClusterHistory:
    observed = joined(own["observed"][:, :2])
    end_ms = int(observed[-1, 1])
    changes = summed(own["leaders"], 2)
    rebalances = _rebalances(own["rebalances"], names)
    storms = [storm for group, of in rebalances for storm in _storms(group, of)]
    moments = _moments(own["worst"], own["observed"], folder)
    return ClusterHistory(
        cluster=name,
        from_ms=int(observed[0, 0]),
        to_ms=end_ms,
        observed_ms=int((observed[:, 1] - observed[:, 0]).sum()),
        gaps=len(observed) - 1,
        unknown=_gaps(observed),
        moments=int(own["observed"][:, 2].sum()),
        leader_changes=int(changes[:, 2].sum()),
        topics=_topics(changes, names),
        partitions=_partitions(changes, names),
        leaderless=_leaderless(own, names, end_ms),
        hours=tuple(BrokerHour(*row) for row in _by_most(own["hours"], slice(2, 5)).tolist()),
        groups=_groups(rebalances, storms),
        storms=tuple(sorted(storms, key=lambda storm: (-storm.rebalances, storm.from_ms, storm.group))),
        controllers=tuple(
            ControllerChange(at_ms, *(None if broker == NONE else broker for broker in brokers))
            for at_ms, *brokers in np.unique(own["controllers"], axis=0).tolist()
        ),
        worst=moments[0] if moments else None,
        moments_by_hour=moments,
    )


def _gaps(observed: Numbers) -> tuple[Gap, ...]:
    found = zip(observed[:-1, 1].tolist(), observed[1:, 0].tolist(), strict=True)
    longest = sorted(found, key=lambda gap: (gap[0] - gap[1], gap[0]))[:MOST_GAPS]
    return tuple(Gap(from_ms, to_ms) for from_ms, to_ms in longest)


def _by_most(rows: Numbers, by: slice) -> Numbers:
    return rows[np.lexsort((*rows.T[::-1], -rows[:, by].sum(axis=1)))]


def _listed(rows: Numbers) -> list[list[int]]:
    return rows.tolist()


def _topics(changes: Numbers, names: list[str]) -> tuple[TopicFlaps, ...]:
    by_topic = summed(np.column_stack([changes[:, 0], changes[:, 2], np.ones(len(changes), np.int64)]), 1)
    flaps = [TopicFlaps(names[topic], times, partitions) for topic, times, partitions in _listed(by_topic)]
    return tuple(sorted(flaps, key=lambda one: (-one.changes, one.topic)))


def _partitions(changes: Numbers, names: list[str]) -> tuple[PartitionFlaps, ...]:
    flaps = [PartitionFlaps(names[topic], partition, times) for topic, partition, times in _listed(changes)]
    return tuple(sorted(flaps, key=lambda one: (-one.changes, one.topic, one.partition))[:MOST_PARTITIONS])


def _leaderless(own: Facts, names: list[str], end_ms: int) -> Leaderless:
    """Outages at the edges of sets, which are joined by now, and those within."""
    edges = own["edges"]
    topics = totalled(np.concatenate([own["lost"], lost(edges)]))
    every = np.concatenate([own["longest"], edges])
    longest = _listed(every[by_length(every, names)[:MOST_OUTAGES]])
    outages, total_ms = (int(topics[:, column].sum()) for column in (1, 2))
    told = [TopicOutages(names[topic], *rest) for topic, *rest in _listed(topics)]
    return Leaderless(
        outages=outages,
        total_ms=total_ms,
        mean_ms=total_ms / outages if outages else 0.0,
        topics=tuple(sorted(told, key=lambda one: (-one.total_ms, one.topic))),
        longest=tuple(Outage(names[topic], *rest) for topic, *rest in longest),
        still=int((edges[:, 3] == end_ms).sum()),
    )


def _rebalances(rows: Numbers, names: list[str]) -> list[tuple[str, Numbers]]:
    """By group, its rebalances [at, took, moved, generations]."""
    of: dict[tuple[int, int], list[list[int]]] = {}
    for group, is_classic, *one in _listed(rows[np.lexsort(rows.T[::-1])]):
        of.setdefault((group, is_classic), []).append(one)
    return [
        (names[group] + (" (classic)" if is_classic and (group, 0) in of else ""), np.array(own, np.int64))
        for (group, is_classic), own in of.items()
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


def _moments(rows: Numbers, observed: Numbers, folder: str) -> tuple[WorstMoment, ...]:
    """The worst first. What a set began with is none where it was the same at the end of the set before."""
    ended = {(to_ms, *was) for _, to_ms, _, _, _, *was in _listed(observed)}
    told = [row[:3] for row in _listed(rows) if not (row[3] and tuple(row[:3]) in ended)]
    told.sort(key=lambda row: (-row[1], -row[2], row[0]))
    some = told[:MOST_MOMENTS]
    return tuple(WorstMoment(at_ms, offline, under, f"{folder}@{said(at_ms)}") for at_ms, offline, under in some)
