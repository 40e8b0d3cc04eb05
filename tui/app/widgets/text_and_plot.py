"""Lines of text to read, and plots that were built elsewhere. Edits nothing, plots nothing.

Text scrolls and wraps, with the same motions as a list. `n` and `N` go to the next and the previous line that contains
the words searched.

A plot is a string with ANSI colour codes. Its widget says which size it has (`PlotWanted`) when that changes, so that
the next string can fit; until then the last one is cut or filled up. Of escape sequences only
select-graphic-rendition codes are obeyed; every other one is dropped, and what is left passes `plain`, so a plot
cannot move the cursor or ring the bell.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import ClassVar

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from tui.app.widgets.drawing import StripWidget
from tui.app.widgets.lists import clamp_top, thumb
from tui.engine.rows import Line, Span
from tui.engine.text import cells, fit, fit_line, plain, wrap_line

WHEEL_LINES = 3
READS_WELL = 76
"""Cells beyond which a line of text is broken rather than given more room."""
BLANK = -1
"""Place among the strips kept of the one that stands for every line below the text."""


class TextPane(StripWidget, can_focus=True):
    """Read-only lines, wrapped to the width unless told otherwise."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll_lines(1)", "down", show=False, id="text.down"),
        Binding("k,up", "scroll_lines(-1)", "up", show=False, id="text.up"),
        Binding("g,home", "scroll_pages(-1e9)", "top", show=False, id="text.top"),
        Binding("G,end", "scroll_pages(1e9)", "bottom", show=False, id="text.bottom"),
        Binding("ctrl+d", "scroll_pages(0.5)", "half a page down", show=False, id="text.half-down"),
        Binding("ctrl+u", "scroll_pages(-0.5)", "half a page up", show=False, id="text.half-up"),
        Binding("pagedown", "scroll_pages(1)", "page down", show=False, id="text.page-down"),
        Binding("pageup", "scroll_pages(-1)", "page up", show=False, id="text.page-up"),
        Binding("n", "match(1)", "next match", show=False, id="text.next-match"),
        Binding("N", "match(-1)", "previous match", show=False, id="text.previous-match"),
    ]

    def __init__(self, *, empty: str = "", wrap: bool = True, id: str | None = None) -> None:
        """`empty` is said when there are no lines."""
        super().__init__(id=id)
        self.top = 0
        """First line in view, counted after wrapping."""
        self.unbroken = 0
        """Cells of the longest line before whoever provides the lines broke it; 0: they are not broken."""
        self._empty = empty
        self._wrap = wrap
        self._source: tuple[Line, ...] = ()
        self._longest_line: int | None = None
        self._lines: list[Line] = []
        self._sought = ""
        self._strips: dict[int, tuple[bool, Strip]] = {}
        self._thumb = range(0)

    @property
    def plain(self) -> str:
        """The text as it is, for the clipboard: neither wrapped nor escaped."""
        return "\n".join("".join(text for text, _ in line) for line in self._source)

    @property
    def wanted(self) -> tuple[int, int]:
        """Cells of the longest line, or in which text reads well, and lines as they are wrapped now."""
        return min(self.unbroken or self._longest(), READS_WELL) + 1, len(self._lines)

    def _longest(self) -> int:
        """Cells of the longest line, or of the first one that is too long to read well."""
        if self._longest_line is None:
            self._longest_line = 0
            for line in self._source:
                self._longest_line = max(self._longest_line, sum(cells(plain(text)) for text, _ in line))
                if self._longest_line >= READS_WELL:
                    break
        return self._longest_line

    def show(self, lines: Sequence[Sequence[Span]], *, keep_place: bool = True) -> None:
        """Show these lines; the viewport stays where it is unless another subject begins."""
        if not (self._source and lines):
            self.refresh()
        self._source = tuple(tuple(line) for line in lines)
        self._longest_line = None
        if not keep_place:
            self._stand(0)
        self._lay_out()

    def search(self, words: str) -> None:
        """Mark the lines that contain this and go to the first one from here; empty: mark none."""
        self._sought = words.casefold()
        self._strips.clear()
        self.refresh()
        if words and not self._matches(self.top):
            self.action_match(1)

    def action_scroll_lines(self, lines: int) -> None:
        self._stand(self.top + lines)

    def action_scroll_pages(self, pages: float) -> None:
        self._stand(self.top + int(max(self.size.height, 2) * pages))

    def action_match(self, step: int) -> None:
        lines = range(self.top + step, len(self._lines) if step > 0 else -1, step)
        found = next((index for index in lines if self._matches(index)), None)
        if found is not None:
            self._stand(found)

    def on_resize(self) -> None:
        self._lay_out()
        self.refresh()  # what was drawn in the size before is of no use, whichever lines say the same

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._stand(self.top + WHEEL_LINES)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._stand(self.top - WHEEL_LINES)

    def forget_strips(self) -> None:
        self._strips.clear()

    def strip_at(self, y: int) -> Strip:
        index = self.top + y
        if not self._source:
            return self.fill([(self._empty, "dim")] if y == self.size.height // 3 else (), align="^")
        if index >= len(self._lines):
            if BLANK not in self._strips:
                self._strips[BLANK] = (False, self.fill(()))
            return self._strips[BLANK][1]
        on_thumb = y in self._thumb
        known = self._strips.get(index)
        if known is None or known[0] != on_thumb:
            self._strips[index] = known = (on_thumb, self._strip(index, on_thumb))
        return known[1]

    def _strip(self, index: int, on_thumb: bool) -> Strip:
        look, width = self.look, self.size.width
        over = "match" if self._matches(index) else ""
        pieces = fit_line(self._lines[index], max(width - 1, 0), ellipsis=look.glyphs.ellipsis)
        bar = look.segment(look.glyphs.thumb if on_thumb else " ", "scrollbar")
        return Strip([*look.segments(pieces, over), bar], width)

    def _matches(self, index: int) -> bool:
        if not self._sought or index >= len(self._lines):
            return False
        return self._sought in "".join(plain(text) for text, _ in self._lines[index]).casefold()

    def _lay_out(self) -> None:
        width = max(self.size.width - 1, 1)
        wrap = self._wrap
        before = self._in_view()
        self._lines = [part for line in self._source for part in (wrap_line(line, width) if wrap else [line])]
        self._strips.clear()
        self._stand(self.top)
        for y, (old, new) in enumerate(zip(before, self._in_view(), strict=True)):
            if old != new:
                self.refresh_line(y)

    def _in_view(self) -> list[tuple[Line | None, bool]]:
        """By line of the viewport, what stands there, and whether beside the thumb."""
        lines = [*self._lines[self.top : self.top + self.size.height]]
        lines += [None] * (self.size.height - len(lines))
        return [(line, y in self._thumb) for y, line in enumerate(lines)]

    def _stand(self, top: int) -> None:
        old, self.top = self.top, clamp_top(top, self.size.height, len(self._lines))
        self._thumb = thumb(self.top, self.size.height, len(self._lines))
        if self.top != old:
            self.refresh()


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
