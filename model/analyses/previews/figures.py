"""How assignments share partitions and lag out, and what they move: a row for each group, strategy and change.

Of several strategies at once, for where groups are small numpy's calls cost more than its work. Rows of all kinds of
changes stand in one table of whole numbers, so that a batch is a few arrays whatever is asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.analyses.previews.changed_group import ChangedGroup
from model.consumers.assignors.assignment import Assignment, Strategy
from model.consumers.assignors.group import NOBODY, AssignorError, GroupToAssign, Ints
from model.consumers.assignors.named_group import NamedGroup
from model.consumers.assignors.strategies import strategy_named

Table = NDArray[np.int64]

UNKNOWN = -1
"""A lag that is not known, and every figure of a strategy that refuses a group."""

AT_PRESENT, REBALANCED, JOINED = -3, -2, -1
"""What a row's `CHANGE` says besides the number of the consumer that dies."""


class FigureColumn(IntEnum):
    """Columns of the table; from MEMBERS on as `result.Figures` has them."""

    GROUP = 0
    STRATEGY = 1  # its place among those previewed for the group; AT_PRESENT has 0
    CHANGE = 2
    HANDED_ON = 3
    MEMBERS = 4
    IDLE = 5
    PARTITIONS_MIN = 6
    PARTITIONS_MAX = 7
    LAG_MIN = 8
    LAG_MAX = 9
    MOVES = 10
    MOVES_LOWER_BOUND = 11
    WAITS = 12
    UNOWNED = 13


def joined(tables: Sequence[Table]) -> Table:
    """One table of several, or of none."""
    return np.concatenate([np.zeros((0, len(FigureColumn)), dtype=np.int64), *tables])


def in_order(table: Table) -> NDArray[np.intp]:
    """Places of the rows by group, strategy and change."""
    return np.lexsort((table[:, FigureColumn.CHANGE], table[:, FigureColumn.STRATEGY], table[:, FigureColumn.GROUP]))


def without_lesser_deaths(table: Table) -> Table:
    """Of the deaths that one group with one strategy could suffer only the worst; all other rows as they are.

    The worst leaves most partitions to one member, then most lag, then hands most on; of equals the first consumer's.
    """
    dies = table[:, FigureColumn.CHANGE] >= 0
    deaths = table[dies]
    worst_last = (FigureColumn.PARTITIONS_MAX, FigureColumn.LAG_MAX, FigureColumn.HANDED_ON)
    keys = [deaths[:, FigureColumn.CHANGE], *(-deaths[:, column] for column in reversed(worst_last))]
    deaths = deaths[np.lexsort((*keys, deaths[:, FigureColumn.STRATEGY], deaths[:, FigureColumn.GROUP]))]
    whose = deaths[:, [FigureColumn.GROUP, FigureColumn.STRATEGY]]
    first = np.ones(len(deaths), dtype=np.bool_)
    first[1:] = (whose[1:] != whose[:-1]).any(axis=1)
    return np.concatenate((table[~dies], deaths[first]))


FIGURES = len(FigureColumn) - FigureColumn.MEMBERS


class MemberShares(NamedTuple):
    """What each member gets under each of several assignments."""

    partitions: Ints  # [N, C]
    lag: Ints | None  # [N, C] records; None where that of no partition is known
    unowned: Ints  # [N] partitions that nobody gets


def shares(owners: Ints, members: int, lag: Ints) -> MemberShares:
    """Counts up what the members own. `owners` [N, P] is NOBODY where a partition has none; unknown lag counts as 0."""
    width = members + 1
    places = (owners + (1 + width * np.arange(len(owners))[:, None])).ravel()
    counts = np.bincount(places, minlength=width * len(owners)).reshape(-1, width)
    known = lag != UNKNOWN
    summed = None
    if known.any():
        weights = np.tile(np.where(known, lag, 0), len(owners))
        summed = np.bincount(places, weights, width * len(owners)).reshape(-1, width)[:, 1:].astype(np.int64)
    return MemberShares(counts[:, 1:], summed, counts[:, 0])


