"""From counts to partitions: replicas assigned as a program's variables say, and leaders chosen among given replicas.

It chooses nothing that costs. Leadership is passed along chains of brokers, and data stays where it is.
"""

from collections import defaultdict, deque
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from model.planning.optimum.measures import Band, reordered
from model.planning.optimum.problem import NONE, Classes, Flags, Floats, Ints, PlacementProblem
from model.planning.optimum.program import Flow, Openings, Program, openings_of

Counts = NDArray[np.int64]


class _Table:
    """Who keeps, leads and is added, by partition."""

    def __init__(self) -> None:
        self.kept: dict[int, tuple[int, ...]] = {}
        self.leader: dict[int, int] = {}
        self.added: defaultdict[int, list[int]] = defaultdict(list)

    def add(self, row: int, broker: int, leads: bool) -> None:
        self.added[row].append(broker)
        if leads:
            self.leader[row] = broker


def assign_replicas(
    program: Program, classes: Classes, values: Counts, before: Ints, rack: Ints, *, stay: bool
) -> Ints:
    """int32[P, W]: where every partition goes; `before` for those that are in no class. `stay`: nothing is given up,
    be it on a broker that is not allowed.
    """
    table = _Table()
    racks = tuple(sorted({int(rack[broker]) for broker in program.brokers}))
    waiting: defaultdict[Openings, list[int]] = defaultdict(list)
    for option, rows in _taken(program, classes, values):
        for row in rows:
            table.kept[row], table.leader[row] = option.kept, option.leader
        if option.added:
            waiting[openings_of(option, racks, rack.tolist())] += rows
    pools: defaultdict[int, list[int]] = defaultdict(list)
    for openings, rows in waiting.items():
        _spread(table, openings, sorted(rows), program.openings[openings], values, pools)
    for place, rows in sorted(pools.items()):
        takers = {broker: flow for broker, flow in program.brokers.items() if int(rack[broker]) == place}
        _draw(table, sorted(rows), place, takers, values)
    return _replicas(table, before, stay)


def _taken(program: Program, classes: Classes, values: Counts):
    """Options, each with the partitions that take it."""
    given = [0] * len(classes.classes)
    for column in np.flatnonzero(values[: len(program.options)]).tolist():
        option, count = program.options[column], int(values[column])
        at = given[option.of]
        given[option.of] += count
        yield option, list(classes.classes[option.of].members[at : at + count])


def _spread(
    table: _Table,
    openings: Openings,
    rows: list[int],
    flows: dict[int, Flow],
    values: Counts,
    pools: defaultdict[int, list[int]],
) -> None:
    """Each partition takes `added` places, those that have most left; who is to be led from there, the leader's first.

    What a place has left for leaders is not spent on followers.
    In a pool a place is a rack: who of its brokers it will be is drawn afterwards. A rack that leads stands in for it.
    """
    left = {place: len(rows) if flow.added == NONE else int(values[flow.added]) for place, flow in flows.items()}
    leading = {place: int(values[flow.leading]) for place, flow in flows.items()}
    for row in sorted(rows, key=lambda row: (table.leader[row] != NONE, row)):
        wanted: list[int] = []
        if table.leader[row] == NONE:
            wanted.append(max((place for place in left if leading[place] > 0), key=lambda place: (left[place], -place)))
            leading[wanted[0]] -= 1
        spare = (place for place in left if place not in wanted and left[place] > leading[place])
        others = sorted(spare, key=lambda place: (-left[place], place))
        for place in wanted + others[: openings.added - len(wanted)]:
            left[place] -= 1
            if openings.beside is None:
                pools[place].append(row)
            else:
                table.add(row, place, leads=place in wanted)
        if openings.beside is None and wanted:
            table.leader[row] = _from_rack(wanted[0])


def _draw(table: _Table, rows: list[int], place: int, takers: dict[int, Flow], values: Counts) -> None:
    """Brokers of a rack take turns, each until it has what it draws."""
    led = [row for row in rows if table.leader[row] == _from_rack(place)]
    turns = {broker: int(values[flow.leading]) for broker, flow in takers.items()}
    others = {broker: int(values[flow.added]) - turns[broker] for broker, flow in takers.items()}
    for row, broker in zip(led, _turns(turns), strict=True):
        table.add(row, broker, leads=True)
    led_rows = set(led)
    for row, broker in zip((row for row in rows if row not in led_rows), _turns(others), strict=True):
        table.add(row, broker, leads=False)


