"""The list of one group: as a table, or as a graph with a focus, as it is or with what its last rebalance moved.

The graph is drawn here for a group that there is or for one that is tried in the lab.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from model.cluster.image_parts import SHARE, GroupImage
from model.cluster.topic_image import Longs
from model.consumers.ownership import partition_ranges
from model.sandbox.messages import GroupView
from model.sources.feed import Moment
from tui.engine.consumers.graph_layout import (
    LEVELS,
    GraphNode,
    GraphPosition,
    Layers,
    Level,
    layers_of,
    level_for,
    tied,
    visible_graph,
)
from tui.engine.consumers.graph_picture import NO_READERS, GraphPicture
from tui.engine.consumers.groups import group_facts, undescribed
from tui.engine.consumers.owners import (
    BAR,
    NO_OWNER,
    NOBODY,
    Owner,
    Sharing,
    last_moves,
    listed,
    owner_bar,
    owner_cells,
    owner_columns,
    owner_listing,
    sharing_of,
    with_before,
)
from tui.engine.glyphs import bar
from tui.engine.listing import AnswerMemo, Listing, indices, rows_in_order, window
from tui.engine.queries import HOP, NO_REPLAY, PARTITION, GraphList, OwnershipList
from tui.engine.rows import Column, Line, Window, line, span
from tui.engine.sheets import clock_text

WINDOW_PAGES = 3
"""Lists ask for this many pages at once; so many rows as one of them are in view."""
MOST_ROWS = 300
"""Rows that get edges at most, however many are asked for at once: an export wants them all."""


def graph_window(
    one: Sharing,
    query: GraphList,
    now_ms: int,
    memory: AnswerMemo,
    *,
    title: str = "",
    turn: int = 0,
    read_on: Mapping[str, str] = NO_READERS,
) -> Window:
    """The rows asked for. `query.offset` is the first in view, `query.key` what the cursor is on, or a hop from it;
    `title` is said of a graph in which something moved; `read_on`: partition → who reads it beside its owner.
    """
    listing = owner_listing(one, (), lambda *_: ())
    order, error = rows_in_order(listing, query, memory, now_ms)
    places = np.array([place for _, place in listed(one)], np.int64)[indices(order)]
    height = min(max(query.count // WINDOW_PAGES, 1), MOST_ROWS)
    layers = _layers(one, query, height, memory)
    owners, nodes = places[places != NO_OWNER], _nodes(layers, places)
    focus = _focus(layers, query.key, owners, nodes)
    on = focus or _first(owners, nodes)
    held = range(query.first, query.first + query.count)
    drawn = visible_graph(layers, owners, nodes, GraphPosition(held, range(query.offset, query.offset + height), on))
    picture = GraphPicture(layers, drawn, on, query, read_on)
    if focus is not None and drawn.cursor not in held:  # a hop: what is shown next is round its goal
        top = max(drawn.cursor - height // 2, 0)
        held = range(top - height, top + 2 * height)
        drawn = visible_graph(layers, owners, nodes, GraphPosition(held, range(top, top + height), on))
        picture = GraphPicture(layers, drawn, on, query, read_on)
    rows = range(min(max(held.start, 0), drawn.total), min(held.stop, drawn.total))
    return Window(
        first=rows.start,
        total=drawn.total,
        rows=tuple(picture.row(row) for row in rows),
        columns=picture.columns(title),
        cursor=-1 if focus is None else drawn.cursor,
        unfiltered_total=drawn.total + listing.count - len(order),
        note=error or ("" if drawn.total else "nothing matches the filter" if listing.count else listing.nothing),
        turn=turn,
    )


def _layers(one: Sharing, query: GraphList, height: int, memory: AnswerMemo) -> Layers:
    level: Level = _level(query.view) or memory.recall("ownership level", (one, height), lambda: level_for(one, height))
    return memory.recall(
        f"ownership layers {query.name}", (one, level, query.frame), lambda: layers_of(one, level, query.frame)
    )


def _level(view: str) -> Level | None:
    wanted = view.partition("-")[2]
    return next((level for level in LEVELS if level == wanted), None)


def _nodes(layers: Layers, places: Longs) -> Longs:
    """Those that one of these owners has or had; what nobody owns if NO_OWNER is one of them."""
    one = layers.sharing
    asked = np.zeros(len(one.owners) + 1, bool)  # the last one is nobody's
    asked[places] = True
    if asked[: len(one.owners)].all() and (asked[NO_OWNER] or one.nobody is None):
        return np.arange(layers.count)
    return np.unique(layers.node[asked[one.owner] | asked[one.before]])


def _first(owners: Longs, nodes: Longs) -> GraphNode | None:
    return (
        GraphNode("owner", int(owners[0])) if len(owners) else GraphNode("node", int(nodes[0])) if len(nodes) else None
    )


def _focus(layers: Layers, key: str, owners: Longs, nodes: Longs) -> GraphNode | None:
    """What a key means, if it is shown."""
    found = _meant(layers, key.removeprefix(HOP))
    if key.startswith(HOP) and found is not None:
        ways = tied(layers, found)
        found = GraphNode("node" if found.side == "owner" else "owner", int(ways[0])) if len(ways) else found
    return found if found is not None and found.place in (owners if found.side == "owner" else nodes) else None


def _meant(layers: Layers, key: str) -> GraphNode | None:
    one = layers.sharing
    if key.startswith(PARTITION):
        topic, _, number = key.removeprefix(PARTITION).rpartition("-")
        place = one.place(topic, int(number)) if number.isascii() and number.isdigit() else -1
        return GraphNode("node", int(layers.node[place])) if place >= 0 else None
    if key == NOBODY:
        return GraphNode("node", 0) if one.nobody else None
    return next((GraphNode("owner", place) for place, owner in enumerate(one.owners) if owner.name == key), None)


LAG = 9
SAYS_NOTHING = GroupView(name="")


def ownership_window(
    moment: Moment, query: OwnershipList, now_ms: int, memory: AnswerMemo, *, said: Sequence[GroupView] = ()
) -> Window:
    """The rows of the group `query.scope`; `query.view` is table, or graph with a level behind it or none.

    `said`: what members of a sandbox's groups say of themselves: what they read on though it is another's, who gave up.
    """
    group = moment.image.group(query.scope)
    if group is None:
        nothing = f"there is no group {query.scope} (any more)" if query.scope else "no group is chosen"
        return Window(0, 0, (), note=nothing)
    if not group.is_described:
        return Window(0, 0, (), note=f"who owns what is not known: {undescribed(group)}")
    one = ownership_of(moment, query.scope, memory)
    told = next((each for each in said if each.name == query.scope), SAYS_NOTHING)
    if not query.view.startswith("graph"):
        return window(_table(one, group, told), query, memory, now_ms)
    past = last_moves(group) if group.has_owners else None
    turn = past.at_ms if past else 0
    if query.frame == NO_REPLAY or past is None:
        return graph_window(one, query, now_ms, memory, turn=turn, read_on=told.read_on)
    moved = memory.recall("ownership moved", (one, past), lambda: with_before(one, past))
    title = f"{len(moved.moved):,} moved {clock_text(past.at_ms)[:8]}"
    title = f"{title}: {', '.join(past.why)}" if past.why else title
    return graph_window(moved, query, now_ms, memory, title=title, turn=turn, read_on=told.read_on)


def ownership_of(moment: Moment, name: str, memory: AnswerMemo) -> Sharing:
    """Who has what, made anew only when it may differ."""
    image, group = moment.image, moment.image.group(name)
    assert group is not None
    facts = group_facts(image, group)
    return memory.recall("ownership", (name, *facts), lambda: sharing_of(group, image))


def _table(one: Sharing, group: GroupImage, told: GroupView) -> Listing:
    """Bars follow the figures that they compare: partitions, and lag."""
    verb = "reads" if group.kind == SHARE else "owns"
    given_up = {f"{group.name}_{member}" for member in told.given_up}
    owners = (*one.owners, *((one.nobody,) if one.nobody else ()))
    most = max((owner.parts for owner in owners), default=0)
    most_lag = max((owner.lag or 0 for owner in owners), default=0)

    def cells(owner: Owner, place: int) -> tuple[Line, ...]:
        why = f"gave up, {verb} nothing until the next change" if group.member_of(owner.name) in given_up else ""
        text = _owned(one, owner, place) or why or f"idle: {verb} nothing"
        name, parts, lag = owner_cells(owner)
        bars = owner_bar(owner, most), line(span(bar(owner.lag / most_lag if owner.lag else 0, BAR), "number"))
        return (name, parts, bars[0], lag, bars[1], line(span(text, owner.style), *_too(one, place, told.read_on)))

    name, parts, lag = owner_columns(one, -8, LAG)
    columns = (name, parts, Column("", BAR, rank=1), lag, Column("", BAR, rank=2), Column(verb, -20))
    return owner_listing(one, columns, cells)


def _too(one: Sharing, place: int, read_on: Mapping[str, str]) -> Line:
    """Who else reads what this one owns."""
    others: dict[str, list[int]] = {}
    for at in one.of(place).tolist() if read_on else ():
        if (reader := read_on.get(one.name(at))) is not None:
            others.setdefault(reader, []).append(at)
    return tuple(
        span(f"  ! {reader} reads, too: {_named(one, np.array(places))}", "warn") for reader, places in others.items()
    )


def _named(one: Sharing, places: Longs) -> str:
    """`orders 0-3,7  payments 1`."""
    return "  ".join(f"{topic} {partition_ranges(numbers)}" for topic, numbers in one.by_topic(places).items())


def _owned(one: Sharing, owner: Owner, place: int) -> str:
    text = _named(one, one.of(place))
    return f"owner is gone: {text}" if owner.state == "dead" else text
