"""The map of a drill: the partitions that something happens to, the worst first, as they are at one moment."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from model.cluster.ids import NO_LEADER
from model.cluster.records import PartitionState
from model.cluster.topic_image import unpadded
from model.drills.outcomes import Outcome, PartitionOutcome
from tui.data.drills.desk import Look
from tui.data.drills.film import Film
from tui.data.fields import Texts
from tui.data.messages import ListQuery
from tui.data.pages.drill.moments import seconds
from tui.data.pages.listing import Listing, place_in
from tui.data.pages.partition_map import MapColumns, map_columns, signs_line, signs_of_state, titles
from tui.data.pages.partitions import EDGES, MAP
from tui.rows import NO_ACROSS, Across, Column, Line, Row, line, span

OUTCOMES: Mapping[Outcome, tuple[str, str]] = {
    Outcome.OFFLINE: ("X", "error"),
    Outcome.UNCLEAN: ("X", "error"),
    Outcome.CLEAN: ("~", "changed"),
    Outcome.FOLLOWER_LOST: ("!", "warn"),
    Outcome.FOLLOWER_BACK: ("+", "added"),
    Outcome.DELETING: ("-", "removed"),
    Outcome.UNAFFECTED: ("", "dim"),
}
"""What became of a partition → the mark before its row, and the style of the word."""


class Cells(NamedTuple):
    """A column, and what a partition has in it."""

    column: Column
    cell: Callable[[PartitionOutcome], Line]


def drill_map(look: Look, query: ListQuery) -> Listing:
    """Their replicas, leader before and now, since when they are led again, and what becomes of them."""
    film = look.film
    if film is None or not film.scenes:
        return Listing(0, dict, (), lambda _: Row("", ()), lambda _: -1, (), (look,), look.note)
    names = [str(one.partition) for one in film.partitions]
    words = [one.outcome.value for one in film.partitions]
    cells = _cells(film, query)[0]
    return Listing(
        count=len(names),
        fields=lambda: {"partition": Texts(lambda: names), "outcome": Texts(lambda: words)},
        shown=("partition", "outcome"),
        row=lambda index: _row(film.partitions[index], cells),
        place=place_in(names),
        columns=tuple(one.column for one in cells),
        made_from=(look, query.moment),
        nothing="nothing happens to any partition",
    )


def _row(one: PartitionOutcome, cells: Sequence[Cells]) -> Row:
    return Row(str(one.partition), tuple(each.cell(one) for each in cells), mark=OUTCOMES[one.outcome][0])


def drill_across(look: Look, query: ListQuery) -> Across:
    """The brokers of its map."""
    return _cells(look.film, query)[1].across(MAP) if look.film is not None and look.film.scenes else NO_ACROSS


def _cells(film: Film, query: ListQuery) -> tuple[list[Cells], MapColumns]:
    """Name and map; of the columns beside them as many as leave room for every broker, all if there is none anyway."""
    moment = film.scene(query.moment)
    dead = film.dead(moment)
    widest = max((len(str(one.partition)) for one in film.partitions), default=0)
    name = min(max(widest, len("partition")), max(query.width * 2 // 5, 12))
    facts = [
        Cells(Column("leader", 8, ">"), lambda one: _leader(one, film.state(one.partition, moment), dead)),
        Cells(Column("led again", 9, ">"), lambda one: _outage(one, film.scenes[moment].until_ms)),
        Cells(Column("in the end", 13, "<", "outcome"), _outcome),
    ]
    fitted = [(some, _map_columns(film, query, name, some)) for some in (facts, facts[:2], facts[:1], [])]
    facts, shown = next((one for one in fitted if not one[1].cut), fitted[-1 if query.column else 0])
    signs = Column(titles(shown, dead.__contains__), shown.width)
    return [
        Cells(Column(f"partition {shown.cut}".rstrip(), -name, "<", "partition"), lambda one: line(str(one.partition))),
        Cells(signs, lambda one: signs_line(_signs(film, one, moment, dead), shown)),
        *facts,
    ], shown


def _map_columns(film: Film, query: ListQuery, name: int, beside: Sequence[Cells]) -> MapColumns:
    room = query.width - EDGES - name - 1 - sum(1 + one.column.width for one in beside)
    return map_columns(film.brokers, room, query.offset, query.column, query.marked)


def _signs(film: Film, one: PartitionOutcome, moment: int, dead: frozenset[int]) -> dict[int, str]:
    state = film.state(one.partition, moment)
    topic = film.drill.before.topics.get(one.partition.topic)
    row = None if topic is None else topic.row_of.get(one.partition.partition)
    replicas = () if topic is None or row is None else unpadded(topic.replicas[row])
    adding = () if topic is None else topic.adding.get(one.partition.partition, ())
    isr, leader = ((), NO_LEADER) if state is None else (state.isr, state.leader)
    return signs_of_state(replicas, adding, isr, leader, dead.__contains__)


def _leader(one: PartitionOutcome, state: PartitionState | None, dead: frozenset[int]) -> Line:
    before, now = one.leader[0], NO_LEADER if state is None else state.leader
    text = "none" if now == NO_LEADER else str(now)
    style = "error" if now == NO_LEADER or now in dead else "leader" if now == before else "changed"
    return line(span(text if now == before else f"{'none' if before == NO_LEADER else before}>{text}", style))


def _outage(one: PartitionOutcome, at_ms: float) -> Line:
    outage = one.outage
    if outage is None or outage.from_ms > at_ms:
        return line(span("-", "dim"))
    if outage.to_ms is None or outage.to_ms > at_ms:
        return line(span("not yet", "error"))
    return line(span(seconds(outage.to_ms), "ok"))


def _outcome(one: PartitionOutcome) -> Line:
    return line(span(one.outcome.value, OUTCOMES[one.outcome][1]))
