"""A block of histories of one variant of a cluster, by numpy: ms by history and topic.

Partitions with the same replicas and rules are one class. An outage by itself does what arithmetic says to each class
that it touches (`alone`); only where a class is touched again before all is well, the machine is played, and what
arithmetic said of those outages is taken out again. An outage's `component` c is cause c + 1; 0 is detection.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from model.analyses.analysis import Arrays
from model.analyses.forecast.lockstep import EVENTS, MEASURES, Ints, Machines, PlannedOutages, machines_of, play_rows
from model.analyses.forecast.machine import PartitionRules
from model.analyses.forecast.sampling import SPAN, Floats, Longs, Outages

Role = Literal["leads", "follows", "lonely"]
ROLES: tuple[Role, ...] = ("leads", "follows", "lonely")
GRADES = ("spare", "tight", "refusing")
"""Whether one may be out of the ISR, none may, or acks=all is refused with all in sync."""


class Alone(NamedTuple):
    """What outages do that meet no other, by outage."""

    sums: tuple[Longs, ...]
    """MEASURES, in ms"""
    events: tuple[Longs, ...]
    """EVENTS"""
    unseen: Longs
    """ms without a leader until the death is noticed and the election over"""


def alone(outages: Outages | PlannedOutages, role: Role, grade: str, until: int) -> Alone:
    """To a partition in which the broker has this role."""
    start, fence, ready, end, back = (
        np.minimum(each, until) for each in (outages.start, outages.fence, outages.ready, outages.end, outages.back)
    )
    none = np.zeros(len(start), np.int64)
    hard = ~outages.slow
    if role == "lonely":
        down = (end - start) * hard
        gone = (outages.empty & hard & (outages.end <= until)).astype(np.int64)
        tail = (outages.power & (outages.start <= until)).astype(np.int64)
        return Alone(
            (down, none if grade == "refusing" else down, none, none), (none, gone, none, tail), (fence - start) * hard
        )
    if role == "follows":
        out = back - fence
        return Alone((none, out if grade == "tight" else none, fence - start, out), (none, none, none, none), none)
    unseen = (ready - start) * hard
    under = {"spare": unseen, "tight": (back - start) * hard, "refusing": none}[grade]
    acked = (hard & ~outages.clean & (outages.ready <= until)).astype(np.int64)
    return Alone((unseen, under, none, (back - fence) * hard), (none, none, acked, none), unseen)


@dataclass(frozen=True, eq=False)
class ForecastLayout:
    """A variant's classes, prepared once."""

    brokers: int
    topics: int
    replicas: Ints
    rule: Longs
    grade: Longs
    rules: Sequence[PartitionRules]
    machines: Machines
    entries: "Csr"
    """By class, places in `topic` and `count`."""
    topic: Longs
    count: Longs
    total: Longs
    """By class, its partitions."""
    pairs: "Csr"
    """By pair of brokers (lower place times `brokers` plus the other; both may be one), the classes of both."""
    pair_classes: Longs
    roles: dict[tuple[Role, str], Floats]
    """float64[brokers, topics]: partitions in which a broker has the role; only roles that there are."""
    refusing: Longs
    """By topic, partitions that refuse acks=all with all in sync."""


