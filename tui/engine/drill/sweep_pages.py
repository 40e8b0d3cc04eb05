"""What the sweep's screen shows beside the heat map: its scenarios, the worst first, and what they say together.

There is one order of what is bad, here, on the map and beside the drill: partitions that lose records, then partitions
offline, then those under min ISR, then leaders that move.
"""

from collections.abc import Sequence

import numpy as np

from model.analyses.drills.results import DrillResult, LossChance, ScenarioOutcome
from model.cluster.texts import counted
from model.drills.voters import not_forecast
from tui.engine import glyphs
from tui.engine.drill.fleet import KINDS as FLEETS
from tui.engine.drill.fleet import fleet_heat, fleet_row_text, fleet_scenarios, fleet_summary
from tui.engine.drill.heat import SHADES_OF, affected, legend, sweep_heat, thing_of, worst_of_each
from tui.engine.drill.queries import DeathList, DeathText, HeatList, ScenarioList, ScenarioText, SweepText
from tui.engine.filters import ListField, Numbers, Texts, whole_numbers
from tui.engine.jobs import AnalysisAnswer
from tui.engine.listing import AnswerMemo, Listing, place_in
from tui.engine.messages import TextAnswer
from tui.engine.questions import SweepQuestion
from tui.engine.rows import Column, Row, Window, line, span
from tui.engine.sheets import Sheet, clock_text

SCENARIO_COUNTS = (
    ("unclean", "lost", "error"),
    ("newly_offline", "offline", "error"),
    ("newly_under_min_isr", "min ISR", "warn"),
    ("leaders_moved", "moved", ""),
    ("under_replicated", "under-repl", ""),
)
"""Field of Counts, title, and the style of a number above 0; the worst first."""
BARS = range(12, 41)
"""Cells of a bar: as many as the list has beside its numbers."""
NUMBERS = 84
"""Cells of all else, with a name of 26 cells."""


def scenario_columns(width: int) -> tuple[Column, ...]:
    """Of a list of so many cells. A bar takes what there is, and asks for no more than it needs."""
    bar = max(BARS[0], min(width - NUMBERS, BARS[-1]))
    return (
        Column("fails", -26, "<", "fails"),
        Column("lost", 5, ">", "unclean"),
        Column("offline", 7, ">", "newly_offline"),
        Column("min ISR", 7, ">", "newly_under_min_isr", 1),
        Column("moved", 6, ">", "leaders_moved", 2),
        Column("affected", bar, "<", "", 3, most=BARS[0]),
        Column("under-repl", 10, ">", "under_replicated", 4),
        Column("busiest", 12, ">", "most_leaders", 5),
    )


def badness(scenario: ScenarioOutcome) -> tuple[int, ...]:
    """What is worse is higher."""
    counts = scenario.counts
    return (
        int(scenario.quorum_lost),
        counts.unclean,
        counts.newly_offline,
        counts.newly_under_min_isr,
        counts.leaders_moved,
    )


def sweep_scenarios(look: AnalysisAnswer, query: ScenarioList, _: int = 0, memory: AnswerMemo | None = None) -> Listing:
    """Every scenario that is listed; its key is what dies. The new ones are partitions that were well before."""
    if is_fleet(look):
        return fleet_scenarios(look, query, memory or AnswerMemo())
    result: DrillResult | None = look.result
    return _listing(look, result.listed if result else (), query)


def heat_page(look: AnalysisAnswer, query: HeatList, now_ms: int, memory: AnswerMemo) -> Window:
    """The heat map of pairs, or of a fleet."""
    return (fleet_heat if is_fleet(look) else sweep_heat)(look, query, now_ms, memory)


def is_fleet(look: AnalysisAnswer) -> bool:
    """Whether scenarios are played in time."""
    return isinstance(look.question, SweepQuestion) and bool(look.question.fleet)


def worst_deaths(look: AnalysisAnswer, query: DeathList, _: int, memory: AnswerMemo) -> Listing:
    """The same of single brokers and of racks."""
    some: Sequence[ScenarioOutcome] = look.result or ()
    ranked = memory.recall(query.name, (look.result,), lambda: tuple(sorted(some, key=badness, reverse=True)))
    return _listing(look, ranked, query)


