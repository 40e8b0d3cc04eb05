"""The base of our widgets: draws its own lines, in styles named by the palette. Decides nothing about content.

It takes the place of Textual's style machinery, which costs more than the drawing itself. The price: a border,
padding, opacity or tint set on such a widget is not drawn. Put those on a container around it.

For each frame Textual wants all lines of all widgets near a change. Lines that nobody refreshed are those drawn before.
"""

from collections.abc import Iterable
from typing import Self

from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from tui.app.theme import Look, LookKey, look_of
from tui.engine.rows import Span
from tui.engine.text import fit_line


class StripWidget(Widget):
    """A widget made of one Strip per line; subclasses give `strip_at`."""

    DEFAULT_CSS = "StripWidget { width: 1fr; height: 1fr; }"
    ALLOW_SELECT = False
    fades = True
    """Whether it loses its colours with the rest of the screen while the data is old."""

    _look: Look | None = None
    _look_key: LookKey = ()

    def __init__(self, *children: Widget, id: str | None = None) -> None:
        super().__init__(*children, id=id)
        self._lines_drawn: list[Strip] = []
        self._lines_due: set[int] = set()

    @property
    def size(self) -> Size:
        """Cells of the widget; as it has no padding, without asking for it on every line of every frame."""
        return self.outer_size

    @property
    def look(self) -> Look:
        """The styles of the app's theme, as of the frame being drawn."""
        return self._look or self._resolve()

    def _resolve(self) -> Look:
        look, self._look_key = look_of(self.app, self._look, self._look_key, fades=self.fades)
        if look is not self._look:
            self._look = look
            self._lines_drawn = []
            self.forget_strips()
        return look

    def strip_at(self, y: int) -> Strip:
        """Line `y` of the widget, `size.width` cells wide."""
        raise NotImplementedError

    def forget_strips(self) -> None:
        """The theme changed: whatever was kept in the old styles is worthless now."""

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """See Widget: these parts, or all of it, are drawn again with the next frame."""
        if regions:
            top = self.content_offset.y
            self._lines_due.update(top + y for region in regions for y in region.line_range)
        elif repaint:
            self._lines_drawn = []
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_lines(self, crop: Region) -> list[Strip]:
        """See Widget: the lines of this part of the widget."""
        self._resolve()
        size = self.outer_size
        if crop != size.region:
            strips = [self.strip_at(y) for y in crop.line_range]
            return strips if crop.column_span == (0, size.width) else [each.crop(crop.x, crop.right) for each in strips]
        drawn = self._lines_drawn
        if len(drawn) != size.height or (drawn and drawn[0].cell_length != size.width):
            self._lines_drawn = drawn = [self.strip_at(y) for y in range(size.height)]
        else:
            for y in self._lines_due & set(range(size.height)):
                drawn[y] = self.strip_at(y)
        self._lines_due.clear()
        return drawn

    def fill(self, line: Iterable[Span], *, over: str = "", under: str = "", align: str = "<") -> Strip:
        """Untrusted pieces of text in one line as wide as the widget, all of it over and under these styles."""
        look, width = self.look, self.size.width
        pieces = fit_line(line, width, ellipsis=look.glyphs.ellipsis, align=align)
        return Strip(look.segments(pieces, over, under), width)

    def refresh_line(self, y: int) -> None:
        """Draw this line again with the next frame."""
        if 0 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))
