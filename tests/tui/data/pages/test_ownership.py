"""Consumer groups: the list, the table and the graph of one group."""

from dataclasses import replace
from math import nan
from typing import NamedTuple

import msgspec

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import Member, Rebalance
from model.cluster.records import (
    ClusterRecord,
    GroupDescribed,
    GroupOffsetsFetched,
    GroupRebalancesSeen,
    GroupSeen,
    MemberLeft,
    PartitionStatesWritten,
    TopicAssigned,
)
from model.sources.feed import Moment
from tests.tui.data.small_cluster import NOW_MS, keys_of, moment_of, rows_of, small_image, state
from tui.app.panes.frames import EDGE
from tui.app.widgets.drawing import EDGES, lay_out
from tui.engine.consumers.groups import group_text, groups_window
from tui.engine.consumers.ownership import ownership_of, ownership_window
from tui.engine.listing import AnswerMemo
from tui.engine.queries import GroupList, GroupText, OwnershipList
from tui.engine.rows import Window

MOMENT = moment_of(small_image(GroupSeen(group="audit")), ends={TopicPartition("orders", 2): 1_304})


def window(**asked: object) -> Window:
    query = msgspec.convert({"type": "OwnershipList", "scope": "billing", **asked}, OwnershipList)
    return ownership_window(MOMENT, query, NOW_MS, AnswerMemo())


def test_the_groups_and_what_is_the_matter_with_them():
    shown = groups_window(MOMENT, GroupList(), NOW_MS, AnswerMemo())
    assert [column.title for column in shown.columns] == [
        "group", "state", "unowned", "idle", "lag", "", "owned", "", "threads", "", "members", "topics", "kind",
    ]  # fmt: skip
    assert rows_of(shown) == [
        "  | audit |  | 0 | 0 | - |  | 0 |  | 0 |  | 0 | 0 | zookeeper",
        "X | billing |  | 2 | 1 | 1,204 | ████████ | 4 | █████▍░░ | 3 | █████▍░░ | 2 | 2 | zookeeper",
    ]


class Counted(NamedTuple):
    """Lags as they were counted: of one group."""

    group: str
    lags: tuple[float, ...]

    def lag(self, group: str = "") -> tuple[float, ...]:
        return self.lags if group == self.group else (nan,) * len(self.lags)


def test_the_lag_of_ten_minutes_stands_behind_the_lag_where_it_was_counted():
    rising = Counted("billing", (*[nan] * 30, *map(float, range(30))))
    shown = groups_window(MOMENT, GroupList(), NOW_MS, AnswerMemo(), recent=rising)
    assert [column.title for column in shown.columns][4:8] == ["lag", "", "10 min", "owned"]
    sparks = [row.cells[6][0][0] for row in shown.rows]
    assert sparks == [" " * 20, " " * 10 + "▂▂▂▃▄▅▆▆▇█"]


def test_a_state_is_whole_in_80_cells_beside_the_lag_of_ten_minutes():
    columns = groups_window(MOMENT, GroupList(), NOW_MS, AnswerMemo(), recent=Counted("billing", (1.0,))).columns
    layout = lay_out(
        columns, 80 - EDGES - EDGE, needs=[15, len("rebalancing"), *(column.width for column in columns[2:])]
    )
    widths = {columns[slot.column].title: slot.width for slot in layout.slots}
    assert widths["state"] >= len("rebalancing")
    assert widths["10 min"] == 20


def test_the_table_has_first_what_needs_a_look():
    assert rows_of(window(view="table")) == [
        "X | no owner | 2 | ████████ | - |  | orders 10  payments 3",
        "X | c3-0 billing-b-12-0 | 1 | ████ | - |  | owner is gone: payments 7",
        "! | c2-0 billing-c-40-0 | 0 | idle | - |  | idle: owns nothing",
        "  | c1-0 billing-a-77-0 | 2 | ████████ | 1,204 | ████████ | orders 2  payments 0",
        "  | c1-1 billing-a-77-1 | 1 | ████ | - |  | orders 3",
    ]


