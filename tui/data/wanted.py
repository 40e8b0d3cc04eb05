"""Which costly things a question needs the source to know: groups, sizes, settings. A table."""

from model.sources.attentive import CONFIGS, GROUPS, LOG_DIRS
from tui.data.messages import ListQuery, Query, TextQuery, TimeQuery

_GROUPS = ("group", "lab", "ownership", "overview", "findings", "finding", "events")
"""Findings tell of groups that lag, and events of groups that rebalance."""
_PREFIXES = {GROUPS: _GROUPS, LOG_DIRS: ("plan", "znode"), CONFIGS: ("partition", "plan", "topics", "znode")}


def wanted_for(query: Query | TimeQuery) -> tuple[str, ...]:
    """Some of COSTLY; none for most questions."""
    match query:
        case ListQuery():
            about = query.list
        case TextQuery():
            about = query.about
        case _:
            return ()
    return tuple(what for what, prefixes in _PREFIXES.items() if about.startswith(prefixes))
