"""What the farther levels of the map show: partitions that match the filter, counted by topic, broker and rack, or all
in one picture.

Replicas are counted by broker and sign; one replica's sign is what `signs_of_state` says of it, and here the same is
said of whole columns. Counts are made once for as long as the partitions and the filter stay. A filter means the same
on every level.

In the picture, brokers are across and partitions down, each cell the worst that it stands for. Where there are more
partitions than half lines, one of these stands for several; where there are more brokers than cells, a cell does.
Without fills a line has signs instead.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import msgspec
import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import NO_LEADER
from model.cluster.topic_image import NOBODY, Flags, Ints, Longs
from model.sources.feed import Moment
from tui.engine.glyphs import UPPER
from tui.engine.listing import AnswerMemo, Listing, indices, rows_in_order, window
from tui.engine.messages import TextAnswer
from tui.engine.palette import stacked
from tui.engine.partitions.rows import CELLS, partition_listing, table_of
from tui.engine.partitions.table import STATES, PartitionTable
from tui.engine.queries import PartitionList, PartitionPicture
from tui.engine.rows import Line, Span, Window, span
from tui.engine.sheets import Sheet
from tui.engine.text import fit

SIGNS = ".oL+-?X"
"""In the order of how bad they are: the last one that occurs is a group's worst."""

NOTHING, IN_SYNC, LEADS, ADDING, OUT, STRANGER, LEADERLESS = range(len(SIGNS))
"""Indices into SIGNS. LEADERLESS: leads, or was last in sync, and is dead."""

MOST_ID = 1_000_000
"""Broker ids up to here are looked up in a table of that length, larger ones are searched for."""

Rows = slice | Longs


class SignCounts:
    """Counts the replicas of any rows of one table."""

    def __init__(self, table: PartitionTable) -> None:
        self._columns = table.columns
        self._health = table.health
        self._ids = np.array(table.brokers, np.int64)
        self._dead = np.array([*map(table.is_dead, table.brokers), False], np.bool_)
        self._adding = _adding(table)
        self._place = np.full(0, 0, np.int64)
        if len(self._ids) and self._ids[-1] <= MOST_ID:
            self._place = np.full(self._ids[-1] + 2, len(self._ids), np.int64)  # -1, nobody, is its last
            self._place[self._ids] = np.arange(len(self._ids))

    def of(self, rows: Rows) -> Longs:
        """int64[B, 7]: how many replicas of these rows each broker of the table has in each of SIGNS."""
        size = (len(self._ids) + 1) * len(SIGNS)
        counts = np.zeros(size, np.int64)
        for places, codes in self._signed(rows):
            counts += np.bincount(places * len(SIGNS) + codes, minlength=size)
        return counts.reshape(-1, len(SIGNS))[:-1]

    def worst_of(self, groups: Ints, columns: Ints, shape: tuple[int, int]) -> Ints:
        """int32 of this shape, groups of rows by groups of brokers: the worst sign that any of them has, in SIGNS.

        `groups` has a group for each row of the table, `columns` one for each of its brokers.
        """
        beyond = shape[1]  # nobody's column
        columns = np.append(columns, np.int32(beyond))
        found = np.zeros(shape[0] * (beyond + 1), np.int32)
        for places, codes in self._signed(slice(None)):
            np.maximum.at(found, groups * (beyond + 1) + columns[places], codes.astype(np.int32))
        return found.reshape(shape[0], -1)[:, :-1]

    def _signed(self, rows: Rows) -> Iterator[tuple[Longs, Longs]]:
        """(place of the broker, sign) of each replica, a column at a time; then of who is no replica."""
        columns, health = self._columns, self._health
        leader = columns.leader[rows]
        for number in range(columns.replicas.shape[1]):
            in_isr = columns.in_isr[rows, number]
            signs = np.where(in_isr, IN_SYNC, OUT)
            if self._adding is not None:
                signs[self._adding[rows, number] & ~in_isr] = ADDING
            yield self._led(columns.replicas[rows, number], signs, health.eligible[rows, number], leader)
        if health.isr_not_replica[rows].any() or health.leader_not_replica[rows].any():
            yield from self._strangers(rows, leader)

    def _strangers(self, rows: Rows, leader: Ints) -> Iterator[tuple[Longs, Longs]]:
        columns, health = self._columns, self._health
        for number in range(columns.isr.shape[1]):
            in_isr = health.strangers[rows, number]
            ids = np.where(in_isr, columns.isr[rows, number], NOBODY)
            yield self._led(ids, np.full(len(ids), STRANGER), in_isr, leader)
        unlisted = health.leader_not_replica[rows] & ~columns.leader_in_isr[rows]
        ids = np.where(unlisted, leader, NOBODY)
        yield self._led(ids, np.full(len(ids), STRANGER), unlisted, leader)

    def _led(self, ids: Ints, signs: Longs, eligible: Flags, leader: Ints) -> tuple[Longs, Longs]:
        """The signs again, with leaders, and with those who are dead and missed."""
        places = self._places(ids)
        leads = (ids == leader) & (leader != NO_LEADER)
        signs[leads] = LEADS
        signs[self._dead[places] & (leads | (eligible & (leader == NO_LEADER)))] = LEADERLESS
        return places, signs

    def _places(self, ids: Ints) -> Longs:
        if len(self._place):
            return self._place[ids]
        return np.where(ids == NOBODY, len(self._ids), np.searchsorted(self._ids, ids))


