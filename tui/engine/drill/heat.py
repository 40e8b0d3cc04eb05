"""The heat map of pairs: how bad it is when two brokers, or racks, fail together.

Each cell has the worst that happens there, in the order of the list: partitions that lose records, then partitions
offline, then those under min ISR, then leaders that move. The first three have two steps of heat each, by how many
partitions it is; the number is how many. Where colours fill no cells, a sign before the number says the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import msgspec

from model.analyses.drills.results import DrillResult, HeatMap, ScenarioOutcome
from model.cluster.cluster_image import ClusterImage
from tui.engine.drill.queries import HeatList
from tui.engine.filters import Texts
from tui.engine.jobs import AnalysisAnswer
from tui.engine.listing import (
    BESIDE,
    NAMED,
    NOWHERE,
    AnswerMemo,
    Listing,
    VisibleColumns,
    place_in,
    visible_columns,
    window,
)
from tui.engine.partitions.counts import rack_name
from tui.engine.partitions.map import RACK
from tui.engine.partitions.rows import EDGES
from tui.engine.rows import Column, Line, Row, Span, Window, line, span

SHADES_OF = (("unclean", 6), ("newly_offline", 4), ("newly_under_min_isr", 2))
"""Field of Counts, and the first of its two steps of heat; below them are leaders that move, and nothing at all."""
MOVED, NOTHING = 1, 0

SHADES = ".:-=+*#@"
"""The sign of each step of heat, where colours fill no cells."""
ITSELF = ("\\", "dim")
"""What stands where a broker meets itself."""

COMPACT, TINY = 2, 1
"""Characters of a cell without a name above; TINY is all of it, and has no room for a number or a cursor beside it."""

MAP = 1
"""The place of the map among the columns."""


class HeatGrid(NamedTuple):
    """What is drawn as a heat map."""

    things: tuple[str, ...]
    """Across."""
    names: Sequence[str]
    """The same as they are read."""
    rows: tuple[str, ...]
    """Down."""
    row_names: Sequence[str]
    by: str
    """What stands above the names of rows."""
    widest: int
    """Characters of the longest number; a sign before it that stands for the colour included."""
    cell: Callable[[int, int, bool], Span]
    """What stands where a row and a column meet, with a number or not."""


class HeatCell(msgspec.Struct, frozen=True):
    """What the death of two does: the step of heat, and how many partitions suffer the worst of it."""

    step: int = NOTHING
    number: int = 0


@dataclass(frozen=True, eq=False)
class DrawnHeatMap:
    """A heat map in an order: `order` are the places of its labels; `found` has the worst scenario of each two."""

    heat: HeatMap
    order: Sequence[int]
    found: Mapping[frozenset[str], ScenarioOutcome]
    is_filled: bool = True

    @cached_property
    def things(self) -> tuple[str, ...]:
        """`b3` or `rack:r1`."""
        return tuple(thing_of(self.heat, place) for place in self.order)

    @cached_property
    def names(self) -> list[str]:
        """As they are read."""
        return [thing.removeprefix(RACK) for thing in self.things]

    @cached_property
    def most(self) -> tuple[int, ...]:
        """The most partitions of any cell, for each of SHADES_OF."""
        every = [affected(one) for one in self.found.values()]
        return tuple(map(max, zip(*every, strict=True))) if every else (0,) * len(SHADES_OF)

    def at(self, row: int, column: int) -> HeatCell:
        """Where two meet."""
        places = self.order[row], self.order[column]
        scenario = self.found.get(frozenset(self.heat.labels[place] for place in places))
        if scenario is None:  # not among the worst: all that is known is how many are affected
            hurt = self.heat.hurt[places[0]][places[1]]
            return HeatCell(SHADES_OF[-1][1], hurt) if hurt else HeatCell()
        return heat_cell(scenario, self.most)

    @cached_property
    def widest(self) -> int:
        """Characters of the longest number."""
        return max(len(f"{number:,}") for number in (0, *self.most, *(max(row, default=0) for row in self.heat.hurt)))

    def cell(self, row: int, column: int, numbered: bool) -> Span:
        """What stands where two meet."""
        if row == column and self.heat.by == "broker":
            return ITSELF
        here = self.at(row, column)
        sign = "" if self.is_filled else SHADES[here.step]
        return span(f"{sign}{here.number:,}" if numbered and here.number else sign, f"heat{here.step}")


def heat_cell(scenario: ScenarioOutcome, most: Sequence[int]) -> HeatCell:
    """The worst that a scenario does; `most`: of any, for each of SHADES_OF."""
    if scenario.quorum_lost:
        return HeatCell(len(SHADES) - 1, scenario.counts.hurt)
    for number, of, (_, step) in zip(affected(scenario), most, SHADES_OF, strict=True):
        if number:
            return HeatCell(step + (2 * number > of), number)
    moved = scenario.counts.leaders_moved
    return HeatCell(MOVED if moved else NOTHING, moved)


def thing_of(heat: HeatMap, place: int) -> str:
    """What a label of the map stands for."""
    return f"{'b' if heat.by == 'broker' else RACK}{heat.labels[place]}"


def clustered(heat: HeatMap, image: ClusterImage, first: str) -> list[int]:
    """By rack, and within one by how many partitions are affected with others; most first.

    `first`, a label, and its rack come before all: who is in the worst pair.
    """
    totals = [sum(row) for row in heat.hurt]
    racks = [rack_name(image, int(label)) if heat.by == "broker" else label for label in heat.labels]
    of_rack: dict[str, int] = {}
    for rack, total in zip(racks, totals, strict=True):
        of_rack[rack] = of_rack.get(rack, 0) + total

    def rank(at: int) -> tuple[bool, int, str, bool, int, int]:
        is_first = racks[at] in racks_first
        return not is_first, -of_rack[racks[at]], racks[at], heat.labels[at] != first, -totals[at], at

    racks_first = [rack for rack, label in zip(racks, heat.labels, strict=True) if label == first]
    return sorted(range(len(racks)), key=rank)


def worst_of_each(look: AnalysisAnswer, result: DrillResult) -> dict[frozenset[str], ScenarioOutcome]:
    """The worst scenario that is listed of each two labels of the heat map."""
    by_rack, found = result.heat is not None and result.heat.by == "rack", dict[frozenset[str], ScenarioOutcome]()
    for one in result.listed:
        labels = (rack_name(look.image, broker) if by_rack else str(broker) for broker in one.kill)
        found.setdefault(frozenset(labels), one)
    return found


def heat_of(look: AnalysisAnswer, result: DrillResult, query: HeatList) -> DrawnHeatMap:
    """The map as it is looked at. There has to be one."""
    assert result.heat is not None
    found = worst_of_each(look, result)
    known = (label for pair in found for label in sorted(pair) if label in result.heat.labels)
    first = next(known, "")
    order = list(range(len(result.heat.labels))) if query.sort else clustered(result.heat, look.image, first)
    return DrawnHeatMap(result.heat, order[::-1] if query.reverse else order, found, query.is_filled)


def sweep_heat(look: AnalysisAnswer, query: HeatList, now_ms: int, memory: AnswerMemo) -> Window:
    """A row and a column for each broker or rack; sorted by name, both stand in the order of ids."""
    result: DrillResult | None = look.result
    if result is None or result.heat is None:
        return Window(0, 0, (), note=look.note or "only pairs have a heat map: v goes on to them")
    made_from = (result, query.sort, query.reverse, query.is_filled)
    heat = memory.recall(query.name, made_from, lambda: heat_of(look, result, query))
    widest = heat.widest + (not heat.is_filled)
    grid = HeatGrid(heat.things, heat.names, heat.things, heat.names, result.heat.by, widest, heat.cell)
    return drawn_map(grid, query, _worst_beside(heat), (result, query.sort, query.reverse), memory, now_ms)


def drawn_map(
    grid: HeatGrid, query: HeatList, beside: str, made_from: tuple[object, ...], memory: AnswerMemo, now_ms: int
) -> Window:
    """A map as it is looked at; `beside`: what its cursor is on across before anybody moved it."""
    column = query.column if query.column in grid.things else beside
    shown, numbered = _fitted(grid, query, column)
    listing = Listing(
        count=len(grid.rows),
        fields=lambda: {"name": Texts(lambda: list(grid.row_names))},
        shown=("name",),
        row=lambda row: _heat_row(grid, row, shown, numbered=numbered),
        place=place_in(grid.rows),
        columns=(
            Column(_cut(shown, grid), _name_width(grid), "<", "name"),
            Column(_title(grid, shown), shown.width),
        ),
        made_from=made_from,
        nothing="there is no pair to kill",
    )
    asked = msgspec.structs.replace(query, sort="", reverse=False)
    return msgspec.structs.replace(window(listing, asked, memory, now_ms), across=shown.across(grid.things, MAP))


def _worst_beside(heat: DrawnHeatMap) -> str:
    """The thing that is worst with the first one: there the cursor begins."""
    labels = heat.heat.labels
    first = labels[heat.order[0]] if heat.order else ""
    others = (label for pair in heat.found if first in pair for label in pair - {first} if label in labels)
    for label in others:
        return thing_of(heat.heat, labels.index(label))
    return next(iter((*heat.things[1:2], *heat.things)), "")


def _fitted(grid: HeatGrid, query: HeatList, column: str) -> tuple[VisibleColumns, bool]:
    """With names and numbers where they fit, else with names, else without."""
    room = query.width - EDGES - _name_width(grid) - 1
    name = max(map(len, grid.names), default=1)
    place = grid.things.index(column) if column else NOWHERE
    count = len(grid.names)
    wide = max(name, grid.widest) + 1
    forms = ((wide, True), (name + 1, False), (COMPACT, False), (TINY, False))
    fitted = [(visible_columns(count, cell, room, query.offset, place), numbered) for cell, numbered in forms]
    return next((one for one in fitted if one[0].count == count), fitted[-1])


def _name_width(grid: HeatGrid) -> int:
    return max([len("17-48/64"), *map(len, grid.row_names)])


def _cut(shown: VisibleColumns, grid: HeatGrid) -> str:
    """Which columns are in view, where not all are."""
    first, last, total = shown.first + 1, shown.first + shown.count, len(grid.things)
    return f"{first}-{last}/{total}" if shown.count < total else grid.by


def _title(grid: HeatGrid, shown: VisibleColumns) -> str:
    """All names above their cells; where there is no room, the cursor's alone."""
    names = grid.names[shown.view]
    if max(map(len, names), default=0) < shown.cell:
        return shown.title(names)
    if shown.column == NOWHERE:
        return ""
    name, start = NAMED + grid.names[shown.column], (shown.column - shown.first) * shown.cell
    return " " * min(start, max(shown.width - len(name), 0)) + name


