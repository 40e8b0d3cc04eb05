"""A plan under review: its batches, and of the one under the cursor what it changes, the verdict, or its files."""

from textual import on
from textual.app import ComposeResult

from tui.panes.asked_panes import AskedRows, AskedText
from tui.panes.framed import Framed, Group
from tui.panes.live_app import live_app
from tui.widgets.list_messages import RowHighlighted

ALL = "all"
"""The row for all batches that are in."""

FORMS = {
    "changes": "What it changes",
    "verdict": "Verdict, and how to run it",
    "forward": "Kafka's reassignment JSON",
    "rollback": "The way back as JSON",
}
FRAMES = ("plan-batches-frame", "plan-review-frame")


class PlanReview(Group):
    """Two frames; what they show follows the view state's plan."""

    def compose(self) -> ComposeResult:
        yield Framed("Review: batches", AskedRows("plan-batches", "plan"), id="plan-batches-frame")
        yield Framed("", AskedText("plan-review", "plan", key=ALL, id="plan-review"), id="plan-review-frame")

    def on_mount(self) -> None:
        self.watch(live_app(self), "view_state", self._name_form)

    @property
    def batches(self) -> AskedRows:
        """The list of batches."""
        return self.query_one(AskedRows)

    @property
    def text(self) -> AskedText:
        """What is said of the batch under the cursor."""
        return self.query_one(AskedText)

    @on(RowHighlighted, "#plan-batches")
    def _show_batch(self, event: RowHighlighted) -> None:
        self.text.be_about(event.key or ALL)

    def _name_form(self) -> None:
        form = live_app(self).view_state.of("plan-review").view
        self.query_one("#plan-review-frame", Framed).name_it(FORMS[form])
