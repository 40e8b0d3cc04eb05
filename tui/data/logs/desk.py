"""The logs on this machine that one source's screens can look into. All reading happens in a thread."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, TypeGuard

from tui.data.messages import Answer, ListQuery, Query, TextQuery, Wish

if TYPE_CHECKING:
    from tui.data.pages.logs.pages import LogPages


def is_of_logs(query: Query) -> TypeGuard[ListQuery | TextQuery]:
    """Whether this is asked of log folders."""
    name = "" if isinstance(query, Wish) else query.list if isinstance(query, ListQuery) else query.about
    return name.startswith("log-")


class LogDesk:
    """Used on one event loop."""

    def __init__(self, folder: str = "") -> None:
        """`folder`: where the source's brokers have their log folders; empty where that is not this machine."""
        self._folder = folder
        self._pages: LogPages | None = None
        self._busy = asyncio.Lock()

    async def answer(self, query: ListQuery | TextQuery, now_ms: int) -> Answer:
        """Answers one question."""
        async with self._busy:
            return await asyncio.to_thread(self._answer, query, now_ms)

    def _answer(self, query: ListQuery | TextQuery, now_ms: int) -> Answer:
        if (pages := self._pages) is None:  # loaded when the first screen asks: the start does not wait for it
            pages = self._pages = import_module("tui.data.pages.logs.pages").LogPages(self._folder)
        return pages.window(query, now_ms) if isinstance(query, ListQuery) else pages.text(query)
