"""The least a Textual app can do for a key: a list of lines, one of them chosen. Terminals are measured by it."""

from __future__ import annotations

import sys
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

CHOSEN = Style(reverse=True)


class Lines(Widget, can_focus=True):
    """So many rows; `j` goes down."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("j", "down"), Binding("pagedown", "page")]
    total, cursor, top = 0, 0, 0

    def action_down(self) -> None:
        self._go(1)

    def action_page(self) -> None:
        self._go(self.size.height)

    def _go(self, lines: int) -> None:
        self.cursor = min(self.cursor + lines, self.total - 1)
        self.top = max(self.top, self.cursor - self.size.height + 1)
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        return [self._line(self.top + y) for y in crop.line_range]

    def _line(self, index: int) -> Strip:
        text = f"{'>' if index == self.cursor else ' '} row-{index:07}".ljust(self.size.width)
        return Strip([Segment(text, CHOSEN if index == self.cursor else Style.null())], self.size.width)


class Minimal(App[None]):
    """The list, and nothing else."""

    def compose(self) -> ComposeResult:
        yield (lines := Lines())
        lines.total = int(sys.argv[1])

    def on_mount(self) -> None:
        self.query_one(Lines).focus()


if __name__ == "__main__":
    Minimal().run()
