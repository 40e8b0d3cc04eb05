"""The partition map from farther away, as an operator reads it; cell by cell it says what the partitions' map says."""

from collections import Counter

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.cluster_image import EMPTY, ClusterImage
from model.cluster.records import ClusterRecord, PartitionStatesWritten, TopicAssigned
from tests.tui.data.asked import rows_shown, text_query, text_shown
from tests.tui.data.small_cluster import NOW_MS, keys_of, moment_of, rows_of, small_image, state, text_of
from tui.engine.listing import AnswerMemo
from tui.engine.partitions.counts import SIGNS, CountedPartitions, SignCounts, counted_of, worst_cells
from tui.engine.partitions.rows import signs_of
from tui.engine.partitions.table import partition_table
from tui.engine.queries import PartitionList, PartitionPicture
from tui.engine.rows import Window

MOMENT = moment_of(small_image())


def window(view: str, lists: AnswerMemo | None = None, **asked: object) -> Window:
    query = msgspec.convert({"type": "PartitionList", "view": view, **asked}, PartitionList)
    return rows_shown(MOMENT, query, NOW_MS, lists)


def test_a_topic_has_the_worst_of_its_replicas_on_each_broker():
    shown = window("topics", width=58)
    assert [column.title for column in shown.columns] == ["topic", " b1 b2 b3 b4 X5 b6", "parts", "worst"]
    assert rows_of(shown) == [
        "! | orders | o  L  L  L  -  o | 3 | ! under",
        "X | payments | -  o  .  .  X  + | 3 | X OFFLINE",
    ]


def test_where_there_is_room_the_cells_count():
    shown = window("topics", width=100)
    assert shown.columns[1].title == "  b1  b2  b3  b4  X5  b6"
    assert [text_of(row.cells[1]) for row in shown.rows] == [" o 1 L 1 L 1 L 1 - 2 o 1", " - 1 o 1 .   .   X 2 + 1"]
    assert all(len(text_of(row.cells[1])) == shown.columns[1].width for row in shown.rows)


def test_racks_are_offered_where_the_brokers_do_not_fit_and_the_brokers_next():
    assert window("topics", width=46).columns[1].title == "   r1   r2"
    brokers = window("topics-other", width=46, offset=2)
    assert brokers.columns[0].title == "topic brokers 2-6 of 6"
    assert brokers.columns[1].title == " 2 3 4X5 6"
    assert window("topics-other", width=100).columns[1].title.split() == ["r1", "r2", "r3", "none"]
    assert [text_of(row.cells[1]) for row in window("topics-other", width=100).rows] == [
        " L  1 L  1 L  1 -  2",
        " -  1 o  1 +  1 X  2",
    ]


def test_brokers_are_told_by_how_many_replicas_are_in_which_state():
    shown = window("brokers", width=60)
    assert [column.title for column in shown.columns[2:]] == [
        "X dead", "- out", "+ add", "? stray", "L lead", "o ISR",
    ]  # fmt: skip
    assert rows_of(shown) == [
        "! | b1 | r1 | 0 | 1 | 0 | 0 | 1 | 1",
        "  | b2 | r2 | 0 | 0 | 0 | 0 | 1 | 1",
        "  | b3 | r3 | 0 | 0 | 0 | 0 | 1 | 1",
        "  | b4 | r1 | 0 | 0 | 0 | 0 | 1 | 1",
        "X | X5 | none | 2 | 2 | 0 | 0 | 0 | 0",
        "+ | b6 | r3 | 0 | 0 | 1 | 0 | 0 | 1",
    ]


