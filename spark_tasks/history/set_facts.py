"""What one set tells, as rows of numbers within a time: outages, leader changes, ISR churn, rebalances, controllers.

Topics and groups are numbers of the set's names. Whoever adds sets up gives them numbers of all names.
"""

from collections.abc import Callable, Iterator, Mapping

import msgspec
import numpy as np

from model.recordings.errors import RecordingError
from model.recordings.folder import PartSet
from model.recordings.format import MOMENT, REBALANCED
from model.recordings.rebalances import NewRebalances
from spark_tasks.history.partition_spans import Flags, PartitionSpans, gone_and_come, partition_spans
from spark_tasks.history.set_columns import NONE, Numbers, SetColumns, read_set

HOUR_MS = 3_600_000

WIDTHS: Mapping[str, int] = {
    "observed": 3,  # from_ms, to_ms, moments
    "outages": 4,  # topic, partition, from_ms, to_ms
    "leaders": 3,  # topic, partition, changes
    "isr": 4,  # broker, hour_ms, left, joined
    "rebalances": 6,  # group, is classic, at_ms, took_ms (-1: not over), moved, generations
    "controllers": 3,  # at_ms, before, after (-1: none)
    "worst": 3,  # at_ms, offline, under-replicated
}
"""Name of a table → its columns."""

NAMED: Mapping[str, str] = {"outages": "topics", "leaders": "topics", "rebalances": "groups"}
"""Tables whose first column is a number of these names."""

Facts = Mapping[str, Numbers]


def facts_of(of: SetColumns, from_ms: int, to_ms: int) -> Facts:
    """All tables of a set, from a time to before another (ms). What its image says has not happened in it."""
    known = max(from_ms, of.from_ms), min(to_ms, of.until_ms)

    def is_news(at_ms: Numbers) -> Flags:
        return (at_ms > of.from_ms) & (at_ms >= from_ms) & (at_ms < to_ms)

    spans = partition_spans(of)
    offline = _clipped(_offline(spans, _absences(of)), *known)
    missing = _clipped(_rows(np.flatnonzero(spans.missing), spans), *known)
    begun = is_news(spans.from_ms)
    moments = is_news(of.at_ms[of.of_kind(MOMENT)]).sum()
    return {
        "observed": np.array([[*known, moments]] if known[0] < known[1] else np.empty((0, 3)), np.int64),
        "outages": np.column_stack([spans.topic[offline[:, 0]], spans.partition[offline[:, 0]], offline[:, 1:]]),
        "leaders": _leader_changes(spans, begun),
        "isr": _churn(spans, begun),
        "rebalances": _rebalances(of, from_ms, to_ms),
        "controllers": _controllers(of, is_news),
        "worst": _worst(offline, missing),
    }


def counted(keys: Numbers) -> Numbers:
    """Distinct rows, each with how often it is there as another column."""
    distinct, counts = np.unique(keys, axis=0, return_counts=True)
    return np.column_stack([distinct, counts])


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


def _churn(spans: PartitionSpans, begun: Flags) -> Numbers:
    before = np.roll(np.arange(len(spans.leader)), 1)
    rows = np.flatnonzero(spans.is_next & begun & spans.stated & spans.stated[before])
    tables: list[Numbers] = []
    for place, (row, broker) in enumerate(gone_and_come(spans.isr[rows - 1], spans.isr[rows])):
        hour_ms = spans.from_ms[rows[row]] // HOUR_MS * HOUR_MS
        table = counted(np.column_stack([broker, hour_ms]))
        tables.append(np.insert(table, 3 - place, 0, axis=1))
    return np.concatenate(tables)


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


def _worst(offline: Numbers, missing: Numbers) -> Numbers:
    """The first moment with most offline partitions, and among those with most under-replicated ones."""
    steps = [
        np.column_stack([table[:, place], np.full((len(table), 2), step)])
        for table, place, step in (
            (offline, 1, (1, 0)), (offline, 2, (-1, 0)), (missing, 1, (0, 1)), (missing, 2, (0, -1)),
        )
    ]  # fmt: skip
    told = np.concatenate(steps)
    if not len(told):
        return np.empty((0, WIDTHS["worst"]), np.int64)
    times, place = np.unique(told[:, 0], return_inverse=True)
    sums = np.zeros((len(times), 2), np.int64)
    np.add.at(sums, place, told[:, 1:])
    sums = sums.cumsum(axis=0)
    top = np.lexsort((times, -sums[:, 1], -sums[:, 0]))[0]
    return np.array([[times[top], *sums[top]]])


def facts_of_sets(sets: Iterator[PartSet], from_ms: int, to_ms: int) -> Iterator[tuple[SetColumns, Facts]]:
    """Of each set that has a part in the time. Raises RecordingError."""
    for whole in sets:
        if whole.from_ms >= to_ms:
            continue
        of = read_set(whole)
        try:
            yield of, facts_of(of, from_ms, to_ms)
        except (msgspec.MsgspecError, LookupError, TypeError, ValueError) as error:
            path = whole.parts[0].path
            raise RecordingError(
                f"{path}: damaged (a row makes no sense: {error}); remove it to read the rest"
            ) from None
