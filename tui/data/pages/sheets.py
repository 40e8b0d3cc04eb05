"""A text about one thing, built line by line: names in the first column, wrapped sentences in the second.

Wraps, because only here it is known what belongs to which column; draws nothing.
"""

import textwrap

from tui.data.messages import TextAnswer
from tui.rows import Line, line, span
from tui.text import plain

NAMES = 10
"""Cells of the first column."""


def shortened(text: str, most: int) -> str:
    """The text, or its first characters and how many more there are."""
    rest = len(text) - most
    return text if rest <= 0 else f"{text[:most]} ({rest:,} characters more)"


class Sheet:
    """Collects lines; every method but `answer` returns the sheet, for chaining."""

    def __init__(self, title: str, width: int) -> None:
        self._title = title
        self._width = max(width, 24)
        self._lines: list[Line] = []

    def fact(self, name: str, text: str, style: str = "") -> "Sheet":
        """A name and what there is to say; a name too long for its column is written all the same."""
        for number, part in enumerate(self._wrapped(text, self._width - max(NAMES, len(name) + 1))):
            self._lines.append(
                line(span((name if number == 0 else "").ljust(NAMES - 1) + " ", "dim"), span(part, style))
            )
        return self

    def say(self, text: str, style: str = "") -> "Sheet":
        """Sentences over the whole width."""
        self._lines += [line(span(part, style)) for part in self._wrapped(text, self._width)]
        return self

    def draw(self, *parts: tuple[str, str] | str) -> "Sheet":
        """One line as it is."""
        self._lines.append(line(*parts))
        return self

    def gap(self) -> "Sheet":
        """An empty line."""
        self._lines.append(())
        return self

    def answer(self) -> TextAnswer:
        """What was collected, and the same for the clipboard without anything a terminal could obey."""
        text = "\n".join("".join(plain(piece) for piece, _ in each).rstrip() for each in self._lines)
        return TextAnswer(self._title, tuple(self._lines), text)

    @staticmethod
    def _wrapped(text: str, width: int) -> list[str]:
        return textwrap.wrap(text, max(width, 8), break_on_hyphens=False) or [""]
