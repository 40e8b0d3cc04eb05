"""The timeline in two lines: times above, and below each scene's sign, the most telling of those that share a cell."""

from collections.abc import Iterator, Sequence

from tui.data.drills.desk import Look
from tui.data.drills.film import MARKS, SIGNS, Scene
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.drill.moments import STYLES, seconds
from tui.data.pages.drill.places import cell_of
from tui.data.pages.sheets import Sheet
from tui.rows import Span, span

RANKS = {sign: rank for rank, sign in enumerate(dict.fromkeys((*MARKS, *SIGNS.values(), ".")))}
"""Where scenes share a cell, the first of these is seen."""

HERE = "@"


def scrubber_text(look: Look, query: TextQuery) -> TextAnswer:
    """Two lines of the query's width; what has been played up to the moment is told from what is to come."""
    sheet, film = Sheet("Timeline", query.width), look.film
    if film is None or not film.scenes or query.width <= 0:
        return sheet.draw().draw(span("-" * query.width, "dim")).answer()
    here = cell_of(film.scene(query.moment), query.width, len(film.scenes))
    sheet.draw(span(_times(film.scenes, query.width), "dim"))
    return sheet.draw(*_signs(film.scenes, query.width, here)).answer()


def _signs(scenes: Sequence[Scene], width: int, here: int) -> Iterator[Span]:
    cells = ["-"] * width
    for number, scene in enumerate(scenes):
        cell = cell_of(number, width, len(scenes))
        if cells[cell] == "-" or RANKS[scene.sign] < RANKS[cells[cell]]:
            cells[cell] = scene.sign
    for cell, sign in enumerate(cells):
        if cell == here:
            yield span(HERE, "caret")
        elif sign == "-":
            yield span("=" if cell < here else "-", "rule")
        else:
            yield span(sign, STYLES.get(sign, "dim"))


def _times(scenes: Sequence[Scene], width: int) -> str:
    """As many times as fit, each beginning above its scene: those of marks first, then what is not the same ms."""
    cells, told = [" "] * width, set[int]()
    for number, scene in sorted(enumerate(scenes), key=lambda one: (one[1].sign not in MARKS, one[0])):
        name, cell = seconds(scene.at_ms), cell_of(number, width, len(scenes))
        around = cells[max(cell - 1, 0) : cell + len(name) + 1]
        if int(scene.at_ms) not in told and cell + len(name) <= width and not "".join(around).strip():
            cells[cell : cell + len(name)] = name
            told.add(int(scene.at_ms))
    return "".join(cells).rstrip()
