"""The partition map from farther away: topics against brokers or racks, brokers and racks by what they hold.

A cell of a topic's row is the worst that its replicas are there, with its count where there is room. A row of a broker
or a rack has how many replicas are in which state. Counts nothing itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import msgspec
import numpy as np

from model.cluster.topic_image import Longs
from model.sources.feed import Moment
from tui.engine.filters import Coded, Field, Numbers, Texts
from tui.engine.listing import Listing, Memory
from tui.engine.partitions.counts import (
    ADDING,
    IN_SYNC,
    LEADERLESS,
    LEADS,
    NO_RACK,
    NOTHING,
    OUT,
    SIGNS,
    STRANGER,
    Counted,
    counted_of,
    level_window,
    worst,
)
from tui.engine.partitions.queries import PartitionList
from tui.engine.partitions.rows import EDGES, STATE_WIDTH, STYLES, partitions_window, thing
from tui.engine.partitions.table import STATES
from tui.engine.rows import Column, Line, Row, Window, line, span

LONGEST_NAME = 10
"""Characters of a column's name: of a longer one its end is shown, for that is where racks differ."""


@dataclass(frozen=True)
class Grid:
    """The columns in view: `names` from number `first` of `total` on, `cell` characters each without the blank."""

    names: tuple[str, ...]
    cell: int
    first: int
    total: int
    counted: bool
    """Whether cells have counts beside their signs."""

    @property
    def width(self) -> int:
        """Characters of all cells together."""
        return max(len(self.names) * (self.cell + 1) - 1, 0)

    @property
    def is_cut(self) -> bool:
        """Whether there are more columns than these."""
        return len(self.names) < self.total

    @property
    def title(self) -> str:
        """The names above their cells: to the left where counts follow the signs."""
        return " ".join(name.ljust(self.cell) if self.counted else name.rjust(self.cell) for name in self.names)

    def line(self, codes: Sequence[int], counts: Sequence[int]) -> Line:
        """One row: for every column there is, its index into SIGNS and the count beside it."""
        view = slice(self.first, self.first + len(self.names))
        cells = [
            (self._cell(SIGNS[code], count), STYLES[SIGNS[code]])
            for code, count in zip(codes[view], counts[view], strict=True)
        ]
        runs = [(style, " ".join(text for text, _ in run)) for style, run in groupby(cells, lambda cell: cell[1])]
        return tuple((text if place == 0 else f" {text}", style) for place, (style, text) in enumerate(runs))

    def _cell(self, sign: str, count: int) -> str:
        if not self.counted:
            return sign.rjust(self.cell)
        return sign + (f"{count}" if sign != SIGNS[NOTHING] else "").rjust(self.cell - 1)


