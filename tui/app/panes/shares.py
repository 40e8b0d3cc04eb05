"""How panes side by side, or one below the other, share their room: by what they hold.

Each gets the least it can be read in, then what its contents want, the first in rank before others; what is left over
goes to those that grow, such as pictures. It depends on what is shown alone, not on what was; long lists want their
lines in steps, so that panes do not jump about while rows come and go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual import on
from textual.geometry import NULL_OFFSET, Region, Size, Spacing
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.layouts.horizontal import HorizontalLayout
from textual.widget import Widget

from tui.app.panes.frames import Framed, FrameGroup
from tui.app.widgets.lists import ContentShown


class SpaceClaim(NamedTuple):
    """What one pane asks of the room, in cells or lines, its frame included; `grows` and `rank` as a frame's."""

    least: int
    wants: int
    grows: int = 0
    rank: int = 0


def shares(room: int, claims: Sequence[SpaceClaim]) -> list[int]:
    """Cells or lines for each claim, all of the room together. Where even the least does not fit, all get less."""
    if not claims:
        return []
    least = [claim.least for claim in claims]
    if sum(least) > room:
        return _divided(room, least)
    given = least
    while left := room - sum(given):
        lacks = [max(claim.wants - has, 0) for claim, has in zip(claims, given, strict=True)]
        short = [place for place, lack in enumerate(lacks) if lack]
        if not short:
            growing = [claim.grows for claim in claims]
            more = _divided(left, growing if any(growing) else [1] * len(claims))
            return [has + gets for has, gets in zip(given, more, strict=True)]
        first = min(claims[place].rank for place in short)
        short = [place for place in short if claims[place].rank == first]
        each = max(left // len(short), 1)
        for place in short[:left]:
            given[place] += min(lacks[place], each)
    return given


def _divided(room: int, weights: Sequence[int]) -> list[int]:
    """The room in parts as large as their weights; what does not divide goes to the first."""
    total = sum(weights) or 1
    parts = [room * weight // total for weight in weights]
    weighty = [place for place, weight in enumerate(weights) if weight] or [0]
    for turn in range(room - sum(parts)):
        parts[weighty[turn % len(weighty)]] += 1
    return parts


def claim_of(widget: Widget, axis: int) -> SpaceClaim:
    """What a frame asks across (0) or down (1); a group of frames asks for all of them, or for its largest."""
    if isinstance(widget, Framed):
        return SpaceClaim(widget.least[axis], max(widget.wanted[axis], widget.least[axis]), widget.grows, widget.rank)
    claims = [claim_of(child, axis) for child in widget.children if child.display]
    if not claims:
        return SpaceClaim(0, 0)
    if isinstance(widget, ByNeed) and widget.axis == axis:
        least, wants, grows, _ = map(sum, zip(*claims, strict=True))
    else:
        least, wants, grows, _ = map(max, zip(*claims, strict=True))
    return SpaceClaim(least, wants, grows, min(claim.rank for claim in claims))


class _Shared(Layout):
    """Children one after another along an axis, across all of the other one."""

    name = "by need"

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        parent.pre_layout(self)
        placements: ArrangeResult = []
        start = 0
        claims = [claim_of(child, self.axis) for child in children]
        if isinstance(parent, ByNeed):
            parent.claimed = claims
        room = shares(size[self.axis], claims)
        for child, extent in zip(children, room, strict=True):
            across = Region(start, 0, extent, size.height)
            region = Region(0, start, size.width, extent) if self.axis else across
            placements.append(WidgetPlacement(region, NULL_OFFSET, Spacing(), child))
            start += extent
        return placements


ACROSS, DOWN = _Shared(0), _Shared(1)


class ByNeed(FrameGroup):
    """Frames, or groups of them, that share the room by need, on the axis that CSS says: `layout: horizontal`."""

    claimed: Sequence[SpaceClaim] = ()
    """What the children asked for when they were last arranged."""

    @property
    def axis(self) -> int:
        """0 across, 1 down."""
        return 0 if isinstance(super().layout, HorizontalLayout) else 1

    @property
    def layout(self) -> Layout:
        return DOWN if self.axis else ACROSS

    @on(ContentShown)
    def _look_again(self) -> None:
        shown = [child for child in self.children if child.display]
        if [claim_of(child, self.axis) for child in shown] != self.claimed:
            for child in shown[:1]:  # Textual has a widget's ancestors arranged anew, not the widget itself.
                child.refresh(layout=True)
