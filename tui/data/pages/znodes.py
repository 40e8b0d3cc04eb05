"""The znode tree as rows: opened branches, kind, version and owner of each znode. Reads through the browser only."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from model.hosts.zookeeper.values import Forbidden, Missing, TooLarge, Unread, Znode
from model.sources.zookeeper.browser import ZnodeBrowser
from model.znodes.codec import decode, payload_version
from model.znodes.paths import describe
from model.znodes.payload import Payload
from model.znodes.reasons import Unreadable
from tui.data.messages import ListQuery
from tui.data.pages.listing import Memory
from tui.data.pages.znode_detail import is_told
from tui.data.pages.znode_tree import Place, places, row_of, tree_of
from tui.rows import Column, Line, Row, Window, line, span

WIDE = (Column("znode", -30), Column("what", 24), Column("v", 4, ">"), Column("owner", 12))
NARROW = (Column("znode", -20), Column("v", 2, ">"), Column("e", 1))
"""Payload version, and E for ephemeral: what fits into half of 80 cells; the rest stands beside the tree."""

NARROW_CELLS = 60

_OF_BROKERS = (Column("metadata", -30),)
"""What brokers tell has neither payload versions nor owners."""
_UNREAD: Mapping[type, str] = MappingProxyType({Forbidden: "no permission", TooLarge: "too large"})


def znodes_window(browser: ZnodeBrowser, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """The rows of the tree with `query.opened` open. Blocks while the server is asked."""
    opened = frozenset(query.opened) | {"/"}
    try:
        tree = tree_of(opened, query.filter, lambda path: browser.children(path, now_ms), memory)
    except ZooKeeperUnavailable as error:
        return Window(0, 0, (), WIDE, note=str(error))
    root = int(query.filter in "/")
    wanted = range(query.first, query.first + query.count)
    shown = [*([("/", 0)] if root and 0 in wanted else []), *places(tree, wanted, root)]
    znodes = browser.znodes([path for path, _ in shown], now_ms)
    columns = NARROW if query.width < NARROW_CELLS else WIDE
    if is_told(browser.znodes(["/"], now_ms).get("/")):
        columns = _OF_BROKERS
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
    version, owner = payload_version(payload), znode.stat.ephemeral_owner
    return {
        "what": line(label),
        "v": line(span("" if version is None else version, "number")),
        "owner": line(span(f"{owner:#x}"[-12:] if owner else "", "dim")),
        "e": line(span("E" if owner else "", "dim")),
    }
