"""The lists of a drill: its moments, its brokers, and the map of what happens to partitions, the worst first."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from model.cluster.cluster_image import BrokerImage
from model.cluster.ids import NO_LEADER
from model.cluster.records import PartitionState
from model.cluster.topic_image import unpadded
from model.drills.outcomes import DrilledPartition, OutcomeKind
from model.drills.scenario import Deed
from model.drills.sentences import SentenceRows
from tui.engine.cluster.brokers import host_of
from tui.engine.drill.course import SIGN_STYLES, seconds, step_in_cell
from tui.engine.drill.playback import MARKS, DrillAnswer, Playback, scenario_of, voters_of
from tui.engine.drill.queries import (
    DIES,
    GONE,
    LOSES,
    STARTS,
    STOPS,
    AtSecond,
    DrillBrokerList,
    DrillMapList,
    DrillTimelineList,
    InCell,
    ToMark,
)
from tui.engine.filters import ListField, Texts
from tui.engine.listing import Listing, place_in
from tui.engine.partitions.rows import EDGES, MAP, MapColumns, map_columns, signs_of_state, thing
from tui.engine.rows import Column, Line, Row, line, span

T = TypeVar("T")

MOMENT_COLUMNS = (Column("", 10, ">"), Column("", -20))


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
        sought=_sought(look.playback, query.seek),
        nothing=look.note,
    )


def _moment_row(number: int, step: SentenceRows) -> Row:
    cells = line(span(seconds(step.at_ms), "dim")), line(span(step.text, SIGN_STYLES.get(step.sign, "")))
    return Row(key=str(number), cells=cells, mark=step.sign)


def _sought(playback: Playback | None, seek: AtSecond | ToMark | InCell | None) -> int:
    if playback is None:
        return -1
    steps = playback.steps
    match seek:
        case AtSecond(second=second):
            return sum(step.at_ms <= second * 1000 for step in steps[1:])
        case InCell(cell=cell, width=width):
            return step_in_cell(playback, cell, width)
        case ToMark(back=back):
            moment = playback.step(seek.moment)
            marks = [number for number, step in enumerate(steps) if step.sign in MARKS]
            beyond = [n for n in marks[::-1] if n < moment] if back else [n for n in marks if n > moment]
            return beyond[0] if beyond else -1
        case None:
            return -1


BAR = 8
BROKER_COLUMNS = (
    Column("id", 5, ">", "id"),
    Column("rack", 6, "<", "rack", 2),
    Column("state", 13, "<", "state"),
    Column("leaders", 9, ">", "", 1),
    Column("now → then", -BAR, "<", "", 3),
    Column("host", -10, "<", "", 4),
)
LEADERS = slice(3, 5)
"""The columns that say nothing before something is chosen."""
GONE_BEFORE = "gone before"
FENCED = "fenced"
"""Registered in a KRaft cluster, and leads nothing."""
VOTES = "voter"
"""A controller that is no broker."""
DEED_MARKS: Mapping[Deed, str] = {Deed.KILL: DIES, Deed.STOP: STOPS, Deed.START: STARTS, Deed.LOSE: LOSES}
COMING: Mapping[str, str] = {
    DIES: "fails", STOPS: "shuts down", STARTS: "starts", LOSES: "loses folder", GONE: GONE_BEFORE,
}  # fmt: skip
"""A mark → the state of a broker before the drill is played."""
BROKER_STYLES: Mapping[str, str] = {
    "fails": "dead",
    "shuts down": "dead",
    "starts": "added",
    "dead": "dead",
    "dead, unknown": "dead",
    "fenced": "dead",
    GONE_BEFORE: "dim",
    "controller": "controller",
    "controller?": "controller",
    "up again": "added",
}


def drill_brokers(look: DrillAnswer, query: DrillBrokerList, *_: object) -> Listing:
    """Every broker, and how many partitions it leads: before the drill, and at the moment."""
    playback = look.playback if look.playback and look.playback.steps else None
    ids = _nodes(look, playback)
    moment = playback.step(query.moment) if playback else 0
    marks = _marks(look)
    states = _states_then(look, playback, moment) if playback else _states_now(look, marks)
    registered = [
        look.image.brokers.get(broker) or look.image.fenced.get(broker) or BrokerImage(broker) for broker in ids
    ]
    most = _most_leaders(playback, moment)
    left_out = slice(0) if scenario_of(look).acts else LEADERS
    fields: dict[str, ListField] = {
        "id": Texts(lambda: [str(broker) for broker in ids]),
        "rack": Texts(lambda: [broker.rack or "-" for broker in registered]),
        "state": Texts(lambda: [states.get(broker, GONE_BEFORE) for broker in ids]),
    }
    return Listing(
        count=len(ids),
        fields=lambda: fields,
        shown=("id", "rack", "state"),
        row=lambda index: Row(
            key=str(ids[index]),
            cells=_without(
                left_out,
                _broker_cells(
                    registered[index],
                    states.get(ids[index], GONE_BEFORE),
                    _leaders(playback, moment, ids[index]),
                    most,
                    marked=thing(ids[index]) in query.marked,
                ),
            ),
            mark=marks.get(ids[index], ""),
        ),
        place=place_in([str(broker) for broker in ids]),
        columns=_without(left_out, BROKER_COLUMNS),
        made_from=(look, query.moment),
        nothing="no brokers",
    )


def _nodes(look: DrillAnswer, playback: Playback | None) -> tuple[int, ...]:
    """Brokers, and voters that are none."""
    there = {*look.image.brokers, *look.image.fenced, *look.dead, *voters_of(look.image), *look.plan.voters}
    return tuple(sorted(there.union(playback.brokers if playback else ())))


def _without(some: slice, all_of_them: tuple[T, ...]) -> tuple[T, ...]:
    return (*all_of_them[: some.start or 0], *all_of_them[some.stop :])


def _broker_cells(
    broker: BrokerImage, state: str, leaders: tuple[int, int], most: int, *, marked: bool
) -> tuple[Line, ...]:
    """As BROKER_COLUMNS."""
    style = BROKER_STYLES.get(state, "")
    return (
        line(span(f"#{broker.id}" if marked else broker.id, style)),
        line(broker.rack or "-"),
        line(span(state, style)),
        _numbers(*leaders),
        _bar(*leaders, most),
        line(span(host_of(broker), "dim")),
    )


def _numbers(led: int, then: int) -> Line:
    if led < 0:
        return line(span("-", "dim"))
    return line(span(f"{led:,}", "dim"), *((span(f" → {then:,}", "changed"),) if led != then else ()))


def _bar(led: int, then: int, most: int) -> Line:
    """What it leads then; dotted what it has lost, and in another style what it has gained."""
    kept = cells_of(max(min(led, then), 0), most)
    full = cells_of(max(led, then, 0), most)
    more = ("░", "dim") if led > then else ("█", "changed")
    return line(span("█" * kept, "leader"), span(more[0] * (full - kept), more[1]))


def cells_of(number: int, most: int) -> int:
    """Of BAR: none for nothing alone."""
    return 0 if number <= 0 or most <= 0 else max(round(BAR * number / most), 1)


def _most_leaders(playback: Playback | None, moment: int) -> int:
    """Of any broker, before the drill or at the moment."""
    return max(
        (max(_leaders(playback, moment, broker)) for broker in (playback.brokers if playback else ())), default=0
    )


def _leaders(playback: Playback | None, moment: int, broker: int) -> tuple[int, int]:
    """How many partitions it leads before the drill, and at the moment; -1 where it is not there."""
    if playback is None or broker not in playback.brokers:
        return (-1, -1)
    before = playback.drill.summary.leaders_by_broker[broker][0]
    return before, int(playback.leaders[moment, playback.brokers.index(broker)])


def _marks(look: DrillAnswer) -> dict[int, str]:
    """What is done to each broker first; GONE for those that are dead before."""
    marks = dict.fromkeys(look.dead, GONE)
    for act in reversed(scenario_of(look).acts):
        marks.update(dict.fromkeys(act.brokers, DEED_MARKS[act.deed]))
    return marks


def _states_now(look: DrillAnswer, marks: Mapping[int, str]) -> dict[int, str]:
    controller = look.image.controller.broker
    brokers = look.image.brokers
    there = {node: "up" if node in brokers else VOTES for node in (*_voters_then(look), *brokers)}
    if controller in there:
        there[controller] = "controller"
    coming = {broker: _before(look, broker, COMING[mark]) for broker, mark in marks.items()}
    return there | dict.fromkeys(look.image.fenced, FENCED) | coming


def _before(look: DrillAnswer, broker: int, state: str) -> str:
    return FENCED if state == GONE_BEFORE and broker in look.image.fenced else state


def _voters_then(look: DrillAnswer) -> set[int]:
    """Who votes, as the plan has it."""
    return set(voters_of(look.image)) ^ set(look.plan.voters)


def _states_then(look: DrillAnswer, playback: Playback, moment: int) -> dict[int, str]:
    dead, registered, controllers = playback.dead(moment), playback.registered(moment), playback.controllers(moment)
    started, fenced = playback.started(moment), playback.fenced(moment)
    brokers = {*playback.drill.before.brokers, *started}
    voters = _voters_then(look) - brokers

    def state(broker: int) -> str:
        if broker in fenced:
            return FENCED
        if broker in voters and broker not in dead and broker not in controllers:
            return VOTES
        if broker in dead and broker not in voters:
            return "dead, unknown" if broker in registered else "dead"
        if broker in dead:
            return "dead"
        if broker in controllers:
            return "controller" if len(controllers) == 1 else "controller?"
        return "up again" if broker in started else "up"

    return {broker: state(broker) for broker in {*brokers, *voters, *fenced}}


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
