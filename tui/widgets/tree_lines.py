"""A list whose rows are nodes of a tree: indented, opened and closed. Knows the rows it was shown, never the tree.

What is open is decided by whoever provides the rows; this view asks for it (`OpenNode`, `CloseNode`). A page of a large
folder ("500 more") is a row like any other.
"""

from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.rows import Row, Span
from tui.widgets.line_view import LineView
from tui.widgets.list_messages import CloseNode, OpenNode, ParentWanted
from tui.widgets.list_position import row_at

SIGNS = {True: "v ", False: "> ", None: "  "}
"""Row.open → what stands before the name."""


class TreeLines(LineView):
    """`l` opens a node or goes into it, `h` closes it or goes to its parent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l,right", "enter_node", "open node", show=False, id="tree.open"),
        Binding("h,left", "leave_node", "close node", show=False, id="tree.close"),
    ]

    def indent(self, row: Row) -> tuple[Span, ...]:
        rails = (self.look.glyphs.rail + " ") * row.depth
        return ((rails, "rule"), (SIGNS[row.open], "key"))

    def action_enter_node(self) -> None:
        row = self.row
        if row is None or row.open is None:
            return
        if not row.open:
            self.post_message(OpenNode(self, row.key))
            return
        below = row_at(self._window, self.cursor + 1)
        if below is not None and below.depth > row.depth:
            self.action_move(1)

    def action_leave_node(self) -> None:
        row = self.row
        if row is None:
            return
        if row.open:
            self.post_message(CloseNode(self, row.key))
        elif row.depth > 0:
            self._go_to_parent(row)

    def _go_to_parent(self, row: Row) -> None:
        for index in range(self.cursor - 1, self._window.first - 1, -1):
            above = row_at(self._window, index)
            if above is not None and above.depth < row.depth:
                self._go(index)
                return
        self.post_message(ParentWanted(self, row.key))
