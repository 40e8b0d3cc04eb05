"""A plan with what drills say of the cluster before and after it: its lists, and its files.

The lists are changes in their order, and batches under review. The files are Kafka's reassignment JSON and its way
back. Replaces no file, reaches no cluster.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from model.analyses import AnalysisError
from model.analyses.plans import DrillFigures, figures_of
from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import counted, replicas
from model.cluster.whole_file import typed_path, write_new
from model.planning import documents
from model.planning.plan import Plan, PlanBatch, ReplicaChange, applied
from tui.engine.filters import ListField, Texts
from tui.engine.jobs import AnalysisAnswer
from tui.engine.listing import Listing, place_in
from tui.engine.queries import WritePlan
from tui.engine.questions import PlanQuestion
from tui.engine.rows import Column, Row, line, span


class PlannedDrills(NamedTuple):
    """`drills`: before and after; None where no drill can be made of the cluster."""

    plan: Plan
    drills: tuple[DrillFigures, DrillFigures] | None


def planned(image: ClusterImage, plan: Plan) -> PlannedDrills:
    """A plan for this image."""
    try:
        return PlannedDrills(plan, (figures_of(image), figures_of(applied(image, plan))))
    except AnalysisError:
        return PlannedDrills(plan, None)


def plan_in(look: AnalysisAnswer) -> Plan | None:
    """The plan that a look has, if any."""
    return look.result.plan if isinstance(look.result, PlannedDrills) else None


def kept_batches(look: AnalysisAnswer) -> tuple[PlanBatch, ...]:
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
    kept, batches = kept_batches(look), list[PlanBatch]()
    for batch in kept:
        first = batches[-1].end if batches else 0
        batches.append(msgspec.structs.replace(batch, first=first, end=first + batch.end - batch.first))
    changes = kept_changes(look)
    courses = {change.name: plan.courses[change.name] for change in changes if change.name in plan.courses}
    return msgspec.structs.replace(plan, changes=changes, batches=tuple(batches), courses=courses)


def kept_changes(look: AnalysisAnswer) -> tuple[ReplicaChange, ...]:
    """The changes of those batches, in the plan's order."""
    plan = plan_in(look)
    return () if plan is None else tuple(c for b in kept_batches(look) for c in plan.changes[b.first : b.end])


def written(look: AnalysisAnswer, wish: WritePlan) -> str:
    """What was written, or why nothing was, in a sentence. Batches that are left out are in no file."""
    plan = plan_in(look)
    if plan is None:
        return "no plan yet: enter makes one"
    if not (changes := kept_changes(look)):
        return "every batch is left out" if plan.changes else "nothing has to change: no file is written"
    path = typed_path(wish.path)
    if path.suffix != ".json":
        return f"{path}: the name of a plan ends in .json"
    parts: Sequence[tuple[str, Sequence[ReplicaChange]]] = [("", changes)]
    if wish.by_batch:
        digits = len(str(len(plan.batches)))
        parts = [(f"-{b.number:0{digits}}", plan.changes[b.first : b.end]) for b in kept_batches(look)]
    out = len(plan.batches) - len(kept_batches(look))
    return _write(path, _texts(path, plan, parts), f"; {counted(out, 'batch', 'batches')} left out" if out else "")


def _texts(path: Path, plan: Plan, parts: Sequence[tuple[str, Sequence[ReplicaChange]]]) -> dict[Path, str]:
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


CHANGE_COLUMNS = (
    Column("partition", -14, "<", "partition"),
    Column("before", 14, rank=2),
    Column("after", 14, rank=1),
    Column("what", 18, "<", "what"),
)


def plan_changes(look: AnalysisAnswer, *_: object) -> Listing:
    """Partition, replicas before and after (the preferred leader first), and what that means."""
    plan = plan_in(look)
    changes = plan.changes if plan else ()
    names = [str(change.name) for change in changes]
    words = [_what(change) for change in changes]

    def fields() -> dict[str, ListField]:
        return {"partition": Texts(lambda: names), "what": Texts(lambda: words)}

    return Listing(
        count=len(changes),
        fields=fields,
        shown=("partition", "what"),
        row=lambda index: _change_row(names[index], changes[index], words[index]),
        place=place_in(names),
        columns=CHANGE_COLUMNS,
        made_from=(look.result,),
        nothing=look.note if plan is None else "nothing has to change",
    )


def _change_row(name: str, change: ReplicaChange, what: str) -> Row:
    cells = (
        line(name),
        line(span(replicas(change.before), "dim")),
        line(span(replicas(change.after), "changed" if change.added else "")),
        line(span(what, "info" if change.added else "dim")),
    )
    return Row(name, cells, mark="+" if change.added else "~")


def _what(change: ReplicaChange) -> str:
    if change.added:
        return "copy to " + " ".join(f"b{broker}" for broker in change.added)
    return f"leader to b{change.after[0]}" if change.after[0] != change.before[0] else "order only"


ALL = "all"
"""Key of the row for all batches that are in."""

BATCH_COLUMNS = (
    Column("batch", 6, ">"),
    Column("is", 4, "<", "is"),
    Column("partitions", 10, ">", rank=2),
    Column("copies", 8, ">"),
    Column("GB", 10, ">", rank=1),
    Column("most on a broker", -16, ">", rank=3),
)
IN, OUT = "in", "out"


def plan_batches(look: AnalysisAnswer, *_: object) -> Listing:
    """All that are in first, then each in the order in which they are to be run."""
    plan, kept = plan_in(look), kept_batches(look)
    batches = plan.batches if plan else ()
    keys = [ALL, *(str(batch.number) for batch in batches)] if batches else []
    stand = ["", *(IN if batch in kept else OUT for batch in batches)]

    def fields() -> dict[str, ListField]:
        return {"batch": Texts(lambda: keys), "is": Texts(lambda: stand)}

    return Listing(
        count=len(keys),
        fields=fields,
        shown=("batch", "is"),
        row=lambda index: _batch_row(batches[index - 1], stand[index]) if index else _all(kept),
        place=place_in(keys),
        columns=BATCH_COLUMNS,
        made_from=(look.result, kept),
        nothing=look.note or "no plan yet: enter makes one" if plan is None else "nothing has to change",
    )


def _all(batches: tuple[PlanBatch, ...]) -> Row:
    sizes = [batch.bytes for batch in batches]
    known = [size for size in sizes if size is not None]
    cells = (
        line(ALL),
        line(),
        line(f"{sum(batch.end - batch.first for batch in batches):,}"),
        line(f"{sum(batch.moves for batch in batches):,}"),
        line(_gigabytes(sum(known) if len(known) == len(sizes) else None)),
        line(span("one batch after the other", "dim")),
    )
    return Row(ALL, cells)


def _batch_row(batch: PlanBatch, stand: str) -> Row:
    out = "removed" if stand == OUT else ""
    cells = (
        line(span(batch.number, out)),
        line(span(stand, out or "dim")),
        line(span(f"{batch.end - batch.first:,}", out)),
        line(span(f"{batch.moves:,}", out)),
        line(span(_gigabytes(batch.bytes), out)),
        line(span(f"{batch.busiest_replicas:,} copies", out or "dim")),
    )
    return Row(str(batch.number), cells, mark="-" if out else "")


def _gigabytes(size: int | None) -> str:
    return "-" if size is None else f"{size / 1e9:,.1f}"
