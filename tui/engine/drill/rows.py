"""The lists of a drill: its moments, its brokers, and the map of what happens to partitions; and the scrubber.

In the scrubber moments have the same room, times have not: what matters in a drill happens within milliseconds, after
seconds of silence. A cell has the most telling sign of the moments that share it. The map has the worst first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from model.cluster.cluster_image import BrokerImage
from model.cluster.ids import NO_LEADER
from model.cluster.records import PartitionState
from model.cluster.topic_image import unpadded
from model.drills.outcomes import DrilledPartition, OutcomeKind
from model.drills.scenario import Deed
from model.drills.sentences import Step
from tui.engine.cluster.brokers import host_of
from tui.engine.drill.playback import MARKS, DrillAnswer, Playback, scenario_of
from tui.engine.drill.queries import (
    DIES,
    GONE,
    STARTS,
    STOPS,
    AtSecond,
    DrillBrokerList,
    DrillMapList,
    DrillTimelineList,
    InCell,
    ScrubberText,
    ToMark,
)
from tui.engine.filters import Field, Texts
from tui.engine.listing import Listing, place_in
from tui.engine.messages import TextAnswer
from tui.engine.partitions.columns import MapColumns, map_columns, thing
from tui.engine.partitions.rows import EDGES, MAP, signs_of_state
from tui.engine.rows import Column, Line, Row, Span, line, span
from tui.engine.sheets import Sheet


def cell_of(step: int, width: int, count: int) -> int:
    """The cell, of `width`, of one of `count` steps: the first one it has."""
    return -(-step * width // count) if count <= width else step * width // count


def step_of(cell: int, width: int, count: int) -> int:
    """The step, of `count`, in a cell of `width`: the first of several there; -1 if there is none at all."""
    if count <= 0 or width <= 0:
        return -1
    inside = max(0, min(cell, width - 1))
    return inside * count // width if count <= width else -(-inside * count // width)


MOMENT_COLUMNS = (Column("", 10, ">"), Column("", -20))
SIGN_STYLES: Mapping[str, str] = {
    "K": "dead",
    "x": "dead",
    "*": "controller",
    "U": "added",
    "w": "changed",
    "r": "info",
}


def seconds(at_ms: float) -> str:
    """`+18.240`: seconds after the deaths."""
    return f"+{at_ms / 1000:,.3f}"


def drill_timeline(look: DrillAnswer, query: DrillTimelineList, *_: object) -> Listing:
    """Every moment; the cursor is on the one that is sought, if any."""
    steps = look.playback.steps if look.playback else ()
    return Listing(
        count=len(steps),
        fields=lambda: {"what": Texts(lambda: [step.text for step in steps])},
        shown=("what",),
        row=lambda index: _moment_row(index, steps[index]),
        place=lambda key: int(key) if key.isdecimal() and int(key) < len(steps) else -1,
        columns=MOMENT_COLUMNS,
        made_from=(look,),
        sought=_sought(steps, query.seek),
        nothing=look.note,
    )


def _moment_row(number: int, step: Step) -> Row:
    cells = line(span(seconds(step.at_ms), "dim")), line(span(step.text, SIGN_STYLES.get(step.sign, "")))
    return Row(key=str(number), cells=cells, mark=step.sign)


def _sought(steps: Sequence[Step], seek: AtSecond | ToMark | InCell | None) -> int:
    match seek:
        case AtSecond(second=second):
            return sum(step.at_ms <= second * 1000 for step in steps[1:])
        case InCell(cell=cell, width=width):
            return step_of(cell, width, len(steps))
        case ToMark(moment=moment, back=back):
            marks = [number for number, step in enumerate(steps) if step.sign in MARKS]
            beyond = [n for n in marks[::-1] if n < moment] if back else [n for n in marks if n > moment]
            return beyond[0] if beyond else -1
        case None:
            return -1


SIGN_RANKS = {sign: rank for rank, sign in enumerate((*MARKS, *"wr."))}
"""Where steps share a cell, the first of these is seen."""

HERE = "@"


def scrubber_text(look: DrillAnswer, query: ScrubberText, *_: object) -> TextAnswer:
    """Two lines of the query's width; what has been played up to the moment is told from what is to come."""
    sheet, playback = Sheet("Timeline", query.width), look.playback
    if playback is None or not playback.steps or query.width <= 0:
        return sheet.draw().draw(span("-" * query.width, "dim")).answer()
    here = cell_of(playback.step(query.moment), query.width, len(playback.steps))
    sheet.draw(span(_times(playback.steps, query.width), "dim"))
    return sheet.draw(*_timeline_signs(playback.steps, query.width, here)).answer()


