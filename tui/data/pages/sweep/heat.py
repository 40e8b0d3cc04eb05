"""The heat map of pairs: how many partitions two brokers, or racks, hurt together, in the order of the list beside it.

A sign tells how bad a cell is, its number how many where there is room; colour only doubles both.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np

from spark_tasks.drills.results import HeatMap, Result
from tui.data.analyses.look import Look
from tui.data.fields import Texts
from tui.data.messages import ListQuery
from tui.data.pages.across import NAMED, NOWHERE, Seen, seen
from tui.data.pages.listing import Listing, Memory, place_in, window
from tui.data.pages.map.brokers import RACK
from tui.data.pages.partitions import EDGES
from tui.rows import Column, Line, Row, Span, Window, line, span

SHADES = ".:-=+*#%@"
"""From nothing to the most that a pair hurts."""

STYLES = ("dim", "info", "warn", "error")
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
        return span(f"{SHADES[shade]}{number:,}" if numbered and number else SHADES[shade], _style(shade))


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


def _dying(look: Look, result: Result) -> Iterator[str]:
    """Labels of what dies in the scenarios that are listed, the worst first."""
    assert result.heat is not None
    brokers = look.image.brokers
    for scenario in result.listed:
        for broker in scenario.kill:
            known = brokers.get(broker)
            yield str(broker) if result.heat.by == "broker" else (known and known.rack) or ""


def sweep_heat(look: Look, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """A row and a column for each broker or rack; sorted by name, both stand in the order of ids."""
    result: Result | None = look.result
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
        row=lambda row: _row(heat, row, shown, numbered=numbered),
        place=place_in(heat.things),
        columns=(Column(_cut(shown, found), _widest(heat), "<", "name"), Column(_title(heat, shown), shown.width)),
        made_from=(look.result, query.sort, query.reverse),
        nothing="there is no pair to kill",
    )
    asked = msgspec.structs.replace(query, sort="", reverse=False)
    return msgspec.structs.replace(window(listing, asked, memory, now_ms), across=shown.across(heat.things, MAP))


def _fitted(heat: Heat, query: ListQuery, column: str) -> tuple[Seen, bool]:
    """With names and numbers where they fit, else with names, else without."""
    room = query.width - EDGES - _widest(heat) - 1
    name = max(map(len, heat.names), default=1)
    place = heat.things.index(column) if column else NOWHERE
    count = len(heat.names)
    wide = max(name, len(f"{heat.most:,}") + 1) + 1
    forms = ((wide, True), (name + 1, False), (COMPACT, False))
    fitted = [(seen(count, cell, room, query.offset, place), numbered) for cell, numbered in forms]
    return next((one for one in fitted if one[0].count == count), fitted[-1])


def _widest(heat: Heat) -> int:
    return max([len("17-48/64"), *map(len, heat.names)])


def _cut(shown: Seen, heat: HeatMap) -> str:
    """Which columns are in view, where not all are."""
    first, last, total = shown.first + 1, shown.first + shown.count, len(heat.labels)
    return f"{first}-{last}/{total}" if shown.count < total else heat.by


def _title(heat: Heat, shown: Seen) -> str:
    """All names above their cells; where there is no room, the cursor's alone."""
    names = heat.names[shown.view]
    if max(map(len, names), default=0) < shown.cell:
        return shown.title(names)
    if shown.column == NOWHERE:
        return ""
    name, start = NAMED + heat.names[shown.column], (shown.column - shown.first) * shown.cell
    return " " * min(start, max(shown.width - len(name), 0)) + name


def _row(heat: Heat, row: int, shown: Seen, *, numbered: bool) -> Row:
    cells: Line = shown.line([heat.cell(row, place, numbered=numbered) for place in range(len(heat.names))[shown.view]])
    return Row(heat.things[row], (line(heat.names[row]), cells))


def _style(shade: int) -> str:
    return STYLES[0] if not shade else STYLES[1 + (shade - 1) * (len(STYLES) - 1) // (len(SHADES) - 1)]
