"""From counts to partitions: replicas as a program's variables say, leaders among given replicas; or a bounded search.

Leadership is passed along chains of brokers, and data stays where it is. The search is for problems too large for the
linear program: replicas go straight from brokers that have too many to brokers that have too few, or by way of a third
broker; its bound is reckoned from counts alone.
"""

from collections import defaultdict, deque
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.planning.optimum.measures import Bounds, BrokerBounds, least_led, reordered
from model.planning.optimum.problem import (
    NONE,
    Cancelled,
    Classes,
    Ended,
    Flags,
    Floats,
    Ints,
    Longs,
    PlacementProblem,
    counts_of,
)
from model.planning.optimum.program import FlowColumns, Openings, Program, openings_of

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
    flows: dict[int, FlowColumns],
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


def _draw(table: _Table, rows: list[int], place: int, takers: dict[int, FlowColumns], values: Counts) -> None:
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


def choose_leaders(problem: PlacementProblem, replicas: Ints, band: BrokerBounds, movable: Flags) -> Ints:
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


class _Search(NamedTuple):
    problem: PlacementProblem
    band: BrokerBounds
    holds: Flags
    """[B, P], changed in place."""
    counts: Longs
    """[B]"""
    movable: Flags

    def going(self, x: int, y: int) -> NDArray[np.intp]:
        """Partitions that may give up x for y; those that x does not lead come first."""
        rows = np.flatnonzero(self.holds[x] & ~self.holds[y] & self.movable)
        rack = self.problem.rack
        if rack[x] != rack[y]:
            left = self.holds[rack == rack[x]][:, rows].sum(axis=0) > 1
            rows = rows[left | ~self.holds[rack == rack[y]][:, rows].any(axis=0)]
        return rows[np.argsort(self.problem.replicas[rows, 0] == x, kind="stable")]

    def move(self, rows: NDArray[np.intp], x: int, y: int) -> None:
        self.holds[x, rows], self.holds[y, rows] = False, True
        self.counts[x] -= len(rows)
        self.counts[y] += len(rows)


def searched(
    problem: PlacementProblem,
    replicas: BrokerBounds,
    leaders: BrokerBounds,
    movable: Flags,
    by_bytes: bool,
    ended: Ended,
) -> tuple[Ints, Bounds]:
    """Replicas within the bands of all brokers as far as the search gets, and bounds. Raises Cancelled."""
    brokers, partitions = len(problem.allowed), len(problem.replicas)
    holds = np.zeros((brokers, partitions), np.bool_)
    at, column = np.nonzero(problem.replicas != NONE)
    holds[problem.replicas[at, column], at] = True
    holds[~problem.allowed[:, None] & movable[None, :]] = False
    search = _Search(problem, replicas, holds, holds.sum(axis=1).astype(np.int64), movable)
    forced, had = _forced(search), holds[:, movable].sum(axis=1)
    moves, moved = int(forced.sum()), int(forced @ problem.bytes) if by_bytes and problem.bytes is not None else 0
    _mend(search)
    least, most = replicas
    while _step(search, most, least) or _step(search, most, most) or _step(search, least, least):
        if ended():
            raise Cancelled
    after = choose_leaders(problem, _rows(problem, holds), leaders, movable)
    # What the band forces holds only where it can be kept, and that is known only where it is.
    if replicas.holds(counts_of(after, problem.allowed)):
        room = replicas.without(counts_of(problem.replicas[~movable], problem.allowed))
        kept = np.minimum(had, room.most).sum()
        short = np.maximum(room.least - had, 0).sum()
        moves = max(moves, int(problem.target_rf[movable].sum() - kept), int(short))
    return after, least_led(problem, after, leaders, movable, Bounds(moves, bytes=moved))


def _forced(search: _Search) -> Ints:
    """[P] replicas that are added whatever the counts: those that are missing, and those for racks that have none."""
    problem, holds = search.problem, search.holds
    covered, racks = _covered(search)
    missing = problem.target_rf - holds.sum(axis=0)
    least = np.maximum(missing, np.minimum(problem.target_rf, racks) - covered).clip(min=0)
    return np.where(search.movable, least, 0).astype(np.int32)


