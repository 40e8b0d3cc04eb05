"""What is said instead of everything where the terminal is too small for it: how large it must be, and what matters."""

from textual.strip import Strip

from tui.data.messages import HeaderFacts
from tui.panes.live_app import live_app
from tui.rows import Line, line, span
from tui.text import wrap_line
from tui.widgets.strip_widget import StripWidget

LEAST = (60, 16)
"""Cells and lines below which no screen is drawn."""


class TooSmall(StripWidget):
    """Covers everything below row one."""

    def __init__(self) -> None:
        super().__init__()
        self._facts = HeaderFacts()

    def show(self, facts: HeaderFacts) -> None:
        """The newest numbers."""
        if facts != self._facts:
            self._facts = facts
            self.refresh()

    def strip_at(self, y: int) -> Strip:
        lines = [part for each in self._lines() for part in wrap_line(each, self.size.width)]
        return self.fill(lines[y] if y < len(lines) else ())

    def _lines(self) -> tuple[Line, ...]:
        facts, size = self._facts, self.app.size
        ruler = "none" if facts.controller is None else f"b{facts.controller} e{facts.controller_epoch}"
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
