"""The line in which a filter (`/`) or a command (`:`) is typed. Understands neither; it hands on the text.

Escape cancels, enter accepts, up and down go through what was accepted before.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.app.widgets.drawing import StripWidget
from tui.engine.rows import Line, Span
from tui.engine.text import cells, cut, fit, plain


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


HISTORY_LINES = 200


class PromptLine(StripWidget, can_focus=True):
    """A sign, the text typed, and on the right a word about its effect (`16 of 3,208`)."""

    DEFAULT_CSS = "PromptLine { height: 1; }"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "cancel", show=False, priority=True),
        Binding("enter", "accept", "accept", show=False),
        Binding("up", "recall(-1)", "earlier", show=False),
        Binding("down", "recall(1)", "later", show=False),
        Binding("left", "caret('left')", "left", show=False),
        Binding("right", "caret('right')", "right", show=False),
        Binding("ctrl+left", "caret('word_left')", "word left", show=False),
        Binding("ctrl+right", "caret('word_right')", "word right", show=False),
        Binding("home", "caret('home')", "start", show=False),
        Binding("end,ctrl+e", "caret('end')", "end", show=False),
        Binding("backspace", "edit('rubbed_out')", "rub out", show=False),
        Binding("delete", "edit('deleted')", "delete", show=False),
        Binding("ctrl+u", "edit('cleared_before')", "clear", show=False),
        Binding("ctrl+k", "edit('cleared_after')", "clear the rest", show=False),
    ]

    class PromptMessage(Message):
        """What was typed behind which sign."""

        def __init__(self, prompt: "PromptLine", sign: str, text: str) -> None:
            super().__init__()
            self.prompt = prompt
            self.sign = sign
            self.text = text

        @property
        def control(self) -> "PromptLine":
            return self.prompt

    class PromptChanged(PromptMessage):
        """The text is another one; only the newest counts."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, PromptLine.PromptChanged) and message.prompt is self.prompt

    class PromptAccepted(PromptMessage):
        """Enter was pressed."""

    class PromptCancelled(PromptMessage):
        """Escape was pressed; what was in effect before should be again."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.sign = "/"
        self.return_to: Widget | None = None
        """What has the focus when the prompt goes out of view; None while it is."""
        self._line = TypedLine()
        self._said: Span = ("", "")
        self._history: dict[str, list[str]] = {}
        self._recalled = 0
        self._draft = ""

    @property
    def text(self) -> str:
        """What is typed, as it was typed."""
        return self._line.text

    def begin(self, sign: str, text: str = "") -> None:
        """Come into view with this sign and text and take the focus, before the next key is looked at."""
        self.sign = sign
        self.return_to = self.return_to if self.display else self.screen.focused
        self.display = True
        self._said = ("", "")
        self._recalled = len(self._history.get(sign, []))
        self._set(TypedLine(text, len(text)), tell=False)
        # Not `focus()`, which only puts it on the list of things to do: letters typed fast would go to the list.
        self.screen.set_focus(self)

    def say(self, text: str, style: str = "dim") -> None:
        """The word on the right: a count, or in style `error` what is wrong with the text."""
        if (text, style) != self._said:
            self._said = (text, style)
            self.refresh()

    def takes(self, key: events.Key) -> bool:
        """Whether the key is a character; it is typed then."""
        if key.is_printable and key.character:
            self._set(self._line.typed(key.character))
            return True
        return False

    def on_key(self, event: events.Key) -> None:
        if self.takes(event):
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._set(self._line.typed(event.text))

    def action_edit(self, change: str) -> None:
        self._set(getattr(self._line, change)())

    def action_caret(self, where: str) -> None:
        line = self._line
        places = {
            "left": line.caret - 1,
            "right": line.caret + 1,
            "word_left": line.word_left().caret,
            "word_right": line.word_right().caret,
            "home": 0,
            "end": len(line.text),
        }
        self._set(line.moved(places[where]), tell=False)

    def action_recall(self, step: int) -> None:
        history = self._history.get(self.sign, [])
        if self._recalled == len(history):
            self._draft = self._line.text
        self._recalled = max(0, min(self._recalled + step, len(history)))
        text = history[self._recalled] if self._recalled < len(history) else self._draft
        self._set(TypedLine(text, len(text)))

    def action_accept(self) -> None:
        history = self._history.setdefault(self.sign, [])
        if self.text and history[-1:] != [self.text]:
            history.append(self.text)
            del history[:-HISTORY_LINES]
        self._end(self.PromptAccepted)

    def action_cancel(self) -> None:
        self._end(self.PromptCancelled)

    def _end(self, message: type[PromptMessage]) -> None:
        """Out of view, and the focus back where it was, before the next key is looked at."""
        before, self.return_to = self.return_to, None
        self.display = False
        if self.screen.focused is self:
            # It may have been begun before anything had the focus; what is out of view must take no key.
            self.screen.set_focus(before or next(iter(self.screen.focus_chain), None))
        self.post_message(message(self, self.sign, self.text).set_sender(self))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _set(self, line: TypedLine, *, tell: bool = True) -> None:
        changed = line.text != self._line.text
        self._line = line
        self.refresh()
        if tell and changed:
            self.post_message(self.PromptChanged(self, self.sign, self.text))

    def strip_at(self, y: int) -> Strip:
        said, style = self._said
        said = plain(said)
        # The text comes first: a narrow line gives up the word on the right.
        room = self.size.width - 2 - (cells(said) + 2 if said else 0)
        if room < 10:
            said, room = "", self.size.width - 2
        before, under, after = self._in_view(max(room, 1))
        caret = "caret" if self.has_focus else "strong"
        if self.has_focus:
            x = 1 + cells(self.sign) + cells(before)
            self.app.cursor_position = Offset(self.region.x + min(x, self.size.width - 1), self.region.y)
        line: Line = ((" " + self.sign, "prompt"), (before, "strong"), (under, caret), (after, "strong"))
        return self.fill((*line, (fit("", 2), ""), (said, style)) if said else line)

    def _in_view(self, room: int) -> tuple[str, str, str]:
        """What is before, under and behind the caret, `room` cells together; the caret's surroundings are in view."""
        text, caret = self._line.text, self._line.caret
        before, under, after = plain(text[:caret]), plain(text[caret : caret + 1]) or " ", plain(text[caret + 1 :])
        under = cut(under, room) or " "
        spare = room - cells(under)
        while cells(before) > spare:
            before = before[1:]
        return before, under, fit(after, spare - cells(before), ellipsis="")
