"""What a plan comes to: its cost beside what no plan can fall below, the balance before and after, how to run it."""

from model.cluster.words import listed
from model.planning.plan import Batch, Plan
from spark_tasks.plans.drill_figures import DrillFigures, Worst
from tui.data.analyses.look import Look
from tui.data.analyses.planned import kept_batches, plan_in
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.ages import clock_text
from tui.data.pages.sheets import Sheet
from tui.data.questions import PlanQuestion
from tui.rows import span

REACHES = {
    "balance": "balance everything",
    "forced": "only the moves that must be",
    "racks": "racks put right, and no more",
    "leaders": "leaders only: no data moves",
}
ASK = (
    *(span("enter", "key"), " makes the plan; ", span("K", "key"), ": a broker leaves, :add ID:RACK one comes, "),
    *(span("v", "key"), " how far, ", span("M", "key"), " by count or bytes, ", span("P", "key"), " tolerance"),
)
REVIEW = (span("x", "key"), span(" reviews it: batches, verdict, files; nothing is sent to the cluster", "dim"))
STALE = (span("the cluster has changed since: ", "warn"), span("r", "key"), span(" plans anew", "warn"))


def plan_text(look: Look, query: TextQuery, *, stale: bool) -> TextAnswer:
    """The box beside the brokers."""
    sheet = Sheet("Plan", query.width)
    if stale:
        sheet.draw(*STALE)
    plan = plan_in(look)
    if look.note:
        sheet.say(look.note)
    elif plan is None:
        sheet.draw(*ASK)
    _asked(sheet, look)
    if plan is None:
        return _made(sheet, look).answer()
    _cost(sheet, plan)
    _balance(sheet, plan)
    if look.result.drills is not None:
        _drills(sheet, *look.result.drills)
    _running(sheet, plan, kept_batches(look))
    for note in plan.notes:
        sheet.fact("note", note, "warn")
    return _made(sheet.gap().draw(*REVIEW).gap(), look).answer()


def _cost(sheet: Sheet, plan: Plan) -> None:
    size = "" if plan.cost.bytes is None else f", {plan.cost.bytes / 1e9:,.1f} GB"
    sheet.fact("copies", f"{plan.cost.moves:,} replicas{size}")
    if plan.sizes:
        sheet.fact("sizes", plan.sizes)
    sheet.fact("leaders", f"{plan.cost.leader_changes:,} change")
    if plan.bound is not None:
        bound = plan.bound
        sheet.fact("bound", f"{bound.moves:,} copies, {bound.leader_changes:,} leaders: {bound.method}", "ok")


def _balance(sheet: Sheet, plan: Plan) -> None:
    before, after = plan.before, plan.after
    disk = ("-" if one is None else f"{one:.1f}%" for one in (before.disk_spread_percent, after.disk_spread_percent))
    rows = (
        ("replicas", f"{before.replicas.spread:,}", f"{after.replicas.spread:,}"),
        ("leaders", f"{before.leaders.spread:,}", f"{after.leaders.spread:,}"),
        ("disk", *disk),
        ("in topics", f"{before.topic_spread:.2f}", f"{after.topic_spread:.2f}"),
        ("racks", _violations(before.rack_violations), _violations(after.rack_violations)),
        ("elsewhere", f"{before.elsewhere:,}", f"{after.elsewhere:,}"),
    )
    sheet.gap().say("spread: most minus least of a broker", "heading")
    for name, then, now in rows:
        sheet.fact(name, f"{then:>9} > {now}")


def _drills(sheet: Sheet, before: DrillFigures, after: DrillFigures) -> None:
    sheet.gap().say("partitions hurt by the worst", "heading")
    if before.not_forecast:
        sheet.say(before.not_forecast, "warn")
    for name in ("broker", "pair", "rack"):
        then, now = (_hurt(getattr(figures, name)) for figures in (before, after))
        sheet.fact(name, f"{then:>9} > {now}")
    then, now = ("-" if one.loss is None else f"{100 * one.loss:.3g}%" for one in (before, after))
    sheet.fact("loss", f"{then:>9} > {now} if each broker dies with {100 * before.loss_rate:g}%")


def _hurt(worst: Worst | None) -> str:
    return "-" if worst is None else f"{worst.hurt:,}{' NO QUORUM' * worst.quorum_lost}"


def _running(sheet: Sheet, plan: Plan, kept: tuple[Batch, ...]) -> None:
    sheet.gap()
    if plan.batches:
        busiest = max(batch.busiest_replicas for batch in plan.batches)
        sheet.fact("batches", f"{len(plan.batches):,}, at most {busiest:,} replicas a broker at a time")
    if len(kept) < len(plan.batches):
        sheet.fact("left out", listed(batch.number for batch in plan.batches if batch not in kept), "warn")
    if plan.pace is not None:
        sheet.fact("throttle", f"{plan.pace.rate / 1e6:,.0f} MB/s a broker: {plan.pace.seconds / 3600:,.1f} h")


def _violations(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _asked(sheet: Sheet, look: Look) -> None:
    question = _question(look)
    sheet.fact("goal", REACHES[question.reach])
    who = [f"without b{broker}" for broker in question.remove]
    who += [f"with b{broker}" + (f" in {rack}" if rack else "") for broker, rack in question.add]
    if who:
        sheet.fact("brokers", listed(who, 12))
    if question.topics_of or question.topics:
        sheet.fact("topics", f"those of group {question.topics_of}" if question.topics_of else listed(question.topics))


def _made(sheet: Sheet, look: Look) -> Sheet:
    question = _question(look)
    sheet.fact("by", f"{question.by}, tolerance {question.tolerance_percent:g}%")
    if look.engine:
        sheet.fact("engine", f"{look.engine}, {look.seconds:.1f} s")
    return sheet.fact("image of", f"{clock_text(look.image.provenance.time_ms)} UTC")


def _question(look: Look) -> PlanQuestion:
    assert isinstance(look.question, PlanQuestion)
    return look.question