def grid(names: Sequence[str], width: int, offset: int, most: int) -> Grid:
    """As many columns as fit, at least one, from number `offset` on, the last page full; `most`: the largest count."""
    short = [name[-LONGEST_NAME:] for name in names]
    narrow = max(map(len, short), default=1)
    wide = max(narrow, len(str(most)) + 2)
    counted = len(short) * (wide + 1) - 1 <= width
    cell = wide if counted else narrow
    count = max((width + 1) // (cell + 1), 1)
    first = max(0, min(offset, len(short) - count))
    return Grid(tuple(short[first : first + count]), cell, first, len(short), counted)


TOPIC_FACTS = (Column("parts", 7, ">", "partitions"), Column("worst", STATE_WIDTH, "<", "state"))


def topics_map(moment: Moment, query: PartitionList, now_ms: int, memory: Memory) -> Window:
    """`query.view` topics: against brokers, or racks where not all brokers fit; topics-other: the other way."""
    counted, error = counted_of(moment, query, now_ms, memory)
    columns, shown, racks = _topic_columns(counted, query)
    listing = Listing(
        count=len(counted.topics),
        fields=lambda: {
            "topic": Texts(lambda: [topic.name for topic in counted.topics]),
            "partitions": Numbers(counted.sizes),
            "state": Coded(counted.worst_states, Texts(lambda: [state.label for state in STATES])),
        },
        shown=("topic",),
        row=lambda topic: _topic_row(counted, topic, shown, racks),
        place=lambda key: counted.place_of_topic.get(key, -1),
        columns=columns,
        made_from=(counted,),
        nothing="there are no topics",
    )
    seen = level_window(listing, query, now_ms, memory, error)
    return msgspec.structs.replace(seen, unfiltered_total=counted.all_topics)


def _topic_columns(counted: Counted, query: PartitionList) -> tuple[tuple[Column, ...], Grid, bool]:
    """The columns, what fits of the map, and whether it is one of racks."""
    name = min(max(counted.widest_name, len("topic")), max(query.width * 2 // 5, 12))
    room = query.width - EDGES - name - 1 - sum(1 + column.width for column in TOPIC_FACTS)
    most = int(np.max(counted.sizes, initial=0))
    table = counted.table
    brokers = grid([f"{'X' if table.is_dead(b) else 'b'}{b}" for b in table.brokers], room, query.offset, most)
    racks = grid(counted.racks, room, query.offset, most * table.columns.replicas.shape[1])
    by_rack = (brokers.is_cut and counted.racks != [NO_RACK]) != (query.view == "topics-other")
    shown = racks if by_rack else brokers
    kind = "racks" if by_rack else "brokers"
    cut = f"{kind} {shown.first + 1}-{shown.first + len(shown.names)} of {shown.total}" if shown.is_cut else ""
    columns = (Column(f"topic {cut}".rstrip(), -name, "<", "topic"), Column(shown.title, shown.width), *TOPIC_FACTS)
    return columns, shown, by_rack


def _topic_row(counted: Counted, topic: int, shown: Grid, racks: bool) -> Row:
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


RACK = "rack:"
BROKER = "broker:"
"""Before the key of a row of the other level: the row here that has to do with it is meant."""

REPLICA_STATES = {
    LEADERLESS: ("X leaderless", "leaderless"),
    OUT: ("- out", "out"),
    ADDING: ("+ adding", "adding"),
    STRANGER: ("? stray", "stray"),
    LEADS: ("L leads", "leads"),
    IN_SYNC: ("o in ISR", "isr"),
}
"""Sign → title and sort name of the column that counts it; the worst first: they are never cut off."""

REPLICA_MARKS = {ADDING: "+", OUT: "!", STRANGER: "!", LEADERLESS: "X"}


def brokers_map(moment: Moment, query: PartitionList, now_ms: int, memory: Memory) -> Window:
    """All brokers by id, those without a counted replica as well. `rack:r1` stands for the first broker there."""
    counted, error = counted_of(moment, query, now_ms, memory)
    ids, counts = counted.table.brokers, counted.by_broker
    widest = max((len(str(broker)) + 1 for broker in ids), default=0)
    racks = [counted.racks[rack] for rack in counted.rack_of]

    def row(place: int) -> Row:
        dead = counted.table.is_dead(ids[place])
        sign = "#" if thing(ids[place]) in query.marked else "X" if dead else "b"
        name = span(f"{sign}{ids[place]}", "dead" if dead else "")
        mark = "X" if dead else _mark(counts[place])
        return Row(str(ids[place]), (line(name), line(racks[place]), *_counts(counts[place])), mark=mark)

    places = {str(broker): place for place, broker in enumerate(ids)}
    for place, rack in enumerate(racks):
        places.setdefault(f"{RACK}{rack}", place)
    listing = Listing(
        count=len(ids),
        fields=lambda: {"broker": Numbers(np.array(ids, np.int64)), "rack": Texts(lambda: racks), **_fields(counts)},
        shown=("broker",),
        row=row,
        place=lambda key: places.get(key, -1),
        columns=(
            Column("broker", max(widest, 6), "<", "broker"),
            Column("rack", -8, "<", "rack"),
            *_state_columns(counts),
        ),
        made_from=(counted,),
        nothing="no broker is registered, and no topic names one",
    )
    return level_window(listing, query, now_ms, memory, error)


def racks_map(moment: Moment, query: PartitionList, now_ms: int, memory: Memory) -> Window:
    """All racks by name. `broker:5` stands for the rack of broker 5."""
    counted, error = counted_of(moment, query, now_ms, memory)
    racks, counts = counted.racks, counted.by_rack(counted.by_broker)
    places = {rack: place for place, rack in enumerate(racks)}
    places |= {f"{BROKER}{broker}": rack for broker, rack in zip(counted.table.brokers, counted.rack_of, strict=True)}
    signs = worst(counted.by_broker)[0].tolist()

    def row(place: int) -> Row:
        name = f"{'#' * (f'{RACK}{racks[place]}' in query.marked)}{racks[place]}"
        cells = (line(name), *_counts(counts[place]), _signs(signs, counted.rack_of, place))
        return Row(racks[place], cells, mark=_mark(counts[place]))

    listing = Listing(
        count=len(racks),
        fields=lambda: {"rack": Texts(lambda: racks), **_fields(counts)},
        shown=("rack",),
        row=row,
        place=lambda key: places.get(key, -1),
        columns=(Column("rack", -8, "<", "rack"), *_state_columns(counts), Column("brokers", -8)),
        made_from=(counted,),
        nothing="no broker is registered, and no topic names one",
    )
    return level_window(listing, query, now_ms, memory, error)


def _signs(signs: list[int], rack_of: list[int], rack: int) -> Line:
    """A sign for each broker of a rack: the worst that it is to any partition."""
    here = [SIGNS[sign] for sign, its_rack in zip(signs, rack_of, strict=True) if its_rack == rack]
    return tuple(span(sign, STYLES[sign]) for sign in here)


def _state_columns(counts: Longs) -> tuple[Column, ...]:
    widest = [
        max(len(title), len(f"{counts[:, sign].max(initial=0):,}")) for sign, (title, _) in REPLICA_STATES.items()
    ]
    return tuple(
        Column(title, width, ">", name) for width, (title, name) in zip(widest, REPLICA_STATES.values(), strict=True)
    )


def _fields(counts: Longs) -> dict[str, Field]:
    return {name: Numbers(counts[:, sign]) for sign, (_, name) in REPLICA_STATES.items()}


def _counts(counts: Longs) -> tuple[Line, ...]:
    return tuple(line(span(f"{counts[sign]:,}", STYLES[SIGNS[sign if counts[sign] else 0]])) for sign in REPLICA_STATES)


def _mark(counts: Longs) -> str:
    return next((mark for sign, mark in reversed(REPLICA_MARKS.items()) if counts[sign]), "")


LEVELS: Mapping[str, Callable[[Moment, PartitionList, int, Memory], Window]] = {
    "topics": topics_map,
    "topics-other": topics_map,
    "brokers": brokers_map,
    "racks": racks_map,
}


def map_window(moment: Moment, query: PartitionList, now_ms: int, memory: Memory) -> Window:
    """`query.view` is one of LEVELS; any other is a form of the partitions themselves."""
    return LEVELS.get(query.view, partitions_window)(moment, query, now_ms, memory)
