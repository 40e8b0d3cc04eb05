"""A fleet on the sweep's screen: every scenario that has been played, the worst first, for how long partitions had no
leader by broker and by pair, and what it says as a whole.

Sums over partitions are partition-seconds. While a fleet is played there are fewer rows than scenarios.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.analyses.fleets.scenarios import GENERATORS, FleetResult, FleetRow, left_out
from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import counted
from tui.engine import glyphs
from tui.engine.drill.heat import ITSELF, SHADES, HeatGrid, drawn_map, legend
from tui.engine.drill.queries import HeatList, ScenarioList
from tui.engine.filters import ListField, Numbers, Texts
from tui.engine.jobs import AnalysisAnswer
from tui.engine.listing import AnswerMemo, Listing
from tui.engine.messages import TextAnswer
from tui.engine.partitions.counts import rack_name
from tui.engine.rows import Column, Line, Row, Span, Window, line, span
from tui.engine.sheets import Sheet, duration_text

NEVER, LOST = 6, 7
"""Steps of heat: a partition that has no leader in the end; one whose leader was elected out of sync."""
LONGEST_S = (0.0, 1.0, 10.0, 20.0, 60.0)
"""The steps below: nothing was without a leader for longer than so many seconds."""
HEATS = (
    ("none", (0,)), ("to 1 s", (1,)), ("10 s", (2,)), ("20 s", (3,)), ("1 min", (4,)), ("longer", (5,)),
    ("never led again", (NEVER,)), ("lost", (LOST,)),
)  # fmt: skip

NAMES: Mapping[str, str] = {"single": "one", "rack": "rack", "rolling": "roll", "random": "rand"}
"""Generator → what stands above its column of the map; pairs are a column for each broker."""

KINDS: Mapping[str, str] = {
    "all": "every broker, pair and rack; rolling restarts; random sequences",
    "single": "every broker: fails, and comes back after 15 min",
    "pair": "every pair: together, one after the other, while one catches up",
    "rack": "every rack, and with it any broker of another",
    "rolling": "rolling restarts of all brokers",
    "random": "random sequences of failures and returns within half an hour",
}


def step_of(row: FleetRow) -> int:
    """How hot a scenario is: by the longest that a partition had no leader."""
    if row.lost or row.offline_after:
        return LOST if row.lost else NEVER
    return next((step for step, most_s in enumerate(LONGEST_S) if row.longest_s <= most_s), len(LONGEST_S))


def short_of(row: FleetRow) -> str:
    """The same in at most five characters: `18.2`, `901`, `32m`, `never`, `lost`."""
    if row.lost or row.offline_after:
        return "lost" if row.lost else "never"
    if not row.longest_s:
        return ""
    if row.longest_s < 100:
        return f"{row.longest_s:.1f}"
    return f"{row.longest_s:.0f}" if row.longest_s < 1_000 else f"{row.longest_s / 60:.0f}m"


def ranked(look: AnalysisAnswer, memory: AnswerMemo) -> tuple[FleetRow, ...]:
    """The worst first."""
    result: FleetResult | None = look.result
    return memory.recall("fleet ranked", (result,), lambda: result.worst_first if result else ())


def named(row: FleetRow) -> str:
    """What happens, and who is the controller where that was chosen."""
    return row.text if row.controller is None else f"{row.text}, controller b{row.controller}"


# The list

SECONDS = "no leader s"
TITLES: tuple[tuple[str, str, str], ...] = (
    ("lost", "lost", "error"),
    ("offline_after", "offline", "error"),
    ("under_min_after", "min ISR", "warn"),
    ("leaderless_s", SECONDS, ""),
    ("longest_s", "longest s", ""),
    ("under_min", "refused", ""),
    ("under_min_s", "refused s", ""),
    ("moved", "moved", ""),
    ("unclean_elections", "unclean", ""),
)
"""Field of FleetRow, title, style of a number above 0."""
RANKS = {"lost": 0, "offline": 0, SECONDS: 1, "longest s": 2, "min ISR": 3, "refused": 4, "moved": 5, "refused s": 6}
BAR = 10
LAST = 7
"""Rank of what is left out first."""


def _columns() -> tuple[Column, ...]:
    """The bar stands before its number."""
    figures = [
        Column(title, max(len(title), 9 if field.endswith("_s") else 5), ">", field, RANKS.get(title, LAST))
        for field, title, _ in TITLES
    ]
    place = 1 + next(place for place, (_, title, _) in enumerate(TITLES) if title == SECONDS)
    columns = [Column("scenario", -30, "<", "scenario"), *figures]
    return (*columns[:place], Column("", BAR, "<", "", LAST), *columns[place:])


def fleet_scenarios(look: AnalysisAnswer, query: ScenarioList, memory: AnswerMemo) -> Listing:
    """Every scenario that was played; its key is what is done in it. `cell`: only those of that cell of the map."""
    rows = ranked(look, memory)
    if query.cell != ("", ""):
        rows = tuple(row for row in rows if query.cell in cells_of(row))
    names = memory.recall(f"fleet names {query.cell}", (look.result,), lambda: [named(row) for row in rows])
    most = max((row.leaderless_s for row in rows), default=0.0)

    def fields() -> dict[str, ListField]:
        numbers = {field: Numbers(np.array([getattr(row, field) for row in rows])) for field, _, _ in TITLES}
        return {"scenario": Texts(lambda: names), **numbers}

    return Listing(
        count=len(rows),
        fields=fields,
        shown=("scenario",),
        row=lambda index: _row(names[index], rows[index], most),
        place=lambda key: next((place for place, row in enumerate(rows) if row.scenario == key), -1),
        columns=_columns(),
        made_from=(look.result, *query.cell),
        nothing=look.note or "there is nobody to kill",
    )


def _row(name: str, row: FleetRow, most_s: float) -> Row:
    mark = "X" if row.lost or row.offline_after else "!" if row.under_min_after else ""
    style = {"X": "error", "!": "warn"}.get(mark, "")
    if row.error:
        return Row(row.scenario, (line(span(name, "dim")), *[line("")] * len(TITLES), line("")), mark="~")
    cells: list[Line] = [line(span(name, style))]
    for field, title, heat in TITLES:
        value = getattr(row, field)
        if title == SECONDS:
            cells.append(glyphs.bars([(value / most_s if most_s else 0, f"heat{step_of(row)}")], BAR))
        text = f"{value:,.1f}" if field.endswith("_s") else f"{value:,}"
        cells.append(line(span(text, heat if value else "dim")))
    return Row(row.scenario, tuple(cells), mark=mark)


# The map


def cells_of(row: FleetRow) -> tuple[tuple[str, str], ...]:
    """The cells of the map that a scenario counts in: by who falls, and with whom or how."""
    fallen = [f"b{broker}" for broker in sorted({down.broker for down in row.down})]
    if row.generator != "pair":
        return tuple((broker, row.generator) for broker in fallen)
    return tuple((one, other) for one in fallen for other in fallen if one != other)


@dataclass(frozen=True, eq=False)
class FleetHeat:
    """A row for each broker that falls; a column for each kind of scenario, and one for each broker that falls with it.

    A cell has the worst that was played.
    """

    brokers: Sequence[int]
    kinds: Sequence[str]
    worst: Mapping[tuple[str, str], FleetRow]
    has_pairs: bool
    is_filled: bool = True

    @cached_property
    def rows(self) -> tuple[str, ...]:
        return tuple(f"b{broker}" for broker in self.brokers)

    @cached_property
    def things(self) -> tuple[str, ...]:
        return (*self.kinds, *(self.rows if self.has_pairs else ()))

    @cached_property
    def grid(self) -> HeatGrid:
        """As it is drawn."""
        widest = max((len(short_of(row)) for row in self.worst.values()), default=1) + (not self.is_filled)
        names = [NAMES.get(thing, thing) for thing in self.things]
        return HeatGrid(self.things, names, self.rows, self.rows, "fails", widest, self.cell)

    def cell(self, row: int, column: int, numbered: bool) -> Span:
        broker, thing = self.rows[row], self.things[column]
        if broker == thing:
            return ITSELF
        found = self.worst.get((broker, thing))
        if found is None:
            return ("", "")
        step = step_of(found)
        return span(("" if self.is_filled else SHADES[step]) + (short_of(found) if numbered else ""), f"heat{step}")


def heat_of(look: AnalysisAnswer, rows: Sequence[FleetRow], query: HeatList) -> FleetHeat:
    """Brokers by rack, and within one the hottest first; sorted, in the order of ids."""
    worst: dict[tuple[str, str], FleetRow] = {}
    for row in rows:
        for cell in cells_of(row):
            worst.setdefault(cell, row)
    seen = {kind for _, kind in worst}
    brokers = sorted(look.image.brokers)
    if not query.sort:
        brokers.sort(key=_heat_first(look.image, worst))
    kinds = [kind for kind in GENERATORS if kind in NAMES and kind in seen]
    has_pairs = any(kind.startswith("b") for kind in seen)
    return FleetHeat(brokers[::-1] if query.reverse else brokers, kinds, worst, has_pairs, query.is_filled)


def _heat_first(image: ClusterImage, worst: Mapping[tuple[str, str], FleetRow]):
    heat: dict[int, float] = {}
    for (name, _), row in worst.items():
        heat[int(name[1:])] = heat.get(int(name[1:]), 0.0) + step_of(row)
    return lambda broker: (rack_name(image, broker), -heat.get(broker, 0.0), broker)


def fleet_heat(look: AnalysisAnswer, query: HeatList, now_ms: int, memory: AnswerMemo) -> Window:
    """How long partitions had no leader, by who fails and how."""
    rows = ranked(look, memory)
    if not rows:
        return Window(0, 0, (), note=look.note or "nothing was played")
    made_from = (look.result, query.sort, query.reverse, query.is_filled)
    heat = memory.recall("fleet heat", made_from, lambda: heat_of(look, rows, query))
    return drawn_map(heat.grid, query, next(iter(heat.things), ""), made_from, memory, now_ms)


# Texts


def fleet_summary(sheet: Sheet, look: AnalysisAnswer, cell: tuple[str, str], memory: AnswerMemo) -> None:
    """What a fleet says as a whole, and of the cell under the map's cursor."""
    rows = ranked(look, memory)
    result: FleetResult | None = look.result
    if result is None or not rows:
        return
    if len(rows) < result.scenarios:
        sheet.say(f"partial: {len(rows):,} of {result.scenarios:,}", "warn")
    if said := left_out(result.every):
        sheet.say(said, "warn")
    here = next((row for row in rows if cell in cells_of(row)), None)
    if here is not None:
        sheet.fact("cell", f"worst here: {named(here)}", "error" if step_of(here) >= NEVER else "")
        sheet.fact("", _in_words(here))
    sheet.draw(*legend(HEATS)).gap()
    hurt = sum(row.hurts for row in rows)
    told = f"{hurt:,} of {len(rows):,} scenarios lose records, or leave partitions offline or under min ISR"
    sheet.fact("hurt", told, "error" if hurt else "ok")
    back = [row for row in rows if not row.offline_after]
    if back:
        longest = max(back, key=lambda row: row.longest_s)
        sheet.fact("longest", f"{duration_text(round(1000 * longest.longest_s))} until led again: {named(longest)}")
    refused = max(rows, key=lambda row: row.under_min)
    sheet.fact("refused", f"producers (acks=all) to {counted(refused.under_min, 'partition')}: {named(refused)}")
    if failed := sum(bool(row.error) for row in rows):
        sheet.fact("errors", f"{failed:,} could not be played: d says why")


