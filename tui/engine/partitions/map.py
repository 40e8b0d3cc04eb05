"""The partition map from farther away: topics against brokers or racks, brokers and racks by what they hold.

A cell of a topic's row is the worst that its replicas are there, with its count where there is room. A row of a broker
or a rack has how many replicas are in which state. Counts nothing itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from model.cluster.topic_image import Longs
from model.sources.feed import Moment
from tui.engine.filters import Coded, ListField, Numbers, Texts, whole_numbers
from tui.engine.glyphs import bars
from tui.engine.listing import AnswerMemo, Listing, VisibleColumns, visible_columns
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
    CountedPartitions,
    counted_of,
    level_window,
    worst,
)
from tui.engine.partitions.rows import (
    CELLS,
    EDGES,
    NARROW,
    STATE_WIDTH,
    STYLES,
    BrokerNaming,
    forms,
    in_form,
    partitions_window,
    thing,
)
from tui.engine.partitions.table import STATES, PartitionTable
from tui.engine.queries import PartitionList
from tui.engine.rows import Column, Line, Row, Window, line, span

LONGEST_NAME = 10
"""Characters of a rack's name: of a longer one its end is shown, for that is where racks differ."""


@dataclass(frozen=True)
class MapGrid:
    """Cells across: of the columns of `seen`, of `total`; `counted`: with counts beside their signs."""

    seen: VisibleColumns
    column: Column
    total: int
    counted: bool

    @property
    def is_cut(self) -> bool:
        """Whether there are more columns than those in view."""
        return self.seen.count < self.total

    def line(self, codes: Sequence[int], counts: Sequence[int]) -> Line:
        """One row: for every column there is, its index into SIGNS and the count beside it."""
        there = zip(codes[self.seen.view], counts[self.seen.view], strict=True)
        cells = [(self._cell(SIGNS[code], count), CELLS[SIGNS[code]]) for code, count in there]
        return self.seen.filled(cells, CELLS[SIGNS[NOTHING]])

    def _cell(self, sign: str, count: int) -> str:
        if not self.counted:
            return sign
        return sign + (f"{count}" if sign != SIGNS[NOTHING] else "").rjust(self.seen.cell - 2)


def brokers_across(table: PartitionTable, room: int, offset: int, most: int) -> MapGrid:
    """The widest form in which all brokers fit, with counts if there is room; `most`: the largest count."""
    brokers, ways = table.brokers, forms(table.brokers)
    counting = [BrokerNaming(max(way.cell, _counting(most)), way.digits) for way in ways if way.digits != 1]
    shown = [in_form(way, brokers, room, offset, "", ()) for way in (*counting, *ways)]
    place = next((place for place, one in enumerate(shown) if one.is_whole), len(shown) - 1)
    return MapGrid(shown[place].seen, shown[place].column(table.is_dead), len(brokers), place < len(counting))


def racks_across(racks: Sequence[str], room: int, offset: int, most: int) -> MapGrid:
    """As many racks as fit, with counts if all do."""
    names = [name[-LONGEST_NAME:] for name in racks]
    narrow = max(map(len, names), default=1) + 1
    wide = max(narrow, _counting(most))
    counted = len(names) * wide <= room
    seen = visible_columns(len(names), wide if counted else narrow, room, offset, is_led=True)
    return MapGrid(seen, Column(seen.title(names[seen.view]), seen.width), len(names), counted)


def _counting(most: int) -> int:
    """Characters of a cell with a count: the blank before it, the sign, a blank, the count."""
    return len(str(most)) + 3


TOPIC_FACTS = (Column("parts", 7, ">", "partitions", rank=1), Column("worst", STATE_WIDTH, "<", "state"))


def topics_map(moment: Moment, query: PartitionList, now_ms: int, memory: AnswerMemo) -> Window:
    """`query.view` topics: against brokers, or racks where not all brokers fit; topics-other: the other way."""
    counted, error = counted_of(moment, query, now_ms, memory)
    columns, shown, racks, wants = _topic_columns(counted, query)
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
        wants=wants,
    )
    seen = level_window(listing, query, now_ms, memory, error)
    return msgspec.structs.replace(seen, unfiltered_total=counted.all_topics)