def _timeline_signs(steps: Sequence[Step], width: int, here: int) -> Iterator[Span]:
    cells = ["-"] * width
    for number, step in enumerate(steps):
        cell = cell_of(number, width, len(steps))
        if cells[cell] == "-" or SIGN_RANKS[step.sign] < SIGN_RANKS[cells[cell]]:
            cells[cell] = step.sign
    for cell, sign in enumerate(cells):
        if cell == here:
            yield span(HERE, "caret")
        elif sign == "-":
            yield span("=" if cell < here else "-", "rule")
        else:
            yield span(sign, SIGN_STYLES.get(sign, "dim"))


def _times(steps: Sequence[Step], width: int) -> str:
    """As many times as fit, each beginning above its step: those of marks first, then what is not the same ms."""
    cells, told = [" "] * width, set[int]()
    for number, step in sorted(enumerate(steps), key=lambda one: (one[1].sign not in MARKS, one[0])):
        name, cell = seconds(step.at_ms), cell_of(number, width, len(steps))
        around = cells[max(cell - 1, 0) : cell + len(name) + 1]
        if int(step.at_ms) not in told and cell + len(name) <= width and not "".join(around).strip():
            cells[cell : cell + len(name)] = name
            told.add(int(step.at_ms))
    return "".join(cells).rstrip()


BROKER_COLUMNS = (
    Column("id", 5, ">", "id"),
    Column("rack", 8, "<", "rack"),
    Column("state", 13, "<", "state"),
    Column("lead", 6, ">"),
    Column("then", 6, ">"),
    Column("host", -10),
)
GONE_BEFORE = "gone before"
DEED_MARKS: Mapping[Deed, str] = {Deed.KILL: DIES, Deed.STOP: STOPS, Deed.START: STARTS}
COMING: Mapping[str, str] = {DIES: "dies", STOPS: "shuts down", STARTS: "starts", GONE: GONE_BEFORE}
"""A mark → the state of a broker before the drill is played."""
BROKER_STYLES: Mapping[str, str] = {
    "dies": "dead",
    "shuts down": "dead",
    "starts": "added",
    "dead": "dead",
    "dead, unknown": "dead",
    GONE_BEFORE: "dim",
    "controller": "controller",
    "controller?": "controller",
    "up again": "added",
}


def drill_brokers(look: DrillAnswer, query: DrillBrokerList, *_: object) -> Listing:
    """Every broker; `then` are the leaders it has at the moment, `lead` those before the drill."""
    playback = look.playback if look.playback and look.playback.steps else None
    ids = tuple(sorted({*look.image.brokers, *look.dead, *(playback.brokers if playback else ())}))
    moment = playback.step(query.moment) if playback else 0
    marks = _marks(look)
    states = _states_then(playback, moment) if playback else _states_now(look, marks)
    registered = [look.image.brokers.get(broker, BrokerImage(broker)) for broker in ids]
    fields: dict[str, Field] = {
        "id": Texts(lambda: [str(broker) for broker in ids]),
        "rack": Texts(lambda: [broker.rack or "-" for broker in registered]),
        "state": Texts(lambda: [states.get(broker, GONE_BEFORE) for broker in ids]),
    }
    return Listing(
        count=len(ids),
        fields=lambda: fields,
        shown=("id", "rack", "state"),
        row=lambda index: _broker_row(
            registered[index],
            states,
            _leaders(playback, moment, ids[index]),
            mark=marks.get(ids[index], ""),
            marked=thing(ids[index]) in query.marked,
        ),
        place=place_in([str(broker) for broker in ids]),
        columns=BROKER_COLUMNS,
        made_from=(look, query.moment),
        nothing="no brokers",
    )


