"""How each kind of question becomes an analysis, and which are large enough for Spark."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from glob import escape
from typing import Any

from model.cluster.cluster_image import ClusterImage
from model.planning.optimum.problem import Objective, Placement, PlacementProblem
from model.planning.optimum.solving import solve
from model.planning.planner import plan
from model.planning.refusal import PlanError
from model.planning.request import NewBroker, PlanRequest
from model.planning.sizes import measured
from spark_tasks.client.once import IN_PROCESS
from spark_tasks.drills.analysis import DRILLS
from spark_tasks.drills.results import Parameters as DrillParameters
from spark_tasks.image_arrays import arrays_of, racks_of
from spark_tasks.previews.analysis import PREVIEWS
from spark_tasks.previews.parameters import Parameters as PreviewParameters
from spark_tasks.previews.staging import Staged, previewed, stage
from tui.data.analyses.engines import Engines, Told
from tui.data.analyses.known_sizes import known_sizes
from tui.data.analyses.made_up import with_made_up
from tui.data.analyses.planned import planned
from tui.data.questions import PlanQuestion, PreviewQuestion, Question, SweepQuestion

LARGE_SWEEP = 3_000_000
"""Partitions from which Spark is faster than one process, on two cores (measured: 1M 0.25 s here, 1.4 s there)."""

LARGE_PREVIEW = 200_000
"""Partitions over all groups from which Spark is worth its overhead of half a second."""

RANDOM_SETS = (3, 1_000)
"""Size and number of the random sets."""


async def worked_out(
    question: Question, image: ClusterImage, engines: Engines, tag: str, told: Told
) -> tuple[Any, str]:
    """The result and who worked it out. Raises what the analysis or its engine raises."""
    return await _WORK[type(question)](question, image, engines, tag, told)


async def _sweep(
    question: SweepQuestion, image: ClusterImage, engines: Engines, tag: str, told: Told
) -> tuple[Any, str]:
    arrays = await asyncio.to_thread(arrays_of, image)
    size, count = RANDOM_SETS
    parameters = DrillParameters(
        kind=question.kind, racks=racks_of(image), unclean=question.unclean, size=size, count=count
    )
    is_large = image.partition_count >= LARGE_SWEEP
    return await engines.run(DRILLS, arrays, parameters, is_large=is_large, tag=tag, told=told)


async def _preview(
    question: PreviewQuestion, image: ClusterImage, engines: Engines, tag: str, told: Told
) -> tuple[Any, str]:
    staged = await asyncio.to_thread(_staged, image, question)
    parameters = PreviewParameters(each_leaves=True, join=1)
    is_large = sum(group.partitions for group in staged.groups) >= LARGE_PREVIEW
    result, engine = await engines.run(PREVIEWS, staged.arrays, parameters, is_large=is_large, tag=tag, told=told)
    return (staged, result), engine


def _staged(image: ClusterImage, question: PreviewQuestion) -> Staged:
    """Every group that strategies apply to; one that is made up comes first."""
    if question.made_up is None:
        return stage(image)
    there = with_made_up(image, question.made_up)
    return stage(there, (*question.made_up.keys, *previewed(image)))


async def _plan(question: PlanQuestion, image: ClusterImage, engines: Engines, tag: str, told: Told) -> tuple[Any, str]:
    del engines, tag
    ended = threading.Event()

    def solved(problem: PlacementProblem, objective: Objective) -> Placement:
        return solve(problem, objective, told=told, ended=ended.is_set)

    told("looking for the best plan")
    try:
        sizes = measured(image) or await asyncio.to_thread(known_sizes, image.provenance.source)
        made = await asyncio.to_thread(plan, image, request_of(question, image), sizes, solved)
        return await asyncio.to_thread(planned, image, made), IN_PROCESS
    except asyncio.CancelledError:
        ended.set()
        raise


def request_of(question: PlanQuestion, image: ClusterImage) -> PlanRequest:
    """The wish as the planner takes it. Raises PlanError where it is about a group that reads nothing."""
    return PlanRequest(
        remove=question.remove,
        add=tuple(NewBroker(broker, rack or None) for broker, rack in question.add),
        replication_factor=question.replication_factor,
        reach=question.reach,
        by=question.by,
        tolerance_percent=question.tolerance_percent,
        topics=_topics_of(question.topics_of, image) if question.topics_of else question.topics,
    )


def _topics_of(key: str, image: ClusterImage) -> tuple[str, ...]:
    names = stage(image, [key]).groups[0].topics if image.group(key) else ()
    if topics := tuple(escape(name) for name in names if name in image.topics):
        return topics
    raise PlanError(f"the group {key} reads no topic that is there, so there is nothing to plan")


_WORK: Mapping[type[Any], Callable[..., Awaitable[tuple[Any, str]]]] = {
    SweepQuestion: _sweep,
    PreviewQuestion: _preview,
    PlanQuestion: _plan,
}
