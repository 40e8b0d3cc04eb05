"""Placement as a linear program over classes of partitions. It says what the variables mean, and solves nothing.

A variable counts partitions of a class that take an option. Replicas added in one rack to partitions that have none
there go through one pool of the rack, for any broker of the rack can take any of them; the others go from their
openings straight to brokers. Of what is added, the part that leads is counted beside it.
"""

from itertools import chain
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.planning.optimum.classes import Classes
from model.planning.optimum.matrix import Matrix, MatrixBuilder
from model.planning.optimum.options import Openings, Option, openings_of, options_of
from model.planning.optimum.problem import NONE, Flags, Floats, Ints, Scope


class Flow(NamedTuple):
    """The columns that say how many replicas are added at a place, and how many of these lead."""

    added: int
    leading: int


class Program(NamedTuple):
    """The matrix, and what its parts are. Columns of `options` come first."""

    matrix: Matrix
    options: tuple[Option, ...]
    openings: dict[Openings, dict[int, Flow]]
    """Place: a rack, or a broker where the openings have `beside`."""
    brokers: dict[int, Flow]
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

    def opened(self, openings: Openings) -> dict[int, Flow]:
        """From partitions that take options with these openings to the places where replicas are added."""
        partitions, leading = self.inlets[openings]
        add, matrix = openings.added, self.matrix
        if openings.fills:
            return {
                rack: Flow(NONE, matrix.column([(leading, -1.0), (self.pools[rack][1], 1.0)]))
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
        flows: dict[int, Flow] = {}
        for place, (replicas, leaders) in places.items():
            at_most, led_at_most = limits[place]
            entries = [(total, -1.0), (replicas, 1.0), (at_most, 1.0), (led_at_most, -1.0)]
            if openings.beside is not None and self.rack[place] in covers:
                entries.append((covers[self.rack[place]], 1.0))
            flows[place] = Flow(
                matrix.column(entries), matrix.column([(leading, -1.0), (leaders, 1.0), (led_at_most, 1.0)])
            )
        return flows

    def drawn(self, broker: int) -> Flow:
        """What a broker takes out of its rack's pool."""
        replicas, leaders = self.pools[self.rack[broker]]
        limit = self.matrix.row(-inf, 0)
        return Flow(
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
