"""The list of one group: as a table, or as a graph with a focus, as it is or with what its last rebalance moved."""

from model.cluster.group_image import SHARE
from model.consumers.partition_ranges import partition_ranges
from model.sources.feed import Moment
from tui.data.graph_rows import PLAIN
from tui.data.messages import ListQuery
from tui.data.pages.ages import clock_text
from tui.data.pages.groups import group_facts, undescribed
from tui.data.pages.listing import Listing, Memory, window
from tui.data.pages.ownership.drawing import graph_window
from tui.data.pages.ownership.owner import Owner
from tui.data.pages.ownership.owners import BAR, owner_bar, owner_cells, owner_columns, owner_listing
from tui.data.pages.ownership.sharing import Sharing, last_moves, sharing_of, with_before
from tui.rows import Column, Line, Window, line, span

LAG = 9


def ownership_window(moment: Moment, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """The rows of the group `query.scope`; `query.view` is table, or graph with a level behind it or none."""
    group = moment.image.group(query.scope)
    if group is None:
        nothing = f"there is no group {query.scope} (any more)" if query.scope else "no group is chosen"
        return Window(0, 0, (), note=nothing)
    if not group.is_described:
        return Window(0, 0, (), note=f"who owns what is not known: {undescribed(group)}")
    one = ownership_of(moment, query.scope, memory)
    if not query.view.startswith("graph"):
        return window(_table(one, "reads" if group.kind == SHARE else "owns"), query, memory, now_ms)
    past = last_moves(group) if group.has_owners else None
    turn = past.at_ms if past else 0
    if query.frame == PLAIN or past is None:
        return graph_window(one, query, now_ms, memory, turn=turn)
    moved = memory.recall("ownership moved", (one, past), lambda: with_before(one, past))
    title = f"{len(moved.moved):,} moved {clock_text(past.at_ms)[:8]}"
    title = f"{title}: {', '.join(past.why)}" if past.why else title
    return graph_window(moved, query, now_ms, memory, title=title, turn=turn)


def ownership_of(moment: Moment, name: str, memory: Memory) -> Sharing:
    """Who has what, made anew only when it may differ."""
    image, group = moment.image, moment.image.group(name)
    assert group is not None
    facts = group_facts(image, group)
    return memory.recall("ownership", (name, *facts), lambda: sharing_of(group, image))


def _table(one: Sharing, verb: str) -> Listing:
    most = max((owner.parts for owner in (*one.owners, *((one.nobody,) if one.nobody else ()))), default=0)

    def cells(owner: Owner, place: int) -> tuple[Line, ...]:
        text = _owned(one, owner, place) or f"idle: {verb} nothing"
        return (*owner_cells(owner), owner_bar(owner, most), line(span(text, owner.style)))

    return owner_listing(one, (*owner_columns(-18, LAG), Column("", BAR), Column(verb, -20)), cells)


def _owned(one: Sharing, owner: Owner, place: int) -> str:
    """`orders 0-3,7  payments 1`."""
    by_topic = one.by_topic(one.of(place))
    text = "  ".join(f"{topic} {partition_ranges(numbers)}" for topic, numbers in by_topic.items())
    return f"owner is gone: {text}" if owner.state == "dead" else text
