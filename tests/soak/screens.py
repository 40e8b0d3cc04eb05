"""What a dashboard asks on each of its screens, as values: the lists, and the texts about the row under the cursor."""

from __future__ import annotations

from dataclasses import dataclass

from tests.tui.data.asked import list_query, text_query
from tui.engine.cluster.queries import ZnodeList
from tui.engine.drill.queries import DrillText, DrillTimelineList, ScenarioList, SweepText
from tui.engine.messages import ListQuery, TextQuery
from tui.engine.queries import OwnershipList, PartitionList, TopicList
from tui.engine.questions import DrillPlan, SweepQuestion


@dataclass(frozen=True)
class Screen:
    """`texts`: what each is about, and the list whose cursor says which; empty: it is about the cluster."""

    lists: tuple[ListQuery, ...]
    texts: tuple[tuple[TextQuery, str], ...] = ()
    goes_back: bool = False
    """All of it as it was some events ago."""


def _lists(*names: str) -> tuple[ListQuery, ...]:
    return tuple(list_query(name, width=100) for name in names)


def _about(*names: str, of: str = "") -> tuple[tuple[TextQuery, str], ...]:
    return tuple((text_query(name, width=100), of) for name in names)


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
        Screen((PartitionList(filter="state:under", sort="leader", reverse=True, view="list"),)),
        Screen((TopicList(filter=f"topic-{turn % 10}"),), _about("topic", of="topics")),
        Screen((*_lists("groups"), OwnershipList(scope="group-1", view="table")), _about("group", of="groups")),
        Screen(
            (ZnodeList(opened=opened, count=200),),
            _about("znode", "znode-history", of="znodes"),
        ),
        Screen(_lists("past-events"), _about("past-event", of="past-events")),
        Screen(OVERVIEW.lists, OVERVIEW.texts, goes_back=True),
        Screen((DrillTimelineList(drill=drill),), ((DrillText(drill=drill), ""),)),
        Screen((ScenarioList(question=sweep),), ((SweepText(question=sweep), ""),)),
    )
