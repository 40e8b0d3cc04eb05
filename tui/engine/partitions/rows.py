"""The partition list: who leads, who is in sync, who is behind. As a map of brokers, or as plain columns.

A cell of the map is what a broker is to one partition, a sign each. Shape says it, colour doubles it.

L leader   o in ISR   - out of ISR   X leads or was last in sync, and is dead   + being added   ? stranger   . none

Where KRaft has emptied the ISR, who is in the ELR (KIP-966) was last in sync.

Brokers and racks across any list are laid out here too. A name is as wide as there is room for: `b1042`, its digits, or
its last digits under what several have in common, as `01 02 42` under `10xx`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from model.cluster.ids import NO_LEADER
from model.sources.feed import Moment
from tui.engine.listing import NOWHERE, AnswerMemo, Listing, VisibleColumns, visible_columns, window
from tui.engine.partitions.table import STATES, PartitionTable, elr_of, isr_of, partition_table, replicas_of
from tui.engine.queries import PartitionList
from tui.engine.rows import NO_ACROSS, Across, Column, Line, Row, Span, Window, line, span
from tui.engine.sheets import age_text

CELLS = {
    "L": "cell-leader",
    "o": "cell-isr",
    "-": "cell-out",
    "X": "cell-dead",
    "+": "cell-adding",
    "?": "cell-dead",
    ".": "cell-none",
}
"""Sign → style of a filled cell."""

NARROW = 2
"""Characters of a cell that has no blank before it: its colour fills that, too."""


def thing(broker: int) -> str:
    """A broker as it is chosen: `b3`."""
    return f"b{broker}"


@dataclass(frozen=True)
class MapColumns:
    """All brokers, and which of them are in view, under names of so many last digits: 0 is a whole id with its sign.

    `seen` is led by a blank.
    """

    all: Sequence[int]
    seen: VisibleColumns
    marked: Collection[str] = ()
    digits: int = 0
    room: int = 0
    """Characters there are for them."""

    @property
    def is_whole(self) -> bool:
        """Whether there is room for all brokers."""
        return self.seen.count == len(self.all) and self.width <= self.room

    @property
    def brokers(self) -> Sequence[int]:
        """Those in view."""
        return self.all[self.seen.view]

    @property
    def width(self) -> int:
        """Characters of all cells together."""
        return self.seen.width

    @property
    def cut(self) -> str:
        """`brokers 3-12 of 30` where not all are in view."""
        first, last, total = self.seen.first, self.seen.first + self.seen.count, len(self.all)
        return f"brokers {first + 1}-{last} of {total}" if self.seen.count < total else ""

    def across(self, place: int) -> Across:
        """All brokers as things to choose; `place` is the list's column that holds the map."""
        return self.seen.across([thing(broker) for broker in self.all], place)

    def column(self, is_dead: Callable[[int], bool]) -> Column:
        """One column for the whole map: the names above the cells, `X5` for a dead broker, `#5` for a marked one."""

        def sign(broker: int) -> str:
            return "#" if thing(broker) in self.marked else "X" if is_dead(broker) else "b"

        signs = [sign(broker) for broker in self.brokers]
        if not self.digits:
            names = [f"{sign}{broker}" for sign, broker in zip(signs, self.brokers, strict=True)]
            return Column(self.seen.title(names), self.width)
        names = [tail(broker, self.digits) for broker in self.brokers]
        title = self.seen.title(names, [sign.replace("b", " ") for sign in signs])
        return Column(title, self.width, head=self._heads().rstrip())

    def _heads(self) -> str:
        runs = runs_of(self.brokers, self.digits)
        cells = ((" " + name)[: count * self.seen.cell].ljust(count * self.seen.cell) for name, count in runs)
        return "".join(cells)[1 - self.seen.lead :]

    def line(self, signs: Mapping[int, str]) -> Line:
        """One row: a filled cell for each broker in view, with its sign; `.` where it has none."""
        if self.seen.column != NOWHERE:
            cells = [(sign, CELLS[sign]) for sign in (signs.get(broker, ".") for broker in self.brokers)]
            return self.seen.filled(cells, CELLS["."])
        # Few brokers have to do with a partition: what is between them is not made anew for each row.
        nothing, cell, pieces, done = self._nothing, self.seen.cell, list[Span](), 0
        before = int(cell > NARROW)
        for place, sign in sorted((place, signs[b]) for b in signs if (place := self._places.get(b)) is not None):
            start = place * cell + before
            pieces += [(nothing[done:start], CELLS["."]), (sign.rjust(cell - before), CELLS[sign])]
            done = (place + 1) * cell
        return tuple(piece for piece in (*pieces, (nothing[done:], CELLS["."])) if piece[0])

    @cached_property
    def _nothing(self) -> str:
        return ".".rjust(self.seen.cell) * self.seen.count

    @cached_property
    def _places(self) -> Mapping[int, int]:
        return {broker: place for place, broker in enumerate(self.brokers)}


