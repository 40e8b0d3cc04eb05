"""What a preview is asked, what it comes to in numbers, the names these stand for, and the kdrill.preview/1 document.

A member is what an assignor assigns to: a consumer thread of a ZooKeeper group, a member of a classic one. A consumer
is what dies: all its threads with it. Names stay where the cluster's image is and do not travel to workers. Structs
that there are many of travel as JSON arrays.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from model.consumers.assignors.strategies import STRATEGIES

_COMPARED = [strategy for strategy in STRATEGIES.values() if strategy.compared]
CLASSIC_STRATEGIES = tuple(strategy.name for strategy in _COMPARED if not strategy.threads)
ZOOKEEPER_STRATEGIES = tuple(strategy.name for strategy in _COMPARED if strategy.threads)

AS_ZOOKEEPER_SAYS: Mapping[str, str] = {"range": "zk-range", "roundrobin": "zk-roundrobin"}
"""What the two values of a ZooKeeper consumer's `partition.assignment.strategy` mean among all strategies."""


class PreviewParameters(msgspec.Struct, frozen=True):
    """What to preview, of all groups that are staged."""

    strategies: tuple[str, ...] = ()
    """Names as `model.consumers.assignors.strategies` has them; none: all that such a group could use."""
    each_leaves: bool = False
    """Whether each consumer is to die in turn."""
    join: int = 0
    """How many consumers join at once; 0: none do."""
    detail: bool = False
    """Every member's share and every death, not only the extremes and the worst."""


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


class Figures(msgspec.Struct, frozen=True, array_like=True):
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
    figures: Figures
    handed_on: int


class Share(msgspec.Struct, frozen=True, array_like=True):
    """What one member gets. `lag` in records, None where that of none of the group's partitions is known."""

    partitions: int
    lag: int | None


class StrategyPreview(msgspec.Struct, frozen=True):
    """One strategy. `rebalanced` None: it refuses this group as it is, and nothing else is said of it.

    `leaves` (one for each consumer) and `shares` (one for each member) only with `detail`.
    """

    strategy: str
    rebalanced: Figures | None
    joined: Figures | None = None
    worst_leave: Leave | None = None
    leaves: tuple[Leave, ...] = ()
    shares: tuple[Share, ...] = ()


class GroupPreview(msgspec.Struct, frozen=True):
    """One group: `group` is its number among those staged, `now` how things are, `shares` as above."""

    group: int
    now: Figures
    strategies: tuple[StrategyPreview, ...]
    shares: tuple[Share, ...] = ()


class PreviewResult(msgspec.Struct, frozen=True):
    """All groups, in the order in which they were staged."""

    groups: tuple[GroupPreview, ...]


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


def _figures_document(figures: Figures) -> dict[str, Any]:
    return {field: getattr(figures, field) for field in (*figures.__struct_fields__, "spread")}


def _leave(leave: Leave, consumers: Sequence[str]) -> dict[str, Any]:
    return {"consumer": consumers[leave.consumer], "handed_on": leave.handed_on, **_figures_document(leave.figures)}


def _shares(shares: Iterable[Share], members: Sequence[str]) -> dict[str, Any]:
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
