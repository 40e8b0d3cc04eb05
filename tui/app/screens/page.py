"""What everything that fills the terminal shares: row one, the last line, what is typed there, and the size at hand.

Which cluster, how old, is the link good: that stands above every page; nothing old may look live, nor anything live
old. Where the terminal is too small, the page says so and what matters. What stands between is up to subclasses.
"""

from collections.abc import Callable, Iterable

import msgspec
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.errors import NoWidget
from textual.map_geometry import MapGeometry
from textual.reactive import var
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from model.cluster.texts import controller_name, counted
from tui.app.live_app import LiveApp, live_app
from tui.app.panes.frames import BottomLine, Keys, NoteLine
from tui.app.widgets.drawing import StripWidget
from tui.app.widgets.header import HeaderLine, Stance
from tui.app.widgets.prompt_line import PromptLine
from tui.app.widgets.text_and_plot import TextPane
from tui.engine.actions import Action, footer_keys, holding
from tui.engine.conditions import Here, reason
from tui.engine.messages import STOPPABLE, HeaderFacts, TimeAnswer
from tui.engine.rows import Line, line, span
from tui.engine.text import wrap_line

_OF_THE_LINK = ("cluster", "source", "phase", "reason", "since_ms", "image_time_ms", "progress", "zookeeper", "spark")


def facts_then(live: HeaderFacts, past: TimeAnswer) -> HeaderFacts:
    """The cluster as it was then; how the source fares, as it is now."""
    return msgspec.structs.replace(past.header, **{name: getattr(live, name) for name in _OF_THE_LINK})


def stance(live: HeaderFacts, past: TimeAnswer | None, changes: int, *, mode: str, is_timed: bool) -> Stance:
    """`mode` is what the page is called anyway; a page that is not `is_timed` shows the newest moment all the same."""
    if past is None or mode:
        return Stance(mode=mode)
    word, at = "REPLAY" if live.phase == "snapshot" else "PAUSED", f"at {past.clock}"
    if not is_timed:
        return Stance(mode=word, detail=f"{at} (this screen stays live)", brief=f"{at} (live here)")
    if word == "REPLAY":
        return Stance(mode=word, detail=at, brief=at)
    return Stance(mode=word, detail=f"{at}, {max(changes - past.changes, 0):,} new", brief=at)


LEAST = (60, 16)
"""Cells and lines below which no screen is drawn."""


class TooSmall(StripWidget):
    """Covers everything below row one."""

    def __init__(self) -> None:
        super().__init__()
        self._facts = HeaderFacts()

    def show(self, facts: HeaderFacts) -> None:
        if facts != self._facts:
            self._facts = facts
            self.refresh()

    def strip_at(self, y: int) -> Strip:
        lines = [part for each in self._lines() for part in wrap_line(each, self.size.width)]
        return self.fill(lines[y] if y < len(lines) else ())

    def _lines(self) -> tuple[Line, ...]:
        facts, size = self._facts, self.app.size
        name = None if facts.controller is None else controller_name(facts.controller, facts.generation)
        ruler = "none" if name is None else f"{name} e{facts.controller_epoch}"
        return (
            line(span("offline "), span(f"{facts.offline:,}", "error" if facts.offline else "")),
            line(
                span("under-replicated "),
                span(f"{facts.under_replicated:,}", "warn" if facts.under_replicated else ""),
            ),
            line(span("controller "), span(ruler, "error" if facts.controller is None else "")),
            line(
                span(f"kdrill needs {LEAST[0]} columns and {LEAST[1]} lines; here are {size.width} and {size.height}.")
            ),
            line(span(f"{live_app(self).sign('leave')} quits", "dim")),
        )


SIZES: dict[str, Callable[[int, int], bool]] = {
    "-too-small": lambda width, height: width < LEAST[0] or height < LEAST[1],
    "-small": lambda width, height: width < 80 or height < 24,
    "-wide": lambda width, height: width >= 120,
    "-very-wide": lambda width, height: width >= 160,
    "-tall": lambda width, height: height >= 40,
}
"""Class → for which width and height, in cells, a page has it."""


def bindings(place: str) -> list[Binding]:
    """What holds at a place, with the keys that it comes with: the app's keymap has those of the settings, by id."""
    return [Binding(action.keys, action.target, action.help, show=False, id=action.id) for action in holding(place)]


