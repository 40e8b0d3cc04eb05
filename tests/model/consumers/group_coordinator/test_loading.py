"""Groups from their records: the last of each key counts, and members get a whole session."""

from __future__ import annotations

from msgspec.structs import replace

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.coordinate import coordinate
from model.consumers.group_coordinator.events_and_commands import (
    AnswerCommit,
    AppendRecords,
    CoordinatorResigned,
    GroupLoaded,
)
from model.consumers.group_coordinator.group import CommittedOffset, Group, GroupSettings, GroupState
from model.consumers.group_coordinator.stored_formats import GroupRecord, OffsetRecord, OffsetsTopicRecord
from model.consumers.group_coordinator.stored_groups import LoadedRecords
from tests.model.consumers.group_coordinator.traces import GROUP, ORDERS, Trace, assignment, stable

OFFSET = CommittedOffset(offset=5, commit_ms=1)


def loaded(*records: OffsetsTopicRecord) -> dict[str, Group]:
    log = LoadedRecords()
    for number, record in enumerate(records):
        log.take(record, number)
    return {group.group_id: group for group in log.groups(7)}


def written(trace: Trace, record: type[GroupRecord]) -> GroupRecord:
    found = trace.appended().records[0]
    assert isinstance(found, record)
    return found


def test_a_group_survives_its_coordinator() -> None:
    trace, members = stable(None, "i-2")
    back = trace.join(instance_id="i-2", new_id="back")
    record = written(trace, GroupRecord)
    trace.written(back)
    moved = Trace(loaded(record)[GROUP])
    moved.now_ms = trace.now_ms + 100_000
    moved.sees(GroupLoaded(group_id=GROUP, at_ms=moved.now_ms))
    assert moved.state is GroupState.STABLE
    assert moved.generation == 1
    assert moved.heartbeat(members[0]) == "NONE"
    assert moved.heartbeat("i-2-back", instance_id="i-2") == "NONE"
    moved.sync("i-2-back", instance_id="i-2")
    assert moved.synced(moved.request).assignment == assignment("orders", 1)
    assert moved.group is not None and trace.group is not None and moved.group.owners == trace.group.owners
    moved.passes(9_999)
    assert moved.state is GroupState.STABLE
    moved.passes(1)
    assert moved.state is GroupState.EMPTY


def test_the_last_record_of_a_key_counts() -> None:
    groups = loaded(
        OffsetRecord("a", ORDERS, OFFSET),
        OffsetRecord("a", ORDERS, replace(OFFSET, offset=6)),
        OffsetRecord("b", ORDERS, OFFSET),
        OffsetRecord("b", ORDERS, None),
    )
    assert list(groups) == ["a"]
    assert groups["a"].offsets == {ORDERS: replace(OFFSET, offset=6, logged_at=1)}
    assert groups["a"].state is GroupState.EMPTY
    assert groups["a"].protocol_type is None


def test_an_empty_group_keeps_its_generation() -> None:
    trace, (member,) = stable(None)
    trace.leave(member)
    group = loaded(written(trace, GroupRecord))[GROUP]
    assert (group.state, group.generation, group.protocol_type) == (GroupState.EMPTY, 2, "consumer")
    assert loaded(written(trace, GroupRecord), GroupRecord(GROUP, None)) == {}


def test_offsets_of_transactions_count_when_they_are_committed() -> None:
    log = LoadedRecords()
    other = TopicPartition("orders", 1)
    log.take(OffsetRecord("a", ORDERS, OFFSET), 0, producer=4)
    log.take(OffsetRecord("a", other, OFFSET), 1, producer=5)
    log.take(OffsetRecord("a", TopicPartition("orders", 2), OFFSET), 2, producer=6)
    log.take(OffsetRecord("a", ORDERS, replace(OFFSET, offset=9)), 3)
    log.end_transaction(4, committed=True)
    log.end_transaction(5, committed=False)
    log.end_transaction(7, committed=True)
    (group,) = log.groups(7)
    assert group.offsets == {ORDERS: replace(OFFSET, offset=9, logged_at=3)}


def test_too_many_members_have_to_join_anew() -> None:
    trace, _ = stable(None, None)
    assert trace.group is not None
    decision = coordinate(trace.group, GroupLoaded(group_id=GROUP, at_ms=trace.now_ms), GroupSettings(group_max_size=1))
    assert decision.group.state is GroupState.PREPARING_REBALANCE


def test_who_waits_is_told_that_the_coordinator_is_another_one() -> None:
    trace, (leader, follower) = stable(None, None)
    joining = trace.join(leader)
    committing = trace.commit(follower, generation=1)
    trace.sees(CoordinatorResigned(group_id=GROUP, at_ms=trace.now_ms))
    assert trace.errors()[joining] == "NOT_COORDINATOR"
    assert trace.answer(committing) == AnswerCommit(committing, partitions=((ORDERS, "NOT_COORDINATOR"),))
    assert not any(isinstance(each, AppendRecords) for each in trace.commands)
    assert trace.group is None