def _from_rack(rack: int) -> int:
    """Stands for the leader until a broker of the rack is drawn."""
    return NONE - 1 - rack


def _turns(counts: dict[int, int]) -> list[int]:
    """Every broker as often as counted, as evenly mixed as can be."""
    turns = [((2 * turn + 1) / (2 * count), broker) for broker, count in counts.items() for turn in range(count)]
    return [broker for _, broker in sorted(turns)]


def _replicas(table: _Table, before: Ints, stay: bool) -> Ints:
    """The leader, then those kept in the order of before, then those added. Rows without change stay as they are."""
    rows = [[broker for broker in row if broker != NONE] for row in before.tolist()]
    for row, kept in table.kept.items():
        leader = table.leader[row]
        added = sorted(table.added[row])
        old = [broker for broker in dict.fromkeys(rows[row]) if stay or broker in kept or broker in added]
        rows[row] = list(dict.fromkeys([leader, *old, *added]))
    return padded(rows)


def padded(rows: list[list[int]]) -> Ints:
    """Rows as one array, padded with NONE."""
    width = max(map(len, rows), default=1)
    return np.array([row + [NONE] * (width - len(row)) for row in rows], np.int32).reshape(len(rows), max(width, 1))


def choose_leaders(problem: PlacementProblem, replicas: Ints, band: Band, movable: Flags) -> Ints:
    """The same replicas, ordered so that leaders are within the band as far as chains of changes can do that.

    Whoever led before does so unless the band forbids it.
    """
    after = reordered(problem.replicas, replicas, led=False)
    brokers = len(problem.allowed)
    for high, low in ((band.most, band.least), (band.most, band.most), (band.least, band.least)):
        while True:
            counts = np.bincount(after[:, 0], minlength=brokers).astype(np.int32)
            passes = _passes(after, movable, brokers)
            path = _path(passes, counts, high, low, problem.allowed)
            if path is None:
                break
            room = [int(counts[path[0]] - high[path[0]]), int(low[path[-1]] - counts[path[-1]])]
            for giver, taker in pairwise(path):
                room.append(int(passes[giver, taker]))
            _pass_on(after, path, min(room), problem.replicas[:, 0], movable)
    return after


def _passes(after: Ints, movable: Flags, brokers: int) -> Ints:
    """[B, B] partitions that one leads and the other could."""
    rows = after[movable]
    flat = (rows[:, :1] * brokers + rows[:, 1:])[rows[:, 1:] != NONE]
    return np.bincount(flat, minlength=brokers * brokers).reshape(brokers, brokers).astype(np.int32)


def _path(passes: Ints, counts: Ints, high: Floats, low: Floats, allowed: Flags) -> list[int] | None:
    """The shortest chain from a broker above `high` to one below `low`."""
    starts = np.flatnonzero(allowed & (counts > high)).tolist()
    came: dict[int, int] = dict.fromkeys(starts, NONE)
    queue = deque(starts)
    while queue:
        at = queue.popleft()
        if counts[at] < low[at]:
            path = [at]
            while came[path[-1]] != NONE:
                path.append(came[path[-1]])
            return path[::-1]
        for to in np.flatnonzero(passes[at] * allowed).tolist():
            if to not in came:
                came[to] = at
                queue.append(to)
    return None


def _pass_on(after: Ints, path: list[int], count: int, before: Ints, movable: Flags) -> None:
    """Each of the path leads `count` fewer for the next one: first those whose leader is a new one anyway."""
    for giver, taker in reversed(list(pairwise(path))):
        rows = np.flatnonzero((after[:, 0] == giver) & (after[:, 1:] == taker).any(axis=1) & movable)
        dearness = (before[rows] == giver).astype(np.int8) - (before[rows] == taker)
        chosen = rows[np.argsort(dearness, kind="stable")][:count]
        column = (after[chosen] == taker).argmax(axis=1)
        after[chosen, column] = giver
        after[chosen, 0] = taker
