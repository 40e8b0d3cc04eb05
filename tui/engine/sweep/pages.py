"""What the sweep's screen shows: its scenarios, the worst first, the heat map of pairs, and what they say together.

The heat map has how many partitions two brokers, or racks, hurt together, in the order of the list beside it. A sign
tells how bad a cell is, its number how many where there is room; colour only doubles both.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np

from model.analyses.drills.results import DrillResult, HeatMap, LossChance, ScenarioOutcome
from model.cluster.texts import counted
from model.drills.voters import not_forecast
from tui.engine.analysis import AnalysisAnswer
from tui.engine.filters import Field, Numbers, Texts
from tui.engine.listing import NAMED, NOWHERE, Listing, Memory, VisibleColumns, place_in, visible_columns, window
from tui.engine.messages import TextAnswer
from tui.engine.partitions.map import RACK
from tui.engine.partitions.rows import EDGES
from tui.engine.questions import SweepQuestion
from tui.engine.rows import Column, Line, Row, Span, Window, line, span
from tui.engine.sheets import Sheet, clock_text
from tui.engine.sweep.queries import HeatList, ScenarioText, SweepText

SCENARIO_COUNTS = (
    ("newly_offline", "offline", "error"),
    ("newly_under_min_isr", "min ISR", "error"),
    ("unclean", "unclean", "error"),
    ("under_replicated", "under", "warn"),
    ("leaders_moved", "moved", ""),
)
"""Field of Counts, title, and the style of a number above 0."""

SCENARIO_COLUMNS = (
    Column("dies", -12, "<", "dies"),
    *(Column(title, 7, ">", field) for field, title, _ in SCENARIO_COUNTS),
    Column("busiest", 12, ">", "most_leaders"),
)


def sweep_scenarios(look: AnalysisAnswer, *_: object) -> Listing:
    """Every scenario that is listed; its key is what dies. The new ones are partitions that were well before."""
    result: DrillResult | None = look.result
    listed = result.listed if result else ()
    names = [name_of(scenario) for scenario in listed]

    def fields() -> dict[str, Field]:
        counts = {field: Numbers(_numbers(listed, field)) for field, _, _ in SCENARIO_COUNTS}
        most = Numbers(np.array([one.most_leaders for one in listed], np.int64))
        return {"dies": Texts(lambda: names), **counts, "most_leaders": most}

    return Listing(
        count=len(listed),
        fields=fields,
        shown=("dies",),
        row=lambda index: _scenario_row(names[index], listed[index]),
        place=place_in(names),
        columns=SCENARIO_COLUMNS,
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


def _numbers(listed: tuple[ScenarioOutcome, ...], field: str):
    return np.array([getattr(one.counts, field) for one in listed], np.int64)


def _scenario_row(name: str, scenario: ScenarioOutcome) -> Row:
    numbers = [(getattr(scenario.counts, field), style) for field, _, style in SCENARIO_COUNTS]
    mark, style = scenario_mark(scenario)
    busiest = "-" if scenario.most_leaders < 0 else f"{scenario.most_leaders:,} on b{scenario.most_leaders_on}"
    return Row(
        key=name,
        cells=(
            line(span(name, style)),
            *(line(span(f"{number:,}", style if number else "dim")) for number, style in numbers),
            line(span(busiest, "dim")),
        ),
        mark=mark,
    )


SHADES = ".:-=+*#%@"
"""From nothing to the most that a pair hurts."""

SHADE_STYLES = ("dim", "info", "warn", "error")
ITSELF = ("\\", "dim")
"""What stands where a broker meets itself."""

COMPACT = 2
"""Characters of a cell without a name above."""

MAP = 1
"""The place of the map among the columns."""


@dataclass(frozen=True, eq=False)
class Heat:
    """A heat map in an order: `order` are the places of its labels."""

    heat: HeatMap
    order: Sequence[int]

    @cached_property
    def things(self) -> tuple[str, ...]:
        """`b3` or `rack:r1`."""
        return tuple(thing_of(self.heat, place) for place in self.order)

    @cached_property
    def names(self) -> list[str]:
        """As they are read."""
        return [thing.removeprefix(RACK) for thing in self.things]

    @cached_property
    def most(self) -> int:
        """The most partitions that a pair hurts."""
        return max((number for row in self.heat.hurt for number in row), default=0)

    def cell(self, row: int, column: int, *, numbered: bool) -> Span:
        """What stands where two meet."""
        if row == column and self.heat.by == "broker":
            return ITSELF
        number = self.heat.hurt[self.order[row]][self.order[column]]
        shade = shade_of(number, self.most)
        return span(f"{SHADES[shade]}{number:,}" if numbered and number else SHADES[shade], _shade_style(shade))


def shade_of(number: int, most: int) -> int:
    """Which of SHADES; only what hurts nobody has the first, and only the most has the last."""
    return 0 if not number else 1 + (len(SHADES) - 2) * number // most


def thing_of(heat: HeatMap, place: int) -> str:
    """What a label of the map stands for."""
    return f"{'b' if heat.by == 'broker' else RACK}{heat.labels[place]}"


def worst_first(heat: HeatMap, dying: Iterable[str]) -> list[int]:
    """As they are met in the list of scenarios, whose labels are `dying`; then the others by their worst pair."""
    hurt = np.array(heat.hurt, np.int64).reshape(len(heat.labels), -1)
    places = {label: place for place, label in enumerate(heat.labels)}
    others = np.argsort(-hurt.max(axis=1, initial=0), kind="stable").tolist()
    return list(dict.fromkeys((*(places[label] for label in dying if label in places), *others)))


def _dying(look: AnalysisAnswer, result: DrillResult) -> Iterator[str]:
    """Labels of what dies in the scenarios that are listed, the worst first."""
    assert result.heat is not None
    brokers = look.image.brokers
    for scenario in result.listed:
        for broker in scenario.kill:
            known = brokers.get(broker)
            yield str(broker) if result.heat.by == "broker" else (known and known.rack) or ""


def sweep_heat(look: AnalysisAnswer, query: HeatList, now_ms: int, memory: Memory) -> Window:
    """A row and a column for each broker or rack; sorted by name, both stand in the order of ids."""
    result: DrillResult | None = look.result
    if result is None or result.heat is None:
        return Window(0, 0, (), note=look.note or "only pairs have a heat map: v goes on to them")
    found = result.heat
    order = list(range(len(found.labels))) if query.sort else worst_first(found, _dying(look, result))
    heat = Heat(found, order[::-1] if query.reverse else order)
    column = query.column if query.column in heat.things else next(iter((*heat.things[1:2], *heat.things)), "")
    shown, numbered = _fitted(heat, query, column)
    listing = Listing(
        count=len(heat.things),
        fields=lambda: {"name": Texts(lambda: heat.names)},
        shown=("name",),
        row=lambda row: _heat_row(heat, row, shown, numbered=numbered),
        place=place_in(heat.things),
        columns=(Column(_cut(shown, found), _widest(heat), "<", "name"), Column(_title(heat, shown), shown.width)),
        made_from=(look.result, query.sort, query.reverse),
        nothing="there is no pair to kill",
    )
    asked = msgspec.structs.replace(query, sort="", reverse=False)
    return msgspec.structs.replace(window(listing, asked, memory, now_ms), across=shown.across(heat.things, MAP))


def _fitted(heat: Heat, query: HeatList, column: str) -> tuple[VisibleColumns, bool]:
    """With names and numbers where they fit, else with names, else without."""
    room = query.width - EDGES - _widest(heat) - 1
    name = max(map(len, heat.names), default=1)
    place = heat.things.index(column) if column else NOWHERE
    count = len(heat.names)
    wide = max(name, len(f"{heat.most:,}") + 1) + 1
    forms = ((wide, True), (name + 1, False), (COMPACT, False))
    fitted = [(visible_columns(count, cell, room, query.offset, place), numbered) for cell, numbered in forms]
    return next((one for one in fitted if one[0].count == count), fitted[-1])


def _widest(heat: Heat) -> int:
    return max([len("17-48/64"), *map(len, heat.names)])


def _cut(shown: VisibleColumns, heat: HeatMap) -> str:
    """Which columns are in view, where not all are."""
    first, last, total = shown.first + 1, shown.first + shown.count, len(heat.labels)
    return f"{first}-{last}/{total}" if shown.count < total else heat.by


def _title(heat: Heat, shown: VisibleColumns) -> str:
    """All names above their cells; where there is no room, the cursor's alone."""
    names = heat.names[shown.view]
    if max(map(len, names), default=0) < shown.cell:
        return shown.title(names)
    if shown.column == NOWHERE:
        return ""
    name, start = NAMED + heat.names[shown.column], (shown.column - shown.first) * shown.cell
    return " " * min(start, max(shown.width - len(name), 0)) + name


