"""A plan and what drills say of the cluster before and after it."""

from typing import NamedTuple

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.planning.applied import applied
from model.planning.plan import Batch, Change, Plan
from spark_tasks.errors import AnalysisError
from spark_tasks.plans.drill_figures import DrillFigures, figures_of
from tui.data.analyses.look import Look
from tui.data.questions import PlanQuestion


class Planned(NamedTuple):
    """`drills`: before and after; None where no drill can be made of the cluster."""

    plan: Plan
    drills: tuple[DrillFigures, DrillFigures] | None


def planned(image: ClusterImage, plan: Plan) -> Planned:
    """A plan for this image."""
    try:
        return Planned(plan, (figures_of(image), figures_of(applied(image, plan))))
    except AnalysisError:
        return Planned(plan, None)


def plan_in(look: Look) -> Plan | None:
    """The plan that a look has, if any."""
    return look.result.plan if isinstance(look.result, Planned) else None


def kept_batches(look: Look) -> tuple[Batch, ...]:
    """The batches of its plan that the operator did not leave out."""
    plan, question = plan_in(look), look.question
    if plan is None or not isinstance(question, PlanQuestion):
        return ()
    return tuple(batch for batch in plan.batches if batch.number not in question.left_out)


def kept_plan(look: Look) -> Plan | None:
    """The plan without the batches that the operator left out."""
    plan = plan_in(look)
    if plan is None:
        return None
    kept, batches = kept_batches(look), list[Batch]()
    for batch in kept:
        first = batches[-1].end if batches else 0
        batches.append(msgspec.structs.replace(batch, first=first, end=first + batch.end - batch.first))
    return msgspec.structs.replace(plan, changes=kept_changes(look), batches=tuple(batches))


def kept_changes(look: Look) -> tuple[Change, ...]:
    """The changes of those batches, in the plan's order."""
    plan = plan_in(look)
    return () if plan is None else tuple(c for b in kept_batches(look) for c in plan.changes[b.first : b.end])