def worst(counts: Longs) -> tuple[Ints, Longs]:
    """(index into SIGNS, how many) of the worst sign in each row of counts."""
    there = counts > 0
    there[:, NOTHING] = True
    codes = len(SIGNS) - 1 - np.argmax(there[:, ::-1], axis=1)
    return codes.astype(np.int32), counts[np.arange(len(counts)), codes]


def _adding(table: PartitionTable) -> Flags | None:
    """bool[N, RF]: whether the replica there is being added by a reassignment; None where none is."""
    pairs = [
        (table.starts[topic.name] + topic.row_of[partition], broker)
        for topic in table.columns.topics
        for partition, brokers in topic.adding.items()
        if partition in topic.row_of
        for broker in brokers
    ]
    if not pairs:
        return None
    rows, ids = np.array(pairs, np.int64).T
    adding = np.zeros(table.columns.replicas.shape, np.bool_)
    pair, number = np.nonzero(table.columns.replicas[rows] == ids[:, None])
    adding[rows[pair], number] = True
    return adding


NO_RACK = "none"
"""Where brokers are that name no rack, or are dead: a rack is known only from a registration."""

TOPICS_KEPT = 1_024


def rack_name(image: ClusterImage, broker: int) -> str:
    """The rack that a broker's registration names, or NO_RACK."""
    registered = image.brokers.get(broker)
    return (registered.rack if registered else "") or NO_RACK


class LevelCells(NamedTuple):
    """A row of the map: for each column an index into SIGNS, and how many replicas are so."""

    codes: list[int]
    counts: list[int]


