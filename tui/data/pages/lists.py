"""Every list by name, and the memory they share. The znode tree is not here: it has to ask the server."""

import threading
from collections.abc import Callable, Mapping

from model.sources.feed import Moment
from tui.data.messages import ListQuery
from tui.data.pages.brokers import brokers_window
from tui.data.pages.controller.admin_work import admin_work_window
from tui.data.pages.events import effects_window, events_window
from tui.data.pages.findings import findings_window
from tui.data.pages.groups import groups_window
from tui.data.pages.listing import Memory
from tui.data.pages.map.pages import map_window
from tui.data.pages.ownership.pages import ownership_window
from tui.data.pages.topics import topics_window
from tui.rows import Window

LISTS: Mapping[str, Callable[[Moment, ListQuery, int, Memory], Window]] = {
    "brokers": brokers_window,
    "partitions": map_window,
    "topics": topics_window,
    "groups": groups_window,
    "events": events_window,
    "effects": effects_window,
    "findings": findings_window,
    "admin-work": admin_work_window,
}


OWNERSHIP = "group"
"""Who owns what in one group; where it is large, its first picture takes a while."""


class Lists:
    """Answers for one source; not for several threads at once, but for `ownership`."""

    def __init__(self) -> None:
        self.memory = Memory()
        self._graphs = Memory()
        self._drawing = threading.Lock()

    def window(self, moment: Moment, query: ListQuery, now_ms: int) -> Window:
        """The rows asked for; a list that does not exist has none, and says so."""
        if query.list == OWNERSHIP:
            return self.ownership(moment, query, now_ms)
        page = LISTS.get(query.list)
        if page is None:
            return Window(0, 0, (), note=f"there is no list {query.list}")
        return page(moment, query, now_ms, self.memory)

    def ownership(self, moment: Moment, query: ListQuery, now_ms: int) -> Window:
        """The table or graph of one group, in whichever thread."""
        with self._drawing:
            return ownership_window(moment, query, now_ms, self._graphs)
