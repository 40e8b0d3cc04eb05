"""Makes the plan for a wish: what it means here, the solver's choice of replicas, and the plan around it.

What another planner wants is measured with the same rule as our own plans; it is not corrected.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.texts import brokers, counted, listed
from model.cluster.topic_image import NOBODY, Ints, rows_of, widened
from model.controller.requests import RequestedMoves
from model.drills.voters import is_kraft, rules_text
from model.interchange.tool_files import read_plan
from model.kraft_controller.partition_change import knows_levels
from model.planning.batches import Sent, in_batches
from model.planning.kraft_course import Courses, courses_of, notes_on_courses
from model.planning.layout import ReplicaLayout, Sizes, balance_of, cost_of, layout_of
from model.planning.optimum.measures import Judged, judged
from model.planning.optimum.problem import MoveCost, Objective, Placement, PlacementProblem, PlanningError, Scope
from model.planning.optimum.solving import solve
from model.planning.plan import (
    Bound,
    CostComparison,
    Plan,
    ReplicaChange,
    compared,
    notes_on,
    notes_on_voters,
    objectives_of,
    pace_of,
)
from model.planning.request import PlanError, PlanRequest, PlanTarget, setting_of


def composed(
    image: ClusterImage,
    layout: ReplicaLayout,
    setting: PlanTarget,
    request: PlanRequest,
    after: Ints,
    *,
    bound: Bound | None,
    maker: str,
    sizes: str,
    comparison: CostComparison | None = None,
) -> Plan:
    """The plan that makes `after` int32[N, W] of the layout's replicas."""
    changes, batches = in_batches(list(_changes(layout, after)), request.batching)
    seen = image.provenance
    later = layout.with_replicas(after)
    targets = {change.name: change.after for change in changes}
    courses = courses_of(image, targets, setting.coming) if is_kraft(image) else {}
    return Plan(
        source=seen.source,
        cluster_id=image.cluster_id,
        generation=image.generation,
        zxid=seen.zxid,
        time_ms=seen.time_ms,
        request=request,
        maker=maker,
        changes=changes,
        cost=cost_of(layout.replicas, after, layout.size),
        bound=bound,
        comparison=comparison,
        before=balance_of(layout, setting.staying, setting.racks, setting.rack_rule),
        after=balance_of(later, setting.staying, setting.racks, setting.rack_rule),
        batches=batches,
        pace=pace_of(batches, request.throttling),
        sizes=sizes if layout.size is not None else "",
        objectives=() if bound is None else objectives_of(request, layout, setting),
        notes=_notes(image, layout, setting, later, courses),
        courses=courses,
        rules=_rules(image),
    )


def _notes(
    image: ClusterImage, layout: ReplicaLayout, setting: PlanTarget, later: ReplicaLayout, courses: Courses
) -> tuple[str, ...]:
    first = notes_on_voters(image, setting.leaving)
    return (
        *first,
        *notes_on(layout, setting, later, is_kraft=is_kraft(image)),
        *notes_on_courses(courses, layout.fenced),
    )


def _rules(image: ClusterImage) -> str:
    if not is_kraft(image):
        return ""
    return rules_text(image) if knows_levels(image) else f"{rules_text(image)}: assumed, as nobody tells the level"


def _changes(layout: ReplicaLayout, after: Ints) -> Iterator[Sent]:
    """What changes, with whoever sends the copies: the leader, or else the first replica that is alive."""
    width = max(layout.replicas.shape[1], after.shape[1])
    rows = np.flatnonzero((widened(layout.replicas, width) != widened(after, width)).any(axis=1))
    olds, news = rows_of(layout.replicas[rows]), rows_of(after[rows])
    leaders = layout.leader[rows].tolist()
    sizes = [None] * len(rows) if layout.size is None else layout.size[rows].tolist()
    names = layout.names(rows.tolist())
    for name, old, new, leader, size in zip(names, olds, news, leaders, sizes, strict=True):
        alive = [broker for broker in (leader, *old) if broker in layout.racks]
        change = ReplicaChange(name.topic, name.partition, old, new, size)
        yield Sent(change, alive[0] if alive else None, urgent=not set(old) <= layout.racks.keys())


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