class CountedPartitions:
    """The partitions of a table that are counted, all or some; `rows` ascend."""

    def __init__(self, table: PartitionTable, rows: Longs) -> None:
        self.table = table
        self._rows = None if len(rows) == len(table) else rows
        topic = table.columns.topic if self._rows is None else table.columns.topic[rows]
        self.starts = np.flatnonzero(np.diff(topic, prepend=-1))
        self.sizes = np.diff(self.starts, append=len(topic))
        self.topics = [table.columns.topics[number] for number in topic[self.starts].tolist()]
        self.place_of_topic = {known.name: place for place, known in enumerate(self.topics)}
        self.cells_of = lru_cache(TOPICS_KEPT)(self._cells_of)

    @cached_property
    def worst_states(self) -> Ints:
        """int32[T]: of each topic the worst of its partitions' states, an index into STATES."""
        states = self.table.states if self._rows is None else self.table.states[self._rows]
        return np.minimum.reduceat(states, self.starts) if len(self.starts) else states

    @cached_property
    def widest_name(self) -> int:
        """Characters of the longest topic's name."""
        return max((len(topic.name) for topic in self.topics), default=0)

    @cached_property
    def all_topics(self) -> int:
        """Topics that have partitions, counted or not."""
        return sum(1 for topic in self.table.columns.topics if len(topic))

    @cached_property
    def signs(self) -> SignCounts:
        """Counts replicas by sign."""
        return SignCounts(self.table)

    @cached_property
    def by_broker(self) -> Longs:
        """int64[B, 7]: replicas by broker and sign."""
        return self.signs.of(slice(None) if self._rows is None else self._rows)

    @cached_property
    def racks(self) -> list[str]:
        """Their names in order; NO_RACK last, where it is needed."""
        return sorted(set(self._rack_names) - {NO_RACK}) + [NO_RACK] * (NO_RACK in self._rack_names)

    @cached_property
    def rack_of(self) -> list[int]:
        """For each of the table's brokers, which of `racks` it is in."""
        return [self.racks.index(name) for name in self._rack_names]

    @cached_property
    def _rack_names(self) -> list[str]:
        return [rack_name(self.table.image, broker) for broker in self.table.brokers]

    def by_rack(self, by_broker: Longs) -> Longs:
        """int64[R, 7]: counts of brokers summed up by rack."""
        counts = np.zeros((len(self.racks), by_broker.shape[1]), np.int64)
        np.add.at(counts, self.rack_of, by_broker)
        return counts

    def _cells_of(self, topic: int, racks: bool) -> LevelCells:
        start, end = int(self.starts[topic]), int(self.starts[topic] + self.sizes[topic])
        counts = self.signs.of(slice(start, end) if self._rows is None else self._rows[start:end])
        codes, numbers = worst(self.by_rack(counts) if racks else counts)
        return LevelCells(codes.tolist(), numbers.tolist())


def counted_of(moment: Moment, query: PartitionList, now_ms: int, memory: AnswerMemo) -> tuple[CountedPartitions, str]:
    """The moment's partitions that match the query's filter, and what is wrong with that filter."""
    table = table_of(moment, memory)
    wanted = msgspec.structs.replace(query, view="", sort="", reverse=False)
    rows, error = rows_in_order(partition_listing(table, wanted, now_ms), wanted, memory, now_ms, "counted partitions")
    return memory.recall("counted", (table, rows), lambda: CountedPartitions(table, indices(rows))), error


def level_window(listing: Listing, query: PartitionList, now_ms: int, memory: AnswerMemo, error: str) -> Window:
    """The window of a level; its filter was one of partitions, and has done its work."""
    asked = msgspec.structs.replace(query, filter="")
    shown = window(listing, asked, memory, now_ms, f"partitions by {query.view}")
    note = error or ("nothing matches the filter" if query.filter and not shown.total else shown.note)
    return msgspec.structs.replace(shown, note=note)


LONGEST_NAME = 24
"""Cells of a topic's name beside the picture."""

MOST = 200_000
"""Partitions of which a picture is made: it takes some 30 ms then, and as much of what is counted for it."""
MOST_AT_ONCE = 25_000
"""Partitions up to which each change is drawn at once; of twice as many every 2 s, and so on."""

LEAD = 2
"""Cells of the sign before a name, and of the blank behind it."""

WIDEST = 8
"""Cells of a broker."""

STYLES = [CELLS[sign] for sign in SIGNS]

Shape = tuple[int, int]
"""Rows of cells, and columns."""


