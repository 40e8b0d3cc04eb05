"""One group under several strategies after one change: the assignors' answers, without names."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from model.consumers.assignors.assignment import Assignment
from model.consumers.assignors.group import AssignorError
from model.consumers.assignors.named_group import NamedGroup
from model.consumers.assignors.strategies import strategy_named
from model.consumers.assignors.strategy import Strategy
from spark_tasks.previews.changed_group import ChangedGroup
from spark_tasks.previews.figures import FIGURES, Shares, figures, moves, shares
from spark_tasks.previews.rows import UNKNOWN, Column, Table

MOVED = slice(Column.MOVES - Column.MEMBERS, Column.WAITS - Column.MEMBERS + 1)
"""The figures that `moves` knows."""


class Answers(NamedTuple):
    """Of each strategy in turn: its figures (UNKNOWN where it refuses the group), and the shares of those that did."""

    figures: Table  # [strategies, FIGURES]
    answered: Sequence[int]  # places of the strategies that did not refuse
    shares: Shares  # [answered, C]


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


def at_present(group: ChangedGroup) -> tuple[Table, Shares]:
    """int64[1, FIGURES]: how things are before any rebalance; and who has what."""
    shared = shares(group.before.owner[None], group.group.members, group.lag)
    return figures(shared), shared