def _broker_row(
    broker: BrokerImage, states: Mapping[int, str], leaders: tuple[str, str], *, mark: str, marked: bool
) -> Row:
    state = states.get(broker.id, GONE_BEFORE)
    style = BROKER_STYLES.get(state, "")
    led, then = leaders
    return Row(
        key=str(broker.id),
        cells=(
            line(span(f"#{broker.id}" if marked else broker.id, style)),
            line(broker.rack or "-"),
            line(span(state, style)),
            line(span(led, "dim")),
            line(span(then, "dim" if led == then else "changed")),
            line(span(host_of(broker), "dim")),
        ),
        mark=mark,
    )


def _leaders(playback: Playback | None, moment: int, broker: int) -> tuple[str, str]:
    """How many partitions it leads before the drill, and at the moment."""
    if playback is None or broker not in playback.brokers:
        return "-", "-"
    before = playback.drill.summary.leaders_by_broker[broker][0]
    return f"{before:,}", f"{int(playback.leaders[moment, playback.brokers.index(broker)]):,}"


def _marks(look: DrillAnswer) -> dict[int, str]:
    """What is done to each broker first; GONE for those that are dead before."""
    marks = dict.fromkeys(look.dead, GONE)
    for act in reversed(scenario_of(look).acts):
        marks.update(dict.fromkeys(act.brokers, DEED_MARKS[act.deed]))
    return marks


def _states_now(look: DrillAnswer, marks: Mapping[int, str]) -> dict[int, str]:
    controller = look.image.controller.broker
    up = {broker: "controller" if broker == controller else "up" for broker in look.image.brokers}
    return up | {broker: COMING[mark] for broker, mark in marks.items()}


def _states_then(playback: Playback, moment: int) -> dict[int, str]:
    dead, registered, controllers = playback.dead(moment), playback.registered(moment), playback.controllers(moment)
    started = playback.started(moment)

    def state(broker: int) -> str:
        if broker in dead:
            return "dead, unknown" if broker in registered else "dead"
        if broker in controllers:
            return "controller" if len(controllers) == 1 else "controller?"
        return "up again" if broker in started else "up"

    return {broker: state(broker) for broker in {*playback.drill.before.brokers, *started}}


OUTCOMES: Mapping[OutcomeKind, tuple[str, str]] = {
    OutcomeKind.OFFLINE: ("X", "error"),
    OutcomeKind.UNCLEAN: ("X", "error"),
    OutcomeKind.CLEAN: ("~", "changed"),
    OutcomeKind.FOLLOWER_LOST: ("!", "warn"),
    OutcomeKind.FOLLOWER_BACK: ("+", "added"),
    OutcomeKind.DELETING: ("-", "removed"),
    OutcomeKind.UNAFFECTED: ("", "dim"),
}
"""What became of a partition → the mark before its row, and the style of the word."""


class PartitionCells(NamedTuple):
    """A column, and what a partition has in it."""

    column: Column
    cell: Callable[[DrilledPartition], Line]


