"""How the work is cut: a group is one unit, unless it is so large that cores would wait for it.

A large group is cut by strategy, and within a strategy by changes (as it is, who joins, who dies). Units are numbered
group by group, so that every worker knows what a number means without being told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.consumers.assignors.group import Ints
from spark_tasks.analysis import Arrays, Unit
from spark_tasks.previews.changed_group import NOTHING, Change
from spark_tasks.previews.parameters import Parameters, strategies_for

MOST_SHARES = 64
"""No unit costs more than one part in so many, if it can be helped: so that 16 tasks end together."""

LEAST_PIECE = 100_000
"""Cutting smaller pieces costs more than it evens out: what strategies have in common is then done for each."""

PARTITIONS_EACH = 4_000
"""What a strategy and a change cost beside the partitions, in partitions: about 0.1 ms."""


class Piece(NamedTuple):
    """What a unit stands for."""

    group: int
    strategies: Sequence[str]
    changes: Sequence[Change]


@dataclass(frozen=True)
class Pieces:
    """The whole work. A group has `strategies` times `changes` questions, cut into runs of changes of one."""

    parameters: Parameters
    zookeeper: Ints  # [G]
    consumers: Ints  # [G]
    questions: Ints  # [G, 2] strategies, changes
    cost: Ints  # [G] of one question
    run: Ints  # [G] changes in a piece; 0: the group is in one piece
    starts: Ints  # [G + 1] first unit of each group

    def units(self) -> list[Unit]:
        """Each piece with its cost, in partitions."""
        strategies, changes = self.questions.T
        each = np.where(self.run, np.minimum(self.run, changes), strategies * changes) * self.cost
        groups = np.repeat(np.arange(len(self.run)), np.diff(self.starts))
        return [Unit(number, cost) for number, cost in enumerate(each[groups].tolist())]

    def piece(self, unit: int) -> Piece:
        """What a unit stands for."""
        group = int(np.searchsorted(self.starts, unit, side="right")) - 1
        strategies = strategies_for(self.parameters, zookeeper=bool(self.zookeeper[group]))
        changes = changes_for(self.parameters, int(self.consumers[group]))
        run = int(self.run[group])
        if run:
            strategy, part = divmod(unit - int(self.starts[group]), -(-len(changes) // run))
            strategies, changes = strategies[strategy : strategy + 1], changes[part * run : (part + 1) * run]
        return Piece(group, strategies, changes)


def changes_for(parameters: Parameters, consumers: int) -> list[Change]:
    """Everything that is to happen to a group of so many consumers, each time from how it is now."""
    joins = [Change(joins=parameters.join)] if parameters.join else []
    leaves = [Change(leaves=consumer) for consumer in range(consumers if parameters.each_leaves else 0)]
    return [NOTHING, *joins, *leaves]


def pieces(arrays: Arrays, parameters: Parameters) -> Pieces:
    """Cuts the work."""
    zookeeper, consumers = arrays["zookeeper"].astype(np.intp), arrays["consumers"].astype(np.int64)
    kinds = [len(strategies_for(parameters, zookeeper=kind)) for kind in (False, True)]
    strategies = np.array(kinds, dtype=np.int64)[zookeeper]
    changes = 1 + bool(parameters.join) + (consumers if parameters.each_leaves else 0 * consumers)
    cost = np.diff(arrays["partition_starts"]) + PARTITIONS_EACH
    whole = strategies * changes * cost
    most = max(int(whole.sum()) // MOST_SHARES, LEAST_PIECE)
    run = np.where(whole > most, np.maximum(most // cost, 1), 0)
    parts = np.where(run, strategies * -(-changes // np.maximum(run, 1)), 1)
    starts = np.concatenate(([0], np.cumsum(parts)))
    return Pieces(parameters, zookeeper, consumers, np.stack((strategies, changes), axis=1), cost, run, starts)