def _topic_columns(counted: CountedPartitions, query: PartitionList) -> tuple[tuple[Column, ...], MapGrid, bool, int]:
    """The columns, what fits of the map, whether it is one of racks, and the cells that all would take."""
    widest = max(counted.widest_name, len("topic"))
    name = min(widest, max(query.width * 2 // 5, 12))
    beside = sum(1 + column.width for column in TOPIC_FACTS)
    room = query.width - EDGES - name - 1 - beside
    most = int(np.max(counted.sizes, initial=0))
    table = counted.table
    brokers = brokers_across(table, room, query.offset, most)
    racks = racks_across(counted.racks, room, query.offset, most * table.columns.replicas.shape[1])
    by_rack = (brokers.is_cut and counted.racks != [NO_RACK]) != (query.view == "topics-other")
    shown = racks if by_rack else brokers
    first, last = shown.seen.first + 1, shown.seen.first + shown.seen.count
    cut = f"{'racks' if by_rack else 'brokers'} {first}-{last} of {shown.total}" if shown.is_cut else ""
    columns = (Column(f"topic {cut}".rstrip(), -name, "<", "topic"), shown.column, *TOPIC_FACTS)
    across = len(table.brokers) * max(forms(table.brokers)[0].cell, _counting(most))
    return columns, shown, by_rack, EDGES + widest + 1 + across + beside


def _topic_row(counted: CountedPartitions, topic: int, shown: MapGrid, racks: bool) -> Row:
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
    LEADERLESS: ("X dead", "leaderless"),
    OUT: ("- out", "out"),
    ADDING: ("+ add", "adding"),
    STRANGER: ("? stray", "stray"),
    LEADS: ("L lead", "leads"),
    IN_SYNC: ("o ISR", "isr"),
}
"""Sign → title and sort name of the column that counts it; the worst first: they are never cut off."""

REPLICA_MARKS = {ADDING: "+", OUT: "!", STRANGER: "!", LEADERLESS: "X"}


def brokers_map(moment: Moment, query: PartitionList, now_ms: int, memory: AnswerMemo) -> Window:
    """All brokers by id, those without a counted replica as well. `rack:r1` stands for the first broker there."""
    counted, error = counted_of(moment, query, now_ms, memory)
    ids, counts = counted.table.brokers, counted.by_broker
    widest = max((len(str(broker)) + 1 for broker in ids), default=0)
    racks = [counted.racks[rack] for rack in counted.rack_of]
    names = Column("broker", max(widest, 6), "<", "broker"), Column("rack", -8, "<", "rack", rank=1)
    held = HeldByBrokers(counts, query.width, sum(abs(column.width) + 1 for column in names))

    def row(place: int) -> Row:
        dead = counted.table.is_dead(ids[place])
        sign = "#" if thing(ids[place]) in query.marked else "X" if dead else "b"
        name = span(f"{sign}{ids[place]}", "dead" if dead else "")
        mark = "X" if dead else _mark(counts[place])
        return Row(str(ids[place]), (line(name), line(racks[place]), *held.cells(place)), mark=mark)

    places = {str(broker): place for place, broker in enumerate(ids)}
    for place, rack in enumerate(racks):
        places.setdefault(f"{RACK}{rack}", place)
    listing = Listing(
        count=len(ids),
        fields=lambda: {"broker": whole_numbers(ids), "rack": Texts(lambda: racks), **_fields(counts)},
        shown=("broker",),
        row=row,
        place=lambda key: places.get(key, -1),
        columns=(*names, *held.columns),
        made_from=(counted,),
        nothing="no broker is registered, and no topic names one",
        wants=held.wants,
    )
    return level_window(listing, query, now_ms, memory, error)


def racks_map(moment: Moment, query: PartitionList, now_ms: int, memory: AnswerMemo) -> Window:
    """All racks by name. `broker:5` stands for the rack of broker 5."""
    counted, error = counted_of(moment, query, now_ms, memory)
    racks, counts = counted.racks, counted.by_rack(counted.by_broker)
    places = {rack: place for place, rack in enumerate(racks)}
    places |= {f"{BROKER}{broker}": rack for broker, rack in zip(counted.table.brokers, counted.rack_of, strict=True)}
    signs = worst(counted.by_broker)[0].tolist()
    largest = int(np.max(np.bincount(counted.rack_of), initial=0)) if counted.rack_of else 0
    names = (Column("rack", -8, "<", "rack"),)
    brokers = Column("brokers", -max(NARROW * largest, 8), rank=1)
    held = HeldByBrokers(counts, query.width, sum(abs(column.width) + 1 for column in (*names, brokers)))

    def row(place: int) -> Row:
        name = f"{'#' * (f'{RACK}{racks[place]}' in query.marked)}{racks[place]}"
        cells = (line(name), *held.cells(place), _signs(signs, counted.rack_of, place))
        return Row(racks[place], cells, mark=_mark(counts[place]))

    listing = Listing(
        count=len(racks),
        fields=lambda: {"rack": Texts(lambda: racks), **_fields(counts)},
        shown=("rack",),
        row=row,
        place=lambda key: places.get(key, -1),
        columns=(*names, *held.columns, brokers),
        made_from=(counted,),
        nothing="no broker is registered, and no topic names one",
        wants=held.wants,
    )
    return level_window(listing, query, now_ms, memory, error)


def _signs(signs: list[int], rack_of: list[int], rack: int) -> Line:
    """A filled cell for each broker of a rack: the worst that it is to any partition."""
    here = [SIGNS[sign] for sign, its_rack in zip(signs, rack_of, strict=True) if its_rack == rack]
    return tuple(span(sign.rjust(NARROW), CELLS[sign]) for sign in here)


LEAST_BAR, MOST_BAR = 10, 60
"""Cells of a bar of what somebody holds."""

BAR_PARTS = {
    LEADS: "leader",
    IN_SYNC: "isr",
    ADDING: "adding",
    OUT: "out",
    STRANGER: "changed",
    LEADERLESS: "removed",
}
"""Sign → style of its part of a bar. None is reversed anywhere: a full block in reverse is a hole."""


class HeldByBrokers:
    """What brokers or racks hold: a bar of their replicas by state, as long as they are many, and the counts."""

    def __init__(self, counts: Longs, width: int, taken: int) -> None:
        """`counts` as of SignCounts; `taken` are the cells of other columns, with their gaps, of the list's `width`."""
        self._counts = counts
        widest = [
            max(len(title), len(f"{counts[:, sign].max(initial=0):,}")) for sign, (title, _) in REPLICA_STATES.items()
        ]
        titled = zip(widest, REPLICA_STATES.values(), strict=True)
        numbers = [Column(title, width, ">", name, rank) for rank, (width, (title, name)) in enumerate(titled)]
        taken += EDGES + sum(column.width + 1 for column in numbers)
        self._bar = min(width - taken, MOST_BAR)
        self._most = int(counts[:, IN_SYNC:].sum(axis=1).max(initial=1))
        bar = [Column("replicas", self._bar)] if self._bar >= LEAST_BAR else []
        self.columns = (*bar, *numbers)
        self.wants = taken + MOST_BAR

    def cells(self, place: int) -> tuple[Line, ...]:
        """Those of one row."""
        counts = self._counts[place]
        numbers = [
            line(span(f"{counts[sign]:,}", STYLES[SIGNS[sign if counts[sign] else 0]])) for sign in REPLICA_STATES
        ]
        if self._bar < LEAST_BAR:
            return tuple(numbers)
        return bars([(counts[sign] / self._most, style) for sign, style in BAR_PARTS.items()], self._bar), *numbers


def _fields(counts: Longs) -> dict[str, ListField]:
    return {name: Numbers(counts[:, sign]) for sign, (_, name) in REPLICA_STATES.items()}


def _mark(counts: Longs) -> str:
    return next((mark for sign, mark in reversed(REPLICA_MARKS.items()) if counts[sign]), "")


LEVELS: Mapping[str, Callable[[Moment, PartitionList, int, AnswerMemo], Window]] = {
    "topics": topics_map,
    "topics-other": topics_map,
    "brokers": brokers_map,
    "racks": racks_map,
}


def map_window(moment: Moment, query: PartitionList, now_ms: int, memory: AnswerMemo) -> Window:
    """`query.view` is one of LEVELS; any other is a form of the partitions themselves."""
    return LEVELS.get(query.view, partitions_window)(moment, query, now_ms, memory)
