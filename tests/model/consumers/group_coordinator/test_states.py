"""What each state answers to each request: the table of the classic protocol."""

from __future__ import annotations

import pytest

from model.consumers.group_coordinator.group import Group, GroupState
from model.consumers.group_coordinator.stored_formats import CoordinatorRole, partition_of, role_error
from tests.model.consumers.group_coordinator.traces import GROUP, Trace, settle, stable

EMPTY, PREPARING = GroupState.EMPTY, GroupState.PREPARING_REBALANCE
COMPLETING, STABLE, DEAD = GroupState.COMPLETING_REBALANCE, GroupState.STABLE, GroupState.DEAD


def in_state(state: GroupState) -> tuple[Trace, str]:
    """A group in that state, and a member of it (or who was one)."""
    trace, (leader, follower) = stable(None, None)
    if state is EMPTY:
        trace.leave(leader, follower)
    elif state is PREPARING:
        trace.join()
    elif state is COMPLETING:
        trace.join(leader)
        trace.join(follower)
    elif state is DEAD:
        trace.group = Group(GROUP, DEAD, generation=1)
    return trace, follower


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (EMPTY, "UNKNOWN_MEMBER_ID"),
        (PREPARING, "REBALANCE_IN_PROGRESS"),
        (COMPLETING, "NONE"),
        (STABLE, "NONE"),
        (DEAD, "COORDINATOR_NOT_AVAILABLE"),
    ],
)
def test_heartbeats(state: GroupState, error: str) -> None:
    trace, member = in_state(state)
    assert trace.state is state
    assert trace.heartbeat(member) == error


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (EMPTY, "UNKNOWN_MEMBER_ID"),
        (PREPARING, "REBALANCE_IN_PROGRESS"),
        (COMPLETING, None),
        (STABLE, "NONE"),
        (DEAD, "COORDINATOR_NOT_AVAILABLE"),
    ],
)
def test_syncs(state: GroupState, error: str | None) -> None:
    trace, member = in_state(state)
    request = trace.sync(member)
    assert trace.errors().get(request) == error


@pytest.mark.parametrize(
    ("state", "error", "then"),
    [
        (EMPTY, None, PREPARING),
        (PREPARING, None, PREPARING),
        (COMPLETING, None, PREPARING),
        (STABLE, None, PREPARING),
        (DEAD, "COORDINATOR_NOT_AVAILABLE", None),
    ],
)
def test_joins_of_newcomers(state: GroupState, error: str | None, then: GroupState | None) -> None:
    trace, _ = in_state(state)
    request = trace.join()
    assert trace.errors().get(request) == error
    assert (trace.group.state if trace.group else None) == then


@pytest.mark.parametrize(
    ("state", "error"),
    [(EMPTY, "UNKNOWN_MEMBER_ID"), (PREPARING, None), (COMPLETING, "NONE"), (STABLE, "NONE")],
)
def test_joins_of_followers_that_have_not_changed(state: GroupState, error: str | None) -> None:
    trace, member = in_state(state)
    request = trace.join(member)
    assert trace.errors().get(request) == error


@pytest.mark.parametrize(
    ("state", "by_member", "by_nobody"),
    [
        (EMPTY, "UNKNOWN_MEMBER_ID", None),
        (PREPARING, None, "UNKNOWN_MEMBER_ID"),
        (COMPLETING, "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID"),
        (STABLE, None, "UNKNOWN_MEMBER_ID"),
        (DEAD, "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_NOT_AVAILABLE"),
    ],
)
def test_commits(state: GroupState, by_member: str | None, by_nobody: str | None) -> None:
    for expected, who in ((by_member, "member"), (by_nobody, "nobody")):
        trace, member = in_state(state)
        by, generation = (member, trace.generation) if who == "member" else ("", -1)
        request = trace.commit(by, generation=generation)
        if expected is None:
            trace.written(request)
        assert trace.commit_error(request) == (expected or "NONE")


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (EMPTY, "NONE"),
        (PREPARING, "NON_EMPTY_GROUP"),
        (COMPLETING, "NON_EMPTY_GROUP"),
        (STABLE, "NON_EMPTY_GROUP"),
        (DEAD, "GROUP_ID_NOT_FOUND"),
    ],
)
def test_deletions(state: GroupState, error: str) -> None:
    trace, _ = in_state(state)
    assert trace.delete() == error


def test_leaving_a_group_that_is_not_known() -> None:
    assert Trace().leave("c-1") == ["UNKNOWN_MEMBER_ID"]


def test_the_last_member_leaves_an_empty_group_behind() -> None:
    trace, (leader, follower) = stable(None, None)
    trace.leave(leader)
    trace.join(follower)
    settle(trace, [follower])
    trace.leave(follower)
    assert trace.state is EMPTY
    assert trace.generation == 3
    (record,) = trace.appended().records
    assert record.group_id == GROUP


def test_groups_have_a_partition_by_the_hash_of_their_name() -> None:
    # Java: "polygenelubricants".hashCode() == Integer.MIN_VALUE.
    assert partition_of("polygenelubricants", 50) == 0
    assert partition_of("g-txn", 2) == 0
    assert [partition_of(name, 50) for name in ("", "a")] == [0, 47]


def test_who_is_no_coordinator_says_so() -> None:
    assert role_error("g", CoordinatorRole.COORDINATOR, needs_name=True) is None
    assert role_error("g", CoordinatorRole.LOADING, needs_name=True) == "COORDINATOR_LOAD_IN_PROGRESS"
    assert role_error("", CoordinatorRole.STRANGER, needs_name=True) == "INVALID_GROUP_ID"
    assert role_error("", CoordinatorRole.STRANGER, needs_name=False) == "NOT_COORDINATOR"
