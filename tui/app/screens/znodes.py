"""Screen 2: what is really in ZooKeeper, or in a KRaft cluster's metadata, and the records that wrote it."""

from collections.abc import Iterable

from textual import on
from textual.widget import Widget

from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LiveRows, LiveText, LiveTree
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import LiveScreen
from tui.app.widgets.lists import CloseNode, OpenNode, ParentWanted, RowHighlighted, RowSelected
from tui.engine.actions import has_znodes
from tui.engine.cluster.queries import RecordList, RecordText, ZnodeHistoryText, ZnodeList, ZnodeText
from tui.engine.view_state import Close, Filter, Open, SwitchView

RECORDS = "records-frame"
ABOUT = 4
"""The column of records that says which place of the tree each is about."""


class Znodes(LiveScreen):
    """The tree, and beside it the znode under the cursor; of KRaft, where they are wanted, the log's last records."""

    place = "znodes"
    main_list = "znodes"

    def panes(self) -> Iterable[Widget]:
        records = LiveRows(RecordList(), empty="no record yet", follow_top=True)
        yield ByNeed(
            ByNeed(
                Framed("Tree", LiveTree(ZnodeList(), empty="nothing to browse"), id="tree-frame", least=(40, 8)),
                Framed("/", LiveText(ZnodeText(key="/"), id="znode"), id="znode-frame", least=(40, 8), grows=1),
                id="tree-and-znode",
            ),
            Framed("Records, newest first", records, id=RECORDS, least=(40, 10), rank=1),
            id="znodes-all",
        )

    def is_offered(self, frame: Framed) -> bool:
        return frame.id != RECORDS or self.has_class("-records")

    @property
    def _records(self) -> LiveRows:
        return self.query_one("#records", LiveRows)

    @property
    def _tree(self) -> LiveTree:
        return self.query_one("#znodes", LiveTree)

    def action_records(self) -> None:
        """They come, and the keys are theirs; again: they go."""
        self.toggle_class("-records")
        self.set_focus(self._records if self.has_class("-records") else self._tree)
        self.show_keys()

    @on(RowHighlighted, "#znodes")
    def _look_at(self, event: RowHighlighted) -> None:
        if event.key:
            self.query_one("#znode", LiveText).be_about(ZnodeText(key=event.key))
            self.query_one("#znode-frame", Framed).name_it(event.key)

    @on(OpenNode)
    def _open(self, event: OpenNode) -> None:
        self.intend(Open("znodes", (event.key,)))

    @on(CloseNode)
    def _close(self, event: CloseNode) -> None:
        self.intend(Close("znodes", event.key))

    @on(ParentWanted)
    def _to_parent(self, event: ParentWanted) -> None:
        self.list_at_hand.seek(event.key.rpartition("/")[0] or "/")

    @on(RowSelected)
    def _turn(self, event: RowSelected) -> None:
        if event.view is self._records:
            self.action_describe()
            return
        row = self.list_at_hand.row
        if row is not None and row.open is not None:
            self.intend(Close("znodes", row.key) if row.open else Open("znodes", (row.key,)))

    def go_to(self, path: str) -> None:
        """Opens the branches above a path and puts the cursor on it. A filter that may hide it is taken away."""
        parts = path.strip("/").split("/")
        above = tuple("/" + "/".join(parts[:depth]) for depth in range(1, len(parts)))
        self.intend(Filter("znodes", ""))
        self.intend(Open("znodes", above))
        self._tree.seek(path)

    def action_view(self) -> None:
        self.intend(SwitchView("znode"))

    def action_describe(self) -> None:
        rows = self.list_at_hand
        about = RecordText if rows is self._records else ZnodeText
        self.kdrill.describe(about(key=rows.cursor_key))

    def action_history(self) -> None:
        path = self._path_at_hand()
        self.kdrill.describe(ZnodeHistoryText(key=path))

    def _path_at_hand(self) -> str:
        """Of the tree's row, or what the record under the cursor is about."""
        rows = self.list_at_hand
        if rows is not self._records or rows.row is None:
            return self._tree.cursor_key
        return "".join(text for text, _ in rows.row.cells[ABOUT]) or "/"

    def action_related(self) -> None:
        if self.list_at_hand is self._records:
            self.go_to(self._path_at_hand())
            self.set_focus(self._tree)
            return
        parts = self.list_at_hand.cursor_key.split("/")[1:]
        if not has_znodes(self.kdrill.facts):
            self._related_to_metadata(parts)
        elif parts[:2] == ["brokers", "topics"] and len(parts) > 2:
            self.kdrill.show_partitions(f"topic:={parts[2]}")
        elif parts[:2] == ["brokers", "ids"] and len(parts) > 2:
            self.kdrill.show_partitions(f"broker:{parts[2]}")
        elif parts[:1] == ["consumers"] and len(parts) > 1:
            self.kdrill.show_group(parts[1])
        elif parts[:2] == ["config", "topics"] and len(parts) > 2:
            self.kdrill.show_partitions(f"topic:={parts[2]}")

    def _related_to_metadata(self, parts: list[str]) -> None:
        if parts[:1] == ["topics"] and len(parts) > 1:
            self.kdrill.show_partitions(f"topic:={parts[1]}")
        elif parts[:1] == ["brokers"] and len(parts) > 1:
            self.kdrill.show_partitions(f"broker:{parts[1]}")
        elif parts[:2] == ["configs", "topics"] and len(parts) > 2:
            self.kdrill.show_partitions(f"topic:={parts[2]}")