def test_threads_are_filtered_by_what_they_own():
    assert keys_of(window(view="table", filter="payments-7")) == ["billing-b-12-0"]
    assert keys_of(window(view="table", filter="state:idle")) == ["billing-c-40-0"]


def test_a_group_that_is_not_there():
    assert window(scope="gone").note == "there is no group gone (any more)"
    assert window(scope="").note == "no group is chosen"


def test_the_graph_is_made_anew_only_when_the_group_or_its_partitions_change():
    memory = AnswerMemo()
    first = ownership_of(MOMENT, "billing", memory)

    def after(*records: ClusterRecord) -> object:
        image = ClusterDelta(MOMENT.image).replay_all(records).apply(MOMENT.image.provenance)
        return ownership_of(replace(MOMENT, image=image), "billing", memory)

    assert after(PartitionStatesWritten(topic="orders", states=(state(2, 4, (4,), 40),))) is first
    assert after(GroupSeen(group="other")) is first
    assert after(TopicAssigned(topic="orders", replicas={2: (3,), 99: (1,)})) is not first
    assert after(MemberLeft(group="billing", member="billing-c-40")) is not first


def test_what_is_known_of_a_group():
    text = group_text(MOMENT, GroupText(key="billing", width=100), NOW_MS, AnswerMemo()).plain
    assert "threads   3 in 2 consumers, 1 of them idle" in text
    assert "partitions 4 owned, 2 owned by nobody" in text
    assert "c1        billing-a-77  static  orders x2, payments x1" in text


def classic() -> Moment:
    """Beside the group billing of ZooKeeper, one of that name that broker 4 coordinates."""
    two, three = TopicPartition("orders", 2), TopicPartition("orders", 3)
    members = {f"c{number}-0000": Member({"orders": 1}, client_id=f"c{number}", host="10.0.0.7") for number in (1, 2)}
    past = Rebalance(NOW_MS, ("c3 left",), 400, 4, {"c1-0000": (three,)}, {})
    image = small_image(
        GroupDescribed(
            group="billing",
            state="Stable",
            protocol_type="consumer",
            protocol="range",
            coordinator=4,
            generation=4,
            members=members,
            owners={two: "c1-0000", three: "c1-0000", TopicPartition("orders", 10): "c2-0000"},
        ),
        GroupOffsetsFetched(group="billing", offsets={two: 90, three: 7}),
        GroupRebalancesSeen(group="billing", kind="classic", rebalances=(past,)),
    )
    return moment_of(image, ends={two: 100, three: 7})


def test_groups_of_both_kinds_and_of_one_name_stand_side_by_side():
    shown = groups_window(classic(), GroupList(), NOW_MS, AnswerMemo())
    assert rows_of(shown) == [
        "X | billing |  | 2 | 1 | 0 |  | 4 | █████▍░░ | 3 | █████▍░░ | 2 | 2 | zookeeper",
        "  | billing (classic) | Stable | 0 | 0 | 10 | ████████ | 3 | ████████ | 2 | ████████ | 2 | 1 | classic",
    ]
    graph = OwnershipList(scope="billing (classic)", view="graph", key="c1-0000", count=20, width=100)
    rows = rows_of(ownership_window(classic(), graph, NOW_MS, AnswerMemo()))
    assert " ".join(rows[0].split()) == "| c1 c1-0000 | 2 | 10 | ━┳━━━━━━━━━━━━ | orders 2 | 10"


def test_a_classic_groups_text_has_its_past_and_every_partition():
    text = group_text(classic(), GroupText(key="billing (classic)", width=100), NOW_MS, AnswerMemo()).plain
    for expected in (
        "coordinated by b4",
        "Stable, generation 4",
        "consumer, range",
        "generation 4, c3 left, 0.4 s, 1 partition moved",
        "+ c1: orders 3",
    ):
        assert expected in text
    assert "orders-2 90 100 10 c1" in " ".join(text.split())
    assert "orders-10 - - - c2" in " ".join(text.split())
