"""Every list by name, and the memory they share. The znode tree is not here: it has to ask the server."""

from collections.abc import Callable, Mapping

from model.sources.feed import Moment
from tui.data.messages import ListQuery
from tui.data.pages.brokers import brokers_window
from tui.data.pages.events import effects_window, events_window
from tui.data.pages.findings import findings_window
from tui.data.pages.groups import groups_window
from tui.data.pages.listing import Memory
from tui.data.pages.ownership import ownership_window
from tui.data.pages.partitions import partitions_window
from tui.data.pages.topics import topics_window
from tui.rows import Window

LISTS: Mapping[str, Callable[[Moment, ListQuery, int, Memory], Window]] = {
    "brokers": brokers_window,
    "partitions": partitions_window,
    "topics": topics_window,
    "groups": groups_window,
    "group": ownership_window,
    "events": events_window,
    "effects": effects_window,
    "findings": findings_window,
}


class Lists:
    """Answers for one source; not for several threads at once."""

    def __init__(self) -> None:
        self.memory = Memory()

    def window(self, moment: Moment, query: ListQuery, now_ms: int) -> Window:
        """The rows asked for; a list that does not exist has none, and says so."""
        page = LISTS.get(query.list)
        if page is None:
            return Window(0, 0, (), note=f"there is no list {query.list}")
        return page(moment, query, now_ms, self.memory)
