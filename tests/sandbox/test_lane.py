"""One partition of the producer: numbers without gaps, sequences that follow, a batch that stays the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.ids import TopicPartition
from model.log.records.batch import RecordBatch
from model.log.records.encoding import Producer
from model.log.records.record import Record, records_of
from model.log.records.scan import scan
from model.sandbox.load.ledger import UNKNOWN_OFFSET, number_of
from model.sandbox.load.producer import MOST_WAITING, Batch, BatchVerdict, PendingRecords, verdict_on
from model.sandbox.load.reading import records_in

ORDERS = TopicPartition("orders", 0)


def lane() -> PendingRecords:
    return PendingRecords(ORDERS, "run", Producer(7))


def header(batch: Batch | None) -> RecordBatch:
    assert batch is not None
    (found,) = scan(batch.data)
    assert isinstance(found, RecordBatch)
    return found


def test_a_batch_is_the_same_until_it_is_answered():
    own = lane()
    own.add(3)
    first = own.next_batch(1)
    own.add(2)
    assert own.next_batch(2) is first
    assert own.unacknowledged == 5
    assert own.done(40, 9).first_offset == 40
    second = own.next_batch(3)
    assert (header(first).base_sequence, header(second).base_sequence) == (0, 3)
    assert (second and second.first_number, second and second.count) == (3, 2)


def test_a_batch_that_is_given_up_leaves_its_numbers_behind():
    own = lane()
    own.add(2)
    own.next_batch(1)
    own.give_up(Producer(8))
    own.add(1)
    batch = own.next_batch(2)
    assert (batch and batch.first_number, header(batch).producer_id, header(batch).base_sequence) == (2, 8, 0)


def test_a_partition_that_takes_nothing_gets_no_more():
    own = lane()
    own.add(10 * MOST_WAITING)
    assert own.unacknowledged == MOST_WAITING
    assert own.next_batch(1) is not None
    assert own.unacknowledged == MOST_WAITING


def test_a_duplicate_that_the_broker_has_forgotten_is_acknowledged_somewhere():
    own = lane()
    own.add(1)
    own.next_batch(1)
    assert own.done(-1, 2).first_offset == UNKNOWN_OFFSET


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        ("NONE", BatchVerdict.DONE),
        ("DUPLICATE_SEQUENCE_NUMBER", BatchVerdict.DONE),
        ("NOT_LEADER_OR_FOLLOWER", BatchVerdict.AGAIN),
        ("NOT_ENOUGH_REPLICAS_AFTER_APPEND", BatchVerdict.AGAIN),
        ("KAFKA_STORAGE_ERROR", BatchVerdict.AGAIN),
        ("OUT_OF_ORDER_SEQUENCE_NUMBER", BatchVerdict.NEW_PRODUCER),
        ("MESSAGE_TOO_LARGE", BatchVerdict.GIVE_UP),
    ],
)
def test_what_an_error_means_for_a_batch(error: str, answer: BatchVerdict):
    assert verdict_on(error) is answer


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.data())
def test_what_is_written_is_read_back(counts: list[int], data: st.DataObject):
    own = lane()
    log = b""
    for count in counts:
        own.add(count)
        batch = own.next_batch(1)
        assert batch is not None
        log += batch.first_number.to_bytes(8, "big") + batch.data[8:]  # the broker gives the offsets
        own.done(0, 1)
    numbers = [
        number_of(record, "run")
        for batch in scan(log)
        if isinstance(batch, RecordBatch)
        for record in records_of(log, batch)
        if isinstance(record, Record)
    ]
    assert numbers == list(range(sum(counts)))
    part = data.draw(st.integers(0, len(log) - 1))
    records, _ = records_in(log[:part], 0)
    assert [number_of(record, "run") for record in records] == numbers[: len(records)]
    assert number_of(records[0], "another run") is None if records else True
