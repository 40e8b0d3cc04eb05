"""A plan with what drills say of the cluster before and after it; and the plan as files.

The files are Kafka's reassignment JSON and its way back. Replaces no file, reaches no cluster.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from model.analyses.errors import AnalysisError
from model.analyses.plans import DrillFigures, figures_of
from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import counted
from model.cluster.whole_file import typed_path, write_new
from model.planning import documents
from model.planning.plan import Batch, Change, Plan, applied
from tui.engine.analysis import AnalysisAnswer
from tui.engine.plan.queries import WritePlan
from tui.engine.questions import PlanQuestion


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


def plan_in(look: AnalysisAnswer) -> Plan | None:
    """The plan that a look has, if any."""
    return look.result.plan if isinstance(look.result, Planned) else None


def kept_batches(look: AnalysisAnswer) -> tuple[Batch, ...]:
    """The batches of its plan that the operator did not leave out."""
    plan, question = plan_in(look), look.question
    if plan is None or not isinstance(question, PlanQuestion):
        return ()
    return tuple(batch for batch in plan.batches if batch.number not in question.left_out)


def kept_plan(look: AnalysisAnswer) -> Plan | None:
    """The plan without the batches that the operator left out."""
    plan = plan_in(look)
    if plan is None:
        return None
    kept, batches = kept_batches(look), list[Batch]()
    for batch in kept:
        first = batches[-1].end if batches else 0
        batches.append(msgspec.structs.replace(batch, first=first, end=first + batch.end - batch.first))
    return msgspec.structs.replace(plan, changes=kept_changes(look), batches=tuple(batches))


def kept_changes(look: AnalysisAnswer) -> tuple[Change, ...]:
    """The changes of those batches, in the plan's order."""
    plan = plan_in(look)
    return () if plan is None else tuple(c for b in kept_batches(look) for c in plan.changes[b.first : b.end])


def written(look: AnalysisAnswer, wish: WritePlan) -> str:
    """What was written, or why nothing was, in a sentence. Batches that are left out are in no file."""
    plan = plan_in(look)
    if plan is None:
        return "there is no plan yet: enter makes one"
    if not (changes := kept_changes(look)):
        return "every batch is left out" if plan.changes else "nothing has to change: no file is written"
    path = typed_path(wish.path)
    if path.suffix != ".json":
        return f"{path}: the name of a plan ends in .json"
    parts: Sequence[tuple[str, Sequence[Change]]] = [("", changes)]
    if wish.by_batch:
        digits = len(str(len(plan.batches)))
        parts = [(f"-{b.number:0{digits}}", plan.changes[b.first : b.end]) for b in kept_batches(look)]
    out = len(plan.batches) - len(kept_batches(look))
    return _write(path, _texts(path, plan, parts), f"; {counted(out, 'batch', 'batches')} left out" if out else "")


def _texts(path: Path, plan: Plan, parts: Sequence[tuple[str, Sequence[Change]]]) -> dict[Path, str]:
    forward = {path.with_name(f"{path.stem}{end}.json"): documents.forward(plan, rows) for end, rows in parts}
    back = {path.with_name(f"{path.stem}-rollback{end}.json"): documents.rollback(plan, rows) for end, rows in parts}
    return forward | back


def _write(path: Path, texts: dict[Path, str], left_out: str) -> str:
    if taken := next((each for each in texts if each.exists()), None):
        return f"{taken} is there already: give another name"
    try:
        for each, text in texts.items():
            write_new(each, text)
    except OSError as error:
        return f"{error.filename or path} cannot be written: {error.strerror or error}"
    first, *_, last = texts
    if len(texts) == 2:
        return f"{first} has the plan, {last.name} the way back{left_out}"
    return f"{first} to {last.name}: {counted(len(texts) // 2, 'batch', 'batches')} and their way back{left_out}"
