"""What one set tells, as rows of numbers within a time: outages, leader changes, ISR churn, rebalances, controllers.

It follows from what each partition was from when to when: leader, ISR, replicas; pure arithmetic over columns. Topics
and groups are numbers of the set's names. Whoever adds sets up gives them numbers of all names.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.analyses.history.tables import (
    HOUR_MS,
    MOST_OUTAGES,
    WIDTHS,
    Facts,
    HistoryTables,
    by_length,
    counted,
    empty,
    joined,
    lost,
    summed,
    told,
    worst_of_hours,
)
from model.recordings.folder import RecordingError
from model.recordings.format import MOMENT, REBALANCED, NewRebalances
from model.recordings.part_file import NONE, Numbers, SetColumns, Table2d

Flags = NDArray[np.bool_]
_UNSAID = -2


@dataclass(frozen=True, eq=False)
class PartitionSpans:
    """N spans, by partition and time; `is_next`: the span before belongs to the same partition."""

    topic: Numbers  # [N] number of a name
    partition: Numbers  # [N]
    from_ms: Numbers  # [N]
    to_ms: Numbers  # [N]
    is_next: Flags  # [N]
    stated: Flags  # [N] it has a state
    watched: Flags  # [N] it has a state and replicas, and its topic is not being deleted
    leader: Numbers  # [N]
    isr: Table2d  # [N, W]
    missing: Flags  # [N] under-replicated: a reassignment's new replicas are not missed yet (KIP-455)


def partition_spans(of: SetColumns) -> PartitionSpans:
    """Of a set."""
    key, row, says = _events(of)
    order = np.lexsort((row, key))
    key, row, says = key[order], row[order], says[order]
    is_first = np.diff(key, prepend=-1) != 0
    state, assigned, deleting = (_carried(column, is_first) for column in says.T)
    at_ms = of.at_ms[row]
    is_last = np.append((key[1:] != key[:-1]) | (at_ms[1:] != at_ms[:-1]), True)[: len(key)]
    key, at_ms, state, assigned, deleting = (each[is_last] for each in (key, at_ms, state, assigned, deleting))
    is_next = np.diff(key, prepend=-1) == 0
    to_ms = np.where(np.append(is_next[1:], False)[: len(key)], np.append(at_ms[1:], 0)[: len(key)], of.until_ms)
    stated, has_replicas = state >= 0, assigned >= 0
    isr = np.where(stated[:, None], of.isr[state], NONE)
    replicas = np.where(has_replicas[:, None], of.replicas[assigned], NONE)
    adding = np.where(has_replicas[:, None], of.adding[assigned], NONE)
    expected = ((replicas != NONE) & ~_within(replicas, adding)).sum(axis=1)
    watched = stated & (replicas != NONE).any(axis=1) & (deleting <= 0)
    return PartitionSpans(
        topic=key >> 32,
        partition=key & 0xFFFFFFFF,
        from_ms=at_ms,
        to_ms=to_ms,
        is_next=is_next,
        stated=stated,
        watched=watched,
        leader=np.where(stated, of.leader[state], NONE),
        isr=isr,
        missing=watched & (_within(replicas, isr).sum(axis=1) < expected),
    )


def gone_and_come(before: Table2d, after: Table2d) -> tuple[tuple[Numbers, Numbers], tuple[Numbers, Numbers]]:
    """(row, broker) of each who is in the first and not in the second, and the other way round."""
    gone = (before != NONE) & ~_within(before, after)
    come = (after != NONE) & ~_within(after, before)
    return (gone.nonzero()[0], before[gone].astype(np.int64)), (come.nonzero()[0], after[come].astype(np.int64))


def _within(some: Table2d, others: Table2d) -> Flags:
    """Whether the broker there is in the same row of `others`."""
    found = np.zeros(some.shape, np.bool_)
    for column in others.T:
        found |= some == column[:, None]
    return found & (some != NONE)


def _carried(says: Numbers, is_first: Flags) -> Numbers:
    """What was said last of the same partition; -1 where nothing was."""
    says = np.where(is_first & (says == _UNSAID), NONE, says)
    return says[np.maximum.accumulate(np.where(says == _UNSAID, 0, np.arange(len(says))))] if len(says) else says


def _events(of: SetColumns) -> tuple[Numbers, Numbers, Numbers]:
    """Partition, row, and what the row says of it: [state's row, assignment's row, whether the topic is deleted]."""
    parts = [part for part in _told(of) if len(part[0])]
    keys = [of.topic[row] << 32 | number for row, number, _ in parts]
    says = [np.broadcast_to(said if said.ndim == 2 else said[None, :], (len(row), 3)) for row, _, said in parts]
    none = np.empty(0, np.int64)
    return (
        np.concatenate([none, *keys]),
        np.concatenate([none, *(row for row, _, _ in parts)]),
        np.concatenate([none.reshape(0, 3), *says]),
    )


def _told(of: SetColumns) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """(rows, partitions, what they say): of single partitions, then of whole topics."""

    def rows_of(*kinds: str) -> Numbers:
        rows = of.of_kind(*kinds)
        return rows[of.partition[rows] >= 0]

    def said(rows: Numbers, place: int) -> Numbers:
        says = np.full((len(rows), 3), _UNSAID)
        says[:, place] = rows
        return says

    states = rows_of("PartitionStatesWritten")
    assigned = rows_of("TopicAssigned")
    assigned = assigned[of.has_replicas[assigned]]
    removed = rows_of("PartitionStatesRemoved")
    # What is said of a topic stands before what the same record says of its partitions.
    yield from _of_topics(of, np.concatenate([states, assigned, removed]))
    yield states, of.partition[states], said(states, 0)
    yield assigned, of.partition[assigned], said(assigned, 1)
    yield removed, of.partition[removed], np.array([NONE, _UNSAID, _UNSAID])


def _of_topics(of: SetColumns, named: Numbers) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """An assignment takes replicas from all partitions that it does not name; so does a topic's end."""
    saying = {
        "TopicRemoved": (_UNSAID, NONE, _UNSAID),
        "TopicDeletionRequested": (_UNSAID, _UNSAID, 1),
        "TopicDeletionCleared": (_UNSAID, _UNSAID, 0),
    }
    known = {topic: np.unique(of.partition[named[of.topic[named] == topic]]) for topic in _changed_topics(of)}
    for kind, says in saying.items():
        for row in of.of_kind(kind).tolist():
            numbers = known[int(of.topic[row])]
            yield np.full(len(numbers), row), numbers, np.array(says)
    for row in _reassignments(of).tolist():
        numbers = known[int(of.topic[row])]
        yield np.full(len(numbers), row - 1), numbers, np.array([_UNSAID, NONE, _UNSAID])