def _covered(search: _Search) -> tuple[NDArray[np.intp], int]:
    """[P] racks with a replica, and how many racks there are."""
    rack, allowed = search.problem.rack, search.problem.allowed
    racks = np.unique(rack[allowed])
    return np.stack([search.holds[(rack == each) & allowed].any(axis=0) for each in racks]).sum(axis=0), len(racks)


def _mend(search: _Search) -> None:
    """Partitions with too many replicas, too few, or two in a rack while another has none."""
    problem, holds, counts = search.problem, search.holds, search.counts
    racks = np.unique(problem.rack[problem.allowed])
    covered, _ = _covered(search)
    wrong = (holds.sum(axis=0) != problem.target_rf) | (covered < np.minimum(problem.target_rf, len(racks)))
    for row in np.flatnonzero(wrong & search.movable).tolist():
        while True:
            here = np.flatnonzero(holds[:, row])
            open_racks = set(racks.tolist()) - set(problem.rack[here].tolist())
            missing = int(problem.target_rf[row]) - len(here)
            if missing < min(len(open_racks), 1) or missing < 0:
                double = [int(b) for b in here if (problem.rack[here] == problem.rack[b]).sum() > 1]
                if missing == 0 and not double:
                    break
                gone = max(double or here.tolist(), key=lambda b: (b != problem.replicas[row, 0], counts[b], b))
                search.holds[gone, row] = False
                counts[gone] -= 1
            elif missing > 0:
                free: list[int] = np.flatnonzero(problem.allowed & ~holds[:, row]).tolist()
                fitting = [b for b in free if problem.rack[b] in open_racks] or free
                new = min(fitting, key=lambda b: (counts[b] - search.band.least[b], b))
                search.holds[new, row] = True
                counts[new] += 1
            else:
                break


def _step(search: _Search, high: NDArray[np.float64], low: NDArray[np.float64]) -> bool:
    """From brokers above `high` to brokers below `low`: each step leaves fewer replicas too many, or too few."""
    allowed = np.flatnonzero(search.problem.allowed)
    over = [int(b) for b in allowed[np.argsort(-(search.counts - high)[allowed], kind="stable")]]
    under = [int(b) for b in allowed[np.argsort((search.counts - low)[allowed], kind="stable")]]
    moved = False
    for x in over:
        for y in under:
            count = int(min(search.counts[x] - high[x], low[y] - search.counts[y]))
            if count > 0 and x != y:
                rows = search.going(x, y)[:count]
                search.move(rows, x, y)
                moved |= len(rows) > 0
    return moved or any(_by_way(search, x, y, allowed) for x in over for y in under if _far(search, x, y, high, low))


def _far(search: _Search, x: int, y: int, high: NDArray[np.float64], low: NDArray[np.float64]) -> bool:
    return bool(search.counts[x] > high[x] and search.counts[y] < low[y])


def _by_way(search: _Search, x: int, y: int, allowed: NDArray[np.intp]) -> bool:
    """One replica from x to a third broker, another one from there to y."""
    for middle in allowed.tolist():
        if middle not in (x, y):
            first, second = search.going(x, middle)[:2], search.going(middle, y)[:2]
            pairs = [(p, q) for p in first for q in second if p != q]
            if pairs:
                search.move(np.array([pairs[0][0]]), x, middle)
                search.move(np.array([pairs[0][1]]), middle, y)
                return True
    return False


def _rows(problem: PlacementProblem, holds: Flags) -> Ints:
    rows: list[list[int]] = []
    for row, old in enumerate(problem.replicas.tolist()):
        now = np.flatnonzero(holds[:, row]).tolist()
        rows.append(list(dict.fromkeys([*(b for b in old if b in now), *now])))
    return padded(rows)
