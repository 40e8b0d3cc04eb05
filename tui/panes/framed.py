"""Frames round panes, and groups of frames. A frame's title is plain text, whatever it says.

Textual draws every container that a changed line lies in, once for each line: frames keep the three lines they are made
of, and groups draw nothing, as the frames in them leave nothing to see.
"""

from textual.containers import Container
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from tui.rows import Line
from tui.text import cells, fit, plain
from tui.widgets.strip_widget import StripWidget

THIN, DOUBLE, ASCII = "┌─┐│└┘", "╔═╗║╚╝", "+-+|++"
"""The lines of a frame: corners and sides from the left upper corner on."""


class Framed(StripWidget):
    """One pane in a box. The one at hand has another shape, not only another colour."""

    DEFAULT_CSS = "Framed { padding: 1; width: 1fr; height: 1fr; }"

    def __init__(self, title: str, pane: Widget, *, id: str | None = None) -> None:
        super().__init__(pane, id=id)
        self.pane = pane
        self.title = title
        self._strips: dict[str, Strip] = {}

    @property
    def size(self) -> Size:
        """Cells inside the frame."""
        return self.content_region.size

    def name_it(self, title: str) -> None:
        """Another title."""
        if title != self.title:
            self.title = title
            self._strips.pop("top", None)
            self.refresh(Region(-1, -1, self.outer_size.width, 1))

    def be_at_hand(self, is_at_hand: bool) -> None:
        """Whether keys apply to this pane."""
        self.set_class(is_at_hand, "-at-hand")
        self.forget_strips()
        self.refresh()

    def on_resize(self) -> None:
        self.forget_strips()

    def forget_strips(self) -> None:
        self._strips.clear()

    def strip_at(self, y: int) -> Strip:
        part = "top" if y == 0 else "bottom" if y == self.outer_size.height - 1 else "side"
        if part not in self._strips:
            self._strips[part] = self._strip(part)
        return self._strips[part]

    def _strip(self, part: str) -> Strip:
        width, is_at_hand = self.outer_size.width, self.has_class("-at-hand")
        is_ascii = getattr(self.app, "ascii_only", False)
        left, flat, right, side, low_left, low_right = ASCII if is_ascii else DOUBLE if is_at_hand else THIN
        rule = "key" if is_at_hand else "rule"
        line: Line
        if part == "side":
            line = ((side, rule), (" " * (width - 2), ""), (side, rule))
        elif part == "bottom":
            line = ((low_left + flat * (width - 2) + low_right, rule),)
        else:
            title = f" {plain(self.title)} " if self.title else ""
            if cells(title) > width - 4:
                title = fit(title, max(width - 4, 0), ellipsis=self.look.glyphs.ellipsis)
            rest = flat * (width - 3 - cells(title)) + right
            line = ((left + flat, rule), (title, "tab-active" if is_at_hand else "heading"), (rest, rule))
        return Strip(self.look.segments(line), width) if width > 4 else Strip.blank(width)


class Group(Container):
    """Frames side by side or one below the other, or groups of them."""

    def render_lines(self, crop: Region) -> list[Strip]:
        return []
