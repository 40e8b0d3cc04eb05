"""Offsets as traces: committed, fetched, deleted, expired; and groups that go with them."""

from __future__ import annotations

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.coordinate import FetchedOffset, describe, fetch_offsets, is_in_states
from model.consumers.group_coordinator.events_and_commands import (
    AnswerOffsetDeletion,
    AppendRecords,
    OffsetDeletionRequested,
    OffsetsChecked,
    PartitionsDeleted,
)
from model.consumers.group_coordinator.group import CommittedOffset, GroupState
from model.consumers.group_coordinator.stored_formats import GroupRecord, OffsetRecord
from tests.model.consumers.group_coordinator.traces import GROUP, ORDERS, SETTINGS, Trace, stable, subscription

PAYMENTS = TopicPartition("payments", 3)
WEEK_MS = SETTINGS.offsets_retention_ms


def fetched(trace: Trace, *partitions: TopicPartition, require_stable: bool = False) -> list[FetchedOffset]:
    return list(fetch_offsets(trace.group, partitions or None, require_stable=require_stable))


def committed(trace: Trace, partition: TopicPartition = ORDERS, offset: int = 5, at: int = 0) -> None:
    trace.written(trace.commit(partition=partition, offset=offset), base_offset=at)


def check(trace: Trace) -> None:
    trace.sees(OffsetsChecked(group_id=GROUP, at_ms=trace.now_ms))


def delete_offsets(trace: Trace, *partitions: TopicPartition) -> AnswerOffsetDeletion:
    trace.request += 1
    trace.sees(
        OffsetDeletionRequested(group_id=GROUP, at_ms=trace.now_ms, request=trace.request, partitions=partitions)
    )
    answer = trace.answer()
    assert isinstance(answer, AnswerOffsetDeletion)
    return answer


def test_a_commit_counts_when_it_is_written() -> None:
    trace = Trace()
    request = trace.commit(offset=42)
    assert trace.answers() == []
    offset = CommittedOffset(offset=42, commit_ms=1_000)
    assert trace.commands == (AppendRecords((OffsetRecord(GROUP, ORDERS, offset),), request),)
    assert fetched(trace, ORDERS) == [FetchedOffset(ORDERS)]
    assert fetched(trace, ORDERS, require_stable=True) == [FetchedOffset(ORDERS, error="UNSTABLE_OFFSET_COMMIT")]
    trace.written(request, base_offset=7)
    assert trace.commit_error() == "NONE"
    assert fetched(trace) == [FetchedOffset(ORDERS, 42)]


def test_a_commit_that_fails_leaves_the_offset_before() -> None:
    trace = Trace()
    committed(trace, offset=5)
    trace.written(trace.commit(offset=9), "NOT_ENOUGH_REPLICAS")
    assert trace.commit_error() == "COORDINATOR_NOT_AVAILABLE"
    assert fetched(trace) == [FetchedOffset(ORDERS, 5)]


def test_the_later_record_counts_whatever_is_told_first() -> None:
    trace = Trace()
    first, second = trace.commit(offset=5), trace.commit(offset=6)
    trace.written(second, base_offset=11)
    trace.written(first, base_offset=10)
    assert fetched(trace, require_stable=True) == [FetchedOffset(ORDERS, 6)]


def test_members_commit_with_their_generation() -> None:
    trace, (member,) = stable(None)
    for generation, error in ((1, "NONE"), (0, "ILLEGAL_GENERATION")):
        request = trace.commit(member, generation=generation)
        if error == "NONE":
            trace.written(request)
        assert trace.commit_error(request) == error
    trace.commit()
    assert trace.commit_error() == "UNKNOWN_MEMBER_ID"
    trace.commit("c-7", generation=1)
    assert trace.commit_error() == "UNKNOWN_MEMBER_ID"


def test_commits_while_a_rebalance_is_going_on() -> None:
    trace, (leader, follower) = stable(None, None)
    trace.join()
    trace.written(trace.commit(leader, generation=1))
    assert trace.commit_error() == "NONE"
    trace.join(leader)
    trace.join(follower)
    trace.commit(leader, generation=2)
    assert trace.commit_error() == "REBALANCE_IN_PROGRESS"


def test_a_commit_of_an_older_life_is_refused() -> None:
    trace = Trace()
    trace.commit("c-1", generation=4)
    assert trace.commit_error() == "ILLEGAL_GENERATION"
    assert trace.group is None


def test_metadata_may_not_be_too_long() -> None:
    trace = Trace()
    trace.commit(metadata="x" * 4_097)
    assert trace.commit_error() == "OFFSET_METADATA_TOO_LARGE"
    trace.written(trace.commit(metadata="x" * 4_096))
    assert trace.commit_error() == "NONE"


