"""Records of a snapshot that are taken many at a time, against the same records one by one."""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from model.log.records import Record, RecordBatch, encode_batch, scan
from model.log.records.columns import batch_columns
from model.metadata_log.partition_records import Values, read_records
from model.metadata_log.replay import Replay
from model.metadata_log.topics import RecordPlace
from tests.model.metadata_log.snapshot_writer import IN_BATCH, snapshot
from tests.model.metadata_log.writing import topic_id, written

AT = RecordPlace(40, 3, 1_000)


def columns(values: list[bytes | None]) -> Values:
    """As a batch holds them, and none of fewer than pay."""
    encoded = encode_batch([Record(number, 7, None, value) for number, value in enumerate(values)])
    (batch,) = scan(encoded)
    assert isinstance(batch, RecordBatch)
    found = batch_columns(encoded, batch)
    assert found is not None
    return Values(found.data, found.value_start, found.value_size)


def one_by_one(values: list[bytes | None]) -> Replay:
    replay = Replay()
    for value in values:
        replay.take(value, RecordPlace())
    return replay


def at_once(values: list[bytes | None]) -> Replay:
    replay = Replay()
    padding: list[bytes | None] = [written("NoOp")] * 40
    replay.load(columns([*values, *padding]))
    return replay


brokers = st.lists(st.sampled_from([0, 1, 2, 3, 128, 70_000, -1, 2**31 - 1]), max_size=4)
few_brokers = st.one_of(st.just([1, 2, 3]), brokers)
epochs = st.sampled_from([0, 1, 127, 128, -1, 2**31 - 1, -(2**31)])


@st.composite
def partition(draw: st.DrawFn) -> bytes:
    """A PartitionRecord of any version, most of them of the usual form."""
    version = draw(st.sampled_from([0, 1, 2]))
    replicas = draw(few_brokers)
    fields: dict[str, object] = {
        "partitionId": draw(st.integers(0, 4)),
        "topicId": topic_id(draw(st.sampled_from([1, 1, 2, 3]))),
        "replicas": replicas,
        "isr": draw(few_brokers),
        "leader": draw(st.integers(-1, 3)),
        "leaderEpoch": draw(epochs),
        "partitionEpoch": draw(epochs),
    }
    if version:
        folders = [[topic_id(number % 4) for number in range(first, first + len(replicas))] for first in (0, 2)]
        fields["directories"] = draw(st.sampled_from([[], [topic_id(9)] * len(replicas), [topic_id(9)], *folders]))
    if draw(st.integers(0, 5)) == 0:
        fields |= {"addingReplicas": [1], "removingReplicas": [2], "leaderRecoveryState": 1}
    if version == 2 and draw(st.integers(0, 5)) == 0:
        fields |= {"eligibleLeaderReplicas": draw(brokers), "lastKnownElr": draw(brokers)}
    return written("Partition", version, **fields)


others = st.sampled_from(
    [
        None,
        b"",
        written("Topic", name="one", topicId=topic_id(1)),
        written("Topic", name="two", topicId=topic_id(2)),
        written("RemoveTopic", topicId=topic_id(1)),
        written("FeatureLevel", name="metadata.version", featureLevel=25),
        written("PartitionChange", partitionId=1, topicId=topic_id(1), isr=[2], leader=2),
        written("ClearElr", topicName=""),
        written("BeginTransaction"),
        written("EndTransaction"),
        written("AbortTransaction"),
    ]
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A byte of it is another, or its end is missing or too much."""
    value = bytearray(draw(partition()))
    value[draw(st.integers(0, len(value) - 1))] = draw(st.sampled_from([0, 1, 2, 3, 0x7F, 0x80, 0xFF]))
    return bytes(value[: draw(st.integers(len(value) - 2, len(value)))]) + draw(st.sampled_from([b"", b"", b"\0"]))


ONE = written("Topic", name="one", topicId=topic_id(1))
PLAIN = written("Partition", 0, partitionId=0, topicId=topic_id(1), replicas=[1], isr=[1], leader=1)


@given(st.lists(st.one_of(partition(), partition(), partition(), damaged(), others), max_size=30))
@example([PLAIN, PLAIN])
@example([PLAIN[:-1] + b"\1"] * 3)
@example([b"\1\3\0" + struct.pack(">i", 0) + bytes(16) + b"\xff\xff\xff\xff\x0f" + bytes(30)])
def test_the_same_facts_and_complaints_as_one_by_one(values: list[bytes | None]) -> None:
    values = [ONE, *values]
    expected, found = one_by_one(values), at_once(values)
    assert found.facts(AT) == expected.facts(AT)
    assert (found.troubles, found.first_trouble) == (expected.troubles, expected.first_trouble)
    change = written("PartitionChange", partitionId=0, topicId=topic_id(1), isr=[3], leader=3)
    for replay in (expected, found):
        replay.take(change, RecordPlace(50, 4, 2_000))
    assert found.facts(AT) == expected.facts(AT)
    assert found.troubles == expected.troubles


@given(st.lists(st.lists(partition(), max_size=5), min_size=2, max_size=4), st.booleans())
def test_facts_that_are_asked_for_meanwhile_are_the_same(parts: list[list[bytes]], is_asked: bool) -> None:
    expected, found = one_by_one([ONE]), at_once([ONE])
    for values in parts:
        for value in values:
            expected.take(value, RecordPlace())
        found.load(columns([*values, *[written("NoOp")] * 40]))
        if is_asked:
            assert found.facts(AT) == expected.facts(AT)
    assert found.facts(AT) == expected.facts(AT)


def test_all_partitions_of_a_usual_snapshot_are_read_at_once() -> None:
    _, first, *_ = snapshot(topics=3, partitions=500)
    (batch,) = scan(first)
    assert isinstance(batch, RecordBatch)
    records = batch_columns(first, batch)
    assert records is not None
    assert len(records) == IN_BATCH
    read = read_records(Values(records.data, records.value_start, records.value_size))
    assert (len(read.rows), len(read.created)) == (IN_BATCH - 1 - 12 - 3, 3)
    runs = [(run.end - run.first, run.row >= 0, run.name) for run in read.runs(IN_BATCH)]
    topics = [f"topic-{number:06}" for number in range(3)]
    assert runs == [
        (13, False, None),
        (1, False, topics[0]),
        (500, True, None),
        (1, False, topics[1]),
        (500, True, None),
        (1, False, topics[2]),
        (8, True, None),
    ]
    assert np.array_equal(read.placed.replicas[:2], [[1, 2, 3], [2, 3, 4]])


def test_a_length_that_cannot_be_takes_no_memory() -> None:
    huge = b"\1\3\2" + bytes(20) + b"\xff\xff\xff\xff\x0f" + bytes(60)
    wide = b"\1\3\2" + bytes(20) + b"\x7f" + bytes(4 * 126) + b"\1\1\1" + bytes(12) + b"\1\0"
    read = read_records(columns([huge, wide] * 100))
    assert (len(read.rows), read.placed.replicas.shape[1]) == (0, 1)
