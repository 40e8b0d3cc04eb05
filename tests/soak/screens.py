"""What a dashboard asks on each of its screens, as values: the lists, and the texts about the row under the cursor."""

from __future__ import annotations

from dataclasses import dataclass

from tui.engine.messages import DrillPlan, ListQuery, SweepQuestion, TextQuery


@dataclass(frozen=True)
class Screen:
    """`texts`: what each is about, and the list whose cursor says which; empty: it is about the cluster."""

    lists: tuple[ListQuery, ...]
    texts: tuple[tuple[TextQuery, str], ...] = ()
    goes_back: bool = False
    """All of it as it was some events ago."""


def _lists(*names: str) -> tuple[ListQuery, ...]:
    return tuple(ListQuery(list=name, width=100) for name in names)


def _about(*names: str, of: str = "") -> tuple[tuple[TextQuery, str], ...]:
    return tuple((TextQuery(about=name, width=100), of) for name in names)


OVERVIEW = Screen(_lists("brokers", "findings", "events"), _about("overview", "plot"))


def screens(turn: int) -> tuple[Screen, ...]:
    """All of them. What is played or worked out on a copy is asked anew with each turn."""
    drill = DrillPlan(kill=(1 + turn % 3,), take=turn)
    sweep = SweepQuestion(kind="brokers", take=turn)
    opened = ("/", "/brokers", "/brokers/topics", "/consumers", "/brokers/ids")
    return (
        OVERVIEW,
        Screen(_lists("brokers", "admin-work"), _about("controller", "states") + _about("broker", of="brokers")),
        Screen(_lists("partitions"), _about("partition", of="partitions")),
        Screen((ListQuery(list="partitions", filter="state:under", sort="leader", reverse=True, view="list"),)),
        Screen((ListQuery(list="topics", filter=f"topic-{turn % 10}"),), _about("topic", of="topics")),
        Screen(
            (*_lists("groups"), ListQuery(list="group", scope="group-1", view="table")), _about("group", of="groups")
        ),
        Screen(
            (ListQuery(list="znodes", opened=opened, count=200),),
            _about("znode", "znode-history", of="znodes"),
        ),
        Screen(_lists("past-events"), _about("past-event", of="past-events")),
        Screen(OVERVIEW.lists, OVERVIEW.texts, goes_back=True),
        Screen((ListQuery(list="drill-timeline", drill=drill),), ((TextQuery(about="drill", drill=drill), ""),)),
        Screen((ListQuery(list="sweep-scenarios", question=sweep),), ((TextQuery(about="sweep", question=sweep), ""),)),
    )
