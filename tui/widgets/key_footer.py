"""The last line: the most useful keys of this screen now, as many as fit. Knows no actions; it is told what to say."""

from collections.abc import Iterable, Sequence

from textual.strip import Strip

from tui.rows import Line, Span
from tui.text import cells, plain
from tui.widgets.strip_widget import StripWidget


def keys_line(keys: Iterable[tuple[str, str]], width: int, note: str = "") -> Line:
    """`?help  /filter  a alerts`: whole entries, the first ones first; the note goes to the right if it fits."""
    line: list[Span] = []
    left = width - 1
    for key, label in keys:
        # A sign and its word read as one (`/filter`); a letter would become part of the word.
        gap = "" if len(key) == 1 and not key.isalnum() else " "
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
