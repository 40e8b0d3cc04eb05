"""The partition map at every distance: which page answers for which view. Counts nothing itself."""

from collections.abc import Callable, Mapping

from model.sources.feed import Moment
from tui.data.messages import ListQuery
from tui.data.pages.listing import Memory
from tui.data.pages.map.brokers import brokers_map, racks_map
from tui.data.pages.map.topics import topics_map
from tui.data.pages.partitions import partitions_window
from tui.rows import Window

LEVELS: Mapping[str, Callable[[Moment, ListQuery, int, Memory], Window]] = {
    "topics": topics_map,
    "topics-other": topics_map,
    "brokers": brokers_map,
    "racks": racks_map,
}


def map_window(moment: Moment, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """`query.view` is one of LEVELS; any other is a form of the partitions themselves."""
    return LEVELS.get(query.view, partitions_window)(moment, query, now_ms, memory)
