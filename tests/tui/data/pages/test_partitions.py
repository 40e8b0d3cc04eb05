"""The partition map and list as an operator reads them."""

import msgspec
import pytest

from model.cluster.cluster_image import EMPTY
from model.cluster.records import BrokerRegistered, PartitionState, PartitionStatesWritten, TopicAssigned
from tests.tui.data.small_cluster import NOW_MS, keys_of, moment_of, rows_of, small_image, state, text_of
from tui.engine.listing import Memory
from tui.engine.partitions.queries import PartitionList
from tui.engine.partitions.rows import partitions_window
from tui.engine.rows import Window

MOMENT = moment_of(small_image())


def window(memory: Memory | None = None, **asked: object) -> Window:
    query = msgspec.convert({"type": "PartitionList", **asked}, PartitionList)
    return partitions_window(MOMENT, query, NOW_MS, memory or Memory())


def test_the_map_has_a_sign_for_each_broker():
    shown = window()
    assert [column.title for column in shown.columns] == [
        "partition", "b1 b2 b3 b4 X5 b6", "leader", "isr", "epoch", "age", "state",
    ]  # fmt: skip
    assert rows_of(shown) == [
        "! | orders-2 | .  .  L  o  -  . | 3 | 3,4 | e39 | 33s | ! under",
        "! | orders-3 | .  .  .  L  -  o | 4 | 4,6 | e39 | 33s | ! under",
        "~ | orders-10 | o  L  o  .  .  . | 2 | 2,1,3 | e5 | 33s | ~ prefer",
        "+ | payments-0 | L  o  .  .  .  + | 1 | 1,2 | e12 | 33s | + moving",
        "X | payments-3 | .  .  .  .  X  . | none | 5 | e41 | 33s | X OFFLINE",
        "X | payments-7 | -  .  .  .  X  . | X 5 | 5 | e41 | 33s | X OFFLINE",
    ]


def test_the_signs_stand_under_the_brokers_names():
    shown = window()
    for row in shown.rows:
        assert len(text_of(row.cells[1])) == shown.columns[1].width == len(shown.columns[1].title)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("topic:nosuch", "there is no topic nosuch"),
        ("topic:Ordres state:under", "there is no topic ordres: did you mean orders?"),
        ("topic:=payment", "nothing matches the filter"),
        ("broker:99", "there is no broker 99"),
        ("broker:77 topic:orders", "there is no broker 77"),
        ("state:nosuch", "nothing matches the filter"),
        ("nosuch", "nothing matches the filter"),
        ("topic:orders", ""),
    ],
)
@pytest.mark.parametrize("view", ["matrix", "list"])
def test_what_is_named_and_not_there_is_said(text: str, note: str, view: str):
    shown = window(filter=text, view=view)
    assert shown.note == note
    assert bool(shown.total) == (not note)


def test_the_list_has_the_replicas_instead():
    shown = window(view="list", sort="state", count=3)
    assert rows_of(shown) == [
        "X | payments-3 | none | 5 | 5 | e41 | 33s | X OFFLINE",
        "X | payments-7 | X 5 | 5,1 | 5 | e41 | 33s | X OFFLINE",
        "! | orders-2 | 3 | 3,4,5 | 3,4 | e39 | 33s | ! under",
    ]
    assert shown.columns[2].title == "replicas"


def test_eligible_leader_replicas_are_a_column_where_there_are_any():
    told = PartitionState(0, -1, 1, (), elr=(5,), last_known_elr=(5,))
    untold = PartitionState(1, -1, 1, ())
    image = small_image(
        TopicAssigned(topic="odd", replicas={0: (5, 1), 1: (5, 1)}),
        PartitionStatesWritten(topic="odd", states=(told, untold)),
    )

    def shown(**asked: object) -> Window:
        query = msgspec.convert({"type": "PartitionList", **asked}, PartitionList)
        return partitions_window(moment_of(image), query, NOW_MS, Memory())

    list_ = shown(view="list")
    assert [column.title for column in list_.columns][:5] == ["partition", "leader", "replicas", "isr", "elr"]
    assert [text_of(row.cells[4]) for row in list_.rows[:2]] == ["5", "?"]
    assert keys_of(shown(filter="elr:5")) == ["odd-0"]
    signs = [text_of(row.cells[1]).strip() for row in shown().rows[:2]]
    assert signs == ["-  .  .  .  X  .", "-  .  .  .  -  ."]


