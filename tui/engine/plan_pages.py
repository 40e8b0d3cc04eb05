"""Every list and text of a plan by its name: what it comes to, a batch under review, how to run it.

Its cost stands beside what no plan can fall below. It is run by Kafka's own tools, in words of the release at hand;
nothing here can run it.

Tools: `ReassignPartitionsCommand` takes a broker's address from 2.6 on and no ZooKeeper from 3.0 on (KIP-455, KIP-555),
and a throttle from 0.10.1 on (KIP-73); `LeaderElectionCommand` is there from 2.4 on (KIP-460).
"""

from collections.abc import Callable, Mapping

from model.analyses.plans import DrillFigures, Worst
from model.cluster.ids import KafkaGeneration
from model.cluster.texts import counted, listed, replicas
from model.planning import documents
from model.planning.kraft_course import figures_of
from model.planning.plan import Plan, PlanBatch, ReplicaChange
from tui.engine.glyphs import bars, paired
from tui.engine.jobs import AnalysisAnswer
from tui.engine.messages import TextAnswer
from tui.engine.planned import PlannedDrills, kept_batches, kept_changes, plan_in
from tui.engine.queries import PlanReviewText, PlanText
from tui.engine.questions import PlanQuestion
from tui.engine.rows import line, span
from tui.engine.sheets import NAMES, Sheet, clock_text

WIDE = 64
"""Cells from which a cost and its bound share a line."""
CHANGES = ("isr", "ok", "warn")
"""Styles of paired bars of spreads, of which less is better."""

BROKER, ZOOKEEPER = "--bootstrap-server HOST:9092", "--zookeeper HOST:2181/CHROOT"
OLD = ("0.8", "0.9-1.x")


def how_to_run(sheet: Sheet, generation: KafkaGeneration, plan: Plan, batches: int) -> None:
    """The steps, each with its command, and the way back."""
    sheet.say("how to run it: kdrill sends nothing to the cluster", "heading")
    at = ZOOKEEPER if generation in OLD else BROKER
    throttle = f" --throttle {plan.pace.rate}" if plan.pace is not None and generation != "0.8" else ""
    tool = f"kafka-reassign-partitions.sh {at} --reassignment-json-file"
    if batches > 1:
        sheet.fact("1", ":batches P.json writes P-1.json, P-2.json ... with P-rollback-1.json ...")
        sheet.fact("2", f"for each: {tool} P-1.json --execute{throttle}")
    else:
        sheet.fact("1", ":plan P.json writes it with its way back, P-rollback.json")
        sheet.fact("2", f"{tool} P.json --execute{throttle}")
    sheet.fact("3", "the same with --verify until all is done; it takes a throttle off again")
    if generation in OLD:
        sheet.fact("4", f"kafka-preferred-replica-election.sh {ZOOKEEPER}")
    else:
        sheet.fact("4", f"kafka-leader-election.sh {BROKER} --election-type preferred --all-topic-partitions")
    sheet.fact("back", "step 2 with the rollback's file" + (", the last batch first" if batches > 1 else ""))
    if generation == "2.x":
        sheet.fact(
            "note",
            f"before 2.6 step 2 and 3 take {ZOOKEEPER}; before 2.4 step 4 is kafka-preferred-replica-election.sh",
        )


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


def plan_text(look: AnalysisAnswer, query: PlanText, *_: object) -> TextAnswer:
    """The box beside the brokers."""
    sheet = Sheet("Plan", query.width)
    if look.stale:
        sheet.draw(*STALE)
    plan = plan_in(look)
    if look.note:
        sheet.say(look.note)
    elif plan is None:
        sheet.draw(*ASK)
    _asked(sheet, look)
    if plan is None:
        return _made(sheet, look).answer()
    _cost(sheet, plan, query.width)
    _balance(sheet, plan, query.width)
    if look.result.drills is not None:
        _drills(sheet, *look.result.drills)
    if plan.courses:
        _controller(sheet, plan)
    _running(sheet, plan, kept_batches(look))
    for note in plan.notes:
        sheet.fact("note", note, "warn")
    return _made(sheet.gap().draw(*REVIEW).gap(), look).answer()


