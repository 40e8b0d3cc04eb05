"""The owners of a group as a list: what a filter and a sort mean for them, and the left half of each row."""

from collections.abc import Callable, Sequence

import numpy as np

from tui.data.fields import Field, Numbers, Texts
from tui.data.pages.groups import lag_cell
from tui.data.pages.listing import Listing, place_in
from tui.data.pages.ownership.owner import Owner
from tui.data.pages.ownership.sharing import NO_OWNER, Sharing
from tui.rows import Column, Line, Row, line, span

BAR = 8
"""Cells of the bar that compares how much each one owns."""


def listed(one: Sharing) -> tuple[tuple[Owner, int], ...]:
    """Nobody, if there is something that nobody owns, and the owners; each with its place in the sharing."""
    nobody = () if one.nobody is None else ((one.nobody, NO_OWNER),)
    return (*nobody, *((owner, place) for place, owner in enumerate(one.owners)))


Cells = Callable[[Owner, int], tuple[Line, ...]]
"""The cells of a row, from an owner and its place in the sharing."""


def owner_listing(one: Sharing, columns: tuple[Column, ...], cells: Cells) -> Listing:
    """Each with these cells; what needs a look comes first."""
    rows = listed(one)
    return Listing(
        count=len(rows),
        fields=lambda: _fields(one, rows),
        shown=("thread", "state", "owns"),
        row=lambda i: Row(rows[i][0].name, cells(*rows[i]), mark=rows[i][0].mark),
        place=place_in([owner.name for owner, _ in rows]),
        columns=columns,
        made_from=(one,),
        nothing="the group has no members and owns nothing",
    )


def owner_columns(width: int, lag: int) -> tuple[Column, ...]:
    """The columns that the table and the graph share."""
    return (
        Column("consumer thread", width, "<", "thread"),
        Column("parts", 5, ">", "partitions"),
        Column("lag", lag, ">", "lag"),
    )


def owner_cells(owner: Owner, style: str | None = None) -> tuple[Line, ...]:
    """What stands in them; another style takes away what a name's own says only by colour."""
    shown = owner.style or style or ""
    return (
        line(span(owner.label, shown)),
        line(span(f"{owner.parts:,}", style or ("" if owner.parts else "dim"))),
        lag_cell(owner.lag),
    )


def owner_bar(owner: Owner, most: int) -> Line:
    """How much it owns, compared with the others."""
    share = max(round(owner.parts * BAR / most), 1) if owner.parts else 0
    bar = "#" * share or ("idle" if owner.state == "idle" else "")
    return line(span(bar, owner.style or "isr"))


def _fields(one: Sharing, rows: Sequence[tuple[Owner, int]]) -> dict[str, Field]:
    def owned(place: int) -> str:
        return " ".join(map(one.name, one.of(place).tolist()))

    return {
        "thread": Texts(lambda: [owner.name for owner, _ in rows]),
        "state": Texts(lambda: [owner.state for owner, _ in rows]),
        "owns": Texts(lambda: [owned(place) for _, place in rows]),
        "partitions": Numbers(np.array([owner.parts for owner, _ in rows], np.int64)),
        "lag": Numbers(np.array([-1 if owner.lag is None else owner.lag for owner, _ in rows], np.int64)),
    }