def tail(broker: int, digits: int) -> str:
    """The last digits of an id."""
    return str(broker)[-digits:] if digits else str(broker)


def runs_of(brokers: Sequence[int], digits: int) -> Iterator[tuple[str, int]]:
    """What is left out of neighbours' names, `10xx`, and how many it is left out of; empty where it is nothing."""
    size = 10**digits
    for head, run in groupby(brokers, key=lambda broker: broker // size):
        yield (f"{head}{'x' * digits}" if head else ""), len(list(run))


@dataclass(frozen=True)
class BrokerNaming:
    """A way to name brokers: characters of a cell with the blank before it, and digits as in MapColumns."""

    cell: int
    digits: int


def forms(brokers: Sequence[int]) -> list[BrokerNaming]:
    """The ways there are, the widest first. Last digits stand only where there is room for what they lack."""
    longest = max((len(str(broker)) for broker in brokers), default=1)
    ways = [BrokerNaming(longest + 2, 0), BrokerNaming(longest + 1, longest)]
    ways += [BrokerNaming(digits + 1, digits) for digits in (2, 1) if digits < longest]
    return [way for way in ways if all(len(name) < count * way.cell for name, count in runs_of(brokers, way.digits))]


def map_columns(
    brokers: Sequence[int], width: int, offset: int, column: str = "", marked: Collection[str] = ()
) -> MapColumns:
    """The widest form in which all fit, else as many as do: from the one at `offset` on, the last page full.

    At least one broker is in view, and `column` is.
    """
    ways = [in_form(form, brokers, width, offset, column, marked) for form in forms(brokers)]
    return next((way for way in ways if way.is_whole), ways[-1])


def in_form(
    form: BrokerNaming, brokers: Sequence[int], width: int, offset: int, column: str, marked: Collection[str]
) -> MapColumns:
    """As many brokers as fit in this form."""
    cursor = next((place for place, broker in enumerate(brokers) if thing(broker) == column), NOWHERE)
    seen = visible_columns(len(brokers), form.cell, width, offset, cursor, is_led=True)
    return MapColumns(brokers, seen, marked, form.digits, width)


STYLES = {"L": "leader", "o": "isr", "-": "out", "X": "dead", "+": "adding", "?": "error", ".": "dim"}
"""Sign → style name."""


def signs_of(table: PartitionTable, row: int) -> dict[int, str]:
    """Broker → its sign, for brokers that have something to do with the partition."""
    topic = table.columns.topics[table.columns.topic[row]]
    adding = topic.adding.get(int(table.columns.partitions[row]), ())
    leader = int(table.columns.leader[row])
    isr = isr_of(table, row)
    signs = signs_of_state(replicas_of(table, row), adding, isr, leader, table.is_dead)
    eligible = () if isr or leader != NO_LEADER else elr_of(table, row) or ()
    return signs | {broker: "X" for broker in eligible if broker in signs and table.is_dead(broker)}


def signs_of_state(
    replicas: Sequence[int], adding: Sequence[int], isr: Sequence[int], leader: int, is_dead: Callable[[int], bool]
) -> dict[int, str]:
    """The same from a partition's assignment and state."""
    signs = {broker: "+" if broker in adding else "-" for broker in replicas}
    signs.update({broker: "o" if broker in replicas else "?" for broker in isr})
    if leader == NO_LEADER:
        signs.update({broker: "X" for broker in isr if is_dead(broker)})
    else:
        signs[leader] = "X" if is_dead(leader) else "L"
    return signs


TABLE = "partition table"
"""Its name in a Memory."""

EDGES = 4
"""Cells of a list that are not its columns': cursor, mark, a blank, the scroll bar."""

MAP = 1
"""The place of the map among the columns."""

ANY = "-*"
"""Ends the key that means any partition of a topic."""

SHOWN = ("name", "leader", "isr", "epoch", "state")
"""What a plain word of the filter is looked for in. An age is not: it changes while one looks."""

STATE_WIDTH = max(len(state.label) for state in STATES)


class Cells(NamedTuple):
    """A column, and what a row has in it."""

    column: Column
    cell: Callable[[PartitionTable, int], Line]


def table_of(moment: Moment, memory: AnswerMemo) -> PartitionTable:
    """The moment's partitions, made once for as long as nothing they depend on changes."""
    image = moment.image
    made_from = (image.topics, image.brokers, image.fenced, image.configs, image.admin, image.unreadable)
    return memory.recall(TABLE, made_from, lambda: partition_table(image, memory.last(TABLE)))


def partitions_window(moment: Moment, query: PartitionList, now_ms: int, memory: AnswerMemo) -> Window:
    """`query.view` is matrix (also when empty) or list."""
    table = table_of(moment, memory)
    return window(partition_listing(table, query, now_ms), query, memory, now_ms)


def partition_listing(table: PartitionTable, query: PartitionList, now_ms: int) -> Listing:
    """All partitions. The key `orders-*` stands for the first of a topic's that is in view."""
    cells, shown, wants = _cells(table, query, now_ms)
    return Listing(
        count=len(table),
        fields=lambda: table.fields(now_ms),
        shown=SHOWN,
        row=lambda row: _row(table, row, cells),
        place=lambda key: _rows_of(table, key.removesuffix(ANY)) if key.endswith(ANY) else table.place(key),
        columns=tuple(one.column for one in cells),
        across=NO_ACROSS if shown is None else shown.across(MAP),
        made_from=(table,),
        nothing="there are no topics",
        wants=wants,
        names={"topic": lambda: table.image.topics, "broker": lambda: map(str, table.brokers)},
    )


def _rows_of(table: PartitionTable, topic: str) -> range:
    start = table.starts.get(topic, 0)
    return range(start, start + len(table.image.topics[topic]) if topic in table.starts else start)


def _row(whole: PartitionTable, place: int, cells: Iterable[Cells]) -> Row:
    table, row = whole.near(place)
    return Row(
        key=str(table.topic_partition(row)),
        cells=tuple(one.cell(table, row) for one in cells),
        mark=STATES[table.states[row]].mark,
    )


def _cells(table: PartitionTable, query: PartitionList, now_ms: int) -> tuple[list[Cells], MapColumns | None, int]:
    """The columns of this view, with as much of the map as fits; what fits of it, and the cells that all would take."""
    digits = max((len(str(broker)) for broker in table.brokers), default=1)
    isr_width = min(max(table.isr_width * (digits + 1) - 1, 3), 16)
    facts = [
        Cells(Column("leader", max(digits + 2, 6), ">", "leader", rank=1), _leader),
        Cells(Column("isr", isr_width, "<", "isr", rank=2), lambda at, row: _brokers(at, isr_of(at, row))),
        Cells(Column("epoch", 6, ">", "epoch", rank=3), _epoch),
        Cells(Column("age", 4, ">", "age", rank=4), lambda at, row: _age(at, row, now_ms)),
        Cells(Column("state", STATE_WIDTH, "<", "state"), _state),
    ]
    title, shown, name = "partition", None, max(table.widest_name, len("partition"))
    wants = EDGES + name + _taken(facts)
    if query.view == "list":
        width = min(max(table.replicas_width * (digits + 1) - 1, 8), 24)
        replicas = Column("replicas", width, "<", "broker", rank=1)
        facts.insert(1, Cells(replicas, lambda at, row: _brokers(at, replicas_of(at, row))))
        if table.has_elr:
            elr = Column("elr", isr_width, "<", "elr", rank=2)
            facts.insert(3, Cells(elr, lambda at, row: _elr(at, elr_of(at, row))))
        wants = EDGES + name + _taken(facts)
    else:
        wants += 1 + len(table.brokers) * forms(table.brokers)[0].cell
        name = min(name, max(query.width * 2 // 5, 12))
        facts, fitted = _beside_the_map(table, facts, query, EDGES + name + 1)
        column = fitted.column(table.is_dead)
        facts.insert(0, Cells(column, lambda at, row: fitted.line(signs_of(at, row))))
        title, shown = f"{title} {fitted.cut}".rstrip(), fitted
    names = Cells(Column(title, -name, "<", "topic"), lambda at, row: line(str(at.topic_partition(row))))
    return [names, *facts], shown, wants


def _taken(cells: Iterable[Cells]) -> int:
    return sum(1 + one.column.width for one in cells)


def _beside_the_map(
    table: PartitionTable, facts: list[Cells], query: PartitionList, taken: int
) -> tuple[list[Cells], MapColumns]:
    """The columns that stay and the brokers that fit beside them: the widest names before all columns.

    Where not all brokers fit, columns go, least needed first; the verdict stays.
    """
    ways = [(form, rank) for form in forms(table.brokers) for rank in (4, 3, 2)]
    ways += [(form, rank) for form in forms(table.brokers)[1:] for rank in (1, 0)]
    fitted = [_fitted(table, facts, form, rank, query, taken) for form, rank in ways]
    return next((one for one in fitted if one[1].is_whole), fitted[-1])


def _fitted(
    table: PartitionTable, facts: list[Cells], form: BrokerNaming, rank: int, query: PartitionList, taken: int
) -> tuple[list[Cells], MapColumns]:
    kept = [one for one in facts if one.column.rank <= rank]
    room = query.width - taken - _taken(kept)
    return kept, in_form(form, table.brokers, room, query.offset, query.column, query.marked)


def _leader(table: PartitionTable, row: int) -> Line:
    leader = int(table.columns.leader[row])
    if leader == NO_LEADER:
        return line(span("none", "error"))
    return line(span(f"X {leader}", "dead") if table.is_dead(leader) else span(leader, "leader"))


def _brokers(table: PartitionTable, ids: tuple[int, ...]) -> Line:
    """`3,1,2` with the dead ones in their own style."""
    commas = ["", *(",",) * (len(ids) - 1)]
    pieces = [span(f"{comma}{b}", "dead" if table.is_dead(b) else "") for comma, b in zip(commas, ids, strict=False)]
    return tuple(pieces) or line(span("none", "error"))


def _elr(table: PartitionTable, ids: tuple[int, ...] | None) -> Line:
    return _brokers(table, ids) if ids else line(span("?" if ids is None else "-", "dim"))


def _epoch(table: PartitionTable, row: int) -> Line:
    return line(span(f"e{table.columns.leader_epoch[row]}" if table.columns.has_state[row] else "-", "dim"))


def _age(table: PartitionTable, row: int, now_ms: int) -> Line:
    return line(span(age_text(int(table.columns.time_ms[row]), now_ms), "dim"))


def _state(table: PartitionTable, row: int) -> Line:
    state = STATES[table.states[row]]
    return line(span(state.label, state.style))
