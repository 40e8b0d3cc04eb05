"""The brokers of a drill: who dies, and what each one is and leads at the moment that is looked at."""

from collections.abc import Mapping

from model.cluster.cluster_image import BrokerImage
from tui.data.drills.desk import Look, victims
from tui.data.drills.film import Film
from tui.data.fields import Field, Texts
from tui.data.messages import ListQuery
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
GONE = "gone before"
STYLES: Mapping[str, str] = {
    "dies": "dead",
    "dead": "dead",
    "dead, unknown": "dead",
    GONE: "dim",
    "controller": "controller",
    "up again": "added",
}


def drill_brokers(look: Look, query: ListQuery) -> Listing:
    """Every broker; `then` are the leaders it has at the moment, `lead` those before the drill."""
    film = look.film if look.film and look.film.scenes else None
    ids = tuple(sorted({*look.image.brokers, *(film.brokers if film else ())}))
    moment = film.scene(query.moment) if film else 0
    dying = frozenset(victims(look.image, look.plan))
    states = _states_then(film, moment) if film else _states_now(look, dying)
    registered = [look.image.brokers.get(broker, BrokerImage(broker)) for broker in ids]
    fields: dict[str, Field] = {
        "id": Texts(lambda: [str(broker) for broker in ids]),
        "rack": Texts(lambda: [broker.rack or "-" for broker in registered]),
        "state": Texts(lambda: [states.get(broker, GONE) for broker in ids]),
    }
    return Listing(
        count=len(ids),
        fields=lambda: fields,
        shown=("id", "rack", "state"),
        row=lambda index: _row(
            registered[index],
            states,
            _leaders(film, moment, ids[index]),
            dies=ids[index] in dying,
            marked=thing(ids[index]) in query.marked,
        ),
        place=place_in([str(broker) for broker in ids]),
        columns=COLUMNS,
        made_from=(look, query.moment),
        nothing="no brokers",
    )


def _row(broker: BrokerImage, states: Mapping[int, str], leaders: tuple[str, str], *, dies: bool, marked: bool) -> Row:
    state = states.get(broker.id, GONE)
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
        mark="K" if dies else "",
    )


def _leaders(film: Film | None, moment: int, broker: int) -> tuple[str, str]:
    """How many partitions it leads before the drill, and at the moment."""
    if film is None or broker not in film.brokers:
        return "-", "-"
    before = film.drill.summary.leaders_by_broker[broker][0]
    return f"{before:,}", f"{int(film.leaders[moment, film.brokers.index(broker)]):,}"


def _states_now(look: Look, dying: frozenset[int]) -> dict[int, str]:
    office = look.image.controller.broker
    return {
        broker: "dies" if broker in dying else "controller" if broker == office else "up"
        for broker in look.image.brokers
    }


def _states_then(film: Film, moment: int) -> dict[int, str]:
    dead, registered, office = film.dead(moment), film.registered(moment), film.controller(moment)
    killed = film.drill.scenario.kill

    def state(broker: int) -> str:
        if broker in dead:
            return "dead, unknown" if broker in registered else "dead"
        return "controller" if broker == office else "up again" if broker in killed else "up"

    return {broker: state(broker) for broker in film.drill.before.brokers}
