"""Counts by who dies: for one group of brokers at a time, and what two groups together add to that.

Partitions become rows first: members, their kind, and how many partitions are such a row. No scenario meets a partition
that it does not touch. With T() the counts if nobody of a partition's members dies, T(a) = T() + first(a) and
T(a, b) = T(a) + T(b) - T() + pair(a, b): a Möbius transform over the subsets of the replicas, up to two, which costs
O(partitions) and not O(partitions * scenarios).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.analyses.analysis import Arrays
from model.analyses.drills.fates import (
    DENSE,
    METRICS,
    Chosen,
    Column,
    Numbers,
    OutcomeChanges,
    PartitionKind,
    PartitionOutcomes,
    Rules,
    as_it_is,
    changes_of,
    numbered,
    summed,
)
from model.controller.generations import GENERATIONS
from model.kraft_controller.partition_change import Levels

Ints = NDArray[np.int32]
Bounds = tuple[int, int]


@dataclass(frozen=True, eq=False)
class PartitionRows:
    """Partitions of one kind with the same members may be one row. Members are places in `brokers`, -1 nobody."""

    members: tuple[Ints, ...]  # W columns [n]
    kind: Numbers  # [n]
    kinds: tuple[PartitionKind, ...]
    weight: Numbers | None  # [n] partitions a row, None: one each

    def __len__(self) -> int:
        return len(self.kind)


def rules_in(arrays: Arrays) -> Rules:
    """Whose rules the arrays say."""
    if len(levels := arrays["levels"]):
        major, minor, metadata_version, elr = levels.tolist()
        return Levels((major, minor), metadata_version, elr=bool(elr))
    return GENERATIONS[int(arrays["rules"][0])]


def rows_of(arrays: Arrays, bounds: Iterable[Bounds], *, unclean: bool = False, merged: bool = False) -> PartitionRows:
    """The rows from each first to before each last. merged: partitions that are the same are one row at any cost."""
    chosen = list(bounds)

    def column(values: Column) -> Column:
        parts = [values[start:end] for start, end in chosen]
        return np.ascontiguousarray(parts[0]) if len(parts) == 1 else np.concatenate([values[:0], *parts])

    members = tuple(
        column(arrays[name][:, place]) for name in ("replicas", "strangers") for place in range(arrays[name].shape[1])
    )
    replicas, live = _bits(members, arrays["live"])
    first = arrays["replicas"].shape[1]
    replicas &= (1 << first) - 1
    leader = np.full(len(replicas), -1, np.int32)
    led_by = column(arrays["leader"])
    for place, member in reversed(list(enumerate(members))):
        leader[(member == led_by) & (member >= 0)] = place
    facts = (
        replicas,
        live,
        column(arrays["isr"]),
        leader,
        column(arrays["stated"]),
        np.ones(len(replicas), np.bool_) if unclean else column(arrays["unclean"]),
        column(arrays["min_isr"]),
        np.bitwise_count(replicas & ~column(arrays["adding"])),
    )
    if arrays["elr"].any():
        facts = (*facts, column(arrays["elr"]))
    kind, row = numbered(facts)
    values = (fact[row].astype(int).tolist() for fact in facts)
    kinds = tuple(PartitionKind(*each) for each in zip(*values, strict=True))
    rows, brokers = PartitionRows(members, kind, kinds, None), len(arrays["brokers"])
    span = (brokers + 1) ** len(members) * max(1, len(kinds))
    pays = span < 1 << 62 if merged else span <= min(4 * DENSE, len(rows) // 2)
    return _merged(rows, brokers, span) if pays else rows


def _bits(members: tuple[Ints, ...], live: Column) -> tuple[Numbers, Numbers]:
    """Which members there are, and which live."""
    lives = np.append(live, False)  # for -1
    there, alive = np.zeros(len(members[0]), np.int64), np.zeros(len(members[0]), np.int64)
    all_live = bool(live.all())
    for place, member in enumerate(members):
        is_there = member >= 0
        there |= is_there.astype(np.int64) << place
        alive |= (is_there if all_live else lives[member]).astype(np.int64) << place
    return there, alive


def _merged(rows: PartitionRows, brokers: int, span: int) -> PartitionRows:
    """Rows that are the same as one; there are at most `span` different ones."""
    key = rows.kind.copy()
    for member in rows.members:
        key = key * (brokers + 1) + member + 1
    keys, weight = summed(key, span=span)
    members: list[Ints] = []
    for _ in rows.members:
        keys, member = np.divmod(keys, brokers + 1)
        members.append((member - 1).astype(np.int32))
    return PartitionRows(tuple(reversed(members)), keys, rows.kinds, weight)


@dataclass(frozen=True, eq=False)
class Groups:
    """Brokers that die together. `of` is by broker, and last for nobody; -1: it never dies."""

    of: Numbers  # [B + 1]
    count: int


class Seat(NamedTuple):
    """One member of every row, as the first of its group: the rows where it is, the group, and its members as bits."""

    rows: Chosen  # [m]
    group: Numbers  # [m]
    dead: Numbers | int  # [m], or of all


class Both(NamedTuple):
    """Rows that have two seats, and where in each of them."""

    rows: Chosen
    one: Chosen
    other: Chosen


Sums = tuple[Numbers, Numbers]
"""Keys in ascending order, and for each how many partitions."""


@dataclass
class CountsByKey:
    """Sums by key as they come in: by vector, and who gained leaders."""

    vectors: dict[tuple[int, ...], list[Sums]] = field(default_factory=dict[tuple[int, ...], "list[Sums]"])
    gains: list[Sums] = field(default_factory=list["Sums"])

    def add(
        self, rows: PartitionRows, chosen: Chosen, key: Numbers, changes: OutcomeChanges, span: int, brokers: int
    ) -> None:
        """The changes of the chosen rows, each to its key, which is below `span`."""
        weight = None if rows.weight is None else rows.weight[chosen]
        for vector in dict.fromkeys(change.vector for change in changes.changes):
            some = changes.rows(lambda change, vector=vector: change.vector == vector)
            if some is not None and any(vector):
                found = summed(key[some], None if weight is None else weight[some], span)
                self.vectors.setdefault(vector, []).append(found)
        for place, members in enumerate(rows.members):
            some = changes.rows(lambda change, place=place: change.gained == place)
            if some is not None:
                keys = key[some] * brokers + members[chosen][some]
                self.gains.append(summed(keys, None if weight is None else weight[some], span * brokers))

    def arrays(self, name: str, span: int, brokers: int) -> Arrays:
        """`NAME_vectors` [C, 2 * METRICS]; `_which`, `_key` and `_count` of each sum; `_gain_key` and `_gain_count`."""
        merged = [merge(parts, span) for parts in self.vectors.values()]
        gain_key, gain_count = merge(self.gains, span * brokers)
        return {
            f"{name}_vectors": np.array(list(self.vectors), np.int64).reshape(-1, 2 * METRICS),
            f"{name}_which": np.repeat(np.arange(len(merged)), [len(keys) for keys, _ in merged]),
            f"{name}_key": joined([keys for keys, _ in merged]),
            f"{name}_count": joined([counts for _, counts in merged]),
            f"{name}_gain_key": gain_key,
            f"{name}_gain_count": gain_count,
        }


def sums(rows: PartitionRows, fates: PartitionOutcomes, brokers: int, first: Groups, second: Groups | None) -> Arrays:
    """Everything by group. `second` None: only one at a time; the same as `first`: every two of them."""
    still, rest = (changes_of(rows.kinds, rows.kind, [], play) for play in (as_it_is, fates.at_rest))
    seats = _seats(rows, first)
    others = seats if second is first else _seats(rows, second) if second else []
    alone, also, pairs = CountsByKey(), CountsByKey(), CountsByKey()
    for seat in seats:
        alone.add(rows, seat.rows, seat.group, _one(rows, fates, seat), first.count, brokers)
    for seat in others if second is not first else []:
        also.add(rows, seat.rows, seat.group, _one(rows, fates, seat), second.count if second else 0, brokers)
    two = combinations(seats, 2) if second is first else ((seat, other) for seat in seats for other in others)
    span = first.count * (second.count if second else 0)
    for seat, other in two:
        chosen, here, there = _both(seat, other, len(rows))
        deaths = [_at(seat.dead, here), _at(other.dead, there)]
        changes = changes_of(rows.kinds, rows.kind[chosen], deaths, fates.two)
        one, another = seat.group[here], other.group[there]
        if second is first:
            one, another = np.minimum(one, another), np.maximum(one, another)
        pairs.add(rows, chosen, one * (second.count if second else 1) + another, changes, span, brokers)
    return {
        "rest": rest.total(rows.weight),
        "before": still.total(rows.weight)[:METRICS],
        "leaders": leaders_of(rows, rest, brokers),
        "leaders_before": leaders_of(rows, still, brokers),
        **alone.arrays("first", first.count, brokers),
        **also.arrays("second", second.count if second else 0, brokers),
        **pairs.arrays("pair", span, brokers),
    }


def merge(parts: list[Sums], span: int) -> Sums:
    """The sums of several by key, in ascending order."""
    if len(parts) == 1:
        return parts[0]
    return summed(joined([keys for keys, _ in parts]), joined([counts for _, counts in parts]), span)


def joined(parts: list[Numbers]) -> Numbers:
    """One after the other."""
    return np.concatenate([np.empty(0, np.int64), *parts])


def _seats(rows: PartitionRows, groups: Groups) -> list[Seat]:
    found: list[Seat] = []
    columns = [groups.of[member] for member in rows.members]
    alone = groups.count >= len(groups.of) - 1  # every broker is a group of its own
    for place, group in enumerate(columns):
        dead: Numbers | int = 1 << place
        is_first = group >= 0
        for other, another in enumerate([] if alone else columns):
            if other != place:
                alike = another == group
                dead = dead | alike.astype(np.int64) << other
                is_first &= ~alike if other < place else True
        if is_first.all():
            found.append(Seat(slice(None), group, dead))
        else:
            dead = dead if isinstance(dead, int) else dead[is_first]
            found.append(Seat(np.flatnonzero(is_first), group[is_first], dead))
    return found


def _both(seat: Seat, other: Seat, length: int) -> Both:
    """The rows that have both and neither within the other, and where the two have them."""
    here: Chosen = slice(None)
    there: Chosen = slice(None)
    if not (isinstance(seat.rows, slice) and isinstance(other.rows, slice)):
        place = np.full(length, -1, np.int64)
        place[seat.rows] = np.arange(len(seat.group))
        here = place[other.rows]
        there = np.flatnonzero(here >= 0)
        here = here[there]
    apart = _at(seat.dead, here) & _at(other.dead, there) == 0
    if not np.all(apart):
        here, there = np.arange(length)[here][apart], np.arange(length)[there][apart]
    return Both(_at(seat.rows, here), here, there)


def _at(values: Numbers | Chosen | int, places: Chosen) -> Any:
    """Those at these places; a value of all is that of each."""
    return places if isinstance(values, slice) else values if isinstance(values, int) else values[places]


def _one(rows: PartitionRows, fates: PartitionOutcomes, seat: Seat) -> OutcomeChanges:
    return changes_of(rows.kinds, rows.kind[seat.rows], [seat.dead], fates.one)


def leaders_of(rows: PartitionRows, changes: OutcomeChanges, brokers: int) -> Numbers:
    """Leaders by broker, of all rows."""
    total = np.zeros(brokers, np.int64)
    for place, members in enumerate(rows.members):
        some = changes.rows(lambda change, place=place: change.gained == place)
        if some is not None:
            weight = None if rows.weight is None else rows.weight[some]
            total += np.bincount(members[some], weight, brokers).astype(np.int64)
    return total
