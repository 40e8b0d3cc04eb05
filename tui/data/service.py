"""Answers what screens ask, from the newest moment of one source, and says when there is something new.

Runs in the data process, or in the same process for tests. Owns no terminal and draws nothing.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import msgspec

from model.sources.combined_source import CombinedSource
from model.sources.feed import Feed, Moment
from model.sources.source import Source
from model.sources.zookeeper.browser import ZnodeBrowser
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource
from tui.data.drills.desk import DrillDesk
from tui.data.messages import Answer, ListQuery, Pulse, Query, TextAnswer, TextQuery, Wish
from tui.data.pages.drill.pages import drill_text, drill_window
from tui.data.pages.header import header_facts
from tui.data.pages.lists import Lists
from tui.data.pages.sandbox.pages import NO_SANDBOX, sandbox_text, sandbox_window
from tui.data.pages.texts import text_answer
from tui.data.pages.znode_detail import is_ephemeral, znode_detail
from tui.data.pages.znodes import znodes_window
from tui.data.sandbox.desk import SandboxDesk
from tui.rows import Window

PULSE_S = 0.1
"""Pulses are at least this far apart."""


class DataService:
    """One source, followed. Made on an event loop; `close` ends the source."""

    def __init__(
        self,
        source: Source,
        *,
        name: str = "",
        kind: str = "",
        sandbox: SandboxDesk | None = None,
        now_ms: Callable[[], int] | None = None,
    ) -> None:
        """Opens nothing yet. `name` is what the operator calls the cluster, where it has a name; `kind` as in
        HeaderFacts; `sandbox` is open already, and stays so; `now_ms` is what ages are counted from, the wall clock
        if None."""
        self._source = source
        self._name = name
        self._kind = kind
        self._sandbox = sandbox
        self._now_ms = now_ms or wall_clock_ms
        self._lists = Lists()
        self._browser: ZnodeBrowser | None = None
        self._feed = Feed(source.name, self._published)
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._browsing = threading.Lock()
        self._closed = False
        self._drills = DrillDesk(lambda: self.moment.image, self._tell)

    @property
    def moment(self) -> Moment:
        """The newest moment."""
        return self._feed.moment

    def open(self) -> None:
        """Begins to follow the source; raises SourceError where that cannot work."""
        self._source.open(self._feed)
        if self._sandbox is not None:
            self._sandbox.tell(self._feed.note, self._tell)
        if isinstance(self._source, ZooKeeperSource | CombinedSource) and self._source.reader is not None:
            # What was published until now is no loss: a browser that has read nothing yet has nothing that is stale.
            self._browser = ZnodeBrowser(self._source.reader)

    def close(self) -> None:
        """Ends the source."""
        self._closed = True
        self._drills.close()
        self._source.close()

    async def pulses(self) -> AsyncIterator[Pulse]:
        """A pulse now, and one whenever a moment was published, coalesced; never ends."""
        while True:
            self._news.clear()
            yield self.pulse()
            await asyncio.sleep(PULSE_S)
            await self._until_news()

    def pulse(self) -> Pulse:
        """Where things stand."""
        moment = self.moment
        header = header_facts(moment, kind=self._kind)
        if self._name:
            header = msgspec.structs.replace(header, cluster=self._name)
        ended = moment.status.phase in ("closed", "denied") and not moment.image.provenance.complete
        return Pulse(moment.seq, header, fatal=moment.status.reason if ended and not self._closed else "")

    async def answer(self, query: Query) -> Answer:
        """Answers one question. Whatever has to ask ZooKeeper does so in a thread."""
        if isinstance(query, Wish):
            return await self._sandbox.do(query) if self._sandbox else TextAnswer(NO_SANDBOX)
        if isinstance(query, ListQuery):
            if query.list == "znodes":
                return await asyncio.to_thread(self._znodes, query)
            if query.list.startswith("drill-"):
                return drill_window(self._drills.look(query.drill), query, self._now_ms(), self._lists.memory)
            if query.list.startswith("sandbox-"):
                state = self._sandbox.state if self._sandbox else None
                return sandbox_window(state, query, self._now_ms(), self._lists.memory)
            return self._lists.window(self.moment, query, self._now_ms())
        if query.about == "znode":
            return await asyncio.to_thread(self._znode, query)
        if query.about.startswith("drill"):
            return drill_text(self._drills.look(query.drill), query, self.moment.image)
        if query.about.startswith("sandbox"):
            return sandbox_text(self._sandbox.state if self._sandbox else None, query, self._now_ms())
        return text_answer(self.moment, query, self._now_ms(), self._lists.memory)

    async def _until_news(self) -> None:
        fade_ms = self._browser.next_fade_ms(self._now_ms()) if self._browser else None
        timeout_s = None if fade_ms is None else max((fade_ms - self._now_ms()) / 1000, 0) + PULSE_S
        try:
            await asyncio.wait_for(self._news.wait(), timeout_s)
        except TimeoutError:
            return

    def _published(self, moment: Moment) -> None:
        if self._browser is not None:
            if moment.relisted:
                self._browser.invalidate_all()
            self._browser.invalidate(moment.touched)
        self._tell()

    def _tell(self) -> None:
        with suppress(RuntimeError):  # the loop has ended; the source is about to
            self._loop.call_soon_threadsafe(self._news.set)

    def _znodes(self, query: ListQuery) -> Window:
        if self._browser is None:
            return Window(0, 0, (), note="a snapshot holds no znodes: open the cluster itself to browse them")
        with self._browsing:
            return znodes_window(self._browser, query, self._now_ms())

    def _znode(self, query: TextQuery) -> TextAnswer:
        if self._browser is None:
            return TextAnswer(query.key)
        with self._browsing:
            znode = self._browser.znodes([query.key], self._now_ms()).get(query.key)
            sessions = self._browser.broker_sessions(self._now_ms()) if is_ephemeral(znode) else {}
        return znode_detail(query.key, znode, query.view, sessions)


def wall_clock_ms() -> int:
    """Wall-clock time, ms since the epoch."""
    return time.time_ns() // 1_000_000
