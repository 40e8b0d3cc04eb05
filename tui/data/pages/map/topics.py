"""The map with a row a topic: against brokers or racks, each cell the worst that the topic's replicas are there."""

import msgspec
import numpy as np

from model.sources.feed import Moment
from tui.data.fields import Coded, Numbers, Texts
from tui.data.messages import ListQuery
from tui.data.pages.listing import Listing, Memory
from tui.data.pages.map.counted import NO_RACK, Counted, counted_of, level_window
from tui.data.pages.map.grid import Grid, grid
from tui.data.pages.partitions import EDGES, STATE_WIDTH
from tui.data.partition_table import STATES
from tui.rows import Column, Row, Window, line, span

FACTS = (Column("parts", 7, ">", "partitions"), Column("worst", STATE_WIDTH, "<", "state"))


def topics_map(moment: Moment, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """`query.view` topics: against brokers, or racks where not all brokers fit; topics-other: the other way."""
    counted, error = counted_of(moment, query, now_ms, memory)
    columns, shown, racks = _columns(counted, query)
    listing = Listing(
        count=len(counted.topics),
        fields=lambda: {
            "topic": Texts(lambda: [topic.name for topic in counted.topics]),
            "partitions": Numbers(counted.sizes),
            "state": Coded(counted.worst_states, Texts(lambda: [state.label for state in STATES])),
        },
        shown=("topic",),
        row=lambda topic: _row(counted, topic, shown, racks),
        place=lambda key: counted.place_of_topic.get(key, -1),
        columns=columns,
        made_from=(counted,),
        nothing="there are no topics",
    )
    seen = level_window(listing, query, now_ms, memory, error)
    return msgspec.structs.replace(seen, unfiltered_total=counted.all_topics)


def _columns(counted: Counted, query: ListQuery) -> tuple[tuple[Column, ...], Grid, bool]:
    """The columns, what fits of the map, and whether it is one of racks."""
    name = min(max(counted.widest_name, len("topic")), max(query.width * 2 // 5, 12))
    room = query.width - EDGES - name - 1 - sum(1 + column.width for column in FACTS)
    most = int(np.max(counted.sizes, initial=0))
    table = counted.table
    brokers = grid([f"{'X' if table.is_dead(b) else 'b'}{b}" for b in table.brokers], room, query.offset, most)
    racks = grid(counted.racks, room, query.offset, most * table.columns.replicas.shape[1])
    by_rack = (brokers.is_cut and counted.racks != [NO_RACK]) != (query.view == "topics-other")
    shown = racks if by_rack else brokers
    kind = "racks" if by_rack else "brokers"
    cut = f"{kind} {shown.first + 1}-{shown.first + len(shown.names)} of {shown.total}" if shown.is_cut else ""
    columns = (Column(f"topic {cut}".rstrip(), -name, "<", "topic"), Column(shown.title, shown.width), *FACTS)
    return columns, shown, by_rack


def _row(counted: Counted, topic: int, shown: Grid, racks: bool) -> Row:
    state = STATES[counted.worst_states[topic]]
    return Row(
        key=counted.topics[topic].name,
        cells=(
            line(counted.topics[topic].name),
            shown.line(*counted.cells_of(topic, racks)),
            line(f"{counted.sizes[topic]:,}"),
            line(span(state.label, state.style)),
        ),
        mark=state.mark,
    )
