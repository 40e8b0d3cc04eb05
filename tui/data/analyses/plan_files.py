"""The plan on the screen as files: Kafka's reassignment JSON and its way back. Replaces no file, reaches no cluster."""

from collections.abc import Sequence
from pathlib import Path

from model.cluster.whole_file import write_new
from model.cluster.words import counted
from model.hosts.typed_path import typed_path
from model.planning import kafka_file
from model.planning.plan import Change, Plan
from tui.data.analyses.look import Look
from tui.data.analyses.planned import kept_batches, kept_changes, plan_in

AS_BATCHES = "plan-batches"
"""The wish for a file, and a way back, for each batch."""


def written(look: Look, name: str, verb: str) -> str:
    """What was written, or why nothing was, in a sentence. Batches that are left out are in no file."""
    plan = plan_in(look)
    if plan is None:
        return "there is no plan yet: enter makes one"
    if not (changes := kept_changes(look)):
        return "every batch is left out" if plan.changes else "nothing has to change: no file is written"
    path = typed_path(name)
    if path.suffix != ".json":
        return f"{path}: the name of a plan ends in .json"
    parts: Sequence[tuple[str, Sequence[Change]]] = [("", changes)]
    if verb == AS_BATCHES:
        digits = len(str(len(plan.batches)))
        parts = [(f"-{b.number:0{digits}}", plan.changes[b.first : b.end]) for b in kept_batches(look)]
    out = len(plan.batches) - len(kept_batches(look))
    return _write(path, _texts(path, plan, parts), f"; {counted(out, 'batch', 'batches')} left out" if out else "")


def _texts(path: Path, plan: Plan, parts: Sequence[tuple[str, Sequence[Change]]]) -> dict[Path, str]:
    forward = {path.with_name(f"{path.stem}{end}.json"): kafka_file.forward(plan, rows) for end, rows in parts}
    back = {path.with_name(f"{path.stem}-rollback{end}.json"): kafka_file.rollback(plan, rows) for end, rows in parts}
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