def plan_of(image: ClusterImage, layout: ReplicaLayout, request: PlanRequest, solve: Solve, sizes: str) -> Plan:
    """As `plan`, for a layout of the image that is there already."""
    setting = setting_of(layout, request)
    after, bound = chosen(layout, setting, request, solve)
    return composed(image, layout, setting, request, after, bound=bound, maker="kdrill", sizes=sizes)


def chosen(layout: ReplicaLayout, setting: PlanTarget, request: PlanRequest, solve: Solve) -> tuple[Ints, Bound]:
    """The replicas int32[N, W] that the wish leads to, and what no plan for it can fall below. Raises PlanError."""
    needs_sizes = request.by == "bytes" or request.capacity is not None
    if needs_sizes and layout.size is None:
        raise PlanError("no size of a partition is known: name a file that has them")
    start = _start(layout, setting, request)
    if _only_swaps(start is not layout, request):
        return start.replicas, _bound_of_swap(layout, start)
    try:
        brokers = _brokers(start, setting)
        placement = solve(_problem(start, setting, request, brokers), _objective(request))
    except PlanningError as error:
        raise PlanError(str(error)) from None
    bound = _bound(placement, of_bytes=request.by == "bytes")
    swap = None if start is layout else _bound_of_swap(layout, start)
    return _as_ids(placement.replicas, brokers), bound if swap is None else _both(bound, swap)


def judge(layout: ReplicaLayout, setting: PlanTarget, request: PlanRequest, after: Ints) -> Judged:
    """How good any replicas int32[N, W] are for a wish; they name no broker that neither stays nor holds anything.

    What a swap costs in any case is not counted. `newcomer`: partitions in which it does not have the old one's place.
    """
    start = _start(layout, setting, request)
    width = max(start.replicas.shape[1], after.shape[1])
    was, now = widened(layout.replicas, width), widened(after, width)
    newcomers = widened(start.replicas, width)
    newcomers = np.where(newcomers != was, newcomers, NOBODY)
    missing = ((newcomers != NOBODY) & ~(newcomers[:, :, None] == now[:, None, :]).any(axis=2)).any(axis=1)
    broken = {"newcomer": int(missing.sum())} if missing.any() else {}
    if _only_swaps(start is not layout, request):
        cost = cost_of(start.replicas, after, None)
        return Judged(broken, {"moves": cost.moves, "leader_changes": cost.leader_changes})
    brokers = np.union1d(_brokers(start, setting), after[after != NOBODY]).astype(np.int32)
    places = np.where(after == NOBODY, NOBODY, np.searchsorted(brokers, after)).astype(np.int32)
    found = judged(_problem(start, setting, request, brokers), _objective(request), places)
    return Judged({**broken, **found.broken}, found.figures)


def _start(layout: ReplicaLayout, setting: PlanTarget, request: PlanRequest) -> ReplicaLayout:
    """The layout itself, or the one after the swaps: where the solver begins."""
    if not (request.replace and request.reach == "forced"):
        return layout
    return layout.with_replicas(_swapped(layout, setting, request.replace))


def _only_swaps(is_swapped: bool, request: PlanRequest) -> bool:
    return is_swapped and not request.remove and request.replication_factor is None


def _swapped(layout: ReplicaLayout, setting: PlanTarget, pairs: Sequence[tuple[int, int]]) -> Ints:
    """The newcomers in the very places of those that they replace. A partition that is to have fewer replicas need not
    take one: it gives up the old one.
    """
    replicas = layout.replicas.copy()
    swaps = ~setting.fixed & (setting.factor >= (replicas != NOBODY).sum(axis=1))
    for old, new in pairs:
        moving = (layout.replicas == old) & swaps[:, None]
        clash = np.flatnonzero(moving.any(axis=1) & (replicas == new).any(axis=1))
        if len(clash):
            more = f" and {counted(len(clash) - 1, 'more partition')}" if len(clash) > 1 else ""
            raise PlanError(
                f"broker {new} has a replica of {layout.name(int(clash[0]))}{more} already and cannot take the one of "
                f"{old}: remove {old} and rebalance instead"
            )
        replicas[moving] = new
    return replicas


def _bound_of_swap(layout: ReplicaLayout, swapped: ReplicaLayout) -> Bound:
    cost = cost_of(layout.replicas, swapped.replicas, layout.size)
    return Bound(cost.moves, cost.bytes, cost.leader_changes, "every one of them must move")