def _in_words(row: FleetRow) -> str:
    if row.error:
        return row.error
    led = "is never led again" if row.offline_after else f"at most {duration_text(round(1000 * row.longest_s))}"
    without = f"{counted(row.leaderless, 'partition')} without a leader, {led}" if row.leaderless else "always led"
    lost = f"{row.lost:,} lost, " if row.lost else ""
    return f"{lost}{without}; {row.under_min:,} refused producers, {row.moved:,} moved"


def fleet_row_text(sheet: Sheet, look: AnalysisAnswer, key: str, memory: AnswerMemo) -> TextAnswer:
    """The scenario whose key it is."""
    row = next((row for row in ranked(look, memory) if row.scenario == key), None)
    if row is None:
        return sheet.say(look.note or "this scenario is not listed").answer()
    sheet.say(named(row), "heading")
    if row.error:
        return sheet.say(row.error, "error").answer()
    for field, title, style in TITLES:
        value = getattr(row, field)
        text = f"{value:,.1f}" if field.endswith("_s") else f"{value:,}"
        sheet.fact(title, text, style if value else "dim")
    for down in row.down:
        back = "" if down.back_ms is None else f" until +{down.back_ms / 1000:,.3f} s"
        sheet.fact("down", f"b{down.broker} from +{down.at_ms / 1000:,.3f} s{back}")
    sheet.fact("over", f"+{row.ended_s:,.1f} s" + ("" if row.at_rest else ", not at rest even then"))
    return sheet.gap().say("enter plays it on the drill's screen, moment by moment", "dim").answer()
