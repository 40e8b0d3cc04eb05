"""Frames round panes, groups of frames, and the last line of every screen.

A frame's title is plain text, whatever it says. Textual draws every container that a changed line lies in, once for
each line: frames keep the three lines they are made of, and groups draw nothing, as the frames in them cover them.
The last line has keys and a note or, while something is typed, the prompt; it understands neither. A note that does
not fit beside the keys stands on the line above.
"""

from collections.abc import Callable, Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from tui.app.widgets.drawing import StripWidget
from tui.app.widgets.edge_lines import KeyFooter, keys_line
from tui.app.widgets.lists import ContentShown
from tui.app.widgets.prompt_line import PromptLine
from tui.engine.rows import Line
from tui.engine.text import cells, fit, plain

THIN, DOUBLE, ASCII = "┌─┐│└┘", "╔═╗║╚╝", "+-+|++"
"""The lines of a frame: corners and sides from the left upper corner on."""


LEAST = (24, 5)
EDGE = 2
"""Cells, or lines, of a frame on both sides together."""
TITLED = 4
"""Cells beside a title, inside a frame as wide as that wants."""


class Framed(StripWidget):
    """One pane in a box. The one at hand has another shape, not only another colour."""

    DEFAULT_CSS = "Framed { padding: 1; width: 1fr; height: 1fr; }"

    def __init__(
        self,
        title: str,
        pane: Widget,
        *,
        id: str | None = None,
        least: tuple[int, int] = LEAST,
        most: int = 0,
        grows: int = 0,
        rank: int = 0,
    ) -> None:
        """`least`: cells and lines it can be read in, the frame included; `most`: cells beyond which others come first,
        0 if none do; `grows`: its part of what is left over.

        A frame gets what it wants before those of a higher rank do. All of it counts in groups by need only. If nobody
        grows there, all get the same.
        """
        super().__init__(pane, id=id)
        self.pane = pane
        self.title = title
        self.least = least
        self.most = most
        self.grows = grows
        self.rank = rank
        self._strips: dict[str, Strip] = {}

    @property
    def size(self) -> Size:
        """Cells inside the frame."""
        return self.content_region.size

    @property
    def wanted(self) -> tuple[int, int]:
        """Cells and lines in which nothing is cut off, the frame included."""
        width, height = getattr(self.pane, "wanted", (0, 0))
        width = max(width, cells(plain(self.title)) + TITLED)
        return min(width + EDGE, self.most or width + EDGE), height + EDGE

    def name_it(self, title: str) -> None:
        if title != self.title:
            wanted, self.title = self.wanted, title
            self._strips.pop("top", None)
            self.refresh(Region(-1, -1, self.outer_size.width, 1))
            if self.wanted != wanted:
                self.post_message(ContentShown(self))

    def be_at_hand(self, is_at_hand: bool) -> None:
        """Whether keys apply to this pane."""
        self.set_class(is_at_hand, "-at-hand")
        self.forget_strips()
        self.refresh()

    def forget_strips(self) -> None:
        self._strips.clear()

    def strip_at(self, y: int) -> Strip:
        part = "top" if y == 0 else "bottom" if y == self.outer_size.height - 1 else "side"
        if part not in self._strips:
            self._strips[part] = self._strip(part)
        return self._strips[part]

    def _strip(self, part: str) -> Strip:
        width, is_at_hand = self.outer_size.width, self.has_class("-at-hand")
        is_ascii = getattr(self.app, "ascii_only", False)
        left, flat, right, side, low_left, low_right = ASCII if is_ascii else DOUBLE if is_at_hand else THIN
        rule = "key" if is_at_hand else "rule"
        line: Line
        if part == "side":
            line = ((side, rule), (" " * (width - 2), ""), (side, rule))
        elif part == "bottom":
            line = ((low_left + flat * (width - 2) + low_right, rule),)
        else:
            title = f" {plain(self.title)} " if self.title else ""
            if cells(title) > width - 4:
                title = fit(title, max(width - 4, 0), ellipsis=self.look.glyphs.ellipsis)
            rest = flat * (width - 3 - cells(title)) + right
            line = ((left + flat, rule), (title, "tab-active" if is_at_hand else "heading"), (rest, rule))
        return Strip(self.look.segments(line), width) if width > 4 else Strip.blank(width)


class FrameGroup(Container):
    """Frames side by side or one below the other, or groups of them."""

    def render_lines(self, crop: Region) -> list[Strip]:
        return []


NOTE_S = 5.0
"""How long something said stays, before the standing note comes back."""

Keys = Sequence[tuple[str, str]]


def keys_within(keys: Keys, width: int) -> Keys:
    """The keys that fit: the last one, the way back, stays to the end, as the first one does."""
    while len(keys) > 1 and _size(keys) > width:
        keys = [*keys[:-2], keys[-1]] if len(keys) > 2 else keys[:1]
    return keys


def _size(keys: Keys) -> int:
    return sum(cells(text) for text, _ in keys_line(keys, 10_000)) + 1


