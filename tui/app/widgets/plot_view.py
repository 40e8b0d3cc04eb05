"""Shows a plot that was built elsewhere as a string with ANSI colour codes. Plots nothing itself.

It says which size it has (`PlotWanted`) when that changes, so that the next string can fit; until then the last one
is cut or filled up. Of escape sequences only select-graphic-rendition codes are obeyed; every other one is dropped,
and what is left passes `plain`, so a plot cannot move the cursor or ring the bell.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.message import Message
from textual.strip import Strip

from tui.app.widgets.drawing import StripWidget
from tui.engine.text import cells, fit, plain

_ESCAPE = re.compile(
    r"\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x1b\\|\x07|$)|\x1b[ -/]*[0-~]?", re.S
)
"""A colour code (group 1 is set), another control sequence, an operating system command, a lone escape."""

_PLAIN_CODES = {
    1: Style(bold=True),
    2: Style(dim=True),
    3: Style(italic=True),
    4: Style(underline=True),
    7: Style(reverse=True),
    9: Style(strike=True),
    22: Style(bold=False, dim=False),
    23: Style(italic=False),
    24: Style(underline=False),
    27: Style(reverse=False),
    29: Style(strike=False),
    39: Style(color="default"),
    49: Style(bgcolor="default"),
    **{30 + number: Style(color=Color.from_ansi(number)) for number in range(8)},
    **{40 + number: Style(bgcolor=Color.from_ansi(number)) for number in range(8)},
    **{90 + number: Style(color=Color.from_ansi(8 + number)) for number in range(8)},
    **{100 + number: Style(bgcolor=Color.from_ansi(8 + number)) for number in range(8)},
}
_RESET, _FOREGROUND, _BACKGROUND = 0, 38, 48

StyledText = tuple[str, Style]


def ansi_lines(text: str) -> list[list[StyledText]]:
    """Lines of (plain text, style). Styles carry over from line to line, as on a terminal."""
    lines: list[list[StyledText]] = [[]]
    for piece, style in _pieces(text):
        first, *rest = piece.split("\n")
        lines[-1].append((plain(first.rstrip("\r")), style))
        lines += [[(plain(part.rstrip("\r")), style)] for part in rest]
    lines = [[piece for piece in line if piece[0]] for line in lines]
    return lines if lines[-1] else lines[:-1]


def _pieces(text: str) -> Iterator[StyledText]:
    style = Style.null()
    done = 0
    for escape in _ESCAPE.finditer(text):
        if escape.start() > done:
            yield text[done : escape.start()], style
        done = escape.end()
        codes = escape.group(1)
        if codes is not None:
            style = _after(style, codes)
    yield text[done:], style


@lru_cache(maxsize=4096)
def _after(style: Style, codes: str) -> Style:
    """The style after a colour code; numbers without a meaning are passed over."""
    numbers = iter([int(code or 0) for code in re.split("[;:]", codes)])
    for number in numbers:
        if number == _RESET:
            style = Style.null()
        elif number == _FOREGROUND:
            style += Style(color=_extended(numbers))
        elif number == _BACKGROUND:
            style += Style(bgcolor=_extended(numbers))
        else:
            style += _PLAIN_CODES.get(number, Style.null())
    return style


def _extended(numbers: Iterator[int]) -> Color | None:
    kind = next(numbers, None)
    if kind == 5:
        return Color.from_ansi(min(next(numbers, 0), 255))
    if kind == 2:
        red, green, blue = (min(next(numbers, 0), 255) for _ in range(3))
        return Color.from_rgb(red, green, blue)
    return None


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
                segments.append(Segment(self.look.in_letters(fit(text, size, ellipsis="")), self.look.adopt(style)))
            left -= size
        return Strip(segments, self.size.width)