def partitions_picture(moment: Moment, query: PartitionPicture, now_ms: int, memory: AnswerMemo) -> TextAnswer:
    """As many lines as there are or are needed; `>` is where the partition or topic `query.key` is."""
    table, sheet = table_of(moment, memory), Sheet("All partitions", query.width)
    if len(table) > MOST:
        return sheet.say(f"There is no picture of more than {MOST:,} partitions; zoomed out, the list has it.").answer()
    brokers, each = len(table.brokers), 1 + (query.is_filled and not query.is_ascii)
    least = max(query.width // 3, query.width - LEAD - 2 * brokers)
    names = min(max(map(len, table.starts), default=0), LONGEST_NAME, least)
    room = query.width - names - LEAD
    shape = min(len(table), (query.height - 1) * each), min(brokers, room)
    if min(shape) < 1:
        return sheet.answer()
    wide = min(room // shape[1], WIDEST)
    pace = len(table) // MOST_AT_ONCE
    of = table if not pace or query.at else now_ms // (1000 * pace)
    made_from = (of, table.outline, *shape, wide, each)
    drawn = memory.recall("partitions picture", made_from, lambda: [*_drawn(table, shape, wide, each)])
    sheet.draw(" " * (names + LEAD) + _heading(table, shape[1], wide))
    here, named = _row_of(table, query.key, shape[0]) // each, ""
    for number, (topic, style, cells) in enumerate(drawn):
        name = "" if topic == named else fit(topic, min(names, len(topic)))
        sign = span(">" if number == here else " ", "key")
        sheet.draw(sign, span(name, style), " " * (names + 1 - len(name)), *cells)
        named = topic
    return sheet.answer()


def _drawn(table: PartitionTable, shape: Shape, wide: int, each: int) -> Iterator[tuple[str, str, Line]]:
    """For each line, of so many rows of cells, the topic that is worst there, the style of its name, and the cells."""
    codes, states = worst_cells(table, shape), table.states
    firsts = np.searchsorted(_groups(len(table), shape[0]), np.arange(shape[0])).tolist()
    for top in range(0, shape[0], each):
        start = firsts[top]
        stop = firsts[top + each] if top + each < shape[0] else len(table)
        topic = table.columns.topics[table.columns.topic[start + int(states[start:stop].argmin())]]
        begins = table.starts[topic.name]
        state = STATES[states[begins : begins + len(topic)].min()]
        cells = _halved(codes[top : top + each], wide) if each > 1 else _signed(codes[top], wide)
        yield topic.name, "dim" if state is STATES[-1] else state.style, tuple(cells)


def worst_cells(table: PartitionTable, shape: Shape) -> Ints:
    """int32 of this shape: of the partitions and brokers of each cell the worst, an index into SIGNS."""
    rows, columns = shape
    return SignCounts(table).worst_of(_groups(len(table), rows), _groups(len(table.brokers), columns), shape)


def _groups(count: int, groups: int) -> Ints:
    """Which of so many groups each of `count` things is in, as even as they can be."""
    return (np.arange(count) * groups // max(count, 1)).astype(np.int32)


def _row_of(table: PartitionTable, key: str, rows: int) -> int:
    """The row of cells in which a partition, or a topic's first one, is; negative: in none."""
    place = table.place(key)
    start = place if place >= 0 else table.starts.get(key, -1)
    return start * rows // len(table) if start >= 0 else -2


def _heading(table: PartitionTable, columns: int, wide: int) -> str:
    """The brokers' names where there is room for each, or their ids, else the first and the last one."""
    names = [f"{'X' if table.is_dead(broker) else 'b'}{broker}" for broker in table.brokers]
    for all_ in (names, [name[1:] for name in names]):
        if columns == len(all_) and max(map(len, all_)) < wide:
            return "".join(name.center(wide) for name in all_).rstrip()
    return f"{names[0]}{names[-1].rjust(columns * wide - len(names[0]))}"


def _halved(pair: Ints, wide: int) -> Iterator[Span]:
    above, below = pair[0], pair[1] if len(pair) > 1 else np.full(pair.shape[1], NOTHING)
    styles = [stacked(STYLES[one], STYLES[other]) for one, other in zip(above, below, strict=True)]
    return _runs([(UPPER * wide, style) for style in styles])


def _signed(codes: Ints, wide: int) -> Iterator[Span]:
    return _runs([(SIGNS[code].center(wide), STYLES[code]) for code in codes])


def _runs(spans: Sequence[Span]) -> Iterator[Span]:
    return (("".join(text for text, _ in run), style) for style, run in groupby(spans, key=itemgetter(1)))