def _cost(sheet: Sheet, plan: Plan, width: int) -> None:
    """What the plan costs, as a bar of which the least that any such plan costs is the first part."""
    size = "" if plan.cost.bytes is None else f", {plan.cost.bytes / 1e9:,.1f} GB"
    copies, most, bound = f"{plan.cost.moves:,} replicas{size}", plan.cost.moves, plan.bound
    leaders = f"{plan.cost.leader_changes:,} change"
    if bound is None:
        sheet.fact("copies", copies, "strong").fact("leaders", leaders)
    else:
        least = min(bound.moves, most)
        parts = ((least / (most or 1), "ok"), ((most - least) / (most or 1), "warn"))
        drawn = (*bars(parts, 16 if most else 0), span(f"  at least {bound.moves:,}", "ok"))
        if width >= WIDE:
            sheet.draw(span("copies".ljust(NAMES), "dim"), span(f"{copies}  ", "strong"), *drawn)
        else:
            sheet.fact("copies", copies, "strong").draw(" " * NAMES, *drawn)
        sheet.fact("leaders", f"{leaders}, at least {bound.leader_changes:,}").fact("bound", bound.method, "ok")


def _balance(sheet: Sheet, plan: Plan, width: int) -> None:
    before, after = plan.before, plan.after
    disk = (before.disk_spread_percent, after.disk_spread_percent)
    rows: tuple[tuple[str, float | None, float | None, str], ...] = (
        ("replicas", before.replicas.spread, after.replicas.spread, ",.0f"),
        ("leaders", before.leaders.spread, after.leaders.spread, ",.0f"),
        ("disk", *disk, ".1f"),
        ("in topics", before.topic_spread, after.topic_spread, ".2f"),
        ("racks", before.rack_violations, after.rack_violations, ",.0f"),
        ("elsewhere", before.elsewhere, after.elsewhere, ",.0f"),
    )
    if width < WIDE:
        sheet.gap()
    sheet.say("Balance: spread (max - min per broker)", "heading")
    for name, then, now, form in rows:
        texts = ["-" if one is None else f"{one:{form}}{'%' * (name == 'disk')}" for one in (then, now)]
        most = max(then or 0, now or 0) or 1
        pair = paired((then or 0) / most, (now or 0) / most, max(min(width - NAMES - 22, 16), 0), CHANGES)
        sheet.draw(span(name.ljust(NAMES), "dim"), f"{texts[0]:>8} > {texts[1]:<8}  ", *pair)


def _drills(sheet: Sheet, before: DrillFigures, after: DrillFigures) -> None:
    sheet.gap().say("Partitions affected, worst case", "heading")
    if before.not_forecast:
        sheet.say(before.not_forecast, "warn")
    for name in ("broker", "pair", "rack"):
        then, now = (_hurt(getattr(figures, name)) for figures in (before, after))
        sheet.fact(name, f"{then:>9} > {now}")
    then, now = ("-" if one.loss is None else f"{100 * one.loss:.3g}%" for one in (before, after))
    sheet.fact("loss", f"{then:>9} > {now} if each broker is lost with {100 * before.loss_rate:g} % probability")


def _controller(sheet: Sheet, plan: Plan) -> None:
    """What KRaft's controller makes of it."""
    found = figures_of(plan.courses.values())
    sheet.gap().say("What the controller writes", "heading")
    sheet.fact("records", f"{found.records:,} of partitions")
    by_election = f"{found.moved_by_election:,} by the preferred election"
    sheet.fact("leaders", f"{found.moved_by_reassignment:,} moved by the reassignment, {by_election}")
    if found.epochs:
        sheet.fact("epochs", listed(f"leader epoch +{rise} in {count:,}" for rise, count in found.epochs))
    if found.waiting:
        sheet.fact("waiting", f"{counted(found.waiting, 'partition')}: see the notes", "warn")


def _hurt(worst: Worst | None) -> str:
    return "-" if worst is None else f"{worst.hurt:,}{' NO QUORUM' * worst.quorum_lost}"


def _running(sheet: Sheet, plan: Plan, kept: tuple[PlanBatch, ...]) -> None:
    sheet.gap()
    if plan.batches:
        busiest = max(batch.busiest_replicas for batch in plan.batches)
        sheet.fact("batches", f"{len(plan.batches):,}, at most {busiest:,} replicas a broker at a time")
    if len(kept) < len(plan.batches):
        sheet.fact("left out", listed(batch.number for batch in plan.batches if batch not in kept), "warn")
    if plan.pace is not None:
        sheet.fact("throttle", f"{plan.pace.rate / 1e6:,.0f} MB/s a broker: {plan.pace.seconds / 3600:,.1f} h")
    if plan.sizes:
        sheet.fact("sizes", plan.sizes)


