"""The znode tree as rows: opened branches, kind and version of each znode; read anew where it changed.

Rows are found without going through them: a folder may hold millions of znodes, and all takes as long as there are
open znodes and rows asked for. The service waits for ZooKeeper in threads, one at a time. `at_ms` is the time on a
clock that never jumps.
"""

import asyncio
import threading
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from model.cluster.cluster_image import EMPTY
from model.hosts.zookeeper.protocol import BrowsesZnodes, ZooKeeperUnavailable
from model.metadata_log.journal import Logged
from model.sources.feed import Moment
from model.sources.metadata_tree import TreeReader, node_at
from model.sources.zookeeper.browser import Witness, ZnodeBrowser, join, natural, parent_of
from model.znodes.codec import decode, payload_version
from model.znodes.paths import describe
from model.znodes.payload import Payload, Unreadable
from model.zookeeper import Forbidden, Missing, TooLarge, Unread, Znode
from tui.engine.cluster.queries import RecordList, RecordText, ZnodeHistoryText, ZnodeList, ZnodeText
from tui.engine.cluster.record_pages import record_history, record_text, records_listing, written_by
from tui.engine.cluster.znode_texts import is_ephemeral, is_told, znode_detail, znode_history
from tui.engine.listing import AnswerMemo, window
from tui.engine.messages import TextAnswer
from tui.engine.rows import Column, Line, Row, Window, line, span

Children = Callable[[str], Sequence[str]]
"""Path → the names below it in `natural` order: the very same object for as long as nothing changes."""

Place = tuple[str, int]
"""(path, depth)"""


class Branch(NamedTuple):
    """What lies below an open znode. `branches` are open in their turn: each stands behind so many of `names`."""

    path: str
    depth: int
    names: Sequence[str]
    branches: Sequence[tuple[int, "Branch"]]
    rows: int
    """Those that match the filter, those of `branches` included."""
    total: int
    """What `rows` would be without the filter."""


def tree_of(opened: Iterable[str], text: str, children: Children, memory: AnswerMemo) -> Branch:
    """What lies below the root, and of it the rows whose path holds `text`, whatever the case."""
    below: defaultdict[str, list[str]] = defaultdict(list)
    for path in {*opened} - {"/"}:
        below[parent_of(path)].append(path.rpartition("/")[2])
    return _branch("/", 0, below, text.lower(), children, memory)


def _branch(
    path: str, depth: int, opened: Mapping[str, list[str]], text: str, children: Children, memory: AnswerMemo
) -> Branch:
    every = names = children(path)
    prefix = join(path, "")
    if text not in prefix.lower():
        names = memory.recall(f"znodes {path}", (every, text), partial(_matching, every, prefix.lower(), text))
    branches: list[tuple[int, Branch]] = []
    for name in sorted(opened.get(path, ()), key=natural):
        place = bisect_left(every, natural(name), key=natural)
        if every[place : place + 1] == (name,):
            behind = bisect_right(names, natural(name), key=natural)
            branches.append((behind, _branch(prefix + name, depth + 1, opened, text, children, memory)))
    rows = len(names) + sum(branch.rows for _, branch in branches)
    total = len(every) + sum(branch.total for _, branch in branches)
    return Branch(path, depth, names, branches, rows, total)


def _matching(names: Sequence[str], prefix: str, text: str) -> tuple[str, ...]:
    return tuple(name for name in names if text in prefix + name.lower())


def places(branch: Branch, wanted: range, row: int) -> Iterator[Place]:
    """Those rows below a znode that are wanted; `row` is the number of the first one."""
    prefix, done = join(branch.path, ""), 0
    for place, below in (*branch.branches, (len(branch.names), None)):
        first, last = done + max(wanted.start - row, 0), min(done + max(wanted.stop - row, 0), place)
        yield from ((prefix + name, branch.depth + 1) for name in branch.names[first:last])
        row += place - done
        done = place
        if below is not None:
            if row < wanted.stop and row + below.rows > wanted.start:
                yield from places(below, wanted, row)
            row += below.rows


def row_of(path: str, branch: Branch, row: int) -> int:
    """The row of a znode below another one, whose first row this is; -1 if it is not in sight."""
    prefix = join(branch.path, "")
    name, _, rest = path.removeprefix(prefix).partition("/")
    if rest:
        for place, below in branch.branches:
            if below.path == prefix + name:
                return row_of(path, below, row + place)
            row += below.rows
        return -1
    place = bisect_left(branch.names, natural(name), key=natural)
    if place == len(branch.names) or branch.names[place] != name:
        return -1
    return row + place + sum(below.rows for behind, below in branch.branches if behind <= place)


