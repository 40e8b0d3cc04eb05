"""The ownership graph of a group, or of one on the lab's bench: what is asked for, and the rows of the answer."""

import numpy as np

from model.cluster.topic_image import Longs
from tui.data.graph_rows import HOP, PARTITION
from tui.data.messages import ListQuery
from tui.data.pages.listing import Memory, indices, rows_in_order
from tui.data.pages.ownership.layers import LEVELS, Layers, Level, layers_of, level_for
from tui.data.pages.ownership.owner import NOBODY
from tui.data.pages.ownership.owners import listed, owner_listing
from tui.data.pages.ownership.picture import Picture
from tui.data.pages.ownership.scene import Node, View, scene, tied
from tui.data.pages.ownership.sharing import NO_OWNER, Sharing
from tui.rows import Window

WINDOW_PAGES = 3
"""Lists ask for this many pages at once; so many rows as one of them are in view."""
MOST_ROWS = 300
"""Rows that get edges at most, however many are asked for at once: an export wants them all."""


def graph_window(
    one: Sharing, query: ListQuery, now_ms: int, memory: Memory, *, title: str = "", turn: int = 0
) -> Window:
    """The rows asked for. `query.offset` is the first in view, `query.key` what the cursor is on, or a hop from it;
    `title` is said of a graph in which something moved.
    """
    listing = owner_listing(one, (), lambda *_: ())
    order, error = rows_in_order(listing, query, memory, now_ms)
    places = np.array([place for _, place in listed(one)], np.int64)[indices(order)]
    height = min(max(query.count // WINDOW_PAGES, 1), MOST_ROWS)
    level: Level = _level(query.view) or memory.recall("ownership level", (one, height), lambda: level_for(one, height))
    layers = memory.recall(
        f"ownership layers {query.list}", (one, level, query.frame), lambda: layers_of(one, level, query.frame)
    )
    owners, nodes = places[places != NO_OWNER], _nodes(layers, places)
    focus = _focus(layers, query.key, owners, nodes)
    on = focus or _first(owners, nodes)
    held = range(query.first, query.first + query.count)
    drawn = scene(layers, owners, nodes, View(held, range(query.offset, query.offset + height), on))
    picture = Picture(layers, drawn, on, query)
    if focus is not None and drawn.cursor not in held:  # a hop: what is shown next is round its goal
        top = max(drawn.cursor - height // 2, 0)
        held = range(top - height, top + 2 * height)
        drawn = scene(layers, owners, nodes, View(held, range(top, top + height), on))
        picture = Picture(layers, drawn, on, query)
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


def _first(owners: Longs, nodes: Longs) -> Node | None:
    return Node("owner", int(owners[0])) if len(owners) else Node("node", int(nodes[0])) if len(nodes) else None


def _focus(layers: Layers, key: str, owners: Longs, nodes: Longs) -> Node | None:
    """What a key means, if it is shown."""
    found = _meant(layers, key.removeprefix(HOP))
    if key.startswith(HOP) and found is not None:
        ways = tied(layers, found)
        found = Node("node" if found.side == "owner" else "owner", int(ways[0])) if len(ways) else found
    return found if found is not None and found.place in (owners if found.side == "owner" else nodes) else None


def _meant(layers: Layers, key: str) -> Node | None:
    one = layers.sharing
    if key.startswith(PARTITION):
        topic, _, number = key.removeprefix(PARTITION).rpartition("-")
        place = one.place(topic, int(number)) if number.isascii() and number.isdigit() else -1
        return Node("node", int(layers.node[place])) if place >= 0 else None
    if key == NOBODY:
        return Node("node", 0) if one.nobody else None
    return next((Node("owner", place) for place, owner in enumerate(one.owners) if owner.name == key), None)