def _listing(look: AnalysisAnswer, listed: Sequence[ScenarioOutcome], query: ScenarioList | DeathList) -> Listing:
    names = [name_of(scenario) for scenario in listed]
    most = max((sum(affected(one)) for one in listed), default=0)
    columns = scenario_columns(query.width)
    bar = next(column.width for column in columns if column.title == "affected")

    def fields() -> dict[str, ListField]:
        counts = {field: Numbers(_numbers(listed, field)) for field, _, _ in SCENARIO_COUNTS}
        most_leaders = whole_numbers(one.most_leaders for one in listed)
        return {"fails": Texts(lambda: names), **counts, "most_leaders": most_leaders}

    return Listing(
        count=len(listed),
        fields=fields,
        shown=("fails",),
        row=lambda index: _scenario_row(names[index], listed[index], most, bar),
        place=place_in(names),
        columns=columns,
        made_from=(look.result,),
        nothing=look.note or "there is nobody to kill",
    )


def name_of(scenario: ScenarioOutcome) -> str:
    """`b1 b2`, `rack r1`, `rack r1 and b4`: what dies."""
    brokers = " ".join(f"b{broker}" for broker in scenario.kill)
    if scenario.rack is None:
        return brokers
    return f"rack {scenario.rack}" + (f": {brokers}" if brokers else "")


def scenario_mark(scenario: ScenarioOutcome) -> tuple[str, str]:
    """The mark of a scenario, and its style."""
    counts = scenario.counts
    if counts.newly_offline or counts.unclean or scenario.quorum_lost:
        return "X", "error"
    return ("!", "warn") if counts.newly_under_min_isr else ("", "")


def _numbers(listed: Sequence[ScenarioOutcome], field: str):
    return np.array([getattr(one.counts, field) for one in listed], np.int64)


def _scenario_row(name: str, scenario: ScenarioOutcome, most: int, bar: int) -> Row:
    mark, style = scenario_mark(scenario)
    told = [getattr(scenario.counts, field) for field, _, _ in SCENARIO_COUNTS]
    styles = [each if number else "dim" for number, (_, _, each) in zip(told, SCENARIO_COUNTS, strict=True)]
    *numbers, under = (line(span(f"{number:,}", each)) for number, each in zip(told, styles, strict=True))
    parts = zip(affected(scenario), SHADES_OF, strict=True)
    affects = glyphs.bars([(number / most if most else 0, f"heat{step + 1}") for number, (_, step) in parts], bar)
    busiest = "-" if scenario.most_leaders < 0 else f"{scenario.most_leaders:,} on b{scenario.most_leaders_on}"
    return Row(name, (line(span(name, style)), *numbers, affects, under, line(span(busiest, "dim"))), mark=mark)


KINDS = {
    "brokers": "every broker",
    "pairs": "every pair of brokers",
    "racks": "every rack",
    "brokers-and-racks": "every broker with every other rack",
    "random": "1,000 random sets of 3 brokers",
}
MOST_SETS = 8


def sweep_text(look: AnalysisAnswer, query: SweepText, _: int = 0, memory: AnswerMemo | None = None) -> TextAnswer:
    """The box beside the scenarios."""
    sheet = Sheet("Sweep", query.width)
    if first := not_forecast(look.image):
        sheet.say(first, "warn")
    if look.stale:
        sheet.say("the cluster has changed since: r works it out anew", "warn")
    if look.note:
        sheet.say(look.note)
    if is_fleet(look):
        fleet_summary(sheet, look, query.cell, memory or AnswerMemo())
        return _asked(sheet, look).answer()
    result: DrillResult | None = look.result
    if result is None:
        return _asked(sheet, look).answer()
    if result.heat is not None:
        _pair(sheet, look, result, query.cell)
    style = "error" if result.hurting else "ok"
    affect = "lose records, or take partitions offline or under min ISR"
    sheet.fact("affected", f"{result.hurting:,} of {result.scenarios:,} scenarios {affect}", style)
    now = result.before
    under = f"{now.under_min_isr:,} under min ISR, {now.under_replicated:,} under-replicated"
    sheet.fact("now", f"{now.offline:,} offline, {under}")
    _fatal(sheet, result)
    for chance in result.loss:
        sheet.fact("loss", _chance(chance), "warn" if chance.probability > 0 else "")
    return _asked(sheet, look).answer()


def scenario_text(look: AnalysisAnswer, query: ScenarioText | DeathText, _: int, memory: AnswerMemo) -> TextAnswer:
    """The scenario whose name is the key."""
    sheet = Sheet(query.key, query.width)
    if is_fleet(look):
        return fleet_row_text(sheet, look, query.key, memory)
    listed = look.result.listed if isinstance(look.result, DrillResult) else look.result or ()
    one = next((one for one in listed if name_of(one) == query.key), None)
    if one is None:
        return sheet.say(look.note or "this scenario is not listed").answer()
    for field, title, style in SCENARIO_COUNTS:
        sheet.fact(title, f"{getattr(one.counts, field):,}", style if getattr(one.counts, field) else "dim")
    sheet.fact("affected", counted(one.counts.hurt, "partition"), scenario_mark(one)[1])
    if one.quorum_lost:
        sheet.fact("quorum", "its majority is lost: nothing is elected any more", "error")
    _leaders(sheet, one)
    return sheet.gap().say("enter plays it on the drill's screen, moment by moment", "dim").answer()


