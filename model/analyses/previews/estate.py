"""All groups at once: what each strategy comes to over the whole estate, and every case in it, the worst first.

A case is a group under a strategy after a change: it is rebalanced as it is, its worst consumer fails, or one joins.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from model.analyses.previews.result import (
    Figures,
    GroupNames,
    GroupPreview,
    PreviewParameters,
    StrategyPreview,
    strategies_for,
)

Change = Literal["rebalanced", "leaves", "joins"]
CHANGES: tuple[Change, ...] = ("rebalanced", "leaves", "joins")


class Case(msgspec.Struct, frozen=True):
    """`group` is its number among those staged; `consumer` who fails, -1 where nobody does."""

    group: int
    strategies: tuple[str, ...]
    """Strategies that come to the same."""
    change: Change
    figures: Figures
    consumer: int = -1
    handed_on: int = 0
    """Partitions of the consumer that fails: they move whatever the strategy."""
    orphaned: int = 0
    """Partitions that have an owner now, and nobody afterwards."""

    @property
    def moves(self) -> int:
        """Partitions that have another owner afterwards."""
        return self.figures.moves + self.handed_on

    @property
    def fewest_moves(self) -> int:
        """Those that nobody could avoid who ends with the same balance."""
        return self.figures.moves_lower_bound + self.handed_on

    @property
    def needless(self) -> int:
        """Moves beyond the fewest for the same balance."""
        return self.figures.moves - self.figures.moves_lower_bound

    def is_any(self, names: GroupNames) -> bool:
        """Whether all strategies that its group could use come to the same."""
        return self.strategies == strategies_for(PreviewParameters(), zookeeper=names.is_zookeeper)

    @property
    def badness(self) -> tuple[int, ...]:
        """What is worse is higher."""
        figures = self.figures
        return self.orphaned, self.needless, self.moves, figures.lag_max or 0, figures.idle


class Total(msgspec.Struct, frozen=True):
    """One change over all groups that a strategy takes: so many are `groups`, in `moving` of them something moves."""

    groups: int = 0
    moving: int = 0
    moves: int = 0
    moves_lower_bound: int = 0
    idle: int = 0
    """Members that get nothing."""
    with_idle: int = 0
    """Groups that have some."""
    spread: int = 0
    """Of the least even group: partitions of the member with the most minus those of the one with the fewest."""
    lag_max: int | None = None
    """Records that the member with the most has to catch up on; None where no lag is known."""
    lag_group: int = -1
    """The number of that member's group."""


class StrategyTotal(msgspec.Struct, frozen=True):
    """One strategy over the whole estate. `refused`: groups for which it has no answer."""

    strategy: str
    refused: int
    by_change: dict[Change, Total]


def cases(groups: Iterable[GroupPreview]) -> tuple[Case, ...]:
    """All of them, the worst first; of equally bad ones in the order of the groups. Strategies that agree share one."""
    found = [case for one in groups for case in _folded(one)]
    return tuple(sorted(found, key=lambda case: case.badness, reverse=True))


def _folded(one: GroupPreview) -> Iterable[Case]:
    alike = dict[Case, list[str]]()
    for preview in one.strategies:
        for case in _cases(one.group, preview):
            orphaned = max(case.figures.unowned - one.now.unowned, 0)
            bare = msgspec.structs.replace(case, strategies=(), orphaned=orphaned)
            alike.setdefault(bare, []).append(preview.strategy)
    return (msgspec.structs.replace(case, strategies=tuple(names)) for case, names in alike.items())


def _cases(group: int, preview: StrategyPreview) -> Iterable[Case]:
    if preview.rebalanced is not None:
        yield Case(group, (preview.strategy,), "rebalanced", preview.rebalanced)
    if (leave := preview.worst_leave) is not None:
        yield Case(group, (preview.strategy,), "leaves", leave.figures, leave.consumer, leave.handed_on)
    if preview.joined is not None:
        yield Case(group, (preview.strategy,), "joins", preview.joined)


def totals(groups: Sequence[GroupPreview]) -> tuple[StrategyTotal, ...]:
    """Every strategy that is previewed for some group, in the order in which they come."""
    refused = Counter[str]()
    by_strategy = dict[str, list[Case]]()
    for one in groups:
        for preview in one.strategies:
            refused[preview.strategy] += preview.rebalanced is None
            by_strategy.setdefault(preview.strategy, []).extend(_cases(one.group, preview))
    return tuple(
        StrategyTotal(
            strategy=strategy,
            refused=refused[strategy],
            by_change={change: total([case for case in found if case.change == change]) for change in CHANGES},
        )
        for strategy, found in by_strategy.items()
    )


def total(some: Sequence[Case]) -> Total:
    """What these cases, each of another group, come to together."""
    lagging = max(
        (case for case in some if case.figures.lag_max is not None),
        key=lambda case: case.figures.lag_max or 0,
        default=None,
    )
    return Total(
        groups=len(some),
        moving=sum(case.moves > 0 for case in some),
        moves=sum(case.moves for case in some),
        moves_lower_bound=sum(case.fewest_moves for case in some),
        idle=sum(case.figures.idle for case in some),
        with_idle=sum(case.figures.idle > 0 for case in some),
        spread=max((case.figures.spread for case in some), default=0),
        lag_max=None if lagging is None else lagging.figures.lag_max,
        lag_group=-1 if lagging is None else lagging.group,
    )


def now(groups: Iterable[GroupPreview]) -> Total:
    """How the groups stand before anything is changed; nothing moves."""
    return total([Case(one.group, (), "rebalanced", _still(one.now)) for one in groups])


def _still(figures: Figures) -> Figures:
    return msgspec.structs.replace(figures, moves=0, moves_lower_bound=0)
