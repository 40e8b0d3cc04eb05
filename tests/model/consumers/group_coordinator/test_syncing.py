"""SyncGroup and heartbeats as traces: the assignment is handed out when it is in the log."""

from __future__ import annotations

from model.consumers.group_coordinator.events_and_commands import AnswerSync
from model.consumers.group_coordinator.group import GroupState
from model.consumers.group_coordinator.stored_formats import GroupRecord, StoredMember
from tests.model.consumers.group_coordinator.traces import (
    REBALANCE_MS,
    SESSION_MS,
    Trace,
    assignment,
    settle,
    stable,
    subscription,
)


def completing(*instances: str | None) -> tuple[Trace, list[str]]:
    trace = Trace()
    requests = [trace.join(instance_id=each) for each in instances]
    trace.passes(3_000)
    trace.passes(3_000)
    return trace, [trace.joined(request).member_id for request in requests]


def test_everybody_gets_its_part_when_the_assignment_is_written() -> None:
    trace, (leader, follower) = completing(None, None)
    waiting = trace.sync(follower)
    brought = trace.sync(leader, {leader: assignment("orders", 0), follower: assignment("orders", 1)})
    assert trace.answers() == []
    append = trace.appended()
    assert append.request == brought
    (record,) = append.records
    assert isinstance(record, GroupRecord) and record.value is not None
    assert record.value.generation == 1
    assert record.value.leader == leader
    assert record.value.members[1] == StoredMember(
        member_id=follower,
        client_id="c",
        client_host="/127.0.0.1",
        rebalance_timeout_ms=REBALANCE_MS,
        session_timeout_ms=SESSION_MS,
        subscription=subscription("orders"),
        assignment=assignment("orders", 1),
    )
    trace.written(brought)
    assert trace.synced(waiting) == AnswerSync(
        waiting, protocol_type="consumer", protocol="range", assignment=assignment("orders", 1)
    )
    assert trace.synced(brought).assignment == assignment("orders", 0)
    assert trace.state is GroupState.STABLE


def test_a_member_that_syncs_late_gets_its_part_at_once() -> None:
    trace, (leader, follower) = completing(None, None)
    trace.written(trace.sync(leader, {follower: assignment("orders", 1)}))
    trace.sync(follower)
    assert trace.synced(trace.request).assignment == assignment("orders", 1)


def test_who_is_left_out_by_the_leader_gets_nothing() -> None:
    trace, (leader, follower) = completing(None, None)
    waiting = trace.sync(follower)
    trace.written(trace.sync(leader, {leader: b"all"}))
    assert trace.synced(waiting).assignment == b""
    assert any("left out c-2" in reason for reason in trace.reasons)


def test_wrong_generations_and_protocols_are_refused() -> None:
    trace, (leader,) = completing(None)
    trace.sync(leader, generation=7)
    assert trace.errors() == {trace.request: "ILLEGAL_GENERATION"}
    trace.sync(leader, protocol="roundrobin")
    assert trace.errors() == {trace.request: "INCONSISTENT_GROUP_PROTOCOL"}
    trace.sync("c-7")
    assert trace.errors() == {trace.request: "UNKNOWN_MEMBER_ID"}


def test_a_write_that_fails_ends_in_another_rebalance() -> None:
    trace, (leader, follower) = completing(None, None)
    waiting = trace.sync(follower)
    brought = trace.sync(leader, {leader: b"1", follower: b"2"})
    trace.written(brought, "NOT_ENOUGH_REPLICAS")
    assert trace.errors() == {waiting: "COORDINATOR_NOT_AVAILABLE", brought: "COORDINATOR_NOT_AVAILABLE"}
    assert trace.state is GroupState.PREPARING_REBALANCE


def test_an_assignment_that_is_written_too_late_is_worth_nothing() -> None:
    trace, (leader, follower) = completing(None, None)
    waiting = trace.sync(follower)
    brought = trace.sync(leader, {leader: b"1", follower: b"2"})
    trace.join()
    assert trace.errors() == {waiting: "REBALANCE_IN_PROGRESS", brought: "REBALANCE_IN_PROGRESS"}
    trace.written(brought)
    assert trace.commands == ()
    assert trace.group is not None
    assert {each.assignment for each in trace.group.members.values()} == {b""}
    assert trace.group.past[-1].completed is False


