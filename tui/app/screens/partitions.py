"""Screen 3: who leads, who is in sync, who is behind; by partition and, from farther away, by topic, broker, rack."""

from collections.abc import Iterable, Mapping

from textual import on
from textual.widget import Widget

from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LivePicture, LiveText
from tui.app.panes.map_panes import MapRows
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import TimedScreen
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.engine.cluster.queries import BrokerTextQuery, RackText
from tui.engine.drill import choices as drill_choices
from tui.engine.queries import PartitionList, PartitionPicture, PartitionTextQuery, TopicTextQuery
from tui.engine.view_state import LEVELS, MoveBrokers, ViewState, Zoom, level_of

LIST = "partitions"
LEGEND = "Partitions: L leader  o in ISR  - out of ISR  X leaderless  + adding"
TOPICS = "Topics, their worst replica: X leaderless  - out  + adding  L leads  o in ISR"
ALL = "All partitions by broker"
LEGENDS = {
    "matrix": LEGEND,
    "list": "Partitions",
    "topics": TOPICS,
    "topics-other": TOPICS,
    "brokers": "Brokers: replicas by state; X dead, and led or last in sync",
    "racks": "Racks: replicas by state; each broker by its worst replica",
}
"""View → what its signs mean."""

WHOM = "which broker? l goes to its column, or {zoom} {zoom} to the brokers; {pick} marks more than one"

PARTITIONS, TOPIC, BROKER, RACK = range(len(LEVELS[LIST]))
ABOUT = (PartitionTextQuery, TopicTextQuery, BrokerTextQuery, RackText)
"""What tells of a row, by distance."""


class Partitions(TimedScreen):
    """The map of partitions and brokers, and why what is under the cursor is as it is."""

    place = "partitions"
    main_list = LIST

    def __init__(self) -> None:
        super().__init__()
        self._places = [""] * len(ABOUT)
        """By distance, the row to go back to."""
        self._arrived = ""
        """The row that the last zoom led to: from there, back is where one came from."""

    def panes(self) -> Iterable[Widget]:
        yield ByNeed(
            Framed(LEGEND, MapRows(PartitionList(), empty="no partitions"), id="map-frame", least=(40, 8)),
            ByNeed(
                Framed("why", LiveText(PartitionTextQuery(), id="why"), id="why-frame", least=(36, 9), grows=1, rank=1),
                Framed(ALL, LivePicture(PartitionPicture(), id="all"), id="all-frame", least=(36, 8), grows=2, rank=2),
                id="why-and-all",
            ),
            id="map-and-why",
        )

    def on_mount(self) -> None:
        self.watch(self.kdrill, "view_state", self._name_the_form)

    def is_offered(self, frame: Framed) -> bool:
        return frame.id != "all-frame" or (self.has_class("-wide") and self.has_class("-tall"))

    def _name_the_form(self, state: ViewState) -> None:
        self.query_one("#map-frame", Framed).name_it(LEGENDS[state.of(LIST).view])

    @property
    def named_here(self) -> Mapping[str, str]:
        key = self._rows.cursor_key
        topics = {TOPIC: key, PARTITIONS: key.rpartition("-")[0]}
        return {"topic": topics.get(self._level, "")}

    @property
    def _level(self) -> int:
        return level_of(LIST, self.kdrill.view_state.of(LIST).view)

    @on(RowHighlighted)
    def _explain(self, event: RowHighlighted) -> None:
        self._arrived = self._arrived or event.key
        about = ABOUT[self._level](key=event.key)
        self.query_one("#why", LiveText).be_about(about)
        self.query_one("#all", LivePicture).be_about(PartitionPicture(key=event.key))
        named = self._level in (BROKER, RACK) and event.key
        self.query_one("#why-frame", Framed).name_it(f"{about.name} {event.key}" if named else event.key)

    @on(RowSelected)
    def _open(self, event: RowSelected) -> None:
        level, key = self._level, event.key
        if level == PARTITIONS:
            self.action_related()
            return
        came_from_here = key == self._arrived
        self._leave(level, key)
        if level == BROKER and not came_from_here:
            self._bring_into_view(event.index)
        self._go(level - 1)

    def action_zoom(self) -> None:
        level, key = self._level, self._rows.cursor_key
        self._leave(level, key)
        farther = (level + 1) % len(ABOUT)
        if key and level == PARTITIONS:
            self._places[TOPIC] = key.rpartition("-")[0]
        elif key and level == BROKER:
            self._places[RACK] = f"broker:{key}"
        self._go(farther)

    def action_describe(self) -> None:
        self.kdrill.describe(ABOUT[self._level](key=self.list_at_hand.cursor_key))

    def action_related(self) -> None:
        key = self.list_at_hand.cursor_key
        topic, _, partition = key.rpartition("-")
        if self._level == PARTITIONS and topic:
            self.kdrill.show_znode(f"/brokers/topics/{topic}/partitions/{partition}/state")
        elif self._level == TOPIC and key:
            self.kdrill.show_znode(f"/brokers/topics/{key}")
        elif self._level == BROKER and key:
            self.kdrill.show_znode(f"/brokers/ids/{key}")

    # Victims of a drill: the broker whose column it is, or the broker or rack of the row

    def action_pick(self) -> None:
        if self._thing:
            self.ask(lambda state: drill_choices.with_mark(state, self._thing))
        else:
            self.say(WHOM.format(zoom=self.kdrill.sign("zoom"), pick=self.kdrill.sign("pick")))

    def action_kill(self) -> None:
        """Never for real: the drill plays it on a copy."""
        things = self.kdrill.view_state.marked or (self._thing,)
        if any(things):
            self.ask(lambda state: drill_choices.with_these(state, things))
            self.kdrill.show_screen("drill")
        else:
            self.say(WHOM.format(zoom=self.kdrill.sign("zoom"), pick=self.kdrill.sign("pick")))

    def action_for_real(self) -> None:
        self.kdrill.break_for_real(self._thing)

    def clear_filter(self) -> bool:
        if super().clear_filter():
            return True
        has_marks = bool(self.kdrill.view_state.marked)
        self.ask(drill_choices.without_marks)
        return has_marks

    @property
    def _thing(self) -> str:
        key = self._rows.cursor_key
        if self._level == BROKER:
            return f"b{key}" if key else ""
        return f"{drill_choices.RACK}{key}" if self._level == RACK and key else self._rows.column

    @property
    def _rows(self) -> MapRows:
        return self.query_one(f"#{LIST}", MapRows)

    def _leave(self, level: int, key: str) -> None:
        """Remembers this row, and where it leads to one step closer, unless one came from there."""
        if key:
            self._places[level] = key
        if key and key != self._arrived and level == TOPIC:
            self._places[PARTITIONS] = f"{key}-*"
        elif key and key != self._arrived and level == RACK:
            self._places[BROKER] = f"rack:{key}"

    def _go(self, level: int) -> None:
        self._arrived = ""
        self.intend(Zoom(LIST, level))
        if self._places[level]:
            self._rows.seek(self._places[level])

    def _bring_into_view(self, index: int) -> None:
        """The map's columns begin at this broker, where rows stand in the brokers' order."""
        now = self.kdrill.view_state.of(LIST)
        if not now.sort and not now.reverse:
            self.intend(MoveBrokers(LIST, index - now.offset))