def figures(shared: MemberShares) -> Table:
    """int64[N, FIGURES] in the order of `FigureColumn`, of how even it is; moves are 0."""
    table = np.zeros((len(shared.partitions), FIGURES), dtype=np.int64)
    partitions, lag = shared.partitions, shared.lag
    table[:, 0] = partitions.shape[1]
    table[:, 4:6] = UNKNOWN
    if partitions.shape[1]:
        table[:, 1] = np.count_nonzero(partitions == 0, axis=1)
        table[:, 2], table[:, 3] = partitions.min(axis=1), partitions.max(axis=1)
        if lag is not None:
            table[:, 4], table[:, 5] = lag.min(axis=1), lag.max(axis=1)
    table[:, 9] = shared.unowned
    return table


def moves(assignments: Sequence[Assignment], targets: Ints, shared: MemberShares, group: GroupToAssign) -> Table:
    """int64[N, 3]: moves, the fewest that this balance takes, and how many partitions wait for a second round.

    As `Assignment` has them, all at once; `targets` [N, P] are its own.
    """
    before = assignments[0].before.owner
    table = np.empty((len(assignments), 3), dtype=np.int64)
    table[:, 0] = np.count_nonzero((before != NOBODY) & (before != targets), axis=1)
    if group.subscribed.all():
        had, has = np.sort(group.claims.counts), np.sort(shared.partitions, axis=1)
        table[:, 1] = np.maximum(had - has, 0).sum(axis=1)
    else:
        table[:, 1] = [each.moves_lower_bound(group) for each in assignments]
    table[:, 2] = [len(each.withheld) for each in assignments]
    return table


MOVED = slice(FigureColumn.MOVES - FigureColumn.MEMBERS, FigureColumn.WAITS - FigureColumn.MEMBERS + 1)
"""The figures that `moves` knows."""


class Answers(NamedTuple):
    """Of each strategy in turn: its figures (UNKNOWN where it refuses the group), and the shares of those that did."""

    figures: Table  # [strategies, FIGURES]
    answered: Sequence[int]  # places of the strategies that did not refuse
    shares: MemberShares  # [answered, C]


def decided(
    group: ChangedGroup, strategy: Strategy, named: NamedGroup | None = None, *, as_kafka: bool = False
) -> Assignment:
    """What a strategy makes of a group, which may be `named`. Raises AssignorError where it refuses it."""
    owner, target = strategy.decide(named or group.named(strategy), group.before, as_kafka)
    return Assignment(owner, target, group.before, group.group.members)


def answers(group: ChangedGroup, strategies: Sequence[str]) -> Answers:
    """What all of these strategies make of a group."""
    found: dict[str, Assignment] = {}
    for name in sorted(strategies, key=_ENDS_AS.__contains__):
        try:
            found[name] = _answer(group, name, found)
        except AssignorError:
            continue
    table = np.full((len(strategies), FIGURES), UNKNOWN, dtype=np.int64)
    places = [place for place, name in enumerate(strategies) if name in found]
    assignments = [found[strategies[place]] for place in places]
    targets = np.array([each.target for each in assignments], dtype=np.int64)
    targets = targets.reshape(len(places), group.group.partitions)
    shared = shares(targets, group.group.members, group.lag)
    if places:
        numbers = figures(shared)
        numbers[:, MOVED] = moves(assignments, targets, shared, group.group)
        table[places] = numbers
    return Answers(table, places, shared)


_ENDS_AS: Mapping[str, str] = {"sticky": "cooperative-sticky"}
"""Strategies that end where another one ends after its second round, which then need not be worked out again."""


def _answer(group: ChangedGroup, name: str, found: Mapping[str, Assignment]) -> Assignment:
    same = found.get(_ENDS_AS.get(name, ""))
    return decided(group, strategy_named(name)) if same is None else replace(same, owner=same.target)


def at_present(group: ChangedGroup) -> tuple[Table, MemberShares]:
    """int64[1, FIGURES]: how things are before any rebalance; and who has what."""
    shared = shares(group.before.owner[None], group.group.members, group.lag)
    return figures(shared), shared
