"""The lines above and below the panes: the screens by number, what the guided tour says, the keys that work now.

Each is told what to say; a press on a tab is a message.
"""

from collections.abc import Iterable, Sequence

from textual import events
from textual.message import Message
from textual.strip import Strip

from tui.app.widgets.drawing import StripWidget
from tui.engine.rows import Line, Span
from tui.engine.text import cells, cut, plain, wrap_line


def tab_spans(titles: Sequence[str], numbers: Sequence[str], active: int, title_cells: int) -> Line:
    """One span per screen, titles of the others cut to this many cells: `[1]Overview 2 Znodes`; no title, no tab."""
    line: list[Span] = []
    for index, (number, title) in enumerate(zip(numbers, titles, strict=True)):
        if index == active:
            line.append((f"[{number}]{plain(title)}", "tab-active"))
        else:
            short = cut(plain(title), title_cells)
            line.append((f" {number} {short}".rstrip() if title else "", "tab"))
    return tuple(line)


def tab_line(titles: Sequence[str], numbers: Sequence[str], active: int, width: int, help_sign: str = "?") -> Line:
    """The longest form that fits; at the narrowest, the others are numbers only."""
    longest = max((cells(plain(title)) for title in titles), default=0)
    forms = (tab_spans(titles, numbers, active, title_cells) for title_cells in range(longest, -1, -1))
    line = next((form for form in forms if _size(form) <= width), tab_spans(titles, numbers, active, 0))
    way_to_help = f"{help_sign}help" if len(help_sign) == 1 and not help_sign.isalnum() else f"{help_sign} help"
    gap = width - _size(line) - cells(way_to_help)
    return (*line, (" " * gap, ""), (way_to_help, "key")) if gap > 0 else line


def _size(line: Line) -> int:
    return sum(cells(text) for text, _ in line)


class TabLine(StripWidget):
    """One line naming the screens; a press of the mouse on one says `TabChosen`."""

    DEFAULT_CSS = "TabLine { height: 1; }"

    class TabChosen(Message):
        """This screen was pressed, counted from 0."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(
        self,
        titles: Sequence[str],
        numbers: Sequence[str],
        *,
        active: int = 0,
        help_sign: str = "?",
        id: str | None = None,
    ) -> None:
        """numbers: the key of each screen; help_sign: that of help."""
        super().__init__(id=id)
        self._titles = tuple(titles)
        self._numbers = tuple(numbers)
        self._active = active
        self._help_sign = help_sign

    def show(self, active: int) -> None:
        """This screen is the present one, counted from 0."""
        if active != self._active:
            self._active = active
            self.refresh()

    def name_them(self, titles: Sequence[str]) -> None:
        if self._titles != (titles := tuple(titles)):
            self._titles = titles
            self.refresh()

    def strip_at(self, y: int) -> Strip:
        return self.fill(self._line())

    def on_click(self, event: events.Click) -> None:
        end = 0
        for index, (text, _) in enumerate(self._line()[: len(self._titles)]):
            end += cells(text)
            if event.x < end:
                self.post_message(self.TabChosen(index))
                return

    def _line(self) -> Line:
        return tab_line(self._titles, self._numbers, self._active, self.size.width, self._help_sign)


READ_AS_ONE = ("?", "/", ":")
"""Signs that read as one with their word, `/filter`; a letter would become part of it, and a comma is no beginning."""


def keys_line(keys: Iterable[tuple[str, str]], width: int, note: str = "") -> Line:
    """`?help  /filter  a alerts`: whole entries, the first ones first; the note goes to the right if it fits."""
    line: list[Span] = []
    left = width - 1
    for key, label in keys:
        gap = "" if key in READ_AS_ONE else " "
        entry = [("  " if line else " ", ""), (key, "key"), (gap + label, "label")]
        size = sum(cells(plain(text)) for text, _ in entry)
        if size > left:
            break
        line += entry
        left -= size
    size = cells(plain(note))
    if note and size + 2 <= left:
        line += [(" " * (left - size), ""), (note, "dim")]
    return tuple(line)


class KeyFooter(StripWidget):
    """One line of keys and, on the right, a note."""

    DEFAULT_CSS = "KeyFooter { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._keys: tuple[tuple[str, str], ...] = ()
        self._note = ""

    def show(self, keys: Sequence[tuple[str, str]], note: str = "") -> None:
        """(key, what it does), the most useful first."""
        if (tuple(keys), note) != (self._keys, self._note):
            self._keys, self._note = tuple(keys), note
            self.refresh()

    def strip_at(self, y: int) -> Strip:
        return self.fill(keys_line(self._keys, self.size.width, self._note))


class TourStrip(StripWidget):
    """A few lines of text; without a text it takes no room."""

    DEFAULT_CSS = "TourStrip { height: 1; display: none; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text: Line = ()
        self._lines: list[Line] = []

    def show(self, text: Line) -> None:
        """Says this from now on; nothing where it is empty."""
        if text != self._text:
            self._text = text
            self.display = bool(text)
            self._wrap(self.size.width)

    def on_resize(self, event: events.Resize) -> None:
        self._wrap(event.size.width)

    def strip_at(self, y: int) -> Strip:
        return self.fill(self._lines[y] if y < len(self._lines) else ())

    def _wrap(self, width: int) -> None:
        self._lines = wrap_line(self._text, width) if width else []
        self.styles.height = max(len(self._lines), 1)
        self.refresh()
