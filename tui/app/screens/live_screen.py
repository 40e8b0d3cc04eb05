"""What the screens share: tabs, panes in frames, the actions on the list at hand, where a row's subject leads.

A timed screen can show the past; an asked screen is about a question to the analyses, worked out anew or stopped.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from textual import on
from textual.widget import Widget

from tui.app import analysis_choices
from tui.app.analysis_choices import Kept
from tui.app.commands import completed
from tui.app.live_app import LiveApp
from tui.app.panes.frames import Framed, FrameGroup, Keys
from tui.app.panes.live_panes import LiveRows, LiveText, NotFound, RowsShown
from tui.app.screens.page import Page
from tui.app.tour import tour_line
from tui.app.widgets.edge_lines import TabLine, TourStrip
from tui.app.widgets.lists import RowHighlighted
from tui.app.widgets.prompt_line import PromptLine
from tui.engine.actions import FOOTER, SCREENS, tab_titles
from tui.engine.conditions import Here
from tui.engine.messages import STOPPABLE, HeaderFacts
from tui.engine.view_state import Filter, Intent, MoveBrokers, Reverse, Sort, SwitchView, ViewState, reduce

SUBJECT = "subject"
"""Title of the column that says what a finding or an event is about."""

LEADS: dict[str, Callable[[LiveApp, str], None]] = {
    "partition ": lambda app, name: app.show_partition(name),
    "broker ": lambda app, broker: app.show_broker(broker),
    "group ": lambda app, group: app.show_group(group),
    "/": lambda app, path: app.show_znode(f"/{path}"),
    "cluster": lambda app, _: app.show_screen("partitions"),
    "controller": lambda app, _: app.show_znode("/controller"),
    "": lambda app, name: app.show_partitions(name),
}
"""How a subject begins → where it leads. The last is a topic or a partition, whose name is a filter."""


def subject_of(rows: LiveRows) -> str | None:
    """What the row under the cursor is about; None where the list does not say. What follows the name is not its."""
    titles = [column.title for column in rows.answer.columns]
    if rows.row is None or SUBJECT not in titles:
        return None
    return next((text for text, _ in rows.row.cells[titles.index(SUBJECT)]), "")


def follow(app: LiveApp, subject: str) -> None:
    """Goes to what the subject is about."""
    beginning = next(beginning for beginning in LEADS if subject.startswith(beginning))
    LEADS[beginning](app, subject.removeprefix(beginning))


def _orders(rows: LiveRows) -> list[str]:
    """The columns that a list can be sorted by, its own order (empty) first."""
    return ["", *(column.sort for column in rows.answer.columns if column.sort)]


BROKERS_AT_ONCE = 4
"""By how many brokers the partition map moves."""


class LiveScreen(Page):
    """A screen fed by the data process. Subclasses say what stands in the middle and which list is the main one."""

    main_list = ""
    map_list = "partitions"

    def middle(self) -> Iterable[Widget]:
        numbers = [self.kdrill.sign(f"screen('{name}')") for name in SCREENS]
        titles = tab_titles(self.place, self.kdrill.facts)
        yield TabLine(titles, numbers, active=SCREENS.index(self.place), help_sign=self.kdrill.sign("help"), id="tabs")
        yield TourStrip(id="tour")
        with FrameGroup(id="body"):
            yield from self.panes()

    def panes(self) -> Iterable[Widget]:
        """The panes in the middle."""
        raise NotImplementedError

    def on_mount(self) -> None:
        # Not `focus()`, on any screen: it comes late, and would take the focus from what is typed by then.
        self.set_focus(self.first_pane())
        self.watch(self.kdrill, "tour", self._show_tour)
        self.watch(self.kdrill, "facts", self._show_tour, init=False)
        self.watch(self.kdrill, "facts", self._name_tabs)

    def first_pane(self) -> Widget:
        """What keys apply to at first."""
        return self.query_one(f"#{self.main_list}")

    def _name_tabs(self, facts: HeaderFacts) -> None:
        self.query_one(TabLine).name_them(tab_titles(self.place, facts))

    def _show_tour(self) -> None:
        self.query_one(TourStrip).show(tour_line(self.kdrill.tour, self.kdrill.facts, self.kdrill.sign))

    @property
    def list_at_hand(self) -> LiveRows:
        """The focused list, or the screen's main one."""
        focused = self.bottom.return_to or self.focused
        return focused if isinstance(focused, LiveRows) else self.query_one(f"#{self.main_list}", LiveRows)

    @property
    def here(self) -> Here:
        at_hand, main = self.list_at_hand, self.query_one(f"#{self.main_list}", LiveRows)
        return super().here._replace(
            list_name=at_hand.list_name,
            selected=at_hand.cursor_key,
            main=main.cursor_key,
            orders=len(_orders(at_hand)),
            has_text=bool(self._texts),
            clusters=len(self.kdrill.contexts),
        )

    @property
    def _texts(self) -> list[LiveText]:
        """The texts that are in sight, or would be if there were room."""
        return [
            text for text in self.query(LiveText) if not isinstance(text.parent, Framed) or self.is_offered(text.parent)
        ]

    @property
    def named_here(self) -> Mapping[str, str]:
        """What the cursor is on, by the option that names it on the command line."""
        return {}

    def intend(self, intent: Intent) -> None:
        """Changes what the operator chose to see."""
        self.ask(lambda state: reduce(state, intent))

    def ask(self, change: Callable[[ViewState], ViewState]) -> None:
        """Changes what is chosen or asked, by a pure function."""
        self.kdrill.view_state = change(self.kdrill.view_state)

    # Panes

    def watch_focused(self, focused: Widget | None) -> None:
        """At once: where only the pane at hand is in sight, another one could not keep the focus."""
        if focused is not None and isinstance(focused.parent, Framed):
            around = {focused.parent, *focused.parent.ancestors}
            for group in self.query(FrameGroup):
                group.set_class(group in around, "-at-hand")
            for frame in self.query(Framed):
                frame.be_at_hand(frame in around)
            self._count()
            self.show_keys()

    def action_pane(self, step: int) -> None:
        if self.bottom.is_typing:
            self.bottom.complete(lambda text: completed(text, self.kdrill.requests, self.kdrill.contexts))
            return
        panes = [frame.pane for frame in self._in_reading_order if self.is_offered(frame) and frame.pane.can_focus]
        place = panes.index(self.focused) if self.focused in panes else -1
        self.set_focus(panes[(place + step) % len(panes)])

    @property
    def _in_reading_order(self) -> list[Framed]:
        """Frames from left to right and from top to bottom, one that is hidden right after the one before it.

        Where one hides all others they come as the screen has them.
        """
        frames = list(self.query(Framed))
        if self._is_alone:
            return frames
        corners: dict[Framed, tuple[int, int]] = {}
        corner = (0, 0)
        for frame in frames:
            if frame.region.area:
                corner = (frame.region.y, frame.region.x)
            corners[frame] = corner
        return sorted(frames, key=corners.__getitem__)

    @property
    def _is_alone(self) -> bool:
        """Whether only the pane at hand is in sight."""
        return self.has_class("-small") or self.has_class("-full")

    def is_offered(self, frame: Framed) -> bool:
        """Whether a frame would be in sight if there were room."""
        return True

    def action_full(self) -> None:
        self.toggle_class("-full")
        self.show_keys()

    def keys(self) -> Keys:
        """Where one pane hides the others, the way to them takes the place of the least useful key."""
        help_key, *keys, way_back = super().keys()
        if not self._is_alone:
            return [help_key, *keys, way_back]
        return [help_key, (self.kdrill.sign("pane(1)"), "next pane"), *keys[: FOOTER - 1], way_back]

    # The list at hand

    def action_sort(self) -> None:
        rows = self.list_at_hand
        names = _orders(rows)
        now = self.kdrill.view_state.of(rows.list_name).sort
        place = names.index(now) if now in names else 0
        self.intend(Sort(rows.list_name, names[(place + 1) % len(names)]))

    def action_reverse(self) -> None:
        self.intend(Reverse(self.list_at_hand.list_name))

    def action_view(self) -> None:
        self.intend(SwitchView(self.list_at_hand.list_name))

    def action_brokers(self, pages: int) -> None:
        self.intend(MoveBrokers(self.map_list, BROKERS_AT_ONCE * pages))

    def action_refresh(self) -> None:
        self.wakes += 1

    def action_copy(self) -> None:
        focused = self.focused
        self.copy(focused.copy_text if isinstance(focused, LiveText) else self.list_at_hand.copied)

    def action_copy_text(self) -> None:
        self.copy(next((text.copy_text for text in self._texts), ""))

    def action_export(self) -> None:
        """The command that writes what is shown, with a name for the file that is not taken yet."""
        moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime(self.kdrill.now_ms() / 1000))
        self.bottom.ask(":", f"export kdrill-{self.place}-{moment}.txt")

    def action_related(self) -> None:
        """Where `o` leads; nowhere unless a screen says so."""
        self.say("there is nothing to go to from here")

    def action_describe(self) -> None:
        """What `d` describes; nothing unless a screen says so."""

    def action_command(self) -> None:
        self.bottom.ask(":")

    # The filter

    def filter_text(self) -> str:
        return self.kdrill.view_state.of(self.list_at_hand.list_name).filter

    def apply_filter(self, text: str) -> None:
        self.intend(Filter(self.list_at_hand.list_name, text))

    def has_filter(self) -> bool:
        """Whether the list at hand is filtered."""
        return bool(self.filter_text())

    def clear_filter(self) -> bool:
        if super().clear_filter():
            return True
        if self.has_filter():
            self.apply_filter("")
        elif self.kdrill.doing and self.kdrill.tour.is_over:  # the tour's line says that this key ends the tour
            self.kdrill.stop_jobs()
        else:
            return False
        return True

    @on(RowsShown)
    @on(RowHighlighted)
    def _select(self) -> None:
        """Another row may allow something else. Whoever pressed a key looks at the row first."""
        self.call_after_refresh(self.show_keys)

    @on(RowsShown)
    def _count(self) -> None:
        """How much of the list at hand is in view, for as long as it is filtered."""
        rows, text = self.list_at_hand, self.filter_text()
        answer = rows.answer
        count = f"{answer.total:,} of {answer.unfiltered_total:,}"
        self.bottom.answer(answer.note or count, "error" if answer.note else "dim")
        self.bottom.stand(f"/{text}  {count}" if text else "")

    @on(NotFound)
    def _not_found(self, event: NotFound) -> None:
        self.say(f"there is no {event.key}")

    @on(TabLine.TabChosen)
    def _tab(self, event: TabLine.TabChosen) -> None:
        self.kdrill.show_screen(SCREENS[event.index])


