"""Every list and text of a drill by its name; how the cluster stands at one moment, and what was assumed."""

from collections.abc import Iterable, Iterator

from model.cluster.cluster_image import state_in
from model.cluster.texts import listed, replicas
from model.drills.scenario import Deed
from model.drills.voters import candidates_text, is_kraft, not_forecast, silence_text, turnout_text
from tui.engine.drill.playback import DrillAnswer, Playback, assumptions_of, scenario_of
from tui.engine.drill.queries import DrillPartitionText, DrillText
from tui.engine.drill.rows import (
    OUTCOMES,
    seconds,
)
from tui.engine.messages import TextAnswer
from tui.engine.rows import span
from tui.engine.sheets import Sheet, clock_text

NAMES = 11
"""Cells of the counters' names."""


def standing_text(look: DrillAnswer, query: DrillText, *_: object) -> TextAnswer:
    """The box beside the timeline."""
    sheet = Sheet("Drill", query.width)
    if first := not_forecast(look.image):
        sheet.say(first, "warn")
    if look.stale:
        sheet.say("the cluster has changed since: r plays it again", "warn")
    playback = look.playback
    if playback is None or not playback.steps:
        return _assumed(sheet.say(look.note or "nothing happens"), look).answer()
    moment = playback.step(query.moment)
    wide = max(6, min(9, (query.width - NAMES) // 4))
    sheet.draw(span(" " * NAMES + "".join(title.rjust(wide) for title in ("start", "now", "worst", "end")), "dim"))
    for name, unit, numbers in _counters(playback, moment):
        cells = "".join((f"{number / unit:,.1f}" if unit > 1 else f"{number:,}").rjust(wide) for number in numbers)
        sheet.draw(span(name.ljust(NAMES), "dim"), span(cells, "warn" if numbers[1] > numbers[0] else ""))
    turnout = playback.drill.turnout
    if turnout is not None:
        sheet.fact("quorum", turnout_text(turnout), "error" if turnout.is_lost else "")
        sheet.fact("controls", f"{candidates_text(turnout)} then")
    return _assumed(sheet, look).answer()


def _counters(playback: Playback, moment: int) -> Iterator[tuple[str, int, tuple[int, int, int, int]]]:
    """Name, unit, and the numbers before the drill, now, at worst and in the end."""
    before = playback.drill.summary.before
    for name, unit, start, field in (
        ("leaderless", 1, before.offline, "leaderless"),
        ("under-repl", 1, before.under_replicated, "under_replicated"),
        ("under min", 1, before.under_min_isr, "under_min_isr"),
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
    sheet.fact("dies", _named(scenario.kill) or "nobody")
    for act in scenario.then:
        sheet.fact("then", f"{_named(act.brokers)} {_DO[act.deed, len(act.brokers) > 1]}")
    sheet.fact("policy", f"unclean election {'on everywhere' if plan.unclean else 'as each topic has it'}; {back}")
    silent = silence_text(look.image, f"{assumptions_of(look).session_timeout_ms / 1000:g} s")
    sheet.fact("assumed", f"{silent}; on a copy: nothing reaches the cluster")
    return sheet.fact("image of", f"{clock_text(look.image.provenance.time_ms)} UTC")


def _named(brokers: Iterable[int]) -> str:
    return listed((f"b{broker}" for broker in brokers), 12)


_DO = {
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