COLUMNS = (
    Column("znode", -26),
    Column("what", -16, rank=1),
    Column("v", 2, ">", rank=2),
    Column("e", 1, rank=2),
)
"""v: the payload's version; e: E for ephemeral. Names keep their cells: what a znode is stands beside the tree, too."""

_OF_BROKERS = (Column("metadata", -30),)
"""What brokers tell has no payload versions, and nothing there is ephemeral."""
_UNREAD: Mapping[type, str] = MappingProxyType({Forbidden: "no permission", TooLarge: "too large"})


def znodes_window(browser: ZnodeBrowser, query: ZnodeList, now_ms: int, memory: AnswerMemo) -> Window:
    """The rows of the tree with `query.opened` open. Blocks while the server is asked."""
    opened = frozenset(query.opened) | {"/"}
    try:
        tree = tree_of(opened, query.filter, lambda path: browser.children(path, now_ms), memory)
    except ZooKeeperUnavailable as error:
        return Window(0, 0, (), COLUMNS, note=str(error))
    root = int(query.filter in "/")
    wanted = range(query.first, query.first + query.count)
    shown = [*([("/", 0)] if root and 0 in wanted else []), *places(tree, wanted, root)]
    znodes = browser.znodes([path for path, _ in shown], now_ms)
    columns = _OF_BROKERS if is_told(browser.znodes(["/"], now_ms).get("/")) else COLUMNS
    rows = tuple(_row(browser, place, znodes, opened, now_ms, columns) for place in shown)
    cursor = root - 1 if query.key == "/" else row_of(query.key, tree, root)
    return Window(query.first, root + tree.rows, rows, columns, cursor=cursor, unfiltered_total=1 + tree.total)


def _row(
    browser: ZnodeBrowser,
    place: Place,
    znodes: Mapping[str, Znode | Unread],
    opened: frozenset[str],
    now_ms: int,
    columns: Sequence[Column],
) -> Row:
    path, depth = place
    znode = znodes.get(path)
    payload = decode(path, znode.data) if isinstance(znode, Znode) else None
    mark = browser.mark(path, now_ms)
    unusable = isinstance(payload, Unreadable) or isinstance(znode, Forbidden | TooLarge)
    style = "error" if unusable else {"+": "added", "~": "changed", "-": "removed"}.get(mark, "")
    name = line(span(path.rpartition("/")[2] or "/", style), *_count(znode, path in opened))
    facts = _facts(path, znode, payload, mark)
    has_children = isinstance(znode, Znode) and (znode.stat.num_children > 0 or path in opened)
    return Row(
        key=path,
        cells=(name, *(facts.get(column.title, ()) for column in columns[1:])),
        depth=depth,
        open=(path in opened) if has_children else None,
        mark=mark or ("!" if unusable else ""),
    )


def _count(znode: Znode | Unread | None, is_open: bool) -> Line:
    if is_open or not isinstance(znode, Znode) or not znode.stat.num_children:
        return ()
    return (span(f" ({znode.stat.num_children:,})", "dim"),)


def _facts(
    path: str, znode: Znode | Unread | None, payload: Payload | Unreadable | None, mark: str
) -> Mapping[str, Line]:
    """What each column says of a znode, by the column's title."""
    if mark == "-" or isinstance(znode, Missing):
        return {"what": line(span("gone", "removed"))}
    if not isinstance(znode, Znode):
        reason = "not read yet" if znode is None else _UNREAD.get(type(znode), "refused")
        return {"what": line(span(reason, "warn"))}
    label = span("! unreadable", "error") if isinstance(payload, Unreadable) else span(describe(path).label, "dim")
    if is_told(znode):
        label = span("", "dim")
    version = payload_version(payload)
    return {
        "what": line(label),
        "v": line(span("" if version is None else version, "number")),
        "e": line(span("E" if znode.stat.ephemeral_owner else "", "dim")),
    }


NO_LOG = "only a KRaft cluster that is followed at its controllers, or read from a disk, has a log of records"
NO_TREE = "a snapshot of a cluster with ZooKeeper holds no tree to browse: open the cluster itself"


