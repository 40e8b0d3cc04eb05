"""Znodes for the screens: the tree, one node with its value and history. Reads anew what the source heard of.

It waits for ZooKeeper in threads, one at a time. `at_ms` is the time on a clock that never jumps.
"""

import asyncio
import threading
from collections.abc import Mapping, Sequence

from model.hosts.zookeeper.protocol import BrowsesZnodes
from model.hosts.zookeeper.values import Unread, Znode
from model.sources.feed import Moment
from model.sources.zookeeper.browser import ZnodeBrowser
from model.sources.zookeeper.witness import Witness
from tui.data.messages import ListQuery, TextAnswer, TextQuery
from tui.data.pages.listing import Memory
from tui.data.pages.znode_detail import is_ephemeral, znode_detail
from tui.data.pages.znode_history import znode_history
from tui.data.pages.znodes import znodes_window
from tui.rows import Window

NO_TREE = "a snapshot holds no tree to browse: open the cluster itself"


class TreeDesk:
    """Used on one event loop, but for `take`, which the source's thread calls. Without `open` there is no tree."""

    def __init__(self, witness: Witness) -> None:
        """`witness`: who saw the values that came by."""
        self._witness = witness
        self._browser: ZnodeBrowser | None = None
        self._memory = Memory()
        self._browsing = threading.Lock()

    def open(self, reader: BrowsesZnodes) -> None:
        """Where to read."""
        self._browser = ZnodeBrowser(reader, self._witness.saw)

    def take(self, moment: Moment) -> None:
        """A moment was published: what it touched is old."""
        if self._browser is not None:
            if moment.relisted:
                self._browser.invalidate_all()
            self._browser.invalidate(moment.touched)

    def next_fade_ms(self, at_ms: int) -> int | None:
        """When a mark in the tree is to vanish; None where there is none."""
        return self._browser.next_fade_ms(at_ms) if self._browser else None

    async def window(self, query: ListQuery, at_ms: int) -> Window:
        """Rows of the tree."""
        return await asyncio.to_thread(self._window, query, at_ms)

    async def text(self, query: TextQuery, at_ms: int) -> TextAnswer:
        """One node: as its `view` says, or its history."""
        return await asyncio.to_thread(self._text, query, at_ms)

    async def znodes(self, paths: Sequence[str], at_ms: int) -> Mapping[str, Znode | Unread]:
        """Znodes as they are now; none where there is no connection."""
        return await asyncio.to_thread(self._znodes, paths, at_ms)

    def _window(self, query: ListQuery, at_ms: int) -> Window:
        if self._browser is None:
            return Window(0, 0, (), note=NO_TREE)
        with self._browsing:
            return znodes_window(self._browser, query, at_ms, self._memory)

    def _znodes(self, paths: Sequence[str], at_ms: int) -> Mapping[str, Znode | Unread]:
        if self._browser is None:
            return {}
        with self._browsing:
            return self._browser.znodes(paths, at_ms)

    def _text(self, query: TextQuery, at_ms: int) -> TextAnswer:
        if self._browser is None:
            return TextAnswer(query.key)
        with self._browsing:
            znode = self._browser.znodes([query.key], at_ms).get(query.key)
            sessions = self._browser.broker_sessions(at_ms) if is_ephemeral(znode) else {}
        versions, controllers = self._witness.versions(query.key), self._witness.controllers()
        if query.about == "znode-history" or query.view == "history":
            return znode_history(query.key, versions, query.width, controllers)
        return znode_detail(query.key, znode, query.view, sessions, versions, controllers)