def test_who_does_not_ask_for_its_part_is_dropped() -> None:
    trace, (leader, follower) = completing(None, None)
    trace.written(trace.sync(leader, {leader: b"1"}))
    for _ in range(7):
        trace.passes(9_000)
        trace.heartbeat(leader)
        if trace.state is GroupState.STABLE:
            trace.heartbeat(follower)
    assert trace.state is GroupState.PREPARING_REBALANCE
    assert trace.group is not None and list(trace.group.members) == [leader]
    assert any("c-2 did not ask for an assignment" in reason for reason in trace.reasons)


def test_a_sync_that_is_asked_again_answers_the_first_one() -> None:
    trace, (_, follower) = completing(None, None)
    first = trace.sync(follower)
    trace.sync(follower)
    assert trace.errors() == {first: "REBALANCE_IN_PROGRESS"}


def test_heartbeats_by_state() -> None:
    trace, members = completing(None, None)
    assert trace.heartbeat(members[0]) == "NONE"
    settle(trace, members)
    assert trace.heartbeat(members[0]) == "NONE"
    assert trace.heartbeat(members[0], generation=0) == "ILLEGAL_GENERATION"
    assert trace.heartbeat("c-7") == "UNKNOWN_MEMBER_ID"
    trace.join()
    assert trace.heartbeat(members[0]) == "REBALANCE_IN_PROGRESS"


def test_a_silent_member_is_removed_and_the_others_share() -> None:
    trace, (leader, follower) = stable(None, None)
    trace.passes(5_000)
    trace.heartbeat(leader)
    trace.passes(5_000)
    assert trace.state is GroupState.PREPARING_REBALANCE
    assert trace.reasons[-1] == f"Group g: member {follower} left (session timed out): rebalancing after generation 1."
    trace.join(leader)
    assert trace.generation == 2


def test_who_waits_for_an_answer_does_not_time_out() -> None:
    trace, (leader, follower) = completing(None, None)
    waiting = trace.sync(follower)
    for _ in range(3):
        trace.passes(9_000)
        trace.heartbeat(leader)
    assert trace.given.get(waiting) is None
    assert trace.group is not None and len(trace.group.members) == 2


def test_the_history_says_when_why_how_long_and_how_much() -> None:
    trace, (first, second) = stable(None, None)
    began_ms = trace.now_ms
    trace.leave(first)
    trace.passes(700)
    trace.join(second)
    trace.written(trace.sync(second, {second: assignment("orders", 0, 1)}))
    assert trace.group is not None
    past = trace.group.past[-1]
    assert (past.began_ms, past.took_ms, past.generation) == (began_ms, 700, 2)
    assert past.why == f"member {first} left (it says so)"
    assert past.members == (second,)
    assert past.moved_partitions == 1
    assert trace.reasons[-1] == ("Group g: generation 2 is stable after 700 ms: 1 member with 2 partitions, 1 moved.")


def test_the_history_is_bounded() -> None:
    trace, (leader,) = stable(None)
    for _ in range(60):
        trace.join(leader)
        settle(trace, [leader])
    assert trace.group is not None
    assert [past.generation for past in trace.group.past] == list(range(12, 62))


def test_partitions_that_move_in_two_steps_are_counted() -> None:
    """As cooperative members do it: given up in one rebalance, taken in the next."""
    trace, (first, second) = stable(None, None)
    trace.join(first)
    trace.join(second)
    trace.written(trace.sync(first, {first: b"", second: assignment("orders", 1)}))
    trace.join(first)
    trace.join(second)
    trace.written(trace.sync(first, {second: assignment("orders", 0, 1)}))
    assert trace.group is not None
    assert [past.moved_partitions for past in trace.group.past] == [0, 0, 1]