def _heat_row(heat: Heat, row: int, shown: VisibleColumns, *, numbered: bool) -> Row:
    cells: Line = shown.line([heat.cell(row, place, numbered=numbered) for place in range(len(heat.names))[shown.view]])
    return Row(heat.things[row], (line(heat.names[row]), cells))


def _shade_style(shade: int) -> str:
    return (
        SHADE_STYLES[0] if not shade else SHADE_STYLES[1 + (shade - 1) * (len(SHADE_STYLES) - 1) // (len(SHADES) - 1)]
    )


KINDS = {
    "brokers": "every broker",
    "pairs": "every pair of brokers",
    "racks": "every rack",
    "brokers-and-racks": "every broker with every other rack",
    "random": "1,000 random sets of 3 brokers",
}
MOST_SETS = 8


def sweep_text(look: AnalysisAnswer, query: SweepText, *_: object) -> TextAnswer:
    """The box beside the scenarios."""
    sheet = Sheet("Sweep", query.width)
    if first := not_forecast(look.image):
        sheet.say(first, "warn")
    result: DrillResult | None = look.result
    if look.stale:
        sheet.say("the cluster has changed since: r works it out anew", "warn")
    if look.note:
        sheet.say(look.note)
    if result is None:
        return _asked(sheet, look).answer()
    if result.heat is not None:
        _pair(sheet, result, result.heat, query.cell)
    style = "error" if result.hurting else "ok"
    sheet.fact("hurt by", f"{result.hurting:,} of {result.scenarios:,} scenarios", style)
    now = result.before
    sheet.fact("now", f"{now.offline:,} offline, {now.under_min_isr:,} under min ISR, {now.under_replicated:,} under")
    _fatal(sheet, result)
    for chance in result.loss:
        sheet.fact("loss", _chance(chance), "warn" if chance.probability > 0 else "")
    return _asked(sheet, look).answer()


def scenario_text(look: AnalysisAnswer, query: ScenarioText, *_: object) -> TextAnswer:
    """The scenario whose name is the key."""
    sheet = Sheet(query.key, query.width)
    result: DrillResult | None = look.result
    one = next((one for one in result.listed if name_of(one) == query.key), None) if result else None
    if one is None:
        return sheet.say(look.note or "this scenario is not listed").answer()
    for field, title, _style in SCENARIO_COUNTS:
        sheet.fact(title, f"{getattr(one.counts, field):,}")
    sheet.fact("hurt", counted(one.counts.hurt, "partition"), scenario_mark(one)[1])
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
        bar = "#" * (20 * leaders // most)
        sheet.draw(span(f"{f'b{broker}':>6} ", "dim"), span(f"{leaders:>8,} "), span(bar, "info"))


def _fatal(sheet: Sheet, result: DrillResult) -> None:
    if not result.fatal.counts:
        return
    sizes = ", ".join(f"{count:,} of {size}" for size, count in sorted(result.fatal.counts.items()))
    sheet.fact("fatal", f"smallest broker sets that hold all in-sync replicas of a partition: {sizes}")
    for one in result.fatal.sets[:MOST_SETS]:
        sheet.fact(
            "", f"{' '.join(f'b{broker}' for broker in one.kill)}: {counted(one.partitions, 'partition')}", "warn"
        )


def _chance(chance: LossChance) -> str:
    each = f"each broker with {100 * (chance.rate or 0):g}%"
    who = each if chance.failed is None else f"{counted(chance.failed, 'broker')} at once"
    probability = f"{'' if chance.exact else 'about '}{100 * chance.probability:.3g}%"
    return f"{who} for good: {probability}, {chance.expected_partitions:.3g} partitions expected"


def _asked(sheet: Sheet, look: AnalysisAnswer) -> Sheet:
    question = look.question
    assert isinstance(question, SweepQuestion)
    sheet.fact("dies", KINDS[question.kind])
    sheet.fact("policy", f"unclean election {'on everywhere' if question.unclean else 'as each topic has it'}")
    if look.engine:
        sheet.fact("engine", f"{look.engine}, {look.seconds:.2f} s")
    if look.spark:
        sheet.fact("Spark", look.spark.removeprefix("Spark "))
    return sheet.fact("image of", f"{clock_text(look.image.provenance.time_ms)} UTC")


def _pair(sheet: Sheet, result: DrillResult, heat: HeatMap, cell: tuple[str, str]) -> None:
    """What the cell under the heat map's cursor says: `b1` and `b4`, or `rack:r1` and `rack:r2`."""
    things = {thing_of(heat, place): place for place in range(len(heat.labels))}
    row, column = (things.get(thing, -1) for thing in cell)
    if min(row, column) < 0:
        return
    hurt, names = heat.hurt[row][column], " and ".join(heat.labels[place] for place in (row, column))
    style = "warn" if hurt else "ok"
    if heat.by == "rack":
        sheet.fact("cell", f"racks {names}: the worst pair hurts {counted(hurt, 'partition')}", style)
        sheet.say("enter plays the death of both racks, which is worse than that of a pair", "dim").gap()
    elif row == column:
        sheet.fact("cell", f"broker {heat.labels[row]} alone: enter plays its death").gap()
    else:
        sheet.fact("cell", f"brokers {names}: hurt {counted(hurt, 'partition')}", style)
        kill = {int(heat.labels[row]), int(heat.labels[column])}
        found = next((one for one in result.listed if set(one.kill) == kill), None)
        numbers = [f"{getattr(found.counts, field):,} {title}" for field, title, _ in SCENARIO_COUNTS] if found else []
        sheet.fact("", ", ".join(numbers) or f"not among the worst {len(result.listed)}").gap()
