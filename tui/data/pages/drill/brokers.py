"""The brokers of a drill: who dies, and what each one is and leads at the moment that is looked at."""

from collections.abc import Mapping

from model.cluster.cluster_image import BrokerImage
from model.drills.scenario import Deed
from tui.data.drills.desk import Look, scenario_of
from tui.data.drills.film import Film
from tui.data.fields import Field, Texts
from tui.data.messages import DIES, GONE, STARTS, STOPS, ListQuery
from tui.data.pages.brokers import host_of
from tui.data.pages.listing import Listing, place_in
from tui.data.pages.partition_map import thing
from tui.rows import Column, Row, line, span

COLUMNS = (
    Column("id", 5, ">", "id"),
    Column("rack", 8, "<", "rack"),
    Column("state", 13, "<", "state"),
    Column("lead", 6, ">"),
    Column("then", 6, ">"),
    Column("host", -10),
)
GONE_BEFORE = "gone before"
MARKS: Mapping[Deed, str] = {Deed.KILL: DIES, Deed.STOP: STOPS, Deed.START: STARTS}
COMING: Mapping[str, str] = {DIES: "dies", STOPS: "shuts down", STARTS: "starts", GONE: GONE_BEFORE}
"""A mark → the state of a broker before the drill is played."""
STYLES: Mapping[str, str] = {
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


def drill_brokers(look: Look, query: ListQuery) -> Listing:
    """Every broker; `then` are the leaders it has at the moment, `lead` those before the drill."""
    film = look.film if look.film and look.film.scenes else None
    ids = tuple(sorted({*look.image.brokers, *look.dead, *(film.brokers if film else ())}))
    moment = film.scene(query.moment) if film else 0
    marks = _marks(look)
    states = _states_then(film, moment) if film else _states_now(look, marks)
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
        row=lambda index: _row(
            registered[index],
            states,
            _leaders(film, moment, ids[index]),
            mark=marks.get(ids[index], ""),
            marked=thing(ids[index]) in query.marked,
        ),
        place=place_in([str(broker) for broker in ids]),
        columns=COLUMNS,
        made_from=(look, query.moment),
        nothing="no brokers",
    )


def _row(broker: BrokerImage, states: Mapping[int, str], leaders: tuple[str, str], *, mark: str, marked: bool) -> Row:
    state = states.get(broker.id, GONE_BEFORE)
    style = STYLES.get(state, "")
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


def _leaders(film: Film | None, moment: int, broker: int) -> tuple[str, str]:
    """How many partitions it leads before the drill, and at the moment."""
    if film is None or broker not in film.brokers:
        return "-", "-"
    before = film.drill.summary.leaders_by_broker[broker][0]
    return f"{before:,}", f"{int(film.leaders[moment, film.brokers.index(broker)]):,}"


def _marks(look: Look) -> dict[int, str]:
    """What is done to each broker first; GONE for those that are dead before."""
    marks = dict.fromkeys(look.dead, GONE)
    for act in reversed(scenario_of(look).acts):
        marks.update(dict.fromkeys(act.brokers, MARKS[act.deed]))
    return marks


def _states_now(look: Look, marks: Mapping[int, str]) -> dict[int, str]:
    office = look.image.controller.broker
    up = {broker: "controller" if broker == office else "up" for broker in look.image.brokers}
    return up | {broker: COMING[mark] for broker, mark in marks.items()}


def _states_then(film: Film, moment: int) -> dict[int, str]:
    dead, registered, offices = film.dead(moment), film.registered(moment), film.controllers(moment)
    started = film.started(moment)

    def state(broker: int) -> str:
        if broker in dead:
            return "dead, unknown" if broker in registered else "dead"
        if broker in offices:
            return "controller" if len(offices) == 1 else "controller?"
        return "up again" if broker in started else "up"

    return {broker: state(broker) for broker in {*film.drill.before.brokers, *started}}
