"""Every screen in terminals of many sizes: no list loses its verdict, and nothing is cut off beside emptiness.

One app walks over the screens and is resized on each. What is found names the page, the size, the pane and the row.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import pytest
from textual.widget import Widget

from tests.thorough import the_rest_when_asked
from tests.tui.dashboard import Keys, kdrill, opened, settled
from tests.tui.data.logs.log_folders import write_log
from tests.tui.quiet import resized
from tests.tui.screens.pages import PAGES, look_into_logs, walk
from tests.tui.screens.still_sandbox import WithStillSandbox
from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LiveRows
from tui.app.panes.shares import ByNeed, claim_of
from tui.app.widgets.drawing import EDGES, GAP
from tui.engine.rows import Row
from tui.engine.text import cells, plain

LARGE = (200, 60)
"""All lists that the way to the next page waits for are in sight."""
USUAL = ((60, 16),)
"""The smallest; what is cut off or lost at 80x24 is not what test_snapshots has kept of every page."""
OTHERS = ((72, 20), (80, 24), (90, 30), (100, 24), (119, 39), (120, 40), (140, 44), (160, 50), (180, 50), (240, 80))


@pytest.fixture(scope="module")
def logs() -> Iterator[str]:
    with TemporaryDirectory() as folder:
        write_log(Path(folder, "orders-0"))
        yield folder


@pytest.mark.parametrize("sizes", the_rest_when_asked([USUAL, OTHERS]), ids=["usual", "others"])
async def test_no_verdict_is_lost_and_nothing_is_cut_off_beside_emptiness(
    still: str, logs: str, sizes: Sequence[tuple[int, int]]
) -> None:
    await all_is_well(still, logs, sizes)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(2))
async def test_in_terminals_of_any_size(still: str, logs: str, seed: int) -> None:
    drawn = random.Random(seed)
    await all_is_well(still, logs, [(drawn.randint(60, 240), drawn.randint(16, 80)) for _ in range(8)])


async def all_is_well(still: str, logs: str, sizes: Sequence[tuple[int, int]]) -> None:
    found: list[str] = []
    async with opened(still, size=LARGE, link=WithStillSandbox) as pilot:
        await look_into_logs(pilot, logs)
        async for page in walk(pilot, PAGES):
            for size in (*sizes, LARGE):
                await resized(pilot, *size)
                await settled(pilot)
                found += [f"{page} {size[0]}x{size[1]} {said}" for said in complaints(pilot)]
    assert not found, "\n".join(found)


def complaints(pilot: Keys) -> Iterator[str]:
    """What is wrong with the screen in front, a line each."""
    screen = kdrill(pilot).screen
    for rows in in_sight(screen, LiveRows):
        yield from (f"{rows.id}: {said}" for said in (*lost(rows), *cut_off(rows)))
    for group in in_sight(screen, ByNeed):
        yield from kept_from(group)


Kind = TypeVar("Kind", bound=Widget)


def in_sight(screen: Widget, kind: type[Kind]) -> list[Kind]:
    return [widget for widget in screen.query(kind) if widget.is_on_screen and widget.size.area]


def lost(rows: LiveRows) -> Iterator[str]:
    """Columns of rank 0 that are out of view."""
    for place, column in enumerate(rows.answer.columns):
        if not column.rank and rows.start_of(place) is None:
            yield f"column {column.title or place} is out of view"


def cut_off(rows: LiveRows) -> Iterator[str]:
    """The first row with a text that is cut off, where other columns have blank cells in every row."""
    columns = rows.answer.columns
    widths = {slot.column: slot.width for slot in rows.laid_out.slots} if columns else {}
    held = [[taken(rows, row, place) for place in range(len(columns))] for row in rows.answer.rows]
    unused = rows.size.width - EDGES - sum(widths.values()) - GAP * (len(widths) - 1)
    spare = unused + sum(
        width - max([cells(columns[place].title) + bool(columns[place].sort), *(needs[place] for needs in held)])
        for place, width in widths.items()
        if columns[place].width < 0
    )
    for row, needs in zip(rows.answer.rows, held, strict=True):
        short = [place for place, width in widths.items() if needs[place] > width]
        if short and spare > 0:
            yield f"{row.key}: {columns[short[0]].title!r} is cut off, and {spare} cells are blank"
            return


def taken(rows: LiveRows, row: Row, place: int) -> int:
    """Cells that a row needs in a column."""
    line = row.cells[place] if place < len(row.cells) else ()
    return sum(cells(plain(text)) for text, _ in ((*rows.indent(row), *line) if not place else line))


def kept_from(group: ByNeed) -> Iterator[str]:
    """Panes that have less than they want beside others that have more."""
    shown = [child for child in group.children if child.display]
    claims = [claim_of(child, group.axis) for child in shown]
    extents = [child.outer_size[group.axis] for child in shown]
    if sum(claim.least for claim in claims) > sum(extents):
        return
    short = [child for child, claim, has in zip(shown, claims, extents, strict=True) if has < claim.wants]
    rich = [child for child, claim, has in zip(shown, claims, extents, strict=True) if has > claim.wants]
    if short and rich:
        yield f"{group.id}: {named(short[0])} wants more than it has, and {named(rich[0])} has more than it wants"


def named(widget: Widget) -> str:
    return f"{widget.id} ({widget.title})" if isinstance(widget, Framed) else f"{widget.id}"
