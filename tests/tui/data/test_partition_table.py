"""The table against a plain reading of the same image, one partition at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.cluster_image import ClusterImage
from model.cluster.records import ClusterRecord
from tests.model.cluster.build import image as image_of
from tests.model.cluster.strategies import histories, images
from tests.tui.data.small_cluster import NOW_MS, moment_of, small_image
from tui.engine.listing import AnswerMemo
from tui.engine.partitions.rows import partitions_window
from tui.engine.partitions.table import STATES, PartitionTable, isr_of, partition_table, replicas_of
from tui.engine.queries import PartitionList


def labels(table: PartitionTable) -> dict[str, str]:
    return {str(table.topic_partition(row)): STATES[table.states[row]].label for row in range(len(table))}


def test_the_state_of_each_partition():
    assert labels(partition_table(small_image())) == {
        "orders-2": "! under",
        "orders-3": "! under",
        "orders-10": "~ prefer",
        "payments-0": "+ moving",
        "payments-3": "X OFFLINE",
        "payments-7": "X OFFLINE",
    }


def test_brokers_are_those_registered_and_those_named():
    table = partition_table(small_image())
    assert table.brokers == (1, 2, 3, 4, 5, 6)
    assert [broker for broker in table.brokers if table.is_dead(broker)] == [5]


def test_keys_of_what_is_not_there_have_no_place():
    table = partition_table(small_image())
    assert table.place("payments-7") == 5
    assert {table.place(key) for key in ("", "orders", "orders-", "orders-4", "orders-²", "x-1", "orders--2")} == {-1}


@given(images)
def test_a_row_says_what_the_image_says(image: ClusterImage):
    table = partition_table(image)
    read = [
        (name, number, replicas, leader, isr)
        for name in sorted(image.topics)
        for number, replicas, leader, isr in image.topics[name].rows()
    ]
    assert [
        (*table.topic_partition(row), replicas_of(table, row), int(table.columns.leader[row]), isr_of(table, row))
        for row in range(len(table))
    ] == [(name, number, replicas, leader, isr) for name, number, replicas, leader, isr in read]
    assert [table.place(f"{name}-{number}") for name, number, *_ in read] == list(range(len(table)))
    for row in np.flatnonzero(table.states == [state.label for state in STATES].index("ok")):
        name, _, replicas, leader, isr = read[row]
        assert set(replicas) == set(isr)
        assert leader in image.brokers
        assert name not in image.admin.delete_topics


SORTS = st.sampled_from(["", "topic", "state", "leader", "epoch", "age", "isr"])
PARTS = st.sampled_from(["", "orders", "pay", "-1", "under", "ok", "none", "e3", "1,2"])


@given(images, SORTS, st.booleans(), PARTS, st.integers(0, 9), st.integers(1, 5))
def test_windows_are_slices_of_the_list_that_a_plain_reading_gives(
    image: ClusterImage, sort: str, reverse: bool, part: str, first: int, count: int
):
    table = partition_table(image)
    rows = [row for row in range(len(table)) if part in shown(table, row)]
    if sort:
        rows.sort(key=lambda row: rank(table, row, sort), reverse=reverse)
    elif reverse:
        rows.reverse()
    asked = PartitionList(first=first, count=count, filter=part, sort=sort, reverse=reverse)
    window = partitions_window(moment_of(image), asked, NOW_MS, AnswerMemo())
    start = max(0, min(first, len(rows) - count))
    assert window.first == start
    assert window.total == len(rows)
    assert window.unfiltered_total == len(table)
    assert [row.key for row in window.rows] == [str(table.topic_partition(row)) for row in rows[start : start + count]]


def shown(table: PartitionTable, row: int) -> str:
    """The cells a word is looked for in, apart from each other."""
    leader, epoch = int(table.columns.leader[row]), table.columns.leader_epoch[row]
    isr, state = ",".join(map(str, isr_of(table, row))), STATES[table.states[row]].label.lower()
    return "\0".join(
        [str(table.topic_partition(row)), "none" if leader == -1 else str(leader), isr, f"e{epoch}", state]
    )


def rank(table: PartitionTable, row: int, sort: str) -> int:
    written_ms = int(table.columns.time_ms[row])
    return {
        "topic": int(table.columns.topic[row]),
        "state": int(table.states[row]),
        "leader": int(table.columns.leader[row]),
        "epoch": int(table.columns.leader_epoch[row]),
        "age": max(NOW_MS - written_ms, 0) if written_ms > 0 else -1,
        "isr": len(isr_of(table, row)),
    }[sort]


@given(images)
def test_a_row_of_its_topic_alone_is_as_in_the_whole_table(image: ClusterImage):
    whole, table = partition_table(image), partition_table(image)
    for row, code in enumerate(whole.states):
        alone, place = table.near(row)
        assert alone.topic_partition(place) == whole.topic_partition(row)
        assert alone.states[place] == code
        assert replicas_of(alone, place) == replicas_of(whole, row)
        assert alone.is_dead(int(alone.columns.leader[place])) == whole.is_dead(int(whole.columns.leader[row]))
    assert whole.near(0) == (whole, 0)


def labels_nearby(table: PartitionTable) -> list[str]:
    """Of every row, by its topic alone."""
    assert "states" not in vars(table)
    return [STATES[near.states[place]].label for near, place in map(table.near, range(len(table)))]


@given(images, histories)
def test_a_table_made_from_the_one_before_is_as_one_made_anew(image: ClusterImage, told: list[ClusterRecord]):
    table = partition_table(image)
    facts = ("topics", "starts", "brokers", "isr_width", "replicas_width", "widest_name", "around")
    for record in told:
        table = partition_table(image_of(record, base=table.image), table)
        anew = partition_table(table.image)
        assert [getattr(table, name) for name in facts] == [getattr(anew, name) for name in facts]
        assert labels_nearby(table) == list(labels(anew).values())
