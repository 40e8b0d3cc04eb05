"""Makes the plan for a wish: what it means here, the solver's choice of replicas, and the plan around it."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.topic_image import NOBODY, Ints
from model.cluster.words import counted
from model.planning.composing import composed
from model.planning.cost import Cost as PlanCost
from model.planning.cost import cost_of
from model.planning.layout import Layout, layout_of
from model.planning.optimum.problem import Cost, Objective, Placement, PlacementProblem, PlanningError, Scope
from model.planning.optimum.solving import solve
from model.planning.plan import Bound, Plan
from model.planning.refusal import PlanError
from model.planning.request import PlanRequest
from model.planning.setting import Setting, setting_of
from model.planning.sizes import Sizes

SCOPES: Mapping[str, Scope] = {
    "balance": Scope.BALANCE,
    "forced": Scope.DRAIN,
    "racks": Scope.RACKS,
    "leaders": Scope.LEADERS,
}

Solve = Callable[[PlacementProblem, Objective], Placement]


def plan(image: ClusterImage, request: PlanRequest, sizes: Sizes | None = None, solve: Solve = solve) -> Plan:
    """The plan for a wish. Raises PlanError where there is none."""
    layout = layout_of(image, sizes)
    return plan_of(image, layout, request, solve, "" if sizes is None else sizes.source)


def plan_of(image: ClusterImage, layout: Layout, request: PlanRequest, solve: Solve, sizes: str) -> Plan:
    """As `plan`, for a layout of the image that is there already."""
    setting = setting_of(layout, request)
    after, bound = chosen(layout, setting, request, solve)
    return composed(image, layout, setting, request, after, bound=bound, maker="kdrill", sizes=sizes)


def chosen(layout: Layout, setting: Setting, request: PlanRequest, solve: Solve) -> tuple[Ints, Bound]:
    """The replicas int32[N, W] that the wish leads to, and what no plan for it can fall below. Raises PlanError."""
    needs_sizes = request.by == "bytes" or request.capacity is not None
    if needs_sizes and layout.size is None:
        raise PlanError("no size of a partition is known: name a file that has them")
    start = layout
    if request.replace and request.reach == "forced":
        start = layout.with_replicas(_swapped(layout, setting, request.replace))
        if not request.remove and request.replication_factor is None:
            return start.replicas, _bound_of_swap(layout, start, setting)
    try:
        brokers = _brokers(start, setting)
        placement = solve(_problem(start, setting, request, brokers), _objective(request))
    except PlanningError as error:
        raise PlanError(str(error)) from None
    after = _as_ids(placement.replicas, brokers)
    cost = cost_of(layout.replicas, after, layout.size)
    swap = None if start is layout else _bound_of_swap(layout, start, setting)
    return after, _bound(placement, swap, cost, of_bytes=request.by == "bytes")


def _swapped(layout: Layout, setting: Setting, pairs: Sequence[tuple[int, int]]) -> Ints:
    """The newcomers in the very places of those that they replace."""
    replicas = layout.replicas.copy()
    for old, new in pairs:
        moving = (layout.replicas == old) & ~setting.fixed[:, None]
        clash = np.flatnonzero(moving.any(axis=1) & (replicas == new).any(axis=1))
        if len(clash):
            more = f" and {counted(len(clash) - 1, 'more partition')}" if len(clash) > 1 else ""
            raise PlanError(
                f"broker {new} has a replica of {layout.name(int(clash[0]))}{more} already and cannot take the one of "
                f"{old}: remove {old} and rebalance instead"
            )
        replicas[moving] = new
    return replicas


def _bound_of_swap(layout: Layout, swapped: Layout, setting: Setting) -> Bound:
    """Of partitions that keep all their replicas: one that is to have fewer need not take the newcomer."""
    stay = setting.factor >= (layout.replicas != NOBODY).sum(axis=1)
    size = None if layout.size is None else layout.size[stay]
    cost = cost_of(layout.replicas[stay], swapped.replicas[stay], size)
    return Bound(cost.moves, cost.bytes, cost.leader_changes, "every one of them must move")


def _brokers(layout: Layout, setting: Setting) -> Ints:
    """Every broker of the problem by id; an index of the solver is a place in here."""
    held = np.unique(layout.replicas[layout.replicas != NOBODY])
    return np.union1d(held, np.array(setting.staying, np.int32)).astype(np.int32)


def _problem(layout: Layout, setting: Setting, request: PlanRequest, brokers: Ints) -> PlacementProblem:
    rule = setting.rack_rule or {}
    number = {rack: place for place, rack in enumerate(sorted({rack for rack in rule.values() if rack is not None}))}
    racks = [number.get(rule.get(broker) or "", NOBODY) for broker in brokers.tolist()]
    places = np.searchsorted(brokers, layout.replicas).astype(np.int32)
    return PlacementProblem(
        replicas=np.where(layout.replicas == NOBODY, NOBODY, places).astype(np.int32),
        target_rf=setting.factor,
        allowed=np.isin(brokers, setting.staying),
        rack=np.array(racks, np.int32),
        topic=layout.topic,
        bytes=layout.size,
        capacity=None if request.capacity is None else np.full(len(brokers), request.capacity, np.int64),
        fixed=setting.fixed,
    )


def _objective(request: PlanRequest) -> Objective:
    cost = Cost.BYTES if request.by == "bytes" else Cost.REPLICAS
    return Objective(scope=SCOPES[request.reach], cost=cost, tolerance=request.tolerance_percent / 100)


def _as_ids(places: Ints, brokers: Ints) -> Ints:
    return np.where(places == NOBODY, NOBODY, brokers[places.clip(min=0)]).astype(np.int32)


def _bound(placement: Placement, swap: Bound | None, cost: PlanCost, *, of_bytes: bool) -> Bound:
    of_placement = Bound(
        moves=placement.moves_bound,
        bytes=placement.moved_bytes_bound if of_bytes else None,
        leader_changes=placement.leader_changes_bound,
        method=placement.method,
    )
    return of_placement if swap is None else _both(of_placement, swap, cost)


def _both(placement: Bound, swap: Bound, cost: PlanCost) -> Bound:
    """One partition's leader may change by the swap and by the placement; it then changes once."""
    moves, leader_changes = placement.moves + swap.moves, max(placement.leader_changes, swap.leader_changes)
    is_met = (cost.moves, cost.leader_changes) == (moves, leader_changes)
    return Bound(
        moves=moves,
        bytes=None if placement.bytes is None else placement.bytes + (swap.bytes or 0),
        leader_changes=leader_changes,
        method=placement.method if is_met else "what the swap and the rest must move; not proven to be the least",
    )
