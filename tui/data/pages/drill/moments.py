"""The moments of a drill, in order; and where a time, or the next mark, is among them."""

from collections.abc import Mapping, Sequence

from tui.data.drills.desk import Look
from tui.data.drills.film import MARKS, Scene
from tui.data.fields import Texts
from tui.data.messages import ListQuery
from tui.data.pages.drill.places import scene_of
from tui.data.pages.listing import Listing
from tui.rows import Column, Row, line, span

COLUMNS = (Column("", 10, ">"), Column("", -20))
STYLES: Mapping[str, str] = {"K": "dead", "x": "dead", "*": "controller", "U": "added", "w": "changed", "r": "info"}


def seconds(at_ms: float) -> str:
    """`+18.240`: seconds after the deaths."""
    return f"+{at_ms / 1000:,.3f}"


def drill_timeline(look: Look, _query: ListQuery) -> Listing:
    """Every moment. Its key is its number; `@18.2` is the last one by that second, `<7` and `>7` are marks, and
    `%30/120` is the one in cell 30 of a timeline of 120."""
    scenes = look.film.scenes if look.film else ()
    return Listing(
        count=len(scenes),
        fields=lambda: {"what": Texts(lambda: [scene.text for scene in scenes])},
        shown=("what",),
        row=lambda index: _row(index, scenes[index]),
        place=lambda key: _place(scenes, key),
        columns=COLUMNS,
        made_from=(look,),
        nothing=look.note,
    )


def _row(number: int, scene: Scene) -> Row:
    cells = line(span(seconds(scene.at_ms), "dim")), line(span(scene.text, STYLES.get(scene.sign, "")))
    return Row(key=str(number), cells=cells, mark=scene.sign)


def _place(scenes: Sequence[Scene], key: str) -> int:
    sign, rest = key[:1], key[1:]
    try:
        if sign == "@":
            return sum(scene.at_ms <= float(rest) * 1000 for scene in scenes[1:])
        if sign == "%":
            cell, _, width = rest.partition("/")
            return scene_of(int(cell), int(width), len(scenes))
        if sign in "<>":
            marks = [number for number, scene in enumerate(scenes) if scene.sign in MARKS]
            beyond = [n for n in marks if n > int(rest)] if sign == ">" else [n for n in marks[::-1] if n < int(rest)]
            return beyond[0] if beyond else -1
        return int(key) if 0 <= int(key) < len(scenes) else -1
    except ValueError:
        return -1