GO_TO = "@"
"""The sign of the prompt for a time."""


class TimedScreen(LiveScreen):
    """A live screen whose panes ask for the moment that is looked at."""

    @property
    def is_timed(self) -> bool:
        return True

    def action_play(self) -> None:
        self.kdrill.pause()

    def action_step(self, by: int) -> None:
        self.kdrill.go_in_time("on" if by > 0 else "back")

    def action_mark(self, by: int) -> None:
        self.kdrill.go_in_time("mark-after" if by > 0 else "mark-before")

    def action_time(self) -> None:
        self.bottom.ask(GO_TO)

    def action_compare(self) -> None:
        self.kdrill.compare()

    def action_put_mark(self) -> None:
        """The command that marks this moment; the note is still to be typed."""
        self.bottom.ask(":", "mark ")

    @on(PromptLine.PromptAccepted)
    def _typed_a_time(self, event: PromptLine.PromptAccepted) -> None:
        if event.sign == GO_TO and event.text.strip():
            self.kdrill.go_in_time("time", event.text)


class AskedScreen(LiveScreen):
    """A screen about one of the view state's questions; its text says how far the answer is."""

    mode = "SIMULATED"
    kept: ClassVar[Kept]

    def action_refresh(self) -> None:
        self.ask(lambda state: analysis_choices.anew(state, self.kept))

    def action_engine(self) -> None:
        self.ask(lambda state: analysis_choices.with_next_engine(state, self.kept))

    def clear_filter(self) -> bool:
        return super().clear_filter() or self.stop()

    def stop(self) -> bool:
        """Ends what is worked out; whether anything was."""
        if not any(STOPPABLE in pane.copy_text for pane in self.query(LiveText)):
            return False
        self.ask(lambda state: analysis_choices.stopped(state, self.kept))
        return True
