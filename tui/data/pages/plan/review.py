"""A plan under review: what a batch changes, what drills say before and after, how to run it and the way back.

Kafka's own tool runs it: nothing here can.
"""

from collections.abc import Callable, Mapping

from model.cluster.words import counted, listed, replicas
from model.planning import kafka_file
from model.planning.plan import Change, Plan
from spark_tasks.plans.drill_figures import DrillFigures, Worst
from tui.data.analyses.look import Look
from tui.data.analyses.planned import Planned, kept_batches, kept_changes
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.plan.running import how_to_run
from tui.data.pages.plan.standing import STALE
from tui.data.pages.sheets import Sheet
from tui.data.questions import PlanQuestion
from tui.rows import line, span

MOST_LINES = 500
"""Changes shown at once; a batch has fewer, as a rule."""

MOST_IN_A_FILE = 5_000
"""Changes of which the file is shown; larger ones are written."""


def plan_review(look: Look, query: TextQuery, *, stale: bool) -> TextAnswer:
    """Of the batch in `key`, or of all that are in; `view` is changes, verdict, forward or rollback."""
    sheet = Sheet(query.view or "changes", query.width)
    if not isinstance(look.result, Planned):
        return sheet.say(look.note or "there is no plan yet: enter makes one").answer()
    if stale:
        sheet.draw(*STALE)
    plan = look.result.plan
    batch = next((each for each in plan.batches if str(each.number) == query.key), None)
    changes = kept_changes(look) if batch is None else plan.changes[batch.first : batch.end]
    name = f"batch {batch.number} of {len(plan.batches)}" if batch else "all batches that are in"
    return _FORMS.get(query.view, _changes)(sheet, look, look.result, name, changes)


def _changes(sheet: Sheet, _: Look, planned: Planned, name: str, changes: tuple[Change, ...]) -> TextAnswer:
    copies = counted(sum(len(change.added) for change in changes), "copy", "copies")
    sheet.say(f"{name}: {counted(len(changes), 'partition')}, {copies}{_size(changes)}", "heading")
    leaders = sum(change.before[:1] != change.after[:1] for change in changes)
    sheet.say(f"{counted(leaders, 'preferred leader')} {'changes' if leaders == 1 else 'change'}", "dim")
    shown = changes[:MOST_LINES]
    width = max((len(str(change.name)) for change in shown), default=0)
    old = max((len(replicas(change.before)) for change in shown), default=0)
    for change in shown:
        sheet.draw(
            span(str(change.name).ljust(min(width, 40)) + "  "),
            span(replicas(change.before).ljust(old), "dim"),
            " > ",
            span(replicas(change.after), "changed" if change.added else ""),
            span(f"  {_what(change)}", "info"),
        )
    if len(changes) > len(shown):
        sheet.say(f"{len(changes) - len(shown):,} more: choose a batch", "dim")
    return sheet.answer()


def _size(changes: tuple[Change, ...]) -> str:
    sizes = [None if change.bytes is None else change.bytes * len(change.added) for change in changes]
    known = [size for size in sizes if size is not None]
    return f", {sum(known) / 1e9:,.2f} GB" if known and len(known) == len(sizes) else ""


def _what(change: Change) -> str:
    words = [f"copy to {_brokers(change.added)}"] if change.added else []
    if change.before[:1] != change.after[:1]:
        words.append(f"leader {_brokers(change.before[:1]) or 'none'} > {_brokers(change.after[:1])}")
    size = "" if change.bytes is None or not change.added else f", {change.bytes * len(change.added) / 1e9:,.2f} GB"
    return (", ".join(words) or "order only") + size


def _brokers(ids: tuple[int, ...]) -> str:
    return " ".join(f"b{broker}" for broker in ids)


def _verdict(sheet: Sheet, look: Look, planned: Planned, _: str, __: tuple[Change, ...]) -> TextAnswer:
    assert isinstance(look.question, PlanQuestion)
    if look.question.left_out:
        out = listed(look.question.left_out)
        sheet.say(f"without batches {out}; what follows is of the whole plan", "warn")
    sheet.say("partitions hurt (newly offline, under min ISR, or led uncleanly) if the worst dies", "heading")
    if planned.drills is None:
        sheet.say("no drill can be made of this cluster", "warn")
    else:
        before, after = planned.drills
        if before.not_forecast:
            sheet.say(before.not_forecast, "warn")
        for kind in ("broker", "pair", "rack"):
            sheet.fact(kind, f"{_worst(getattr(before, kind))}  >  {_worst(getattr(after, kind))}")
        sheet.fact("loss", f"{_loss(before)}  >  {_loss(after)}, if each broker dies with {100 * before.loss_rate:g}%")
    _leaders(sheet.gap(), planned.plan)
    how_to_run(sheet.gap(), look.image.generation, planned.plan, len(kept_batches(look)))
    return sheet.answer()


def _worst(worst: Worst | None) -> str:
    if worst is None:
        return "not drilled"
    who = worst.rack or _brokers(worst.kill)
    quorum = ", quorum lost" if worst.quorum_lost else ""
    return f"{worst.hurt:,} ({worst.offline:,} offline{quorum})" + (f" by {who}" if who else "")


def _loss(figures: DrillFigures) -> str:
    return "unknown" if figures.loss is None else f"{100 * figures.loss:.3g}%"


def _leaders(sheet: Sheet, plan: Plan) -> None:
    sheet.say("partitions that prefer a broker as their leader", "heading")
    before = {share.broker: share.leaders for share in plan.before.brokers}
    for share in plan.after.brokers:
        then = before.get(share.broker, 0)
        sheet.fact(f"b{share.broker}", f"{then:>7,} > {share.leaders:,}", "" if then == share.leaders else "changed")


def _file(make: Callable[[Plan, tuple[Change, ...]], str]) -> Callable[..., TextAnswer]:
    def form(sheet: Sheet, _: Look, planned: Planned, name: str, changes: tuple[Change, ...]) -> TextAnswer:
        if not changes:
            return sheet.say("every batch is left out").answer()
        if len(changes) > MOST_IN_A_FILE:
            return sheet.say(f"{len(changes):,} partitions: choose a batch, or :plan FILE writes them").answer()
        text = make(planned.plan, changes)
        return TextAnswer(name, tuple(line(span(each)) for each in text.splitlines()), text)

    return form


_FORMS: Mapping[str, Callable[..., TextAnswer]] = {
    "changes": _changes,
    "verdict": _verdict,
    "forward": _file(kafka_file.forward),
    "rollback": _file(kafka_file.rollback),
}
