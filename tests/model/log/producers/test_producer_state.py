"""What a producer may write next: the rules that make a retry harmless and a zombie powerless."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.log.names import LogError
from model.log.producers import Origin, ProducerState, WrittenBatch
from model.log.records import EndTransactionMarker, Producer, Record, RecordBatch, encode_batch
from tests.model.log.batches import START_MS, batches_in


def sent(sequence: int, *, count: int = 1, epoch: int = 0, offset: int = 0, transactional: bool = False) -> RecordBatch:
    records = [Record(offset + number, START_MS, None, b"v") for number in range(count)]
    producer = Producer(9, epoch, sequence, transactional)
    return batches_in(encode_batch(records, producer=producer))[0]


def after(*batches: RecordBatch) -> ProducerState:
    state = ProducerState(9)
    for batch in batches:
        state = state.after_data(batch, Origin.CLIENT)
    return state


def refused(state: ProducerState, batch: RecordBatch, origin: Origin = Origin.CLIENT) -> str:
    with pytest.raises(LogError) as refusal:
        state.after_data(batch, origin)
    return refusal.value.kafka_error


def test_sequences_go_on() -> None:
    state = after(sent(0, count=3), sent(3, offset=3))
    assert state.last_sequence == 3
    assert refused(state, sent(5)) == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert refused(state, sent(3)) == "OUT_OF_ORDER_SEQUENCE_NUMBER"


def test_an_unknown_producer_may_begin_anywhere() -> None:
    assert after(sent(500)).last_sequence == 500


def test_a_new_epoch_begins_at_0() -> None:
    state = after(sent(0), sent(1, offset=1))
    assert refused(state, sent(2, epoch=1)) == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert state.after_data(sent(0, epoch=1, offset=2), Origin.CLIENT).batches == (WrittenBatch(0, 2, 0, START_MS),)


def test_an_old_epoch_is_fenced_unless_a_leader_let_it_in() -> None:
    state = after(sent(0, epoch=4))
    assert refused(state, sent(0, epoch=3)) == "INVALID_PRODUCER_EPOCH"
    assert refused(state, sent(0, epoch=3), Origin.COORDINATOR) == "INVALID_PRODUCER_EPOCH"
    assert state.after_data(sent(0, epoch=3), Origin.REPLICATION).epoch == 3


def test_after_the_largest_sequence_comes_0() -> None:
    state = after(sent(2**31 - 2, count=2))
    assert state.last_sequence == 2**31 - 1
    wrapped = after(sent(2**31 - 1, count=3))
    assert wrapped.batches[-1] == WrittenBatch(1, 2, 2, START_MS)
    assert wrapped.batches[-1].first_sequence == 2**31 - 1
    assert state.after_data(sent(0), Origin.CLIENT).last_sequence == 0


def test_the_last_five_batches_are_known_again() -> None:
    state = after(*(sent(number, offset=10 + number) for number in range(7)))
    assert [state.duplicate_of(sent(number)) is not None for number in range(8)] == [False] * 2 + [True] * 5 + [False]
    found = state.duplicate_of(sent(4))
    assert found is not None
    assert found.first_offset == 14
    assert state.duplicate_of(sent(4, epoch=1)) is None


def test_a_transaction_opens_and_only_it_may_go_on() -> None:
    state = after(sent(0, transactional=True, offset=20), sent(1, transactional=True, offset=21))
    assert state.transaction_first_offset == 20
    assert refused(state, sent(2)) == "INVALID_TXN_STATE"


def test_a_marker_ends_it_and_an_older_coordinator_is_fenced() -> None:
    state = after(sent(0, transactional=True, offset=20))
    ended = state.after_marker(0, EndTransactionMarker(True, 5), START_MS)
    assert (ended.transaction_first_offset, ended.coordinator_epoch, ended.last_sequence) == (-1, 5, 0)
    with pytest.raises(LogError) as refusal:
        ended.after_marker(0, EndTransactionMarker(True, 4), START_MS)
    assert refusal.value.kafka_error == "TRANSACTION_COORDINATOR_FENCED"
    with pytest.raises(LogError) as refusal:
        replace(ended, epoch=3).after_marker(2, EndTransactionMarker(True, 5), START_MS)
    assert refusal.value.kafka_error == "INVALID_PRODUCER_EPOCH"


def test_a_marker_of_a_new_epoch_starts_sequences_anew() -> None:
    bumped = after(sent(0, transactional=True), sent(1, transactional=True)).after_marker(
        1, EndTransactionMarker(False, 0), START_MS
    )
    assert (bumped.epoch, bumped.batches) == (1, ())
    assert refused(bumped, sent(2, epoch=1)) == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert bumped.after_data(sent(0, epoch=1), Origin.CLIENT).last_sequence == 0