def _changed_topics(of: SetColumns) -> list[int]:
    rows = of.of_kind("TopicRemoved", "TopicDeletionRequested", "TopicDeletionCleared")
    return np.unique(of.topic[np.concatenate([rows, _reassignments(of)])]).tolist()


def _reassignments(of: SetColumns) -> Numbers:
    """First rows of assignments that follow another of the same topic."""
    rows = of.of_kind("TopicAssigned")
    rows = rows[np.diff(of.record[rows], prepend=-1) != 0]
    _, first = np.unique(of.topic[rows], return_index=True)
    return np.delete(rows, first)


def facts_of(of: SetColumns, from_ms: int, to_ms: int) -> Facts:
    """All tables of a set, from a time to before another (ms). What its image says has not happened in it."""
    known = max(from_ms, of.from_ms), min(to_ms, of.until_ms)

    def is_news(at_ms: Numbers) -> Flags:
        return (at_ms > of.from_ms) & (at_ms >= from_ms) & (at_ms < to_ms)

    if known[0] >= known[1]:
        return {**empty(), "rebalances": _rebalances(of, from_ms, to_ms)}
    spans = partition_spans(of)
    offline = _clipped(_offline(spans, _absences(of)), *known)
    missing = _clipped(_rows(np.flatnonzero(spans.missing), spans), *known)
    begun = is_news(spans.from_ms)
    moments = is_news(of.at_ms[of.of_kind(MOMENT)]).sum()
    outages = joined(np.column_stack([spans.topic[offline[:, 0]], spans.partition[offline[:, 0]], offline[:, 1:]]))
    at_edge = (outages[:, 2] <= known[0]) | (outages[:, 3] >= known[1])
    times, sums = _unwell(offline, missing)
    before, after = (_sums_at(times, sums, at_ms) for at_ms in (known[0], known[1] - 1))
    return {
        "observed": np.array([[*known, moments, *before, *after]], np.int64),
        "edges": outages[at_edge],
        "lost": lost(outages[~at_edge]),
        "longest": _longest(outages[~at_edge], of.topics),
        "leaders": _leader_changes(spans, begun),
        "hours": _hours(spans, begun),
        "rebalances": _rebalances(of, from_ms, to_ms),
        "controllers": _controllers(of, is_news),
        "worst": _worst(times, sums, known[0]),
    }


