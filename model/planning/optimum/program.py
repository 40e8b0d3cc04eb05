"""Placement as a linear program over classes of partitions: rows with bounds, columns with entries. It solves nothing.

A variable counts partitions of a class that take an option: which replicas they keep, who leads, and to which racks
the added ones may go. Replicas added in one rack to partitions that have none there go through one pool of the rack,
for any broker of the rack can take any of them; the others go from their openings straight to brokers. Of what is
added, the part that leads is counted beside it.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, combinations
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.planning.optimum.problem import NONE, Classes, Flags, Floats, Ints, PartitionClass, Scope

Entries = Iterable[tuple[int, float]]
"""(row, coefficient)"""


class Matrix(NamedTuple):
    """Columns by their entries; all variables are whole numbers from 0 to their limit."""

    start: NDArray[np.int32]
    row: NDArray[np.int32]
    value: Floats
    least: Floats
    most: Floats
    """Bounds of the rows."""
    limit: Floats
    """Of the columns."""

    @property
    def columns(self) -> int:
        return len(self.start) - 1

    def chosen(self, columns: Flags) -> "Matrix":
        lengths = np.diff(self.start)
        entries = np.repeat(columns, lengths)
        start = np.concatenate([[0], np.cumsum(lengths[columns])]).astype(np.int32)
        return self._replace(start=start, row=self.row[entries], value=self.value[entries], limit=self.limit[columns])

    def priced(self, prices: Floats) -> Floats:
        """What each column's entries are worth at these prices of the rows."""
        return np.add.reduceat(self.value * prices[self.row], self.start[:-1])

    def totals(self, values: Floats | NDArray[np.int64]) -> Floats:
        """What each row adds up to."""
        columns = np.repeat(np.arange(self.columns), np.diff(self.start))
        return np.bincount(self.row, self.value * values[columns], len(self.least)).astype(np.float64)

    def with_rows(self, rows: NDArray[np.intp], least: Floats, most: Floats) -> "Matrix":
        new_least, new_most = self.least.copy(), self.most.copy()
        new_least[rows], new_most[rows] = least, most
        return self._replace(least=new_least, most=new_most)

    def beyond(self, base: Floats) -> "Matrix":
        """The program of what is added to `base`."""
        there = self.totals(base)
        return self._replace(least=self.least - there, most=self.most - there, limit=self.limit - base)

    def with_columns(self, rows: NDArray[np.intp], values: Floats, limits: Floats) -> "Matrix":
        return self._replace(
            start=np.concatenate([self.start, self.start[-1] + 1 + np.arange(len(rows))]).astype(np.int32),
            row=np.concatenate([self.row, rows]).astype(np.int32),
            value=np.concatenate([self.value, values]),
            limit=np.concatenate([self.limit, limits]),
        )

    def with_row(self, coefficients: Floats, least: float, most: float) -> "Matrix":
        """With one more row, dense in `coefficients` of the columns."""
        rows = len(self.least)
        filled = coefficients != 0
        at = self.start[1:][filled]
        return Matrix(
            start=(self.start + np.concatenate([[0], np.cumsum(filled)])).astype(np.int32),
            row=np.insert(self.row, at, rows).astype(np.int32),
            value=np.insert(self.value, at, coefficients[filled]),
            least=np.append(self.least, least),
            most=np.append(self.most, most),
            limit=self.limit,
        )


class MatrixBuilder:
    """Collects rows and columns, in order."""

    def __init__(self) -> None:
        self._start = [0]
        self._row: list[int] = []
        self._value: list[float] = []
        self._least: list[float] = []
        self._most: list[float] = []

    def row(self, least: float, most: float) -> int:
        self._least.append(least)
        self._most.append(most)
        return len(self._least) - 1

    def column(self, entries: Entries) -> int:
        for row, value in entries:
            self._row.append(row)
            self._value.append(value)
        self._start.append(len(self._row))
        return len(self._start) - 2

    def built(self) -> Matrix:
        return Matrix(
            np.array(self._start, np.int32),
            np.array(self._row, np.int32),
            np.array(self._value, np.float64),
            np.array(self._least, np.float64),
            np.array(self._most, np.float64),
            np.full(len(self._start) - 1, np.inf),
        )


class Option(NamedTuple):
    """One way for members of a class."""

    of: int
    """The number of the class."""
    kept: tuple[int, ...]
    leader: int
    """One of those kept, or NONE: one of those added."""
    added: int


