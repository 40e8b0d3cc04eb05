"""The map with a row a broker or a rack: how many replicas are in which state there."""

import numpy as np

from model.cluster.topic_image import Longs
from model.sources.feed import Moment
from tui.data.fields import Field, Numbers, Texts
from tui.data.messages import ListQuery
from tui.data.pages.listing import Listing, Memory
from tui.data.pages.map.counted import counted_of, level_window
from tui.data.pages.map.signs import ADDING, IN_SYNC, LEADERLESS, LEADS, OUT, SIGNS, STRANGER, worst
from tui.data.pages.partition_map import STYLES, thing
from tui.rows import Column, Line, Row, Window, line, span

RACK = "rack:"
BROKER = "broker:"
"""Before the key of a row of the other level: the row here that has to do with it is meant."""

STATES = {
    LEADERLESS: ("X leaderless", "leaderless"),
    OUT: ("- out", "out"),
    ADDING: ("+ adding", "adding"),
    STRANGER: ("? stray", "stray"),
    LEADS: ("L leads", "leads"),
    IN_SYNC: ("o in ISR", "isr"),
}
"""Sign → title and sort name of the column that counts it; the worst first: they are never cut off."""

MARKS = {ADDING: "+", OUT: "!", STRANGER: "!", LEADERLESS: "X"}


def brokers_map(moment: Moment, query: ListQuery, now_ms: int, memory: Memory) -> Window:
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
        columns=(Column("broker", max(widest, 6), "<", "broker"), Column("rack", -8, "<", "rack"), *_columns(counts)),
        made_from=(counted,),
        nothing="no broker is registered, and no topic names one",
    )
    return level_window(listing, query, now_ms, memory, error)


def racks_map(moment: Moment, query: ListQuery, now_ms: int, memory: Memory) -> Window:
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
        columns=(Column("rack", -8, "<", "rack"), *_columns(counts), Column("brokers", -8)),
        made_from=(counted,),
        nothing="no broker is registered, and no topic names one",
    )
    return level_window(listing, query, now_ms, memory, error)


def _signs(signs: list[int], rack_of: list[int], rack: int) -> Line:
    """A sign for each broker of a rack: the worst that it is to any partition."""
    here = [SIGNS[sign] for sign, its_rack in zip(signs, rack_of, strict=True) if its_rack == rack]
    return tuple(span(sign, STYLES[sign]) for sign in here)


def _columns(counts: Longs) -> tuple[Column, ...]:
    widest = [max(len(title), len(f"{counts[:, sign].max(initial=0):,}")) for sign, (title, _) in STATES.items()]
    return tuple(Column(title, width, ">", name) for width, (title, name) in zip(widest, STATES.values(), strict=True))


def _fields(counts: Longs) -> dict[str, Field]:
    return {name: Numbers(counts[:, sign]) for sign, (_, name) in STATES.items()}


def _counts(counts: Longs) -> tuple[Line, ...]:
    return tuple(line(span(f"{counts[sign]:,}", STYLES[SIGNS[sign if counts[sign] else 0]])) for sign in STATES)


def _mark(counts: Longs) -> str:
    return next((mark for sign, mark in reversed(MARKS.items()) if counts[sign]), "")