class ZnodeService:
    """Used on one event loop, but for `take`, which the source's thread calls.

    Without `open` there is a tree of KRaft clusters alone: what the image knows of their metadata. So it is, too, for
    as long as the image knows the metadata log: it has more than brokers tell.
    """

    def __init__(self, witness: Witness) -> None:
        """`witness`: who saw the values that came by."""
        self._witness = witness
        self._browser: ZnodeBrowser | None = None
        self._given: BrowsesZnodes | None = None
        self._browsed: BrowsesZnodes | None = None
        self._of_image = TreeReader(lambda path: node_at(self._image, path))
        self._image = EMPTY
        self._memory, self._recorded = AnswerMemo(), AnswerMemo()
        self._browsing = threading.Lock()

    def open(self, reader: BrowsesZnodes) -> None:
        """Where to read."""
        self._given = reader
        self._choose()

    def _choose(self) -> None:
        is_of_image = self._image.generation == "kraft" and (self._given is None or self._image.metadata is not None)
        reader = self._of_image if is_of_image else self._given
        if reader is not None and reader is not self._browsed:
            self._browsed, self._browser = reader, ZnodeBrowser(reader, self._witness.saw)

    def take(self, moment: Moment) -> None:
        """A moment was published: what it touched is old."""
        self._image = moment.image
        self._choose()
        if self._browser is not None:
            if moment.relisted:
                self._browser.invalidate_all()
            self._browser.invalidate(moment.touched)

    def next_fade_ms(self, at_ms: int) -> int | None:
        """When a mark in the tree is to vanish; None where there is none."""
        return self._browser.next_fade_ms(at_ms) if self._browser else None

    async def window(self, query: ZnodeList, at_ms: int) -> Window:
        """Rows of the tree."""
        return await asyncio.to_thread(self._window, query, at_ms)

    async def text(self, query: ZnodeText | ZnodeHistoryText, at_ms: int) -> TextAnswer:
        """One node: as its `view` says, or its history."""
        return await asyncio.to_thread(self._text, query, at_ms)

    async def znodes(self, paths: Sequence[str], at_ms: int) -> Mapping[str, Znode | Unread]:
        """Znodes as they are now; none where there is no connection."""
        return await asyncio.to_thread(self._znodes, paths, at_ms)

    @property
    def terms(self) -> tuple[Logged, ...]:
        """Elections of the quorum and its sets of voters, oldest first."""
        return self._witness.terms()

    @property
    def _is_logged(self) -> bool:
        """Whether the tree that is browsed is what a metadata log says."""
        return self._browsed is self._of_image and self._image.metadata is not None

    async def records(self, query: RecordList, at_ms: int) -> Window:
        """Records of the metadata log."""
        if not self._is_logged:
            return Window(0, 0, (), note=NO_LOG)
        return window(records_listing(self._witness.records()), query, self._recorded, at_ms)

    async def record(self, query: RecordText, _: int) -> TextAnswer:
        """One of them."""
        return record_text(self._witness.records(), query.key, query.width)

    def _window(self, query: ZnodeList, at_ms: int) -> Window:
        if self._browser is None:
            return Window(0, 0, (), note=NO_TREE)
        with self._browsing:
            return znodes_window(self._browser, query, at_ms, self._memory)

    def _znodes(self, paths: Sequence[str], at_ms: int) -> Mapping[str, Znode | Unread]:
        if self._browser is None:
            return {}
        with self._browsing:
            return self._browser.znodes(paths, at_ms)

    def _text(self, query: ZnodeText | ZnodeHistoryText, at_ms: int) -> TextAnswer:
        if self._browser is None:
            return TextAnswer(query.key)
        is_history = isinstance(query, ZnodeHistoryText) or query.view == "history"
        if is_history and self._is_logged and (records := self._witness.records()):
            return record_history(query.key, records, query.width)
        with self._browsing:
            znode = self._browser.znodes([query.key], at_ms).get(query.key)
            sessions = self._browser.broker_sessions(at_ms) if is_ephemeral(znode) else {}
        versions, controllers = self._witness.versions(query.key), self._witness.controllers()
        if is_history or isinstance(query, ZnodeHistoryText):
            return znode_history(query.key, versions, query.width, controllers)
        written = written_by(query.key, self._witness.records()) if self._is_logged else ""
        return znode_detail(query.key, znode, query.view, sessions, versions, controllers, written)