def _longest(outages: Numbers, names: tuple[str, ...]) -> Numbers:
    return outages[by_length(outages, names)[:MOST_OUTAGES]]


def _rows(rows: Numbers, spans: PartitionSpans) -> Numbers:
    """[N, 3]: span, from, to."""
    return np.column_stack([rows, spans.from_ms[rows], spans.to_ms[rows]])


def _clipped(rows: Numbers, from_ms: int, to_ms: int) -> Numbers:
    rows = rows.copy()
    rows[:, 1:] = rows[:, 1:].clip(from_ms, to_ms)
    return rows[rows[:, 1] < rows[:, 2]]


def _offline(spans: PartitionSpans, absences: Mapping[int, list[tuple[int, int]]]) -> Numbers:
    """Spans without a leader, and those parts of spans in which the leader was not registered."""
    parts = [_rows(np.flatnonzero(spans.watched & (spans.leader == NONE)), spans)]
    leaders = np.unique(spans.leader[spans.watched & (spans.leader != NONE)])
    for leader in leaders.tolist():
        led = _rows(np.flatnonzero(spans.watched & (spans.leader == leader)), spans)
        parts.extend(_clipped(led, *absence) for absence in absences.get(leader, [(0, 2**62)]))
    return np.concatenate(parts)


def _absences(of: SetColumns) -> Mapping[int, list[tuple[int, int]]]:
    """Broker → from when to when it was not registered, or fenced, for all that are told of.

    A set begins with a whole image: before its first row a broker was not registered, even if that row fences it.
    """
    absences: dict[int, list[tuple[int, int]]] = {}
    since: dict[int, int] = {}
    rows = of.of_kind("BrokerRegistered", "BrokerFenced", "BrokerLost")
    lost = np.isin(rows, of.of_kind("BrokerFenced", "BrokerLost"))
    for row, is_lost in zip(rows.tolist(), lost.tolist(), strict=True):
        broker, at_ms = int(of.broker[row]), int(of.at_ms[row])
        if is_lost:
            since.setdefault(broker, at_ms if broker in absences else 0)
            absences.setdefault(broker, [])
        else:
            gone_ms = since.pop(broker, None if broker in absences else 0)
            absences.setdefault(broker, [])
            if gone_ms is not None:
                absences[broker].append((gone_ms, at_ms))
    for broker, gone_ms in since.items():
        absences[broker].append((gone_ms, 2**62))
    return absences


def _leader_changes(spans: PartitionSpans, begun: Flags) -> Numbers:
    """A change is a new leader where there was another, or none; not its loss."""
    before = np.roll(np.arange(len(spans.leader)), 1)
    is_led = spans.stated & (spans.leader != NONE)
    changed = is_led & spans.is_next & begun & spans.stated[before] & (spans.leader != spans.leader[before])
    return counted(np.column_stack([spans.topic[changed], spans.partition[changed]]))


def _hours(spans: PartitionSpans, begun: Flags) -> Numbers:
    before = np.roll(np.arange(len(spans.leader)), 1)
    rows = np.flatnonzero(spans.is_next & begun & spans.stated & spans.stated[before])
    gone, come = gone_and_come(spans.isr[rows - 1], spans.isr[rows])
    deposed = np.flatnonzero((spans.leader[rows - 1] != NONE) & (spans.leader[rows] != spans.leader[rows - 1]))
    tables: list[Numbers] = []
    for place, (row, broker) in enumerate((gone, come, (deposed, spans.leader[rows - 1][deposed]))):
        hour_ms = spans.from_ms[rows[row]] // HOUR_MS * HOUR_MS
        told = counted(np.column_stack([broker, hour_ms]))
        table = np.zeros((len(told), WIDTHS["hours"]), np.int64)
        table[:, :2], table[:, 2 + place] = told[:, :2], told[:, 2]
        tables.append(table)
    return summed(np.concatenate(tables), 2)