class NoteLine(StripWidget):
    """A note that has no room beside the keys, at the right on the line above them: the lower edge of a frame.

    It covers no more of it than it needs, and nothing else moves.
    """

    DEFAULT_CSS = "NoteLine { layer: note; height: 1; display: none; }"

    def __init__(self) -> None:
        super().__init__()
        self._note = ""

    def show(self, note: str) -> None:
        """Says this from now on; nothing where it is empty."""
        if note != self._note:
            self._note = note
            self.display = bool(note)
            self.place()

    def place(self) -> None:
        """Takes its place in a terminal of the size that it has now."""
        size = self.app.size
        width = min(cells(self._note) + 2, max(size.width - 4, 4))
        self.styles.width = width
        self.styles.offset = (size.width - width - 2, max(size.height - 2, 0))
        self.refresh()

    def strip_at(self, y: int) -> Strip:
        text = fit(self._note, self.size.width - 2, ellipsis=self.look.glyphs.ellipsis)
        return self.fill(((f" {text} ", "error" if text.startswith("X ") else "strong"),))


class BottomLine(FrameGroup):
    """A footer and a prompt in the same place. A note takes no key's place: else it goes to `above`."""

    DEFAULT_CSS = "BottomLine { height: 1; }"

    def __init__(self, above: NoteLine) -> None:
        super().__init__()
        self._above = above
        self._keys: Keys = ()
        self._standing = ""
        self._said = ""
        self._doing = ""
        self._waiting = ""
        self._silence: Timer | None = None

    def compose(self) -> ComposeResult:
        yield KeyFooter(id="footer")
        yield PromptLine(id="prompt")

    def on_mount(self) -> None:
        self._prompt.display = False

    def on_resize(self) -> None:
        self._show()
        self._above.place()

    @property
    def _prompt(self) -> PromptLine:
        return self.query_one(PromptLine)

    @property
    def return_to(self) -> Widget | None:
        """What had the focus before something was typed; None while nothing is."""
        return self._prompt.return_to

    @property
    def is_typing(self) -> bool:
        return self._prompt.display

    def takes(self, key: events.Key) -> bool:
        """Whether this key is part of what is being typed; it is typed then."""
        return self.is_typing and self.screen.focused is self._prompt and self._prompt.takes(key)

    def complete(self, completed: Callable[[str], str]) -> None:
        """The operator wants the command finished, as far as there is no doubt."""
        if self._prompt.sign == ":":
            self._prompt.begin(":", completed(self._prompt.text))

    def show_keys(self, keys: Keys) -> None:
        self._keys = keys
        self._show()

    def say(self, note: str) -> None:
        self._said = note
        if self._silence is not None:
            self._silence.stop()
        self._silence = self.set_timer(NOTE_S, self._fall_silent)
        self._show()

    def announce(self, note: str, *, instead_of: str = "") -> None:
        """Says something as soon as nothing else is said or typed; a later announcement takes its place.

        `instead_of`: what is no longer so, and need not be read to the end.
        """
        if (self._said and self._said != instead_of) or self.is_typing:
            self._waiting = note
        else:
            self.say(note)

    def tell_of(self, work: str) -> None:
        """What is under way, for as long as it is."""
        if work != self._doing:
            self._doing = work
            self._show()

    def stand(self, note: str) -> None:
        """What is to be read here whenever nothing else is said."""
        if note != self._standing:
            self._standing = note
            self._show()

    def answer(self, text: str, style: str, sign: str = "/") -> None:
        """A word about the effect of what is typed behind this sign."""
        if self._prompt.sign == sign:
            self._prompt.say(text, style)

    def ask(self, sign: str, text: str = "") -> None:
        """Lets the operator type; the focus returns to where it was."""
        self._prompt.begin(sign, text)
        self.query_one(KeyFooter).display = False

    @on(PromptLine.PromptAccepted)
    @on(PromptLine.PromptCancelled)
    def _end(self) -> None:
        if not self.is_typing:  # it may have begun anew
            self.query_one(KeyFooter).display = True
            self._say_what_waits()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        # A click elsewhere: a filter stands as it is; a command was not meant yet. After enter and `:` at once the
        # prompt has the focus again, before it is told that it had lost it.
        has_lost_it = event.widget is self._prompt and self.screen.focused is not self._prompt
        if self.is_typing and has_lost_it and self.app.app_focus:
            self._prompt.action_accept() if self._prompt.sign == "/" else self._prompt.action_cancel()

    def _fall_silent(self) -> None:
        self._said = ""
        self._show()
        if not self.is_typing:
            self._say_what_waits()

    def _say_what_waits(self) -> None:
        waiting, self._waiting = self._waiting, ""
        if waiting:
            self.say(waiting)

    def _show(self) -> None:
        note, width = plain(self._said or self._doing or self._standing), self.size.width
        keys = keys_within(self._keys, width)
        is_beside = _size(keys) + cells(note) + 2 <= width
        self.query_one(KeyFooter).show(keys, note if is_beside else "")
        self._above.show("" if is_beside else note)