def test_a_bar_is_as_long_as_a_broker_holds_replicas_and_has_its_states():
    shown = window("brokers", width=100)
    title, width, *_ = msgspec.structs.astuple(shown.columns[2])
    assert (title, width >= 30) == ("replicas", True)
    for row in shown.rows:
        states = dict(zip(("removed", "out", "adding", "changed", "leader", "isr"), row.cells[3:], strict=True))
        held = {style for style, cell in states.items() if text_of(cell) != "0"}
        assert {name for _, style in row.cells[2] for name in style.split("/") if name} == held
    longest = [len(text_of(row.cells[2]).rstrip()) for row in shown.rows]
    assert (longest[0], longest[4]) == (-(-width * 3 // 4), width)


def test_racks_sum_their_brokers_up_and_show_the_worst_of_each():
    assert rows_of(window("racks", width=60)) == [
        "! | r1 | 0 | 1 | 0 | 0 | 2 | 2 | - L",
        "  | r2 | 0 | 0 | 0 | 0 | 1 | 1 | L",
        "+ | r3 | 0 | 0 | 1 | 0 | 1 | 2 | L +",
        "X | none | 2 | 2 | 0 | 0 | 0 | 0 | X",
    ]


def test_a_filter_says_which_partitions_are_counted():
    lists = AnswerMemo()
    shown = window("topics", lists, filter="broker:1", width=100)
    assert rows_of(shown) == [
        "~ | orders | o 1 L 1 o 1 .   .   . | 1 | ~ prefer",
        "X | payments | - 1 o 1 .   .   X 1 + 1 | 2 | X OFFLINE",
    ]
    assert keys_of(window("topics", lists, filter="state:offline")) == ["payments"]
    assert window("topics", lists, filter="state:offline").unfiltered_total == 2
    assert (
        rows_of(window("brokers", lists, width=60, filter="topic:orders"))[5] == "  | b6 | r3 | 0 | 0 | 0 | 0 | 0 | 1"
    )


def test_a_bad_filter_is_told_and_the_rows_of_the_last_good_one_stay():
    lists = AnswerMemo()
    window("topics", lists, filter="topic:orders")
    shown = window("topics", lists, filter="epoch:many")
    assert keys_of(shown) == ["orders"]
    assert "number" in shown.note
    assert window("topics", lists, filter="nosuch").note == "nothing matches the filter"


def test_topics_can_be_sorted_by_their_worst_and_by_size():
    assert keys_of(window("topics", sort="state")) == ["payments", "orders"]
    assert keys_of(window("brokers", sort="out", reverse=True))[0] == "5"
    assert keys_of(window("racks", sort="leads", reverse=True))[0] == "r1"


def test_the_place_is_found_again_at_every_distance():
    assert window("topics", key="payments").cursor == 1
    assert window("matrix", key="payments-*").cursor == 3
    assert window("matrix", key="payments-*", filter="state:offline").cursor == 0
    assert window("matrix", key="nothing-*").cursor == -1
    assert window("racks", key="broker:6").cursor == 2
    assert window("brokers", key="rack:r3").cursor == 2
    assert window("brokers", key="rack:nowhere").cursor == -1


def test_the_same_partitions_are_counted_once():
    lists = AnswerMemo()
    first = _counted(lists)
    rows_shown(MOMENT, PartitionList(view="brokers", filter="broker:1", sort="out"), NOW_MS, lists)
    assert _counted(lists) is first


def _counted(lists: AnswerMemo) -> CountedPartitions:
    return counted_of(MOMENT, PartitionList(filter="broker:1"), NOW_MS, lists)[0]


BROKERS = st.integers(1, 7)
MEMBERS = st.lists(BROKERS, max_size=4, unique=True).map(tuple)


@st.composite
def images(draw: st.DrawFn) -> ClusterImage:
    """Clusters that contradict themselves: strangers in the ISR, leaders that are no replicas, dead brokers."""
    records: list[ClusterRecord] = []
    for topic in ("a", "b"):
        replicas = {number: draw(MEMBERS.filter(bool)) for number in range(draw(st.integers(0, 3)))}
        adding = {number: brokers[-1:] for number, brokers in replicas.items() if draw(st.booleans())}
        states = tuple(
            msgspec.structs.replace(
                state(number, draw(st.sampled_from([-1, *range(1, 8)])), draw(MEMBERS), 3),
                elr=draw(st.none() | MEMBERS),
            )
            for number in replicas
            if draw(st.booleans())
        )
        records += [
            TopicAssigned(topic=topic, replicas=replicas, adding=adding),
            PartitionStatesWritten(topic=topic, states=states),
        ]
    return small_image(*records)


@given(images(), st.data())
def test_counting_agrees_with_the_signs_of_each_partition(image: ClusterImage, data: st.DataObject):
    table = partition_table(image)
    rows = data.draw(st.lists(st.integers(0, len(table) - 1), unique=True).map(sorted))
    expected = Counter(pair for row in rows for pair in signs_of(table, row).items())
    counts = SignCounts(table).of(np.array(rows, np.int64))
    found = {(table.brokers[b], SIGNS[sign]): int(counts[b, sign]) for b, sign in zip(*np.nonzero(counts), strict=True)}
    assert found == dict(expected)


@given(images(), st.integers(1, 8), st.integers(1, 9))
def test_a_cell_of_the_picture_is_the_worst_that_it_stands_for(image: ClusterImage, rows: int, columns: int):
    table = partition_table(image)
    shape = min(rows, len(table)), min(columns, len(table.brokers))
    if min(shape) < 1:
        return
    worst = np.zeros(shape, np.int32)
    for row in range(len(table)):
        for broker, sign in signs_of(table, row).items():
            cell = row * shape[0] // len(table), table.brokers.index(broker) * shape[1] // len(table.brokers)
            worst[cell] = max(worst[cell], SIGNS.index(sign))
    assert worst_cells(table, shape).tolist() == worst.tolist()


@given(st.integers(24, 120), st.integers(1, 40), st.booleans(), st.booleans())
def test_the_picture_fits_and_has_every_topic_or_says_nothing(width: int, height: int, is_filled: bool, is_ascii: bool):
    query = PartitionPicture(key="payments-3", width=width, height=height, is_filled=is_filled, is_ascii=is_ascii)
    lines = text_shown(MOMENT, query).lines
    assert len(lines) <= height
    assert all(len(text_of(line)) <= width for line in lines)
    if height > 6:
        texts = [text_of(line) for line in lines]
        assert sum(line.startswith(">") for line in texts) == 1
        assert "orders" in texts[1]
        assert sum("payments" in line for line in texts) == 1
        has_signs = any("X" in line for line in texts[1:])
        assert has_signs == (is_ascii or not is_filled)


def test_the_picture_without_fills_is_read_by_its_signs():
    query = PartitionPicture(key="payments", width=34, height=12, is_filled=False)
    assert [text_of(line).rstrip() for line in text_shown(MOMENT, query).lines] == [
        "           b1  b2  b3  b4  X5  b6",
        " orders    .   .   L   o   -   .",
        "           .   .   .   L   -   o",
        "           o   L   o   .   .   .",
        ">payments  L   o   .   .   .   +",
        "           .   .   .   .   X   .",
        "           -   .   .   .   X   .",
    ]
    narrow = msgspec.structs.replace(query, width=24)
    assert text_of(text_shown(MOMENT, narrow).lines[0]).split() == ["1", "2", "3", "4", "5", "6"]


def test_where_a_line_stands_for_several_topics_the_worst_is_named():
    fine = [
        record
        for name in ("a", "b", "c", "e", "f", "g")
        for record in (
            TopicAssigned(topic=name, replicas={0: (1, 2)}),
            PartitionStatesWritten(topic=name, states=(state(0, 1, (1, 2), 1),)),
        )
    ]
    bad = (
        TopicAssigned(topic="d", replicas={0: (5,)}),
        PartitionStatesWritten(topic="d", states=(state(0, -1, (5,), 1),)),
    )
    moment = moment_of(small_image(*fine, *bad))
    lines = text_shown(moment, PartitionPicture(width=60, height=3)).lines
    assert [(line[1][0], line[1][1]) for line in lines[1:]] == [("d", "error"), ("payments", "error")]


def test_ids_too_large_for_a_table_are_counted_as_well():
    huge = 2_000_000_000
    image = small_image(
        TopicAssigned(topic="far", replicas={0: (huge, 1)}),
        PartitionStatesWritten(topic="far", states=(state(0, 1, (1,), 3),)),
    )
    counts = SignCounts(partition_table(image)).of(slice(None))
    assert counts[-1].tolist() == [0, 0, 0, 0, 1, 0, 0]
    assert counts[0, SIGNS.index("L")] == 2


def test_an_empty_cluster_has_no_rows_at_any_distance():
    for view in ("topics", "topics-other", "brokers", "racks"):
        shown = rows_shown(moment_of(EMPTY), PartitionList(view=view))
        assert (shown.total, bool(shown.note)) == (0, True)


def told(about: str, key: str) -> str:
    return text_shown(MOMENT, text_query(about, key=key, width=100)).plain


def test_a_topic_is_explained_by_its_worst_partition():
    text = told("topic", "payments")
    assert "3 partitions   RF 1,2,3" in text
    assert "2  X OFFLINE      first payments-3" in text
    assert "why       payments-3: " in text
    assert "min.insync.replicas=2" in told("topic", "orders")
    assert "no such topic" in told("topic", "nothing")


def test_a_rack_is_told_by_its_brokers():
    assert "b3 b6" in told("rack", "r3")
    assert "X5" in told("rack", "none")
    assert "only a registration" in told("rack", "none")
    assert "no broker is in such a rack" in told("rack", "r9")
