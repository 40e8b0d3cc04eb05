"""A drill in words: how the cluster stands at one moment, what was assumed, and each step with its reason.

Of a step: why it was taken, which znodes were written, old and new, and who was told what.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from model.cluster.cluster_image import state_in
from model.cluster.ids import NO_LEADER
from model.cluster.records import PartitionState
from model.cluster.texts import brokers, counted, listed, replicas
from model.controller.events_and_commands import BrokerRequest, PartitionToKnow, PartitionToServe, PartitionToStop
from model.drills.rows import AnyRow, MetadataLearnt, StateWritten, ZnodeWritten
from model.drills.scenario import Act, Deed, read_written
from model.drills.sentences import reasons, steps_of
from model.drills.voter_change import STATIC, change_lines
from model.drills.voters import candidates_text, is_kraft, not_forecast, served_text, silence_text, turnout_text
from model.hosts.virtual.journal import Reasoned, RequestSent
from model.znodes.catalogue import SECRET_KINDS
from model.znodes.history import difference_text as told_difference
from model.znodes.history import differences
from model.znodes.paths import partition_state_path, recognise
from tui.engine.drill.course import SIGN_STYLES, seconds
from tui.engine.drill.playback import DrillAnswer, Playback, assumptions_of, scenario_of, voters_of
from tui.engine.drill.queries import DrillMomentText, DrillPartitionText, DrillStepText, DrillText
from tui.engine.drill.rows import OUTCOMES
from tui.engine.messages import TextAnswer
from tui.engine.rows import span
from tui.engine.sheets import NAMES, Sheet, clock_text, duration_text, shortened

COUNTER_NAMES = 13
"""Cells of the counters' names."""