def test_only_so_many_brokers_as_fit_are_shown_and_the_rest_is_scrolled_to():
    shown = window(width=60)
    assert shown.columns[1].title == "b1 b2"
    assert shown.columns[0].title == "partition brokers 1-2 of 6"
    assert window(width=60, offset=3).columns[1].title == "b4 X5"
    assert window(width=60, offset=99).columns[1].title == "X5 b6"
    assert window(width=10).columns[1].title == "b1"


def test_the_cursor_is_where_its_row_is_now():
    assert window(key="payments-3").cursor == 4
    assert window(key="payments-3", sort="state").cursor == 0
    assert window(key="payments-3", filter="orders").cursor == -1
    assert window(key="gone-3").cursor == -1


def test_a_bad_filter_leaves_the_rows_of_the_last_good_one():
    memory = Memory()
    assert keys_of(window(memory, filter="state:offline")) == ["payments-3", "payments-7"]
    bad = window(memory, filter="state:offline re:(")
    assert keys_of(bad) == ["payments-3", "payments-7"]
    assert bad.note.startswith("re:(: ")


def test_a_stranger_in_the_isr_and_a_dead_leader_are_seen():
    image = small_image(
        TopicAssigned(topic="odd", replicas={0: (1, 2), 1: (5, 1)}),
        PartitionStatesWritten(topic="odd", states=(state(0, 1, (1, 3), 1), state(1, 5, (5, 1), 1))),
    )
    shown = partitions_window(moment_of(image), PartitionList(filter="odd"), NOW_MS, Memory())
    assert rows_of(shown) == [
        "! | odd-0 | L  -  ?  .  .  . | 1 | 1,3 | e1 | 33s | ! under",
        "X | odd-1 | o  .  .  .  X  . | X 5 | 5,1 | e1 | 33s | X OFFLINE",
    ]


def test_without_topics_it_says_so():
    shown = partitions_window(moment_of(EMPTY), PartitionList(), NOW_MS, Memory())
    assert (shown.total, shown.note) == (0, "there are no topics")


def test_two_hundred_thousand_partitions_are_sorted_filtered_and_found():
    per_topic, topics = 1_000, 200
    replicas = {number: (1 + number % 3, 1 + (number + 1) % 3) for number in range(per_topic)}
    records = [BrokerRegistered(broker=broker) for broker in (1, 2, 3)]
    for index in range(topics):
        name = f"t{index:03}"
        states = tuple(
            state(number, both[0], both if number % 10 else both[:1], number) for number, both in replicas.items()
        )
        records += [TopicAssigned(topic=name, replicas=replicas), PartitionStatesWritten(topic=name, states=states)]
    moment = moment_of(small_image(*records))
    memory = Memory()

    def asked(**query: object) -> Window:
        whole = msgspec.convert({"type": "PartitionList", "count": 3, **query}, PartitionList)
        return partitions_window(moment, whole, NOW_MS, memory)

    assert asked(filter="t").unfiltered_total == topics * per_topic + 6
    assert asked(filter="t199-99").total == 11
    assert asked(filter="state:under topic:t0").total == 100 * per_topic // 10
    assert keys_of(asked(filter="topic:t0", sort="epoch", reverse=True)) == ["t000-999", "t001-999", "t002-999"]
    assert asked(key="t199-999").cursor == topics * per_topic + 5