def drill_map(look: DrillAnswer, query: DrillMapList, *_: object) -> Listing:
    """Their replicas, leader before and now, since when they are led again, and what becomes of them."""
    playback = look.playback
    if playback is None or not playback.steps:
        return Listing(0, dict, (), lambda _: Row("", ()), lambda _: -1, (), (look,), look.note)
    names = [str(one.partition) for one in playback.partitions]
    words = [one.outcome.value for one in playback.partitions]
    cells, shown = _cells(playback, query)
    return Listing(
        count=len(names),
        fields=lambda: {"partition": Texts(lambda: names), "outcome": Texts(lambda: words)},
        shown=("partition", "outcome"),
        row=lambda index: _partition_row(playback.partitions[index], cells),
        place=place_in(names),
        columns=tuple(one.column for one in cells),
        across=shown.across(MAP),
        made_from=(look, query.moment),
        nothing="nothing happens to any partition",
    )


def _partition_row(one: DrilledPartition, cells: Sequence[PartitionCells]) -> Row:
    return Row(str(one.partition), tuple(each.cell(one) for each in cells), mark=OUTCOMES[one.outcome][0])


def _cells(playback: Playback, query: DrillMapList) -> tuple[list[PartitionCells], MapColumns]:
    """Name and map; of the columns beside them as many as leave room for every broker, all if there is none anyway."""
    moment = playback.step(query.moment)
    dead = playback.dead(moment)
    widest = max((len(str(one.partition)) for one in playback.partitions), default=0)
    name = min(max(widest, len("partition")), max(query.width * 2 // 5, 12))
    facts = [
        PartitionCells(Column("leader", 8, ">"), lambda one: _leader(one, playback.state(one.partition, moment), dead)),
        PartitionCells(Column("led again", 9, ">"), lambda one: _outage(one, playback.steps[moment].until_ms)),
        PartitionCells(Column("in the end", 13, "<", "outcome"), _outcome),
    ]
    fitted = [(some, _map_columns(playback, query, name, some)) for some in (facts, facts[:2], facts[:1], [])]
    facts, shown = next((one for one in fitted if not one[1].cut), fitted[-1 if query.column else 0])
    signs = shown.column(dead.__contains__)
    return [
        PartitionCells(
            Column(f"partition {shown.cut}".rstrip(), -name, "<", "partition"), lambda one: line(str(one.partition))
        ),
        PartitionCells(signs, lambda one: shown.line(_replica_signs(playback, one, moment, dead))),
        *facts,
    ], shown


def _map_columns(playback: Playback, query: DrillMapList, name: int, beside: Sequence[PartitionCells]) -> MapColumns:
    room = query.width - EDGES - name - 1 - sum(1 + one.column.width for one in beside)
    return map_columns(playback.brokers, room, query.offset, query.column, query.marked)


def _replica_signs(playback: Playback, one: DrilledPartition, moment: int, dead: frozenset[int]) -> dict[int, str]:
    state = playback.state(one.partition, moment)
    topic = playback.drill.before.topics.get(one.partition.topic)
    row = None if topic is None else topic.row_of.get(one.partition.partition)
    replicas = () if topic is None or row is None else unpadded(topic.replicas[row])
    adding = () if topic is None else topic.adding.get(one.partition.partition, ())
    isr, leader = ((), NO_LEADER) if state is None else (state.isr, state.leader)
    return signs_of_state(replicas, adding, isr, leader, dead.__contains__)


def _leader(one: DrilledPartition, state: PartitionState | None, dead: frozenset[int]) -> Line:
    before, now = one.leader[0], NO_LEADER if state is None else state.leader
    text = "none" if now == NO_LEADER else str(now)
    style = "error" if now == NO_LEADER or now in dead else "leader" if now == before else "changed"
    return line(span(text if now == before else f"{'none' if before == NO_LEADER else before}>{text}", style))


def _outage(one: DrilledPartition, at_ms: float) -> Line:
    outage = one.outage
    if outage is None or outage.from_ms > at_ms:
        return line(span("-", "dim"))
    if outage.to_ms is None or outage.to_ms > at_ms:
        return line(span("not yet", "error"))
    return line(span(seconds(outage.to_ms), "ok"))


def _outcome(one: DrilledPartition) -> Line:
    return line(span(one.outcome.value, OUTCOMES[one.outcome][1]))