def test_offsets_expire_after_their_last_commit_where_there_are_no_members() -> None:
    trace = Trace()
    committed(trace)
    trace.now_ms += WEEK_MS - 1
    check(trace)
    assert trace.commands == ()
    trace.now_ms += 1
    check(trace)
    assert trace.commands == (AppendRecords((OffsetRecord(GROUP, ORDERS, None),)),)
    assert trace.group is None


def test_offsets_of_a_group_expire_when_it_has_been_empty_for_long() -> None:
    trace, (member,) = stable(None)
    trace.written(trace.commit(member, generation=1))
    trace.now_ms += 9_000
    trace.leave(member)
    assert trace.state is GroupState.EMPTY
    trace.now_ms += WEEK_MS - 1
    check(trace)
    assert trace.commands == ()
    trace.now_ms += 1
    check(trace)
    assert trace.appended().records == (OffsetRecord(GROUP, ORDERS, None), GroupRecord(GROUP, None))
    assert trace.group is None


def test_in_a_stable_group_only_what_nobody_consumes_expires() -> None:
    trace, (member,) = stable(None)
    for partition in (ORDERS, PAYMENTS):
        trace.written(trace.commit(member, generation=1, partition=partition))
    trace.now_ms += WEEK_MS
    check(trace)
    assert trace.appended().records == (OffsetRecord(GROUP, PAYMENTS, None),)
    assert fetched(trace) == [FetchedOffset(ORDERS, 5)]


def test_old_clients_say_when_their_offsets_expire() -> None:
    trace = Trace()
    committed(trace)
    assert trace.group is not None
    known = msgspec.structs.replace(trace.group.offsets[ORDERS], expire_ms=2_000)
    trace.group = msgspec.structs.replace(trace.group, offsets={ORDERS: known})
    trace.now_ms = 2_000
    check(trace)
    assert trace.group is None


def test_offsets_go_with_their_topic() -> None:
    trace = Trace()
    committed(trace)
    committed(trace, PAYMENTS, at=1)
    trace.sees(PartitionsDeleted(group_id=GROUP, at_ms=trace.now_ms, partitions=(ORDERS,)))
    assert fetched(trace) == [FetchedOffset(PAYMENTS, 5)]


def test_an_operator_deletes_offsets() -> None:
    trace, (member,) = stable(None)
    for partition in (ORDERS, PAYMENTS):
        trace.written(trace.commit(member, generation=1, partition=partition))
    answer = delete_offsets(trace, ORDERS, PAYMENTS)
    assert answer.partitions == ((ORDERS, "GROUP_SUBSCRIBED_TO_TOPIC"), (PAYMENTS, "NONE"))
    trace.leave(member)
    assert delete_offsets(trace, ORDERS).partitions == ((ORDERS, "NONE"),)
    assert trace.group is None
    assert delete_offsets(trace, ORDERS).error == "GROUP_ID_NOT_FOUND"


def test_offsets_of_workers_are_deleted_only_when_they_are_gone() -> None:
    trace = Trace()
    trace.join(protocol_type="connect")
    assert delete_offsets(trace, ORDERS).error == "NON_EMPTY_GROUP"


def test_only_an_empty_group_is_deleted() -> None:
    trace, (member,) = stable(None)
    trace.written(trace.commit(member, generation=1))
    assert trace.delete() == "NON_EMPTY_GROUP"
    trace.leave(member)
    waiting = trace.commit(offset=8, partition=PAYMENTS)
    assert trace.delete() == "NONE"
    assert trace.commit_error(waiting) == "COORDINATOR_NOT_AVAILABLE"
    assert trace.appended().records == (
        OffsetRecord(GROUP, ORDERS, None),
        OffsetRecord(GROUP, PAYMENTS, None),
        GroupRecord(GROUP, None),
    )
    assert trace.delete() == "GROUP_ID_NOT_FOUND"


def test_what_operators_are_told() -> None:
    trace, (member,) = stable(None)
    assert trace.group is not None
    told = describe(GROUP, trace.group)
    assert (told.state, told.protocol_type, told.protocol) == ("Stable", "consumer", "range")
    assert told.members[0].metadata(told.protocol) == subscription("orders")
    assert is_in_states(trace.group, ["STABLE"]) and not is_in_states(trace.group, ["Empty"])
    trace.join()
    told = describe(GROUP, trace.group)
    assert (told.state, told.protocol) == ("PreparingRebalance", "")
    assert {(each.metadata(told.protocol), each.assignment) for each in told.members} == {(b"", b"")}
    assert describe(GROUP, None).state == "Dead"
    assert member


def test_a_group_lives_while_a_commit_is_on_its_way() -> None:
    trace = Trace()
    first, second = trace.commit(offset=5), trace.commit(offset=6)
    trace.written(second, base_offset=11)
    trace.now_ms += WEEK_MS
    check(trace)
    trace.written(first, base_offset=10)
    assert trace.commit_error(first) == "NONE"
    check(trace)
    assert trace.group is None