class Csr(NamedTuple):
    """Row r is the places from start[r] to before start[r + 1]."""

    start: Longs

    def expand(self, rows: Longs) -> tuple[Longs, Longs]:
        """For each place of each of these rows: which of them, and the place."""
        lengths = self.start[rows + 1] - self.start[rows]
        which = np.repeat(np.arange(len(rows)), lengths)
        offset = np.arange(len(which)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return which, self.start[rows][which] + offset


def _csr(keys: Longs, rows: int) -> Csr:
    """Of sorted keys."""
    return Csr(np.searchsorted(keys, np.arange(rows + 1)))


def layout_of(arrays: Arrays, variant: int, brokers: int, topics: int) -> ForecastLayout:
    """Of the arrays that `cluster.class_arrays` made of a variant."""
    columns: list[Any] = [
        np.asarray(arrays[f"{variant}.{name}"])
        for name in ("replicas", "min_isr", "unclean", "elr", "class", "topic", "count")
    ]
    replicas, min_isr, unclean, elr, of_class, topic, count = columns
    size = (replicas >= 0).sum(axis=1)
    wanted = np.stack([size, min_isr, unclean, elr & (size > 1)], axis=1).astype(np.int64)
    distinct, rule = np.unique(wanted, axis=0, return_inverse=True)
    rules = [PartitionRules(int(rf), int(least), bool(may), bool(kept)) for rf, least, may, kept in distinct.tolist()]
    grade = np.where(min_isr > size, 2, np.where(min_isr > size - 1, 1, 0)).astype(np.int64)
    of_class = of_class.astype(np.int64)
    keys, classes = _pairs(replicas, size, brokers)
    return ForecastLayout(
        brokers=brokers,
        topics=topics,
        replicas=replicas.astype(np.int32),
        rule=rule.reshape(-1).astype(np.int64),
        grade=grade,
        rules=rules,
        machines=machines_of(rules),
        entries=_csr(of_class, len(replicas)),
        topic=topic.astype(np.int64),
        count=count.astype(np.int64),
        total=np.bincount(of_class, count, len(replicas)).astype(np.int64),
        pairs=_csr(keys, brokers * brokers),
        pair_classes=classes,
        roles=_roles(replicas, size, grade, of_class, topic, count, (brokers, topics)),
        refusing=np.bincount(topic, count * (grade[of_class] == 2), topics).astype(np.int64),
    )


def _pairs(replicas: Ints, size: Longs, brokers: int) -> tuple[Longs, Longs]:
    """Sorted keys of pairs, and a class that holds both; (b, b) stands for b twice."""
    keys, classes = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for one in range(replicas.shape[1]):
        for other in range(one, replicas.shape[1]):
            rows = np.flatnonzero((replicas[:, other] >= 0) & (size > 1))
            a, b = replicas[rows, one].astype(np.int64), replicas[rows, other].astype(np.int64)
            keys.append(np.minimum(a, b) * brokers + np.maximum(a, b))
            classes.append(rows)
    key, of = np.concatenate(keys), np.concatenate(classes)
    order = np.argsort(key, kind="stable")
    return key[order], of[order]


def _roles(
    replicas: Ints, size: Longs, grade: Longs, of_class: Longs, topic: Longs, count: Longs, shape: tuple[int, int]
) -> dict[tuple[Role, str], Floats]:
    found: dict[tuple[Role, str], Floats] = {}
    for position in range(replicas.shape[1]):
        for number, name in enumerate(GRADES):
            for role in ROLES:
                fits = (size == 1) if role == "lonely" else (size > 1) & ((position == 0) == (role == "leads"))
                fits = fits & (grade == number) & (replicas[:, position] >= 0)
                if len(rows := np.flatnonzero(fits[of_class])):
                    matrix = found.setdefault((role, name), np.zeros(shape))
                    np.add.at(matrix, (replicas[of_class[rows], position], topic[rows]), count[rows])
    return found


class Episodes(NamedTuple):
    """Stretches in which something is not healed yet when the next thing happens. Outages by episode and broker."""

    outage: Longs
    of: Longs
    history: Longs
    """By episode."""


def episodes_of(outages: Outages) -> Episodes:
    """The same for all variants that have these outages."""
    order, group = _grouped(outages)
    history = outages.history[order]
    several = np.bincount(group)[group] > 1 if len(group) else np.empty(0, np.bool_)
    kept, of = order[several], group[several]
    numbers, of = np.unique(of, return_inverse=True)
    by_broker = np.lexsort((outages.start[kept], outages.broker[kept], of))
    where = history[several][np.searchsorted(of, np.arange(len(numbers)))]
    return Episodes(kept[by_broker], of[by_broker], where)


def apart(outages: Outages) -> Outages:
    """Each stretch from all in sync to all in sync again as if it were a history of its own."""
    order, group = _grouped(outages)
    stretch = np.empty(len(order), np.int64)
    stretch[order] = group
    by_broker = np.lexsort((outages.start, outages.broker, stretch))
    return Outages._make(column[by_broker] for column in outages._replace(history=stretch))


def _grouped(outages: Outages) -> tuple[Longs, Longs]:
    """Outages in order of time, and by that order the number of the stretch that each belongs to."""
    order = np.argsort(outages.history * SPAN + outages.start, kind="stable")
    base = outages.history[order] * SPAN
    start, end = base + outages.start[order], base + outages.end[order]
    heals = (outages.back - outages.end)[order]
    elects = (outages.ready - outages.fence)[order]
    first = np.ones(len(order), np.bool_)
    until = end + heals + elects
    while len(order):
        latest = np.maximum.accumulate(until)
        begins = np.ones(len(order), np.bool_)
        begins[1:] = start[1:] > latest[:-1]
        at = np.flatnonzero(begins)
        lengths = np.diff(np.append(at, len(order)))
        longest = np.maximum.reduceat(end, at) + np.maximum.reduceat(heals, at) + np.maximum.reduceat(elects, at)
        until = np.maximum(until, np.repeat(longest, lengths))
        if (begins == first).all():
            break
        first = begins
    return order, np.cumsum(first) - 1


class Block(NamedTuple):
    """int64[MEASURES, histories, topics], int64[histories, EVENTS], float64[2, causes]."""

    sums: Longs
    events: Longs
    causes: Floats


def play_block(
    layout: ForecastLayout, outages: Outages, episodes: Episodes, histories: int, until: int, causes: int
) -> Block:
    """All of the outages of so many histories, up to `until` ms."""
    block = _linear(layout, outages, histories, until, causes)
    block.sums[1] += layout.refusing * until
    if len(episodes.outage):
        _correct(block, layout, outages, episodes, until)
    return block


def _linear(layout: ForecastLayout, outages: Outages, histories: int, until: int, causes: int) -> Block:
    block = Block(
        np.zeros((len(MEASURES), histories, layout.topics), np.int64),
        np.zeros((histories, len(EVENTS)), np.int64),
        np.zeros((2, causes)),
    )
    place = outages.history * layout.brokers + outages.broker
    for (role, grade), matrix in layout.roles.items():
        did = alone(outages, role, grade, until)
        for number, amounts in enumerate(did.sums):
            if amounts.any():
                by_broker = np.bincount(place, amounts, histories * layout.brokers)
                block.sums[number] += (by_broker.reshape(histories, -1) @ matrix).astype(np.int64)
        held = matrix.sum(axis=1).astype(np.int64)[outages.broker]
        for number, events in enumerate(did.events):
            block.events[:, number] += np.bincount(outages.history, events * held, histories).astype(np.int64)
        _tell_causes(block.causes, did, outages.component + 1, held)
    return block


def _tell_causes(causes: Floats, did: Alone, component: Longs, partitions: Longs) -> None:
    for number in range(2):
        unseen = np.minimum(did.unseen, did.sums[number])
        causes[number, 0] += (unseen * partitions).sum()
        causes[number] += np.bincount(component, (did.sums[number] - unseen) * partitions, causes.shape[1])


class _Rows(NamedTuple):
    """Classes in episodes; those that go the same way share a signature."""

    episode: Longs
    of_class: Longs
    signature: Longs
    first: Longs
    """By signature, a row of it."""


def _rows_of(layout: ForecastLayout, outages: Outages, episodes: Episodes) -> _Rows:
    brokers, classes = layout.brokers, len(layout.replicas)
    broker = outages.broker[episodes.outage]
    ends = np.searchsorted(episodes.of, episodes.of, side="right")
    later = ends - np.arange(len(broker)) - 1
    one = np.repeat(np.arange(len(broker)), later)
    other = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(later) - later, later)
    start = outages.start[episodes.outage]
    heals = (outages.back + outages.ready - outages.fence)[episodes.outage]
    meet = (start[one] <= heals[other]) & (start[other] <= heals[one])  # else the first is healed before the second
    one, other = one[meet], other[meet]
    pairs = np.unique((episodes.of[one] * brokers + broker[one]) * brokers + broker[other])
    which, place = layout.pairs.expand(pairs % (brokers * brokers))
    keys = np.unique(pairs[which] // (brokers * brokers) * classes + layout.pair_classes[place])
    episode, of_class = keys // classes, keys % classes
    signature = episode * len(layout.rules) + layout.rule[of_class]
    touched = np.zeros((len(episodes.history), brokers + 1), np.bool_)
    touched[episodes.of, broker] = True
    for position in range(layout.replicas.shape[1]):
        replica = layout.replicas[of_class, position].astype(np.int64)
        mark = np.where(touched[episode, replica], replica + 1, 0)
        _, signature = np.unique(signature * (brokers + 1) + mark, return_inverse=True)
    _, first, signature = np.unique(signature, return_index=True, return_inverse=True)
    return _Rows(episode, of_class, signature, first)


def _correct(block: Block, layout: ForecastLayout, outages: Outages, episodes: Episodes, until: int) -> None:
    rows = _rows_of(layout, outages, episodes)
    if not len(rows.episode):
        return
    weights = np.bincount(rows.signature, layout.total[rows.of_class]).astype(np.int64)
    of_class = rows.of_class[rows.first]
    planned = _planned(layout, outages, episodes, rows.episode[rows.first], of_class)
    grade = layout.grade[of_class]
    played = play_rows(
        layout.machines, layout.rule[of_class], planned, weights, until, block.causes.shape[1], grade == 2
    )
    block.causes[:] += played.causes
    sums, events = played.sums, played.events
    for role in ROLES[:2]:
        for number, name in enumerate(GRADES):
            which = np.flatnonzero(((planned.who == 0) == (role == "leads")) & (grade[planned.row] == number))
            some = PlannedOutages._make(column[which] for column in planned)
            did = alone(some, role, name, until)
            for target, amounts in ((sums, did.sums), (events, did.events)):
                for column, each in enumerate(amounts):
                    target[:, column] -= np.bincount(some.row, each, len(target)).astype(np.int64)
            _tell_causes(block.causes, did, some.cause, -weights[some.row])
    history = episodes.history[rows.episode]
    which, place = layout.entries.expand(rows.of_class)
    cells = history[which] * layout.topics + layout.topic[place]
    for number in range(len(MEASURES)):
        amounts = sums[rows.signature[which], number] * layout.count[place]
        flat = block.sums[number].reshape(-1)
        flat += np.bincount(cells, amounts, len(flat)).astype(np.int64)
    for number in range(len(EVENTS)):
        amounts = events[rows.signature, number] * layout.total[rows.of_class]
        block.events[:, number] += np.bincount(history, amounts, len(block.events)).astype(np.int64)


def _planned(
    layout: ForecastLayout, outages: Outages, episodes: Episodes, episode: Longs, of_class: Longs
) -> PlannedOutages:
    """The outages of each signature's replicas, in its episode."""
    keys = episodes.of * layout.brokers + outages.broker[episodes.outage]
    row, who = np.nonzero(layout.replicas[of_class] >= 0)
    wanted = episode[row] * layout.brokers + layout.replicas[of_class[row], who]
    which, place = Csr(np.searchsorted(keys, np.arange(len(episodes.history) * layout.brokers + 1))).expand(wanted)
    found = episodes.outage[place]
    return PlannedOutages(
        row=row[which],
        who=who[which],
        broker=outages.broker[found],
        start=outages.start[found],
        fence=outages.fence[found],
        ready=outages.ready[found],
        end=outages.end[found],
        back=outages.back[found],
        slow=outages.slow[found],
        clean=outages.clean[found],
        forgets=outages.forgets[found],
        empty=outages.empty[found],
        cause=outages.component[found] + 1,
        power=outages.power[found],
    )
