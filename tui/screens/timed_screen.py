"""A screen that can show the past: pause, step, go to a time, compare. Which moments there are, it does not know."""

from textual import on

from tui.screens.live_screen import LiveScreen
from tui.widgets.prompt_line import PromptLine

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