def _leaders(sheet: Sheet, one: ScenarioOutcome) -> None:
    if not one.leaders_by_broker:
        return
    most = max(one.leaders_by_broker.values(), default=1) or 1
    sheet.gap().say("leaders afterwards", "heading")
    for broker, leaders in one.leaders_by_broker.items():
        sheet.draw(
            span(f"{f'b{broker}':>6} ", "dim"), span(f"{leaders:>8,} "), span(glyphs.bar(leaders / most, 20), "info")
        )


def _fatal(sheet: Sheet, result: DrillResult) -> None:
    if not result.fatal.counts:
        return
    sizes = ", ".join(_sets(count, size) for size, count in sorted(result.fatal.counts.items()))
    sheet.fact("fatal", f"no partition survives the loss of all its in-sync replicas, held by {sizes}")
    for one in result.fatal.sets[:MOST_SETS]:
        sheet.fact(
            "", f"{' '.join(f'b{broker}' for broker in one.kill)}: {counted(one.partitions, 'partition')}", "warn"
        )


def _sets(count: int, size: int) -> str:
    kind = {1: "single broker", 2: "pair", 3: "triple"}.get(size)
    return counted(count, kind) if kind else f"{counted(count, 'set')} of {size}"


def _chance(chance: LossChance) -> str:
    each = f"if each broker is lost with {100 * (chance.rate or 0):g}%"
    who = each if chance.failed is None else f"if {_lost(chance.failed)} lost for good"
    probability = f"{'' if chance.exact else 'about '}{100 * chance.probability:.3g}%"
    return f"{who}: {probability} chance of data loss, {chance.expected_partitions:.3g} partitions on average"


def _lost(brokers: int) -> str:
    return "1 broker is" if brokers == 1 else f"{brokers} brokers are"


def _asked(sheet: Sheet, look: AnalysisAnswer) -> Sheet:
    question = look.question
    assert isinstance(question, SweepQuestion)
    sheet.fact(
        "plays" if question.fleet else "fails", FLEETS[question.fleet] if question.fleet else KINDS[question.kind]
    )
    if question.fleet in ("all", "random"):
        sheet.fact("seed", f"{question.seed}, of the random sequences: * takes another")
    sheet.fact("policy", f"unclean election {'on everywhere' if question.unclean else 'as each topic has it'}")
    for name, told in look.engine_facts:
        sheet.fact(name, told)
    return sheet.fact("image of", f"{clock_text(look.image.provenance.time_ms)} UTC")


def _pair(sheet: Sheet, look: AnalysisAnswer, result: DrillResult, cell: tuple[str, str]) -> None:
    """What the cell under the heat map's cursor says: `b1` and `b4`, or `rack:r1` and `rack:r2`; and the legend."""
    heat = result.heat
    assert heat is not None
    things = {thing_of(heat, place): place for place in range(len(heat.labels))}
    row, column = (things.get(thing, -1) for thing in cell)
    if min(row, column) >= 0:
        _at_cursor(sheet, look, result, (row, column))
    sheet.draw(*legend()).gap()


def _at_cursor(sheet: Sheet, look: AnalysisAnswer, result: DrillResult, places: tuple[int, int]) -> None:
    heat = result.heat
    assert heat is not None
    labels = [heat.labels[place] for place in places]
    if heat.by == "broker" and labels[0] == labels[1]:
        sheet.fact("cell", f"broker {labels[0]} alone: enter plays its failure")
        return
    hurt, names = heat.hurt[places[0]][places[1]], " and ".join(labels)
    found = worst_of_each(look, result).get(frozenset(labels))
    which = f"racks {names}, worst pair" if heat.by == "rack" else f"brokers {names}"
    sheet.fact("cell", f"{which}: {counted(hurt, 'partition')} affected", scenario_mark(found)[1] if found else "")
    numbers = [f"{getattr(found.counts, field):,} {title}" for field, title, _ in SCENARIO_COUNTS] if found else []
    sheet.fact("", ", ".join(numbers) or f"not among the worst {len(result.listed):,}")
    if heat.by == "rack":
        sheet.say("enter plays the failure of both racks, which is worse than that of a pair", "dim")
