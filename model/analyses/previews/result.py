"""What a preview is asked, what it comes to in numbers, the names these stand for, and the kdrill.preview/1 document.

A member is what an assignor assigns to: a consumer thread of a ZooKeeper group, a member of a classic one. A consumer
is what dies: all its threads with it. Names stay where the cluster's image is and do not travel to workers. Structs
that there are many of travel as JSON arrays. All groups at once are an estate: what each strategy comes to over it, and
every case in it, the worst first. A case is a group under a strategy after a change: it is rebalanced as it is, its
worst consumer fails, or one joins.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from model.consumers.assignors.strategies import STRATEGIES

_COMPARED = [strategy for strategy in STRATEGIES.values() if strategy.compared]
CLASSIC_STRATEGIES = tuple(strategy.name for strategy in _COMPARED if not strategy.threads)
ZOOKEEPER_STRATEGIES = tuple(strategy.name for strategy in _COMPARED if strategy.threads)

AS_ZOOKEEPER_SAYS: Mapping[str, str] = {"range": "zk-range", "roundrobin": "zk-roundrobin"}
"""What the two values of a ZooKeeper consumer's `partition.assignment.strategy` mean among all strategies."""


class PreviewParameters(msgspec.Struct, frozen=True):
    """What to preview, of the groups that are staged: all, or those from one to before another."""

    strategies: tuple[str, ...] = ()
    """Names as `model.consumers.assignors.strategies` has them; none: all that such a group could use."""
    each_leaves: bool = False
    """Whether each consumer is to die in turn."""
    join: int = 0
    """How many consumers join at once; 0: none do."""
    detail: bool = False
    """Every member's share and every death, not only the extremes and the worst."""
    first: int = 0
    end: int | None = None


def strategies_for(parameters: PreviewParameters, *, zookeeper: bool) -> tuple[str, ...]:
    """The strategies to preview for a group of that kind, each once."""
    if not parameters.strategies:
        return ZOOKEEPER_STRATEGIES if zookeeper else CLASSIC_STRATEGIES
    if not zookeeper:
        return tuple(dict.fromkeys(parameters.strategies))
    return tuple(dict.fromkeys(AS_ZOOKEEPER_SAYS.get(name, name) for name in parameters.strategies))


class GroupNames(msgspec.Struct, frozen=True):
    """One group as staged. Members and topics in the order of their names."""

    key: str
    """As `ClusterImage.every_group` says it."""
    kind: str
    state: str
    uses: str | None
    """The strategy it uses now; None where that is not known."""
    topics: tuple[str, ...]
    members: tuple[str, ...]
    consumers: tuple[str, ...]
    partitions: int
    lag: int | None
    """Records, over all partitions; None where that of none is known."""
    numbers: Mapping[str, tuple[int, ...]] = {}
    """Topic → the ids of its partitions, where these are not 0, 1, 2 …"""
    notes: tuple[str, ...] = ()
    """What had to be assumed, in sentences."""

    @property
    def is_zookeeper(self) -> bool:
        """Whether its members register in ZooKeeper."""
        return self.kind == "zookeeper"


def newcomers(count: int) -> tuple[str, ...]:
    """Names of members that join in a preview; they sort behind every id that Kafka's clients make."""
    return tuple(f"~new-{number}" for number in range(1, count + 1))


class AssignmentFigures(msgspec.Struct, frozen=True, array_like=True):
    """One assignment: how it shares partitions and lag (records) out, and what it moves.

    A cooperative rebalance lets `waits` partitions wait for its second round; all else is as after that round.
    """

    members: int
    idle: int
    """Members that get nothing."""
    partitions_min: int
    partitions_max: int
    lag_min: int | None
    lag_max: int | None
    """Both None where the lag of no partition is known; a partition whose lag is not counts as 0."""
    moves: int
    """Partitions that a member has now and does not keep."""
    moves_lower_bound: int
    """The moves nobody could avoid who ends with as many partitions per member."""
    waits: int
    unowned: int
    """Partitions that nobody gets, or at present has."""

    @property
    def spread(self) -> int:
        """Partitions of the member with the most, minus those of the member with the fewest."""
        return self.partitions_max - self.partitions_min


class Leave(msgspec.Struct, frozen=True, array_like=True):
    """One consumer dies, and the rest is balanced again. `handed_on`: partitions it had."""

    consumer: int
    figures: AssignmentFigures
    handed_on: int


class MemberShare(msgspec.Struct, frozen=True, array_like=True):
    """What one member gets. `lag` in records, None where that of none of the group's partitions is known."""

    partitions: int
    lag: int | None


class StrategyPreview(msgspec.Struct, frozen=True):
    """One strategy. `rebalanced` None: it refuses this group as it is, and nothing else is said of it.

    `leaves` (one for each consumer) and `shares` (one for each member) only with `detail`.
    """

    strategy: str
    rebalanced: AssignmentFigures | None
    joined: AssignmentFigures | None = None
    worst_leave: Leave | None = None
    leaves: tuple[Leave, ...] = ()
    shares: tuple[MemberShare, ...] = ()


