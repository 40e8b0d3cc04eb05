"""Reads what another planner wants and measures it with the same rule as our own plans. It corrects nothing."""

from collections.abc import Iterable

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.words import brokers, listed
from model.controller.reassignment_file import RequestedMoves
from model.interchange.plan_texts import read_plan
from model.planning.composing import composed
from model.planning.layout import Layout, layout_of
from model.planning.plan import Plan
from model.planning.planner import Solve, chosen, judge
from model.planning.refusal import PlanError
from model.planning.request import PlanRequest
from model.planning.setting import Setting, setting_of
from model.planning.sizes import Sizes
from model.planning.standing import standing_of


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
    standing = standing_of(theirs, ours, is_proven=bound.is_proven)
    return composed(image, layout, setting, request, after, bound=bound, maker=name, sizes=source, standing=standing)


def _check(layout: Layout, setting: Setting, moves: RequestedMoves, name: str) -> None:
    known = layout.row_of
    if strange := [partition for partition in moves.targets if partition not in known]:
        topics = set(layout.topics)
        if gone := sorted({partition.topic for partition in strange} - topics):
            raise PlanError(f"{name}: {'topic' if len(gone) == 1 else 'topics'} {listed(gone)}: not in this cluster")
        raise PlanError(f"{name}: {listed(strange)}: {_no_such(strange)}")
    named = {broker for replicas in moves.targets.values() for broker in replicas}
    held = set(layout.replicas.ravel().tolist())
    if unknown := named - set(setting.staying) - setting.leaving - held:
        raise PlanError(f"{name}: {brokers(unknown)}: not in this cluster; add those that are to come")
    current = {partition: set(layout.replicas[known[partition]].tolist()) for partition in moves.targets}
    alive = layout.racks.keys() | set(setting.staying)
    for partition, replicas in moves.targets.items():
        if dead := set(replicas) - current[partition] - alive:
            raise PlanError(f"{name}: {partition} is to go to {brokers(dead)}, which is not alive: Kafka refuses that")


def _no_such(partitions: Iterable[TopicPartition]) -> str:
    return f"no such {'partition' if len(list(partitions)) == 1 else 'partitions'} in this cluster"
