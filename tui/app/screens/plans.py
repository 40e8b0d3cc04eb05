"""Screen 9: replica plans: which brokers leave and come, what it costs, what becomes better; and a plan under review.

A review shows the plan's batches and, of the one under the cursor, what it changes, the verdict, or its files. Writes
no cluster.
"""

from collections.abc import Callable, Iterable

from textual import on
from textual.app import ComposeResult
from textual.widget import Widget

from tui.app import analysis_choices
from tui.app.live_app import live_app
from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LivePicture, LiveRows, LiveText
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import AskedScreen
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.engine.cluster.queries import BrokerTextQuery
from tui.engine.queries import (
    PartitionTextQuery,
    PlanBatchList,
    PlanBrokerList,
    PlanChangeList,
    PlanMatrix,
    PlanReviewText,
    PlanText,
)
from tui.engine.view_state import SwitchView, ViewState

ALL = "all"
"""The row for all batches that are in."""

FORMS = {
    "changes": "Changes",
    "verdict": "Verdict and commands",
    "forward": "Reassignment JSON",
    "rollback": "Rollback JSON",
}
FRAMES = ("plan-batches-frame", "plan-review-frame")


class PlanReview(ByNeed):
    """Two frames; what they show follows the view state's plan."""

    def compose(self) -> ComposeResult:
        yield Framed("Batches", LiveRows(PlanBatchList()), id="plan-batches-frame", least=(44, 7))
        yield Framed(
            "", LiveText(PlanReviewText(key=ALL), id="plan-review"), id="plan-review-frame", least=(64, 8), grows=1
        )

    def on_mount(self) -> None:
        self.watch(live_app(self), "view_state", self._name_form)

    @property
    def batches(self) -> LiveRows:
        return self.query_one(LiveRows)

    @property
    def text(self) -> LiveText:
        return self.query_one(LiveText)

    @on(RowHighlighted, "#plan-batches")
    def _show_batch(self, event: RowHighlighted) -> None:
        self.text.be_about(PlanReviewText(key=event.key or ALL))

    def _name_form(self) -> None:
        form = live_app(self).view_state.of("plan-review").view
        self.query_one("#plan-review-frame", Framed).name_it(FORMS[form])


class Plans(AskedScreen):
    """Brokers before and after, cost and balance, who copies to whom, every change; or, under review, the batches."""

    place = "plans"
    main_list = "plan-brokers"
    kept = "plan"

    def panes(self) -> Iterable[Widget]:
        top = ByNeed(
            Framed("Brokers, before and after", LiveRows(PlanBrokerList()), id="plan-brokers-frame", least=(72, 8)),
            Framed("Cost and balance", LiveText(PlanText(), id="plan"), id="plan-frame", least=(44, 6)),
            id="plan-top",
        )
        matrix = LivePicture(PlanMatrix(), id="plan-matrix")
        changes = LiveRows(PlanChangeList(), empty="no plan yet")
        below = ByNeed(
            Framed("Copies: from (rows), to (columns)", matrix, id="plan-matrix-frame", least=(38, 7)),
            Framed("Changes, in order", changes, id="plan-changes-frame", least=(40, 6)),
            id="plan-below",
        )
        yield ByNeed(top, below, PlanReview(id="plan-under-review"), id="plan-all")

    # The review

    @property
    def is_reviewing(self) -> bool:
        return self.has_class("-review")

    @property
    def list_at_hand(self) -> LiveRows:
        at_hand = super().list_at_hand
        return self._review.batches if self.is_reviewing and at_hand.list_name == self.main_list else at_hand

    @property
    def _review(self) -> PlanReview:
        return self.query_one(PlanReview)

    def is_offered(self, frame: Framed) -> bool:
        return (frame.id in FRAMES) == self.is_reviewing

    def action_act(self) -> None:
        """To the review, and back."""
        if not self.is_reviewing and not self.kdrill.view_state.plan.asked:
            self.say("no plan yet: enter makes one")
            return
        self.toggle_class("-review")
        self.set_focus(self._review.batches if self.is_reviewing else self.query_one(f"#{self.main_list}"))
        self.show_keys()

    def action_pick(self) -> None:
        batch = self._review.batches.cursor_key
        if not self.is_reviewing:
            self.say(f"the review has batches to leave out: {self.kdrill.sign('act')} opens it")
        elif batch.isdecimal():
            self.ask(lambda state: analysis_choices.with_or_without(state, int(batch)))
        else:
            self.ask(analysis_choices.with_all_batches)

    def action_copy(self) -> None:
        if self.is_reviewing:
            self.copy(self._review.text.copy_text)
        else:
            super().action_copy()

    def clear_filter(self) -> bool:
        if super().clear_filter():
            return True
        if self.is_reviewing:
            self.action_act()
            return True
        return False

    # The wish

    def change(self, change: Callable[[ViewState], ViewState]) -> None:
        """Another plan is wished, unless one is under review."""
        if self.is_reviewing:
            self.say(f"the review is of this plan as it is: {self.kdrill.sign('back')} leaves it")
        else:
            self.ask(change)

    @on(RowSelected)
    def _enter(self, event: RowSelected) -> None:
        if event.view.id == self.main_list:
            self.ask(analysis_choices.asked_for)
        elif self.is_reviewing:
            self.set_focus(self._review.text)
        else:
            self.action_describe()

    def action_kill(self) -> None:
        broker = self.query_one("#plan-brokers", LiveRows).cursor_key
        if broker:
            self.change(lambda state: analysis_choices.without_broker(state, int(broker)))

    def action_view(self) -> None:
        if self.is_reviewing:
            self.intend(SwitchView("plan-review"))
        else:
            self.ask(analysis_choices.with_next_reach)

    def action_by(self) -> None:
        self.change(analysis_choices.by_the_other)

    def action_policy(self) -> None:
        self.change(analysis_choices.with_next_tolerance)

    def action_reset(self) -> None:
        self.change(analysis_choices.without_plan)

    def action_describe(self) -> None:
        rows = self.list_at_hand
        if self.is_reviewing:
            return
        about = BrokerTextQuery if rows.list_name == self.main_list else PartitionTextQuery
        self.kdrill.describe(about(key=rows.cursor_key))

    def action_related(self) -> None:
        rows = self.list_at_hand
        if rows.cursor_key and not self.is_reviewing:
            is_broker = rows.list_name == self.main_list
            self.kdrill.show_partitions(f"broker:{rows.cursor_key}" if is_broker else rows.cursor_key)