def _heat_row(grid: HeatGrid, row: int, shown: VisibleColumns, *, numbered: bool) -> Row:
    places = range(len(grid.names))[shown.view]
    cells: list[Span] = [grid.cell(row, place, numbered) for place in places]
    if shown.cell > TINY:
        return Row(grid.rows[row], (line(grid.row_names[row]), shown.line(cells)))
    signs = [BESIDE if place == shown.column else sign or " " for place, (sign, _) in zip(places, cells, strict=True)]
    drawn: Line = tuple((sign, style) for sign, (_, style) in zip(signs, cells, strict=True))
    return Row(grid.rows[row], (line(grid.row_names[row]), drawn))


LEGEND = (("none", (NOTHING,)), ("moved", (MOVED,)), ("min ISR", (2, 3)), ("offline", (4, 5)), ("lost", (6, 7)))
"""What steps of heat stand for; of two the second is for more partitions."""


def legend(of: Sequence[tuple[str, tuple[int, ...]]] = LEGEND) -> Iterator[Span]:
    for name, steps in of:
        yield from (span(f"{SHADES[step]} ", f"heat{step}") for step in steps)
        yield span(f" {name}  ", "dim")


def affected(scenario: ScenarioOutcome) -> tuple[int, ...]:
    return tuple(getattr(scenario.counts, field) for field, _ in SHADES_OF)
