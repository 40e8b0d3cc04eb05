"""Shows a plot that was built elsewhere as a string with colour codes. Plots nothing itself.

Says which size it has (`PlotWanted`) when that changes, so that the next string can fit; until then the last one is cut
or filled up.
"""

from rich.segment import Segment
from rich.style import Style
from textual.message import Message
from textual.strip import Strip

from tui.ansi import StyledText, ansi_lines
from tui.text import cells, fit
from tui.widgets.strip_widget import StripWidget


class PlotView(StripWidget):
    """Lines of a plot, kept as strips."""

    class PlotWanted(Message):
        """A plot of this size, in cells, would fill the view."""

        def __init__(self, view: "PlotView", width: int, height: int) -> None:
            super().__init__()
            self.view = view
            self.width = width
            self.height = height

        @property
        def control(self) -> "PlotView":
            return self.view

    def __init__(self, *, empty: str = "no data yet", id: str | None = None) -> None:
        super().__init__(id=id)
        self._empty = empty
        self._source = ""
        self._lines: list[list[StyledText]] = []
        self._strips: dict[int, Strip] = {}

    def show(self, ansi: str) -> None:
        """Draw this plot from now on; the same string again costs nothing."""
        if ansi != self._source:
            self._source = ansi
            self._lines = ansi_lines(ansi)
            self._strips.clear()
            self.refresh()

    def forget_strips(self) -> None:
        self._strips.clear()

    def on_resize(self) -> None:
        self._strips.clear()
        self.post_message(self.PlotWanted(self, *self.size))

    def strip_at(self, y: int) -> Strip:
        if not self._lines:
            return self.fill([(self._empty, "dim")] if y == self.size.height // 2 else (), align="^")
        if y not in self._strips:
            self._strips[y] = self._strip(self._lines[y] if y < len(self._lines) else [])
        return self._strips[y]

    def _strip(self, line: list[StyledText]) -> Strip:
        left = self.size.width
        segments: list[Segment] = []
        for text, style in [*line, (" " * left, Style.null())]:
            size = min(cells(text), left)
            if size:
                segments.append(Segment(fit(text, size, ellipsis=""), self.look.adopt(style)))
            left -= size
        return Strip(segments, self.size.width)