def _asked(sheet: Sheet, look: AnalysisAnswer) -> None:
    question = _question(look)
    limits = f"by {question.by}, tolerance {question.tolerance_percent:g}%"
    sheet.fact("goal", f"{REACHES[question.reach]}, {limits}")
    who = [f"without b{broker}" for broker in question.remove]
    who += [f"with b{broker}" + (f" in {rack}" if rack else "") for broker, rack in question.add]
    if who:
        sheet.fact("brokers", listed(who, 12))
    if question.topics_of or question.topics:
        sheet.fact("topics", f"those of group {question.topics_of}" if question.topics_of else listed(question.topics))


def _made(sheet: Sheet, look: AnalysisAnswer) -> Sheet:
    if look.engine:
        sheet.fact("engine", f"{look.engine}, {look.seconds:.1f} s")
    return sheet.fact("image of", f"{clock_text(look.image.provenance.time_ms)} UTC")


def _question(look: AnalysisAnswer) -> PlanQuestion:
    assert isinstance(look.question, PlanQuestion)
    return look.question


MOST_LINES = 500
"""Changes shown at once; a batch has fewer, as a rule."""

MOST_IN_A_FILE = 5_000
"""Changes of which the file is shown; larger ones are written."""


def plan_review(look: AnalysisAnswer, query: PlanReviewText, *_: object) -> TextAnswer:
    """Of the batch in `key`, or of all that are in; `view` is changes, verdict, forward or rollback."""
    sheet = Sheet(query.view or "changes", query.width)
    if not isinstance(look.result, PlannedDrills):
        return sheet.say(look.note or "no plan yet: enter makes one").answer()
    if look.stale:
        sheet.draw(*STALE)
    plan = look.result.plan
    batch = next((each for each in plan.batches if str(each.number) == query.key), None)
    changes = kept_changes(look) if batch is None else plan.changes[batch.first : batch.end]
    name = f"batch {batch.number} of {len(plan.batches)}" if batch else "all batches that are in"
    return _FORMS.get(query.view, _changes)(sheet, look, look.result, name, changes)


def _changes(
    sheet: Sheet, _: AnalysisAnswer, planned: PlannedDrills, name: str, changes: tuple[ReplicaChange, ...]
) -> TextAnswer:
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


def _size(changes: tuple[ReplicaChange, ...]) -> str:
    sizes = [None if change.bytes is None else change.bytes * len(change.added) for change in changes]
    known = [size for size in sizes if size is not None]
    return f", {sum(known) / 1e9:,.2f} GB" if known and len(known) == len(sizes) else ""


def _what(change: ReplicaChange) -> str:
    words = [f"copy to {_brokers(change.added)}"] if change.added else []
    if change.before[:1] != change.after[:1]:
        words.append(f"leader {_brokers(change.before[:1]) or 'none'} > {_brokers(change.after[:1])}")
    size = "" if change.bytes is None or not change.added else f", {change.bytes * len(change.added) / 1e9:,.2f} GB"
    return (", ".join(words) or "order only") + size


def _brokers(ids: tuple[int, ...]) -> str:
    return " ".join(f"b{broker}" for broker in ids)


def _verdict(
    sheet: Sheet, look: AnalysisAnswer, planned: PlannedDrills, _: str, __: tuple[ReplicaChange, ...]
) -> TextAnswer:
    assert isinstance(look.question, PlanQuestion)
    if look.question.left_out:
        out = listed(look.question.left_out)
        sheet.say(f"without batches {out}; what follows is of the whole plan", "warn")
    sheet.say("Partitions affected, worst case: newly offline, under min ISR, or led uncleanly", "heading")
    if planned.drills is None:
        sheet.say("no drill can be made of this cluster", "warn")
    else:
        before, after = planned.drills
        if before.not_forecast:
            sheet.say(before.not_forecast, "warn")
        for kind in ("broker", "pair", "rack"):
            sheet.fact(kind, f"{_worst(getattr(before, kind))}  >  {_worst(getattr(after, kind))}")
        sheet.fact(
            "loss",
            f"{_loss(before)}  >  {_loss(after)}, if each broker is lost with {100 * before.loss_rate:g} % probability",
        )
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


def _file(make: Callable[[Plan, tuple[ReplicaChange, ...]], str]) -> Callable[..., TextAnswer]:
    def form(
        sheet: Sheet, _: AnalysisAnswer, planned: PlannedDrills, name: str, changes: tuple[ReplicaChange, ...]
    ) -> TextAnswer:
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
    "forward": _file(documents.forward),
    "rollback": _file(documents.rollback),
}