def drill_text(look: DrillAnswer, query: DrillText, *_: object) -> TextAnswer:
    """The box beside the timeline."""
    sheet = Sheet("Drill", query.width)
    if first := not_forecast(look.image):
        sheet.say(first, "warn")
    if look.stale:
        sheet.say("the cluster has changed since: r plays it again", "warn")
    playback = look.playback
    if playback is None or not playback.steps:
        sheet.say(look.note or "nothing happens")
        return _assumed(_quorum(sheet, playback), look).answer()
    moment = playback.step(query.moment)
    wide = max(6, min(9, (query.width - COUNTER_NAMES) // 4))
    sheet.draw(
        span(" " * COUNTER_NAMES + "".join(title.rjust(wide) for title in ("start", "now", "worst", "end")), "dim")
    )
    for name, unit, numbers in _counters(playback, moment):
        cells = "".join((f"{number / unit:,.1f}" if unit > 1 else f"{number:,}").rjust(wide) for number in numbers)
        sheet.draw(span(name.ljust(COUNTER_NAMES), "dim"), span(cells, "warn" if numbers[1] > numbers[0] else ""))
    return _assumed(_quorum(sheet, playback), look).answer()


def _quorum(sheet: Sheet, playback: Playback | None) -> Sheet:
    turnout = None if playback is None else playback.drill.turnout
    if playback is not None and (change := playback.drill.voter_change) is not None:
        for number, line in enumerate(change_lines(change)):
            sheet.fact("" if number else "change", line, "warn" if change.spare[1] < change.spare[0] else "")
        if change.is_static:
            sheet.say(STATIC, "warn")
    if playback is not None and turnout is not None:
        sheet.fact("quorum", turnout_text(turnout), "error" if turnout.is_lost else "")
        if playback.drill.served is not None:
            sheet.fact("served", served_text(playback.drill.served))
        sheet.fact("controls", f"{candidates_text(turnout)} then")
    return sheet


def _counters(playback: Playback, moment: int) -> Iterator[tuple[str, int, tuple[int, int, int, int]]]:
    """Name, unit, and the numbers before the drill, now, at worst and in the end."""
    before = playback.drill.summary.before
    for name, unit, start, field in (
        ("no leader", 1, before.offline, "leaderless"),
        ("under min ISR", 1, before.under_min_isr, "under_min_isr"),
        ("under-repl", 1, before.under_replicated, "under_replicated"),
        ("unclean", 1, 0, "unclean"),
        ("longest s", 1000, 0, "longest_ms"),
    ):
        values = [int(getattr(one, field)) for one in playback.counts]
        yield name, unit, (start, values[moment], max(start, *values), values[-1])


def _assumed(sheet: Sheet, look: DrillAnswer) -> Sheet:
    plan, scenario = look.plan, scenario_of(look)
    after_ms = scenario.restart_after_ms
    back = "nobody comes back" if after_ms is None else f"up again after {after_ms / 1000:g} s"
    if plan.restart_after_ms is not None and after_ms is None:
        back = "up again when all is over"
    for ids, what in ((scenario.add_voters, "votes too"), (scenario.remove_voters, "votes no more")):
        if ids:
            sheet.fact("quorum of", f"{listed(ids, 12)} {what}")
    alone = set(voters_of(look.image)) - look.image.brokers.keys()
    sheet.fact("fails", _named(scenario.kill, alone) or "nobody")
    for act in scenario.then[:MOST_ACTS]:
        when = "" if act.after_ms is None else f", {duration_text(round(act.after_ms))} later"
        sheet.fact("then", f"{_done(act)}{when}")
    if left := scenario.then[MOST_ACTS:]:
        sheet.fact("", f"and {counted(len(left), 'more act')}")
    if (controller := read_written(plan.played)[1]) is not None:
        sheet.fact("controller", f"b{controller} at first")
    sheet.say("Assumptions", "heading")
    sheet.fact("policy", f"unclean election {'on everywhere' if plan.unclean else 'as each topic has it'}; {back}")
    silent = silence_text(look.image, f"{assumptions_of(look).session_timeout_ms / 1000:g} s")
    sheet.fact("timing", f"{silent}; on a copy: nothing reaches the cluster")
    return sheet.fact("image of", f"{clock_text(look.image.provenance.time_ms)} UTC")


def _named(brokers: Iterable[int], controllers: Container[int] = ()) -> str:
    return listed((f"controller {each}" if each in controllers else f"b{each}" for each in brokers), 12)


def _done(act: Act) -> str:
    if act.deed is Deed.LOSE:
        return f"{listed((f'b{broker} loses {path}' for broker, path in act.folders), 4)}"
    return f"{_named(act.brokers)} {_DO[act.deed, len(act.brokers) > 1]}"


MOST_ACTS = 6

_DO = {
    (Deed.KILL, False): "fails",
    (Deed.KILL, True): "fail",
    (Deed.STOP, False): "shuts down",
    (Deed.STOP, True): "shut down",
    (Deed.START, False): "starts",
    (Deed.START, True): "start",
}


def partition_drill_text(look: DrillAnswer, query: DrillPartitionText, *_: object) -> TextAnswer:
    """The partition whose name is the key: before, each state that is written, and in the end."""
    sheet = Sheet(query.key, query.width)
    one = (
        next((one for one in look.playback.partitions if str(one.partition) == query.key), None)
        if look.playback
        else None
    )
    if look.playback is None or one is None:
        return sheet.say(look.note or "nothing happens to this partition").answer()
    before = state_in(look.playback.drill.before, one.partition)
    sheet.fact("outcome", one.outcome.value, OUTCOMES[one.outcome][1])
    if one.outage is not None:
        until = "never again" if one.outage.to_ms is None else f"again {seconds(one.outage.to_ms)} s"
        sheet.fact("no leader", f"from {seconds(one.outage.from_ms)} s, led {until}")
    if before is not None:
        sheet.fact("before", f"leader {before.leader} isr {replicas(before.isr)} epoch {before.leader_epoch}")
    rows, states = look.playback.history.get(one.partition, ((), ()))
    for number, state in zip(rows, states, strict=True):
        version = "" if is_kraft(look.playback.drill.before) else f" version {state.version}"
        text = f"leader {state.leader} isr {replicas(state.isr)} epoch {state.leader_epoch}{version}"
        sheet.fact(seconds(look.playback.drill.timeline.rows[number].at_ms), text)
    return sheet.answer()


MOST_WRITES = 200
MOST_REQUESTS = 100
MOST_PARTITIONS = 50
"""So many of a step are told one by one, partitions by request; the rest is counted."""

BRIEF_REASONS, BRIEF_LINES = 3, 2
"""So many reasons, each of so many lines, stand in the pane before what was written or sent."""

MOST_CHARACTERS = 400
"""Of one znode's payload."""


def step_text(look: DrillAnswer, query: DrillStepText, *_: object) -> TextAnswer:
    """The step that is looked at."""
    playback = look.playback
    if playback is None or not playback.steps:
        return Sheet("Step", query.width).say(look.note or "nothing happens", "dim").answer()
    return _told(playback, playback.step(query.moment), query.width, brief=True)


def moment_text(look: DrillAnswer, query: DrillMomentText, *_: object) -> TextAnswer:
    """The step whose number is the key."""
    playback = look.playback
    if playback is None or not playback.steps or not query.key.isdecimal():
        return Sheet(f"moment {query.key}", query.width).say(look.note).answer()
    return _told(playback, playback.step(int(query.key)), query.width)


def _told(playback: Playback, moment: int, width: int, *, brief: bool = False) -> TextAnswer:
    """`brief`: no long reason before what was written or sent."""
    step, rows = playback.steps[moment], playback.drill.timeline.rows
    sheet = Sheet(f"moment {moment}", width)
    until = "" if step.until_ms == step.at_ms else f" to {seconds(step.until_ms)}"
    sheet.fact("time", f"{seconds(step.at_ms)}{until} s, step {moment + 1:,} of {len(playback.steps):,}")
    some = rows[step.first : step.end]
    tell = _TELL.get(type(some[0]))
    if tell is None and not isinstance(some[0], Reasoned):
        sheet.fact("what", step.text, SIGN_STYLES.get(step.sign, ""))
    name = "decided" if isinstance(some[0], RequestSent) else "why"  # what it sends, it may have decided earlier
    said = reasons(rows, step.first, step.end)
    for number, why in enumerate(said[:BRIEF_REASONS] if brief else said):
        most = BRIEF_LINES * (width - NAMES) if brief and tell is not None else len(why)
        sheet.fact("" if number else name, why if len(why) <= most else f"{why[: most - 4]} ...", "strong")
    if brief and len(said) > BRIEF_REASONS:
        sheet.fact("", f"and {counted(len(said) - BRIEF_REASONS, 'sentence')} more: d in the timeline tells all", "dim")
    if tell is not None:
        tell(sheet.gap(), some)
    elif len(some) > 1:
        _each(sheet.gap(), some)
    return sheet.answer()


def _each(sheet: Sheet, rows: Sequence[AnyRow]) -> None:
    for row in rows[:MOST_WRITES]:
        for one in steps_of([row]):
            sheet.fact(seconds(one.at_ms), one.text)
    _and_more(sheet, len(rows) - MOST_WRITES)


# Znodes


def _states(sheet: Sheet, rows: Sequence[StateWritten]) -> None:
    for row in rows[:MOST_WRITES]:
        before, after = row.before, row.after
        if row.by is None:
            where = str(row.partition)
        else:
            versions = _versions(None if before is None else before.version, after.version)
            where = f"{partition_state_path(row.topic, after.partition)}  {versions}"
        sheet.say(where, "name")
        changes = ", ".join(_changes(before, after, row.by)) or "the same again"
        sheet.say(f"   {changes}{', UNCLEAN: not in sync' if row.unclean else ''}", "error" if row.unclean else "")
    _and_more(sheet, len(rows) - MOST_WRITES)


def _changes(before: PartitionState | None, after: PartitionState, by: int | None) -> Iterator[str]:
    """`leader 4 -> none`: what differs, and leader and ISR in any case."""
    for name, value in _fields(after).items():
        if name == "controller_epoch" and by is None:  # the state has none on KRaft
            continue
        old = None if before is None else _fields(before)[name]
        if old is not None and old != value:
            yield f"{name} {old} -> {value}"
        elif old is None or name in ("leader", "isr"):
            yield f"{name} {value}"


def _fields(state: PartitionState) -> dict[str, str]:
    return {
        "leader": _leader(state.leader),
        "isr": replicas(state.isr),
        "leader_epoch": str(state.leader_epoch),
        "controller_epoch": str(state.controller_epoch),
    }


def _znodes(sheet: Sheet, rows: Sequence[ZnodeWritten]) -> None:
    for row in rows[:MOST_WRITES]:
        old = row.version - 1 if row.verb == "set" else None
        what = {"create": "created, v0", "delete": "deleted"}.get(row.verb) or _versions(old, row.version)
        sheet.say(f"{row.path}  {what}", "name")
        for text in _contents(row):
            sheet.say(f"   {text}")
    _and_more(sheet, len(rows) - MOST_WRITES)


def _contents(row: ZnodeWritten) -> Iterator[str]:
    if recognise(row.path).kind in SECRET_KINDS:
        yield "what it holds is not shown"
    elif row.before is not None and row.after is not None:
        found = differences(row.before, row.after)
        yield from (shortened(told_difference(one), MOST_CHARACTERS) for one in islice(found, MOST_PARTITIONS))
        if not found:
            yield "the same value, written again"
    elif row.before or row.after:
        yield shortened((row.before or row.after or b"").decode(errors="backslashreplace"), MOST_CHARACTERS)


def _versions(old: int | None, new: int) -> str:
    return f"v{new}" if old is None or old < 0 else f"v{old} -> v{new}"


# Requests


def _requests(sheet: Sheet, rows: Sequence[RequestSent]) -> None:
    shared: dict[int, tuple[BrokerRequest, list[int]]] = {}
    for row in rows:
        shared.setdefault(id(row.request), (row.request, []))[1].append(row.receiver)
    for request, receivers in islice(shared.values(), MOST_REQUESTS):
        size, to = len(request.partitions), brokers(receivers)
        of = counted(size, "partition")
        kind = type(request).__name__.removesuffix("Request")
        sheet.say(f"{kind} to {to}: {of}, controller epoch {request.controller_epoch}", "info")
        for one in request.partitions[:MOST_PARTITIONS]:
            sheet.draw("   ", span(f"{one.partition}  "), span("  ".join(_entry(one)), "dim"))
        _and_more(sheet, size - MOST_PARTITIONS)
    _and_more(sheet, len(shared) - MOST_REQUESTS)


def _learnt(sheet: Sheet, rows: Sequence[MetadataLearnt]) -> None:
    shared: dict[int, tuple[tuple[StateWritten, ...], list[int]]] = {}
    for row in rows:
        shared.setdefault(id(row.written), (row.written, []))[1].append(row.receiver)
    for written, receivers in islice(shared.values(), MOST_REQUESTS):
        sheet.say(f"{brokers(receivers)}: {counted(len(written), 'partition')}", "info")
        for row in written[:MOST_PARTITIONS]:
            after = row.after
            known = f"leader {_leader(after.leader)}  isr {replicas(after.isr)}  epoch {after.leader_epoch}"
            sheet.draw("   ", span(f"{row.partition}  "), span(known, "dim"))
        _and_more(sheet, len(written) - MOST_PARTITIONS)
    _and_more(sheet, len(shared) - MOST_REQUESTS)


def _entry(one: PartitionToServe | PartitionToKnow | PartitionToStop) -> Iterable[str]:
    if isinstance(one, PartitionToStop):
        return (f"epoch {one.leader_epoch}", "delete its log" if one.delete else "keep its log")
    state = one.state
    known = (f"leader {_leader(state.leader)}", f"isr {replicas(state.isr)}", f"epoch {state.leader_epoch}")
    if isinstance(one, PartitionToServe):
        return (*known, "new") if one.is_new else known
    return (*known, f"offline {replicas(one.offline_replicas)}") if one.offline_replicas else known


def _leader(broker: int) -> str:
    return {NO_LEADER: "none", -2: "deleting"}.get(broker, str(broker))


def _and_more(sheet: Sheet, count: int) -> None:
    if count > 0:
        sheet.say(f"and {count:,} more", "dim")


_TELL: Mapping[type, Callable[[Sheet, Any], None]] = {
    StateWritten: _states,
    ZnodeWritten: _znodes,
    RequestSent: _requests,
    MetadataLearnt: _learnt,
}
