"""The audit: whatever is done to a log, what was acknowledged and is missing, doubled or late is named."""

from hypothesis import given
from hypothesis import strategies as st

from model.cluster.ids import TopicPartition
from model.sandbox.load.ledger import Acknowledged, AcknowledgedRecords, compare

ORDERS = TopicPartition("orders", 0)


def ledger_of(*counts: int) -> AcknowledgedRecords:
    """Batches of so many records, acknowledged one after the other at offsets from 100 on."""
    ledger = AcknowledgedRecords()
    number = 0
    for at_ms, count in enumerate(counts):
        ledger.note(ORDERS, Acknowledged(number, count, 100 + number, at_ms))
        number += count
    return ledger


def log_of(*numbers: int) -> dict[TopicPartition, list[tuple[int, int]]]:
    return {ORDERS: [(number, 100 + place) for place, number in enumerate(numbers)]}


def test_records_acknowledged_one_by_one_at_one_time_are_kept_as_one_run():
    ledger = AcknowledgedRecords()
    for number, at_ms in ((0, 1), (1, 1), (2, 1), (3, 2), (5, 2)):
        ledger.note(ORDERS, Acknowledged(number, 1, 100 + number, at_ms))
    assert [(each.first_number, each.count) for each in ledger.entries[ORDERS]] == [(0, 3), (3, 1), (5, 1)]
    assert ledger.total == 5


def test_all_there():
    report = compare(ledger_of(2, 3), log_of(0, 1, 2, 3, 4), {})
    assert report.is_clean
    assert (report.acknowledged, report.found) == (5, 5)
    assert str(report) == "all 5 acknowledged records are there, each once and in order"


def test_a_tail_that_was_cut():
    report = compare(ledger_of(2, 3, 1), log_of(0, 1, 2), {})
    assert (report.lost, report.duplicated, report.reordered) == (3, 0, 0)
    (lost,) = report.lost_records
    assert (lost.partition, lost.first_number, lost.last_number) == ("orders-0", 3, 5)
    assert (lost.first_offset, lost.last_offset) == (103, 105)
    assert (lost.acknowledged_from_ms, lost.acknowledged_to_ms) == (1, 2)
    assert str(report) == "of 6 acknowledged records: 3 lost"


def test_records_twice_and_late():
    report = compare(ledger_of(4), log_of(0, 2, 1, 2, 3), {})
    assert [(each.number, each.offsets) for each in report.duplicated_records] == [(2, (101, 103))]
    assert [(each.number, each.offsets) for each in report.reordered_records] == [(1, (102,))]
    assert not report.lost


def test_records_without_an_acknowledgement_do_no_harm():
    report = compare(ledger_of(2), log_of(0, 1, 2, 3), {})
    assert report.is_clean
    assert report.unacknowledged_found == 2


def test_nothing_is_claimed_of_what_could_not_be_read():
    report = compare(ledger_of(2), {}, {ORDERS: "no leader"})
    assert (report.lost, report.unread) == (0, ("orders-0: no leader",))
    assert not report.is_clean
    assert str(report) == "of 2 acknowledged records: 1 partitions could not be read (orders-0: no leader)"


def test_offsets_given_out_again_tell_of_losses_before_the_audit():
    ledger = ledger_of(5)
    ledger.note(ORDERS, Acknowledged(5, 2, 103, 9))
    assert ledger.overwritten == 2
    assert ledger.end_offset(ORDERS) == 105


@given(st.lists(st.integers(1, 5), max_size=8), st.data())
def test_exactly_what_was_taken_out_is_lost(counts: list[int], data: st.DataObject):
    ledger = ledger_of(*counts)
    taken = data.draw(st.sets(st.integers(0, max(sum(counts) - 1, 0)), max_size=sum(counts)))
    report = compare(ledger, log_of(*(number for number in range(sum(counts)) if number not in taken)), {})
    missing = {number for each in report.lost_records for number in range(each.first_number, each.last_number + 1)}
    assert missing == taken
    assert (report.lost, report.found) == (len(taken), sum(counts) - len(taken))
    assert not report.duplicated
    assert not report.reordered


@given(st.integers(1, 20), st.data())
def test_exactly_what_was_put_in_again_is_doubled(count: int, data: st.DataObject):
    again = data.draw(st.lists(st.integers(0, count - 1), max_size=5))
    report = compare(ledger_of(count), log_of(*range(count), *again), {})
    assert {each.number for each in report.duplicated_records} == set(again)
    assert (report.lost, report.reordered) == (0, 0)