class Page(Screen[None]):
    """A screen or an overlay. `place` is its name in the registry of actions."""

    AUTO_FOCUS = ""
    place = ""
    mode = ""
    """What row one calls the page where it never shows the cluster as it is: SIMULATED."""

    wakes: var[int] = var(0, init=False)
    """Counts how often the page came to the front: panes ask anew then."""

    _searched: TextPane | None = None
    _text_before = ""
    _keys_are_due = False

    def __init_subclass__(cls, **settings: bool) -> None:
        """A page has the bindings of its place; Textual merges them with those of the classes above it."""
        if "place" in vars(cls):
            cls.BINDINGS = [*bindings(cls.place)]
        super().__init_subclass__(**settings)

    def __init__(self) -> None:
        super().__init__()
        self.header = HeaderLine(now_ms=self._now_ms, id="header")

    def compose(self) -> ComposeResult:
        yield self.header
        yield from self.middle()
        note = NoteLine()
        yield BottomLine(note)
        yield note
        yield TooSmall()

    def middle(self) -> Iterable[Widget]:
        """What stands between the first line and the last."""
        raise NotImplementedError

    def find_widget(self, widget: Widget) -> MapGeometry:
        """Where the last layout put a widget; raises NoWidget.

        Textual itself may lay out anew to answer. What comes into sight by that is no news to the next layout, which
        then tells it nothing: no Show, no Resize.
        """
        compositor = self._compositor
        if compositor._visible_map is not None:  # scrolled since: not all places are known
            return super().find_widget(widget)
        if (place := compositor._full_map.get(widget)) is None:
            raise NoWidget(f"{widget} has no place in the last layout")
        return place

    @property
    def kdrill(self) -> LiveApp:
        """The app: where to go from here, and what the operator chose."""
        return live_app(self)

    def _now_ms(self) -> int:
        return self.kdrill.now_ms()

    @property
    def bottom(self) -> BottomLine:
        return self.query_one(BottomLine)

    def on_mount(self) -> None:
        self.watch(self.kdrill, "facts", self._show_facts)
        self.watch(self.kdrill, "past", self._show_time, init=False)
        self.watch(self.kdrill, "changes", self._show_time, init=False)
        self.watch(self.kdrill, "doing", self._show_work)
        self.watch(self.kdrill, "view_state", self.show_keys, init=False)

    @property
    def is_timed(self) -> bool:
        """Whether the page shows the moment that is looked at; others always show the newest."""
        return False

    def _show_work(self, doing: str) -> None:
        self.bottom.tell_of(f"{doing}; {STOPPABLE}" if doing else "")

    def _show_time(self) -> None:
        self._show_facts(self.kdrill.facts)

    def _show_facts(self, facts: HeaderFacts) -> None:
        past = self.kdrill.past
        shown = facts_then(facts, past) if past and self.is_timed else facts
        header = self.header
        header.show(shown)  # first: of the facts before it would draw how old they are by now
        header.stand(stance(facts, past, self.kdrill.changes, mode=self.mode, is_timed=self.is_timed))
        self.query_one(TooSmall).show(shown)
        self.show_keys()

    def on_resize(self, event: events.Resize) -> None:
        if event.size != self.app.size:
            # Laid out anew, a page sends itself its size. Two sizes under way at once would follow each other for ever.
            event.prevent_default()
            return
        self.update_classes({name: holds(*event.size) for name, holds in SIZES.items()})
        self.show_keys()

    def keys(self) -> Keys:
        """The keys for the last line, most useful first; none that can do nothing now."""
        here = self.here
        return footer_keys(self.place, self.kdrill.actions, lambda action: not self.why_not(action, here))

    def show_keys(self) -> None:
        """Where the operator is has changed, or what can be done there; a page behind others shows it when it comes."""
        if self.is_active and not self._keys_are_due:
            self._keys_are_due = True
            self.call_later(self._show_keys)

    def _show_keys(self) -> None:
        """Once for all that waits to be handled by then: it is a lot when a page comes to the front."""
        self._keys_are_due = False
        if self.is_active:
            self.bottom.show_keys(self.keys())

    @property
    def here(self) -> Here:
        """Where the operator is, which decides what can be done."""
        return Here(self.place, self.kdrill.facts, self.kdrill.view_state, is_served=self.kdrill.is_served)

    def why_not(self, action: Action, here: Here | None = None) -> str:
        """Why this can do nothing now; empty where it can."""
        return reason(action, here or self.here, self.kdrill.actions)

    def on_screen_resume(self) -> None:
        self.wakes += 1
        self.header.tick()
        self.show_keys()

    def say(self, note: str) -> None:
        """One note, beside the keys or on the line above them."""
        self.bottom.say(note)

    def copy(self, text: str) -> None:
        """To the clipboard of the terminal, wherever that runs."""
        if text:
            self.app.copy_to_clipboard(text)
        self.say(f"copied {counted(len(text), 'character')}" if text else "there is nothing to copy here")

    # What is typed

    def action_filter(self) -> None:
        target = self.focused
        self._searched = target if isinstance(target, TextPane) else None
        self._text_before = "" if self._searched else self.filter_text()
        self.bottom.ask("/", self._text_before)

    def filter_text(self) -> str:
        """The filter that `/` begins with."""
        return ""

    def apply_filter(self, text: str) -> None:
        """Shows only what matches; nothing here can be filtered unless a subclass says so."""

    def _apply(self, text: str) -> None:
        if self._searched is not None:
            self._searched.search(text)
        else:
            self.apply_filter(text)

    @on(PromptLine.PromptChanged)
    def _typed(self, event: PromptLine.PromptChanged) -> None:
        if event.sign == "/":
            self._apply(event.text)

    @on(PromptLine.PromptAccepted)
    def _accepted(self, event: PromptLine.PromptAccepted) -> None:
        if event.sign == ":":
            self.kdrill.run_command(event.text)

    @on(PromptLine.PromptCancelled)
    def _cancelled(self, event: PromptLine.PromptCancelled) -> None:
        if event.sign == "/":
            self._apply(self._text_before)
            self._searched = None

    def end_search(self) -> bool:
        """Takes away what was searched in a text; whether there was anything."""
        searched, self._searched = self._searched, None
        if searched is not None:
            searched.search("")
        return searched is not None

    def clear_filter(self) -> bool:
        """Takes away what was searched in a text, or the filter of the list at hand; whether there was any."""
        return self.end_search()
