"""Row one of every screen, with an age that counts on by itself. Learns nothing by itself: it is told the facts.

The age goes on counting when no more facts come, and past a limit LIVE turns into STALE: if the process behind the
screen hangs, row one is what says so.
"""

import time
from collections.abc import Callable

from textual.strip import Strip

from tui.data.messages import HeaderFacts
from tui.rows import Line
from tui.widgets.header_parts import Stance, header_line, is_stale
from tui.widgets.strip_widget import StripWidget


def _wall_clock_ms() -> int:
    return time.time_ns() // 1_000_000


class HeaderLine(StripWidget):
    """One line; when the data is stale, all of it is in the style that says so."""

    DEFAULT_CSS = "HeaderLine { height: 1; }"
    fades = False

    def __init__(
        self,
        *,
        now_ms: Callable[[], int] = _wall_clock_ms,
        stale_after_ms: int = 15_000,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._now_ms = now_ms
        self._stale_after_ms = stale_after_ms
        self._facts = HeaderFacts()
        self._stance = Stance()
        self._drawn: Line = ()

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
        self.set_interval(1.0, self.tick)

    def tick(self) -> None:
        """Draw the line again if its words changed."""
        if self._line() != self._drawn:
            self.refresh()

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