def _rebalances(of: SetColumns, from_ms: int, to_ms: int) -> Numbers:
    found: list[tuple[int, ...]] = []
    rows = of.of_kind(REBALANCED)
    payloads: list[str] = of.payload.take(rows).to_pylist()
    for row, payload in zip(rows.tolist(), payloads, strict=True):
        new = msgspec.json.decode(payload, type=NewRebalances)
        for one in new.added:
            if from_ms <= one.at_ms < to_ms:
                took_ms = NONE if one.took_ms is None else one.took_ms
                found.append(
                    (int(of.group[row]), int(new.kind != "zookeeper"), one.at_ms, took_ms, one.moved, one.generations)
                )
    return np.array(found, np.int64).reshape(len(found), WIDTHS["rebalances"])


def _controllers(of: SetColumns, is_news: Callable[[Numbers], Flags]) -> Numbers:
    rows = of.of_kind("ControllerElected", "ControllerLost")
    broker = of.broker[rows]
    before = np.concatenate([[NONE], broker])[:-1]
    return np.column_stack([of.at_ms[rows], before, broker])[is_news(of.at_ms[rows]) & (broker != before)]


def _unwell(offline: Numbers, missing: Numbers) -> tuple[Numbers, Numbers]:
    """[T] when it changed how many are offline and under-replicated; [T, 2] how many, from then on."""
    steps = [
        np.column_stack([table[:, place], np.full((len(table), 2), step)])
        for table, place, step in (
            (offline, 1, (1, 0)), (offline, 2, (-1, 0)), (missing, 1, (0, 1)), (missing, 2, (0, -1)),
        )
    ]  # fmt: skip
    told = np.concatenate(steps)
    sums = summed(told, 1)
    return sums[:, 0], sums[:, 1:].cumsum(axis=0)


def _sums_at(times: Numbers, sums: Numbers, at_ms: int) -> tuple[int, int]:
    row = int(np.searchsorted(times, at_ms, side="right")) - 1
    return (int(sums[row, 0]), int(sums[row, 1])) if row >= 0 else (0, 0)


def _worst(times: Numbers, sums: Numbers, from_ms: int) -> Numbers:
    """Of each hour, the first moment with most offline partitions, and among those with most under-replicated ones, of
    the moments at which it got worse; and what was so from the begin."""
    was = np.vstack([np.zeros((1, 2), np.int64), sums[:-1]]) if len(sums) else sums
    worse = (sums[:, 0] > was[:, 0]) | ((sums[:, 0] == was[:, 0]) & (sums[:, 1] > was[:, 1]))
    rows = np.flatnonzero(worse)
    table = np.column_stack([times[rows], sums[rows], (times[rows] <= from_ms).astype(np.int64)])
    return worst_of_hours(np.column_stack([np.zeros(len(table), np.int64), table]))[:, 1:]


KINDS = (
    "PartitionStatesWritten", "PartitionStatesRemoved", "TopicAssigned", "TopicRemoved", "TopicDeletionRequested",
    "TopicDeletionCleared", "BrokerRegistered", "BrokerFenced", "BrokerLost", "ControllerElected", "ControllerLost",
    MOMENT, REBALANCED,
)  # fmt: skip
"""Rows of other kinds tell nothing here."""


def told_by(path: str, of: SetColumns, from_ms: int, to_ms: int) -> HistoryTables:
    """What a set tells, whose first file is at `path` in its cluster's folder and day. Raises RecordingError."""
    cluster = str(Path(path).parent.parent)
    try:
        return told(cluster, facts_of(of, from_ms, to_ms), {"topics": of.topics, "groups": of.groups})
    except (msgspec.MsgspecError, LookupError, TypeError, ValueError) as error:
        raise RecordingError(f"{path}: damaged (a row makes no sense: {error}); remove it to read the rest") from None
