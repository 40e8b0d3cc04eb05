"""Row one of every screen, with an age that counts on by itself. Learns nothing by itself: it is told the facts.

The age goes on counting when no more facts come, and past a limit LIVE turns into STALE: if the process behind the
screen hangs, row one is what says so.
"""

from collections.abc import Callable

from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from tui.clock import wall_clock_ms
from tui.data.messages import HeaderFacts
from tui.rows import Line
from tui.widgets.header_parts import Stance, header_line, is_stale, next_change_ms
from tui.widgets.strip_widget import StripWidget

LATE_S = 0.02
"""What is to change at a moment has surely changed so long after it."""


class HeaderLine(StripWidget):
    """One line; when the data is stale, all of it is in the style that says so."""

    DEFAULT_CSS = "HeaderLine { height: 1; }"
    fades = False

    class StalenessChanged(Message):
        """The screen should fade by now, or no longer."""

    def __init__(
        self,
        *,
        now_ms: Callable[[], int] = wall_clock_ms,
        stale_after_ms: int = 15_000,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._now_ms = now_ms
        self._stale_after_ms = stale_after_ms
        self._facts = HeaderFacts()
        self._stance = Stance()
        self._drawn: Line = ()
        self._timer: Timer | None = None
        self._due_ms = 0

    def show(self, facts: HeaderFacts) -> None:
        """What the source says now."""
        self._facts = facts
        self.tick()

    def stand(self, stance: Stance) -> None:
        """What the operator chose: access, pause, replay."""
        self._stance = stance
        self.tick()

    @property
    def is_stale(self) -> bool:
        """Whether the screen should fade: what it shows may no longer be so."""
        return is_stale(self._facts, self._now_ms(), self._stale_after_ms)

    def on_mount(self) -> None:
        self.tick()

    def tick(self) -> None:
        """Draw the line again if its words changed, and look again when they will; does nothing while out of sight."""
        if not self.screen.is_active:
            return
        if self._line() != self._drawn:
            self.refresh()
        if self.is_stale != getattr(self.app, "faded", self.is_stale):
            self.post_message(self.StalenessChanged())
        self._look_again()

    def _look_again(self) -> None:
        """Sleeps until the words change by themselves: a program that nobody touches should not wake every second."""
        now_ms = self._now_ms()
        after_ms = next_change_ms(self._facts, now_ms)
        if after_ms is None or (self._timer is not None and self._due_ms <= now_ms + after_ms):
            return
        if self._timer is not None:
            self._timer.stop()
        self._due_ms = now_ms + after_ms
        self._timer = self.set_timer(after_ms / 1000 + LATE_S, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self.tick()

    def strip_at(self, y: int) -> Strip:
        self._drawn = self._line()
        return self.fill(self._drawn, over="stale" if self.is_stale else "", under="header")

    def _line(self) -> Line:
        return header_line(
            self._facts,
            self._stance,
            now_ms=self._now_ms(),
            stale_after_ms=self._stale_after_ms,
            width=self.size.width,
        )