def _brokers(layout: ReplicaLayout, setting: PlanTarget) -> Ints:
    """Every broker of the problem by id; an index of the solver is a place in here."""
    held = np.unique(layout.replicas[layout.replicas != NOBODY])
    return np.union1d(held, np.array(setting.staying, np.int32)).astype(np.int32)


def _problem(layout: ReplicaLayout, setting: PlanTarget, request: PlanRequest, brokers: Ints) -> PlacementProblem:
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
    cost = MoveCost.BYTES if request.by == "bytes" else MoveCost.REPLICAS
    return Objective(scope=SCOPES[request.reach], cost=cost, tolerance=request.tolerance_percent / 100)


def _as_ids(places: Ints, brokers: Ints) -> Ints:
    return np.where(places == NOBODY, NOBODY, brokers[places.clip(min=0)]).astype(np.int32)


def _bound(placement: Placement, *, of_bytes: bool) -> Bound:
    return Bound(
        moves=placement.moves_bound,
        bytes=placement.moved_bytes_bound if of_bytes else None,
        leader_changes=placement.leader_changes_bound,
        method=placement.method,
        is_proven=placement.gap == 0,
    )


def _both(placement: Bound, swap: Bound) -> Bound:
    """Of swaps and what else must move: newcomers keep their places, and lead where the old ones did."""
    return Bound(
        moves=placement.moves + swap.moves,
        bytes=None if placement.bytes is None else placement.bytes + (swap.bytes or 0),
        leader_changes=placement.leader_changes + swap.leader_changes,
        method=placement.method,
        is_proven=placement.is_proven,
    )


def read_moves(text: bytes, name: str) -> RequestedMoves:
    """What a file of Kafka's reassignment tool or of another planner asks for. Raises PlanError, which names it."""
    try:
        return read_plan(text)
    except (ValueError, RecursionError) as error:
        raise PlanError(f"{name}: {error}") from None


def score(
    image: ClusterImage,
    moves: RequestedMoves,
    request: PlanRequest,
    name: str,
    sizes: Sizes | None = None,
    solve: Solve | None = None,
) -> Plan:
    """The plan of a file called `name`, as if it were ours; `request` says what it was made for.

    With `solve` it is held against the best plan for that, objective by objective. Raises PlanError where it does not
    fit the cluster.
    """
    layout = layout_of(image, sizes)
    setting = setting_of(layout, request)
    _check(layout, setting, moves, name)
    after = layout.moved(moves.targets)
    source = "" if sizes is None else sizes.source
    if solve is None:
        return composed(image, layout, setting, request, after, bound=None, maker=name, sizes=source)
    best, bound = chosen(layout, setting, request, solve)
    ours, theirs = (judge(layout, setting, request, replicas) for replicas in (best, after))
    comparison = compared(theirs, ours, is_proven=bound.is_proven)
    return composed(
        image, layout, setting, request, after, bound=bound, maker=name, sizes=source, comparison=comparison
    )


def _check(layout: ReplicaLayout, setting: PlanTarget, moves: RequestedMoves, name: str) -> None:
    known = layout.row_of
    if strange := [partition for partition in moves.targets if partition not in known]:
        topics = set(layout.topics)
        if gone := sorted({partition.topic for partition in strange} - topics):
            raise PlanError(f"{name}: {'topic' if len(gone) == 1 else 'topics'} {listed(gone)}: not in this cluster")
        raise PlanError(f"{name}: {listed(strange)}: {_no_such(strange)}")
    named = {broker for replicas in moves.targets.values() for broker in replicas}
    alive = layout.racks.keys() | layout.fenced.keys() | set(setting.staying)
    held = set(layout.replicas.ravel().tolist())
    if unknown := named - setting.leaving - held - alive:
        raise PlanError(f"{name}: {brokers(unknown)}: not in this cluster; add those that are to come")
    current = {partition: set(layout.replicas[known[partition]].tolist()) for partition in moves.targets}
    for partition, replicas in moves.targets.items():
        if dead := set(replicas) - current[partition] - alive:
            raise PlanError(f"{name}: {partition} is to go to {brokers(dead)}, which is not alive: Kafka refuses that")


def _no_such(partitions: Iterable[TopicPartition]) -> str:
    return f"no such {'partition' if len(list(partitions)) == 1 else 'partitions'} in this cluster"