class Openings(NamedTuple):
    """Where added replicas may go. Options with equal openings share them.

    Either each goes to another one of `racks`; or, where `beside` is a tuple, any broker but those in it, and at least
    one to each of `racks`.
    """

    racks: tuple[int, ...]
    added: int
    beside: tuple[int, ...] | None

    @property
    def fills(self) -> bool:
        """Whether every one of the racks gets a replica of each partition."""
        return self.beside is None and self.added == len(self.racks)


def openings_of(option: Option, racks: tuple[int, ...], rack: list[int]) -> Openings:
    """Partitions spread over as many racks as they can."""
    open_racks = tuple(sorted(set(racks) - {rack[broker] for broker in option.kept}))
    return Openings(open_racks, option.added, None if option.added <= len(open_racks) else option.kept)


def options_of(
    number: int, each: PartitionClass, scope: Scope, racks: tuple[int, ...], rack: list[int]
) -> Iterator[Option]:
    """Every way that the scope allows, in a fixed order.

    Where only what must move does, who leads keeps its replica and leads: some way to keep as many, on as many racks,
    has it (such sets are the bases of a matroid).
    """
    for kept in _kept(each, scope, racks, rack):
        added = each.factor - len(kept)
        for leader in _leaders(each, kept, added, scope):
            yield Option(number, kept, leader, added)


def _kept(each: PartitionClass, scope: Scope, racks: tuple[int, ...], rack: list[int]) -> list[tuple[int, ...]]:
    most = min(len(each.present), each.factor)
    best = min(each.factor, len(racks))

    def reached(kept: tuple[int, ...]) -> int:
        covered = len({rack[broker] for broker in kept})
        return min(covered + each.factor - len(kept), len(racks))

    if scope in (Scope.DRAIN, Scope.LEADERS):
        found = list(combinations(each.present, most))
        best = max(map(reached, found))
        return _led(each, scope, [kept for kept in found if reached(kept) == best])
    found: list[tuple[int, ...]] = []
    for size in range(most, -1, -1):
        found += [kept for kept in combinations(each.present, size) if reached(kept) == best]
        if found and scope is Scope.RACKS:
            break
    return _led(each, scope, found)


