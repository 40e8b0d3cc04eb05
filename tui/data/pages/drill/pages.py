"""Every list and text of a drill by its name."""

from collections.abc import Callable, Mapping

import msgspec

from model.cluster.cluster_image import ClusterImage
from tui.data.drills.desk import Look
from tui.data.messages import ListQuery, TextAnswer, TextQuery
from tui.data.pages.drill.brokers import drill_brokers
from tui.data.pages.drill.map import drill_across, drill_map
from tui.data.pages.drill.moments import drill_timeline
from tui.data.pages.drill.scrubber import scrubber_text
from tui.data.pages.drill.standing import partition_drill_text, standing_text
from tui.data.pages.drill.step import moment_text, step_text
from tui.data.pages.listing import Listing, Memory, window
from tui.rows import Window

LISTS: Mapping[str, Callable[[Look, ListQuery], Listing]] = {
    "drill-brokers": drill_brokers,
    "drill-timeline": drill_timeline,
    "drill-map": drill_map,
}
TEXTS: Mapping[str, Callable[[Look, TextQuery], TextAnswer]] = {
    "drill-moment": moment_text,
    "drill-step": step_text,
    "drill-scrubber": scrubber_text,
    "drill-partition": partition_drill_text,
}


def drill_window(look: Look, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """The rows asked for."""
    found = window(LISTS[query.list](look, query), query, memory, now_ms)
    return msgspec.structs.replace(found, across=drill_across(look, query)) if query.list == "drill-map" else found


def drill_text(look: Look, query: TextQuery, now: ClusterImage) -> TextAnswer:
    """The text asked for; `now` is the cluster as it is."""
    page = TEXTS.get(query.about)
    return standing_text(look, query, stale=look.is_stale(now)) if page is None else page(look, query)
