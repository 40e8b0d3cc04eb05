"""Screen w: a year of the cluster as random histories have it: which topics, why, and what would help."""

from collections.abc import Iterable

from textual import on
from textual.widget import Widget

from tui.app import analysis_choices
from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LiveRows, LiveText
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import AskedScreen
from tui.app.widgets.lists import RowSelected
from tui.engine.drill import choices as drill_choices
from tui.engine.queries import ForecastActionList, ForecastCauseList, ForecastText, ForecastTopicList

BROKER, RACK = "broker ", "rack "
"""How the names of causes begin that a drill can play."""


class Forecast(AskedScreen):
    """Topics and the whole in sentences on top; below them the causes, and what helps."""

    place = "forecast"
    main_list = "forecast-topics"
    kept = "forecast"

    def panes(self) -> Iterable[Widget]:
        yield ByNeed(
            ByNeed(
                Framed(
                    "Minutes a year of a partition, worst topics first",
                    LiveRows(ForecastTopicList()),
                    id="topics-frame",
                    least=(40, 7),
                    grows=2,
                ),
                Framed(
                    "A year, as assumed",
                    LiveText(ForecastText(), id="forecast"),
                    id="forecast-frame",
                    least=(36, 8),
                    most=64,
                    grows=1,
                    rank=1,
                ),
                id="forecast-top",
            ),
            ByNeed(
                Framed(
                    "Causes; enter: its failure, on a copy",
                    LiveRows(ForecastCauseList()),
                    id="causes-frame",
                    least=(36, 6),
                    grows=1,
                ),
                Framed(
                    "What helps: minutes a year fewer, all partitions",
                    LiveRows(ForecastActionList()),
                    id="actions-frame",
                    least=(40, 6),
                    grows=1,
                ),
                id="forecast-below",
            ),
            id="forecast-all",
        )

    def watch_focused(self, focused: Widget | None) -> None:
        """Where there is no room for all, causes and what helps take the place of the rest while one is at hand."""
        super().watch_focused(focused)
        below = self.query_one("#forecast-below")
        self.set_class(focused is not None and below in focused.ancestors, "-below")

    def action_more(self) -> None:
        self.ask(analysis_choices.with_more_years)

    def action_act(self) -> None:
        """Stops what is played; what has come stays."""
        if not self.stop():
            self.say("nothing is being worked out")

    def action_describe(self) -> None:
        self.kdrill.describe(ForecastText(key=self.list_at_hand.cursor_key))

    def action_related(self) -> None:
        """The topic's partitions, or the broker."""
        rows = self.list_at_hand
        if rows.list_name == self.main_list:
            self.kdrill.show_partitions(f"topic:={rows.cursor_key}")
        elif rows.cursor_key.startswith(BROKER):
            self.kdrill.show_broker(rows.cursor_key.removeprefix(BROKER))
        else:
            super().action_related()

    @on(RowSelected)
    def _open(self, event: RowSelected) -> None:
        """The topic's partitions; the failure that is to blame, moment by moment; or all about what would help."""
        if event.view.id == self.main_list:
            self.kdrill.show_partitions(f"topic:={event.key}")
        elif event.key.startswith((BROKER, RACK)):
            kind, _, name = event.key.partition(" ")
            thing = f"b{name}" if kind == "broker" else f"{drill_choices.RACK}{name}"
            self.ask(lambda state: drill_choices.with_these(state, [thing]))
            self.kdrill.show_screen("drill")
        else:
            self.action_describe()