def _led(each: PartitionClass, scope: Scope, kept: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Those that the leader of now is among, where it may stay and nothing moves without need."""
    if scope in (Scope.DRAIN, Scope.RACKS) and each.leader != NONE:
        return [some for some in kept if each.leader in some]
    return kept


def _leaders(each: PartitionClass, kept: tuple[int, ...], added: int, scope: Scope) -> tuple[int, ...]:
    if scope in (Scope.DRAIN, Scope.RACKS) and each.leader in kept:
        return (each.leader,)
    return (*kept, NONE) if added else kept


class FlowColumns(NamedTuple):
    """The columns that say how many replicas are added at a place, and how many of these lead."""

    added: int
    leading: int


class Program(NamedTuple):
    """The matrix, and what its parts are. Columns of `options` come first."""

    matrix: Matrix
    options: tuple[Option, ...]
    openings: dict[Openings, dict[int, FlowColumns]]
    """Place: a rack, or a broker where the openings have `beside`."""
    brokers: dict[int, FlowColumns]
    """What each broker takes out of the pool of its rack."""
    replica_rows: NDArray[np.intp]
    """[B] replicas of each broker that are decided here."""
    leader_rows: NDArray[np.intp]
    """[B]"""
    moves: Floats
    """[columns]"""
    changes: Floats
    cost: Floats
    """Bytes or replicas that are copied."""

    def first(self, *, led: bool) -> Flags:
        """[columns] those that should do: options that give up one replica at most of those that could stay.

        Without regard to leaders (`led`), one of those that keep the same replicas is enough.
        """
        of = np.array([option.of for option in self.options], np.intp)
        kept = np.array([len(option.kept) for option in self.options], np.intp)
        most = np.zeros(of.max(initial=-1) + 1, np.intp)
        np.maximum.at(most, of, kept)
        found = np.ones(self.matrix.columns, np.bool_)
        found[: len(of)] = kept >= most[of] - 1
        if not led:
            seen = {(option.of, option.kept): column for column, option in reversed(list(enumerate(self.options)))}
            found[: len(of)] &= np.isin(np.arange(len(of)), list(seen.values()))
        return found


class _Writer:
    def __init__(self, allowed: Flags, rack: Ints) -> None:
        self.matrix = MatrixBuilder()
        self.rack: list[int] = rack.tolist()
        self.allowed: list[int] = np.flatnonzero(allowed).tolist()
        self.racks = tuple(sorted({self.rack[broker] for broker in self.allowed}))
        self.replicas = [self.matrix.row(-inf, inf) for _ in self.rack]
        self.leaders = [self.matrix.row(-inf, inf) for _ in self.rack]
        self.pools = {each: (self.matrix.row(0, 0), self.matrix.row(0, 0)) for each in self.racks}
        self.inlets: dict[Openings, tuple[int, int]] = {}

    def option(self, option: Option, class_row: int) -> None:
        """Entries: the class, the brokers that keep, the leader, and the openings."""
        entries = [(class_row, 1.0), *((self.replicas[broker], 1.0) for broker in option.kept)]
        if option.leader != NONE:
            entries.append((self.leaders[option.leader], 1.0))
        if option.added:
            openings = openings_of(option, self.racks, self.rack)
            if openings not in self.inlets:
                self.inlets[openings] = (self.matrix.row(0, 0), self.matrix.row(0, 0))
            partitions, leading = self.inlets[openings]
            if openings.fills:
                entries += [(self.pools[rack][0], 1.0) for rack in openings.racks]
            else:
                entries.append((partitions, 1.0))
            if option.leader == NONE:
                entries.append((leading, 1.0))
        self.matrix.column(entries)

    def opened(self, openings: Openings) -> dict[int, FlowColumns]:
        """From partitions that take options with these openings to the places where replicas are added."""
        partitions, leading = self.inlets[openings]
        add, matrix = openings.added, self.matrix
        if openings.fills:
            return {
                rack: FlowColumns(NONE, matrix.column([(leading, -1.0), (self.pools[rack][1], 1.0)]))
                for rack in openings.racks
            }
        total = matrix.row(0, 0)
        each_partition = [(partitions, -1.0), (total, float(add))]
        if openings.beside is None:
            places = {rack: self.pools[rack] for rack in openings.racks}
            covers: dict[int, int] = {}
        else:
            covers = {rack: matrix.row(0, inf) for rack in openings.racks}
            places = {
                broker: (self.replicas[broker], self.leaders[broker])
                for broker in self.allowed
                if broker not in openings.beside
            }
        limits = {place: (matrix.row(-inf, 0), matrix.row(-inf, 0)) for place in places}
        each_partition += [(limit, -1.0) for limit, _ in limits.values()] + [(row, -1.0) for row in covers.values()]
        matrix.column(each_partition)
        flows: dict[int, FlowColumns] = {}
        for place, (replicas, leaders) in places.items():
            at_most, led_at_most = limits[place]
            entries = [(total, -1.0), (replicas, 1.0), (at_most, 1.0), (led_at_most, -1.0)]
            if openings.beside is not None and self.rack[place] in covers:
                entries.append((covers[self.rack[place]], 1.0))
            flows[place] = FlowColumns(
                matrix.column(entries), matrix.column([(leading, -1.0), (leaders, 1.0), (led_at_most, 1.0)])
            )
        return flows

    def drawn(self, broker: int) -> FlowColumns:
        """What a broker takes out of its rack's pool."""
        replicas, leaders = self.pools[self.rack[broker]]
        limit = self.matrix.row(-inf, 0)
        return FlowColumns(
            self.matrix.column([(replicas, -1.0), (self.replicas[broker], 1.0), (limit, -1.0)]),
            self.matrix.column([(leaders, -1.0), (self.leaders[broker], 1.0), (limit, 1.0)]),
        )


def program_of(classes: Classes, allowed: Flags, rack: Ints, scope: Scope) -> Program:
    """The whole program, without bands."""
    writer = _Writer(allowed, rack)
    options = tuple(
        chain.from_iterable(
            options_of(number, each, scope, writer.racks, writer.rack) for number, each in enumerate(classes.classes)
        )
    )
    class_rows = [writer.matrix.row(len(each.members), len(each.members)) for each in classes.classes]
    for option in options:
        writer.option(option, class_rows[option.of])
    openings = {each: writer.opened(each) for each in tuple(writer.inlets)}
    brokers = {broker: writer.drawn(broker) for broker in writer.allowed}
    matrix = writer.matrix.built()
    moves, changes, cost = (np.zeros(matrix.columns) for _ in range(3))
    for column, option in enumerate(options):
        each = classes.classes[option.of]
        moves[column] = option.added
        changes[column] = option.leader == NONE or option.leader != each.leader
        cost[column] = option.added * each.size
    replica_rows, leader_rows = np.array(writer.replicas, np.intp), np.array(writer.leaders, np.intp)
    return Program(matrix, options, openings, brokers, replica_rows, leader_rows, moves, changes, cost)
