"""What the guided tour says, in as many lines as it takes, between the tabs and the panes. It covers nothing."""

from textual import events
from textual.strip import Strip

from tui.rows import Line
from tui.text import wrap_line
from tui.widgets.strip_widget import StripWidget


class TourStrip(StripWidget):
    """A few lines of text; without a text it takes no room."""

    DEFAULT_CSS = "TourStrip { height: 1; display: none; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text: Line = ()
        self._lines: list[Line] = []

    def show(self, text: Line) -> None:
        """Says this from now on; nothing where it is empty."""
        if text != self._text:
            self._text = text
            self.display = bool(text)
            self._wrap(self.size.width)

    def on_resize(self, event: events.Resize) -> None:
        self._wrap(event.size.width)

    def strip_at(self, y: int) -> Strip:
        return self.fill(self._lines[y] if y < len(self._lines) else ())

    def _wrap(self, width: int) -> None:
        self._lines = wrap_line(self._text, width) if width else []
        self.styles.height = max(len(self._lines), 1)
        self.refresh()
