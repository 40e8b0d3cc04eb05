"""One line of text being typed, as a value: where the caret is, and what a key makes of it. Draws nothing."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class TypedLine:
    """`caret` counts characters before it."""

    text: str = ""
    caret: int = 0

    def typed(self, text: str) -> "TypedLine":
        """This was typed or pasted; of pasted lines, the first."""
        first = text.splitlines()[0] if text.splitlines() else ""
        return TypedLine(self.text[: self.caret] + first + self.text[self.caret :], self.caret + len(first))

    def moved(self, caret: int) -> "TypedLine":
        """The caret is here, or at the nearest end."""
        return replace(self, caret=max(0, min(caret, len(self.text))))

    def rubbed_out(self) -> "TypedLine":
        """The character before the caret is gone."""
        return self._without(self.caret - 1, self.caret)

    def deleted(self) -> "TypedLine":
        """The character under the caret is gone."""
        return self._without(self.caret, self.caret + 1)

    def cleared_before(self) -> "TypedLine":
        """Everything before the caret is gone."""
        return self._without(0, self.caret)

    def cleared_after(self) -> "TypedLine":
        """Everything from the caret on is gone."""
        return self._without(self.caret, len(self.text))

    def word_left(self) -> "TypedLine":
        """The caret is at the start of the word before it."""
        return self.moved(self.text[: self.caret].rstrip(" ").rfind(" ") + 1)

    def word_right(self) -> "TypedLine":
        """The caret is behind the word that follows it."""
        rest = self.text[self.caret :]
        skipped = len(rest) - len(rest.lstrip(" "))
        word, _, _ = rest[skipped:].partition(" ")
        return self.moved(self.caret + skipped + len(word))

    def _without(self, start: int, end: int) -> "TypedLine":
        start, end = max(start, 0), max(end, 0)
        return TypedLine(self.text[:start] + self.text[end:], start)