class GroupPreview(msgspec.Struct, frozen=True):
    """One group: `group` is its number among those staged, `now` how things are, `shares` as above."""

    group: int
    now: AssignmentFigures
    strategies: tuple[StrategyPreview, ...]
    shares: tuple[MemberShare, ...] = ()


class PreviewResult(msgspec.Struct, frozen=True):
    """All groups, in the order in which they were staged."""

    groups: tuple[GroupPreview, ...]


Change = Literal["rebalanced", "leaves", "joins"]
CHANGES: tuple[Change, ...] = ("rebalanced", "leaves", "joins")


class EstateCase(msgspec.Struct, frozen=True):
    """`group` is its number among those staged; `consumer` who fails, -1 where nobody does."""

    group: int
    strategies: tuple[str, ...]
    """Strategies that come to the same."""
    change: Change
    figures: AssignmentFigures
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


def estate_cases(groups: Iterable[GroupPreview]) -> tuple[EstateCase, ...]:
    """All of them, the worst first; of equally bad ones in the order of the groups. Strategies that agree share one."""
    found = [case for one in groups for case in _folded(one)]
    return tuple(sorted(found, key=lambda case: case.badness, reverse=True))


def _folded(one: GroupPreview) -> Iterable[EstateCase]:
    alike = dict[EstateCase, list[str]]()
    for preview in one.strategies:
        for case in _cases(one.group, preview):
            orphaned = max(case.figures.unowned - one.now.unowned, 0)
            bare = msgspec.structs.replace(case, strategies=(), orphaned=orphaned)
            alike.setdefault(bare, []).append(preview.strategy)
    return (msgspec.structs.replace(case, strategies=tuple(names)) for case, names in alike.items())


def _cases(group: int, preview: StrategyPreview) -> Iterable[EstateCase]:
    if preview.rebalanced is not None:
        yield EstateCase(group, (preview.strategy,), "rebalanced", preview.rebalanced)
    if (leave := preview.worst_leave) is not None:
        yield EstateCase(group, (preview.strategy,), "leaves", leave.figures, leave.consumer, leave.handed_on)
    if preview.joined is not None:
        yield EstateCase(group, (preview.strategy,), "joins", preview.joined)


def estate_totals(groups: Sequence[GroupPreview]) -> tuple[StrategyTotal, ...]:
    """Every strategy that is previewed for some group, in the order in which they come."""
    refused = Counter[str]()
    by_strategy = dict[str, list[EstateCase]]()
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


def total(some: Sequence[EstateCase]) -> Total:
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


def estate_now(groups: Iterable[GroupPreview]) -> Total:
    """How the groups stand before anything is changed; nothing moves."""
    return total([EstateCase(one.group, (), "rebalanced", _still(one.now)) for one in groups])


def _still(figures: AssignmentFigures) -> AssignmentFigures:
    return msgspec.structs.replace(figures, moves=0, moves_lower_bound=0)


FORMAT = "kdrill.preview/1"


def group_document(preview: GroupPreview, names: GroupNames) -> dict[str, Any]:
    """One group with all its strategies."""
    return {
        "group": names.key,
        "kind": names.kind,
        "state": names.state,
        "uses": names.uses,
        "consumers": len(names.consumers),
        "members": len(names.members),
        "topics": len(names.topics),
        "partitions": names.partitions,
        "lag": names.lag,
        "notes": list(names.notes),
        "now": _figures_document(preview.now) | _shares(preview.shares, names.members),
        "strategies": {each.strategy: _strategy(each, names) for each in preview.strategies},
    }


def _strategy(preview: StrategyPreview, names: GroupNames) -> dict[str, Any]:
    if preview.rebalanced is None:
        return {"rebalanced": None}
    document: dict[str, Any] = {
        "rebalanced": _figures_document(preview.rebalanced) | _shares(preview.shares, names.members)
    }
    if preview.joined is not None:
        document["joined"] = _figures_document(preview.joined)
    if preview.worst_leave is not None:
        document["worst_leave"] = _leave(preview.worst_leave, names.consumers)
    if preview.leaves:
        document["leaves"] = [_leave(each, names.consumers) for each in preview.leaves]
    return document


def _figures_document(figures: AssignmentFigures) -> dict[str, Any]:
    return {field: getattr(figures, field) for field in (*figures.__struct_fields__, "spread")}


def _leave(leave: Leave, consumers: Sequence[str]) -> dict[str, Any]:
    return {"consumer": consumers[leave.consumer], "handed_on": leave.handed_on, **_figures_document(leave.figures)}


def _shares(shares: Iterable[MemberShare], members: Sequence[str]) -> dict[str, Any]:
    told = {
        member: {"partitions": share.partitions, "lag": share.lag}
        for member, share in zip(members, shares, strict=False)
    }
    return {"shares": told} if told else {}


def preview_document(
    groups: Iterable[dict[str, Any]], estate: Mapping[str, Any], provenance: Mapping[str, Any]
) -> dict[str, Any]:
    """All groups, what they come to together, and where it comes from."""
    return {"format": FORMAT, "groups": list(groups), "estate": estate, "provenance": provenance}
