"""The partition map and list as an operator reads them."""

from collections.abc import Collection, Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY
from model.cluster.records import BrokerRegistered, PartitionState, PartitionStatesWritten, TopicAssigned
from tests.tui.data.small_cluster import NOW_MS, keys_of, moment_of, rows_of, small_image, state, text_of
from tui.engine.listing import AnswerMemo
from tui.engine.partitions.counts import partitions_picture
from tui.engine.partitions.rows import CELLS, EDGES, STATE_WIDTH, forms, in_form, partitions_window
from tui.engine.queries import PartitionList, PartitionPicture
from tui.engine.rows import Line, Span, Window

MOMENT = moment_of(small_image())


def window(memory: AnswerMemo | None = None, **asked: object) -> Window:
    query = msgspec.convert({"type": "PartitionList", **asked}, PartitionList)
    return partitions_window(MOMENT, query, NOW_MS, memory or AnswerMemo())


def test_the_map_has_a_sign_for_each_broker():
    shown = window()
    assert [column.title for column in shown.columns] == [
        "partition", " b1 b2 b3 b4 X5 b6", "leader", "isr", "epoch", "age", "state",
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
        return partitions_window(moment_of(image), query, NOW_MS, AnswerMemo())

    list_ = shown(view="list")
    assert [column.title for column in list_.columns][:5] == ["partition", "leader", "replicas", "isr", "elr"]
    assert [text_of(row.cells[4]) for row in list_.rows[:2]] == ["5", "?"]
    assert keys_of(shown(filter="elr:5")) == ["odd-0"]
    signs = [text_of(row.cells[1]).strip() for row in shown().rows[:2]]
    assert signs == ["-  .  .  .  X  .", "-  .  .  .  -  ."]


def test_names_shrink_and_columns_go_before_a_broker_does():
    assert window(width=90).columns[1].title == " b1 b2 b3 b4 X5 b6"
    assert window(width=50).columns[1].title == " 1 2 3 4X5 6"
    assert [column.title for column in window(width=50).columns] == ["partition", " 1 2 3 4X5 6", "leader", "state"]
    assert [column.title for column in window(width=40).columns] == [
        *("partition brokers 1-5 of 6", " 1 2 3 4X5", "state"),
    ]
    assert window(width=40, offset=99).columns[1].title == " 2 3 4X5 6"
    assert window(width=10).columns[1].title == " 1"


LARGE_IDS = (*range(1001, 1010), 1010, 1011, 1012)


def with_brokers(ids: Collection[int], width: int) -> Window:
    topic = TopicAssigned(topic="t", replicas={0: (min(ids),)})
    records = (*(BrokerRegistered(broker=broker) for broker in ids), topic)
    image = ClusterDelta(EMPTY).replay_all(records).apply(EMPTY.provenance)
    return partitions_window(moment_of(image), PartitionList(width=width), NOW_MS, AnswerMemo())


def test_wide_ids_are_seen_by_their_last_digits_under_what_they_share():
    whole = with_brokers(LARGE_IDS, 150).columns[1]
    assert (whole.title.split()[:2], whole.head) == (["b1001", "b1002"], "")
    two = with_brokers(LARGE_IDS, 100).columns[1]
    assert (two.title, two.head) == (" 01 02 03 04 05 06 07 08 09 10 11 12", " 10xx")
    one = with_brokers(LARGE_IDS, 60).columns[1]
    assert (one.title, one.head) == (" 1 2 3 4 5 6 7 8 9 0 1 2", " 100x              101x")


@given(st.sets(st.integers(0, 3_000), min_size=1, max_size=60), st.integers(40, 400))
def test_no_broker_is_left_out_where_the_narrowest_names_fit(ids: set[int], width: int):
    shown = with_brokers(ids, width)
    titles = [column.title for column in shown.columns]
    assert titles[-1] == "state"
    taken = sum(abs(column.width) + 1 for column in shown.columns) - 1
    assert taken <= max(width - EDGES, 9 + 1 + 6 + 1 + STATE_WIDTH)
    narrowest = min(form.cell for form in forms(sorted(ids)))
    fits = len(ids) * narrowest <= width - EDGES - len("partition") - 2 - STATE_WIDTH
    assert fits == ("of" not in titles[0])
    assert shown.wants >= taken or not fits
    everything = with_brokers(ids, shown.wants)
    assert [column.title for column in everything.columns[2:]] == ["leader", "isr", "epoch", "age", "state"]
    assert everything.columns[1].title.split() == [f"b{broker}" for broker in sorted(ids)]


@given(
    st.sets(st.integers(0, 200), min_size=1, max_size=30).map(sorted),
    st.dictionaries(st.integers(0, 200), st.sampled_from("Lo-X+?")),
    st.integers(10, 90),
    st.integers(0, 40),
)
def test_a_row_has_a_filled_cell_for_each_broker(ids: list[int], signs: dict[int, str], width: int, offset: int):
    for form in forms(ids):
        shown = in_form(form, ids, width, offset, "", ())
        cells = [(signs.get(broker, "."), CELLS[signs.get(broker, ".")]) for broker in shown.brokers]
        assert [*spelt(shown.line(signs))] == [*spelt(shown.seen.filled(cells, CELLS["."]))]


def spelt(line: Line) -> Iterator[Span]:
    return ((sign, style) for text, style in line for sign in text)


@given(st.sets(st.integers(0, 3_000), min_size=1, max_size=60).map(sorted))
def test_what_brokers_share_stands_above_each_of_their_runs(ids: list[int]):
    for form in forms(ids):
        shown = in_form(form, ids, 1_000, 0, "", ())
        column = shown.column(lambda _: False)
        head = column.head.ljust(column.width)
        for place, broker in enumerate(ids):
            name = column.title[place * form.cell : (place + 1) * form.cell].strip().lstrip("b")
            run = head[: (place + 1) * form.cell].split()
            stem = run[-1].rstrip("x") if run and form.digits and broker >= 10**form.digits else ""
            assert stem + name == str(broker)


def test_the_cursor_is_where_its_row_is_now():
    assert window(key="payments-3").cursor == 4
    assert window(key="payments-3", sort="state").cursor == 0
    assert window(key="payments-3", filter="orders").cursor == -1
    assert window(key="gone-3").cursor == -1


def test_a_bad_filter_leaves_the_rows_of_the_last_good_one():
    memory = AnswerMemo()
    assert keys_of(window(memory, filter="state:offline")) == ["payments-3", "payments-7"]
    bad = window(memory, filter="state:offline re:(")
    assert keys_of(bad) == ["payments-3", "payments-7"]
    assert bad.note.startswith("re:(: ")


def test_a_stranger_in_the_isr_and_a_dead_leader_are_seen():
    image = small_image(
        TopicAssigned(topic="odd", replicas={0: (1, 2), 1: (5, 1)}),
        PartitionStatesWritten(topic="odd", states=(state(0, 1, (1, 3), 1), state(1, 5, (5, 1), 1))),
    )
    shown = partitions_window(moment_of(image), PartitionList(filter="odd"), NOW_MS, AnswerMemo())
    assert rows_of(shown) == [
        "! | odd-0 | L  -  ?  .  .  . | 1 | 1,3 | e1 | 33s | ! under",
        "X | odd-1 | o  .  .  .  X  . | X 5 | 5,1 | e1 | 33s | X OFFLINE",
    ]


def test_without_topics_it_says_so():
    shown = partitions_window(moment_of(EMPTY), PartitionList(), NOW_MS, AnswerMemo())
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
    memory = AnswerMemo()

    def asked(**query: object) -> Window:
        whole = msgspec.convert({"type": "PartitionList", "count": 3, **query}, PartitionList)
        return partitions_window(moment, whole, NOW_MS, memory)

    assert asked(filter="t").unfiltered_total == topics * per_topic + 6
    assert asked(filter="t199-99").total == 11
    assert asked(filter="state:under topic:t0").total == 100 * per_topic // 10
    assert keys_of(asked(filter="topic:t0", sort="epoch", reverse=True)) == ["t000-999", "t001-999", "t002-999"]
    assert asked(key="t199-999").cursor == topics * per_topic + 5
    picture = partitions_picture(moment, PartitionPicture(height=40), NOW_MS, memory)
    assert "no picture of more than 200,000 partitions" in picture.plain
