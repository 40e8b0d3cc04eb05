"""Lines of text to read: a znode's JSON, the reason why a partition is offline. Scrolls and wraps; edits nothing.

Offers the same motions as a list. `n` and `N` go to the next and the previous line that contains the words searched.
"""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip

from tui.app.widgets.drawing import StripWidget
from tui.app.widgets.lists import clamp_top, thumb
from tui.engine.rows import Line, Span
from tui.engine.text import cells, fit_line, plain, wrap_line

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
        longest = max((sum(cells(plain(text)) for text, _ in line) for line in self._source), default=0)
        longest = self.unbroken or longest
        return min(longest, READS_WELL) + 1, len(self._lines)

    def show(self, lines: Sequence[Sequence[Span]], *, keep_place: bool = True) -> None:
        """Show these lines; the viewport stays where it is unless another subject begins."""
        if not (self._source and lines):
            self.refresh()
        self._source = tuple(tuple(line) for line in lines)
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
