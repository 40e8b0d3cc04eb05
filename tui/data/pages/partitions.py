"""The partition list: who leads, who is in sync, who is behind. As a map of brokers, or as plain columns."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from model.cluster.ids import NO_LEADER
from model.sources.feed import Moment
from tui.data.fields import Texts
from tui.data.messages import ListQuery
from tui.data.pages.ages import age_text
from tui.data.pages.listing import Listing, Memory, window
from tui.data.pages.partition_map import MapColumns, map_column, map_columns, map_line
from tui.data.partition_table import STATES, PartitionTable, isr_of, partition_names, partition_table, replicas_of
from tui.rows import Column, Line, Row, Window, line, span

EDGES = 4
"""Cells of a list that are not its columns': cursor, mark, a blank, the scroll bar."""

SHOWN = ("name", "leader", "isr", "epoch", "state")
"""What a plain word of the filter is looked for in. An age is not: it changes while one looks."""

STATE_WIDTH = max(len(state.label) for state in STATES)


class Cells(NamedTuple):
    """A column, and what a row has in it."""

    column: Column
    cell: Callable[[int], Line]


def table_of(moment: Moment, memory: Memory) -> PartitionTable:
    """The moment's partitions, made once for as long as nothing they depend on changes."""
    image = moment.image
    made_from = (image.topics, image.brokers, image.configs, image.admin, image.unreadable)
    return memory.recall("partition table", made_from, lambda: partition_table(image, _names(moment, memory)))


def _names(moment: Moment, memory: Memory) -> Texts:
    topics = [moment.image.topics[name] for name in sorted(moment.image.topics)]
    made_from = tuple(part for topic in topics for part in (topic.name, topic.partitions))
    return memory.recall("partition names", made_from, lambda: partition_names(topics))


def partitions_window(moment: Moment, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """`query.view` is matrix (also when empty) or list."""
    table = table_of(moment, memory)
    cells = _cells(table, query, now_ms)
    listing = Listing(
        count=len(table),
        fields=lambda: table.fields(now_ms),
        shown=SHOWN,
        row=lambda row: _row(table, row, cells),
        place=table.place,
        columns=tuple(one.column for one in cells),
        made_from=(table,),
        nothing="there are no topics",
    )
    return window(listing, query, memory, now_ms)


def _row(table: PartitionTable, row: int, cells: Iterable[Cells]) -> Row:
    return Row(
        key=str(table.topic_partition(row)),
        cells=tuple(one.cell(row) for one in cells),
        mark=STATES[table.states[row]].mark,
    )


def _cells(table: PartitionTable, query: ListQuery, now_ms: int) -> list[Cells]:
    """The columns of this view, with as much of the map as fits between name and leader."""
    digits = max((len(str(broker)) for broker in table.brokers), default=1)
    isr_width = min(max(table.columns.isr.shape[1] * (digits + 1) - 1, 3), 16)
    name = min(max(table.widest_name, len("partition")), max(query.width * 2 // 5, 12))
    facts = [
        Cells(Column("leader", max(digits + 2, 6), ">", "leader"), lambda row: _leader(table, row)),
        Cells(Column("isr", isr_width, "<", "isr"), lambda row: _brokers(table, isr_of(table, row))),
        Cells(Column("epoch", 6, ">", "epoch"), lambda row: _epoch(table, row)),
        Cells(Column("age", 4, ">", "age"), lambda row: _age(table, row, now_ms)),
        Cells(Column("state", STATE_WIDTH, "<", "state"), lambda row: _state(table, row)),
    ]
    title = "partition"
    if query.view == "list":
        width = min(max(table.columns.replicas.shape[1] * (digits + 1) - 1, 8), 24)
        replicas = Column("replicas", width, "<", "broker")
        facts.insert(1, Cells(replicas, lambda row: _brokers(table, replicas_of(table, row))))
    else:
        facts, shown = _beside_the_map(table, facts, query, EDGES + name + 1)
        facts.insert(0, Cells(map_column(table, shown), lambda row: map_line(table, row, shown)))
        title = f"{title} {shown.cut}".rstrip()
    return [Cells(Column(title, -name, "<", "topic"), lambda row: line(str(table.topic_partition(row)))), *facts]


def _beside_the_map(
    table: PartitionTable, facts: list[Cells], query: ListQuery, taken: int
) -> tuple[list[Cells], MapColumns]:
    """The columns that stay, and the brokers that fit beside them: where space is short the map comes first."""
    fitted = [_fitted(table, facts, given_up, query, taken) for given_up in ((), ("age",), ("age", "isr"))]
    return next((one for one in fitted if not one[1].cut), fitted[0])


def _fitted(
    table: PartitionTable, facts: list[Cells], given_up: tuple[str, ...], query: ListQuery, taken: int
) -> tuple[list[Cells], MapColumns]:
    kept = [one for one in facts if one.column.title not in given_up]
    room = query.width - taken - sum(1 + one.column.width for one in kept)
    return kept, map_columns(table.brokers, room, query.offset)


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


def _epoch(table: PartitionTable, row: int) -> Line:
    return line(span(f"e{table.columns.leader_epoch[row]}" if table.columns.has_state[row] else "-", "dim"))


def _age(table: PartitionTable, row: int, now_ms: int) -> Line:
    return line(span(age_text(int(table.columns.time_ms[row]), now_ms), "dim"))


def _state(table: PartitionTable, row: int) -> Line:
    state = STATES[table.states[row]]
    return line(span(state.label, state.style))
