"""JoinGroup as traces: who has to wait, who is answered at once, and with what."""

from __future__ import annotations

import msgspec
import pytest

from model.consumers.group_coordinator.events_and_commands import AnswerJoin, JoinedMember
from model.consumers.group_coordinator.group import GroupSettings, GroupState
from tests.model.consumers.group_coordinator.traces import SETTINGS, Trace, settle, stable, subscription

ROUND_ROBIN = ("roundrobin", subscription("orders"))
RANGE = ("range", subscription("orders"))


def test_the_first_member_waits_for_others_and_leads() -> None:
    trace = Trace()
    first = trace.join()
    assert trace.commands == ()
    assert trace.state is GroupState.PREPARING_REBALANCE
    trace.passes(3_000)
    assert trace.joined(first) == AnswerJoin(
        first,
        member_id="c-1",
        generation=1,
        protocol_type="consumer",
        protocol="range",
        leader="c-1",
        members=(JoinedMember("c-1", None, subscription("orders")),),
    )
    assert trace.state is GroupState.COMPLETING_REBALANCE


def test_newcomers_make_the_first_delay_longer_up_to_the_rebalance_timeout() -> None:
    trace = Trace()
    trace.join(rebalance_ms=7_000)
    for _ in range(2):
        trace.passes(2_000)
        trace.join(rebalance_ms=7_000)
        trace.passes(1_000)
        assert trace.answers() == []
    trace.passes(1_000)  # 7 s are over
    assert len(trace.answers()) == 3
    assert trace.generation == 1


def test_only_the_leader_learns_of_the_members() -> None:
    trace = Trace()
    requests = [trace.join(), trace.join()]
    trace.passes(3_000)
    trace.passes(3_000)
    first, second = map(trace.joined, requests)
    assert [each.member_id for each in first.members] == ["c-1", "c-2"]
    assert second.members == ()
    assert second.leader == first.member_id


def test_a_member_is_given_an_id_before_it_joins() -> None:
    trace = Trace()
    first = trace.join(v4=True)
    assert trace.answers() == [AnswerJoin(first, "MEMBER_ID_REQUIRED", member_id="c-1")]
    assert trace.state is GroupState.EMPTY
    trace.join("c-1", v4=True)
    assert trace.answers() == []
    assert trace.state is GroupState.PREPARING_REBALANCE


def test_an_id_that_is_not_used_expires_and_is_waited_for_until_then() -> None:
    trace, (leader,) = stable(None)
    trace.join(v4=True)
    trace.join(leader)
    assert trace.answers() == []
    trace.passes(9_999)
    assert trace.answers() == []
    trace.passes(1)
    assert trace.joined(trace.request).generation == 2
    trace.join("c-2", v4=True)
    assert trace.errors() == {trace.request: "UNKNOWN_MEMBER_ID"}


@pytest.mark.parametrize(
    ("session_ms", "error"), [(5_999, "INVALID_SESSION_TIMEOUT"), (1_800_001, "INVALID_SESSION_TIMEOUT")]
)
def test_session_timeouts_out_of_bounds_are_refused(session_ms: int, error: str) -> None:
    trace = Trace()
    trace.join(session_ms=session_ms)
    assert trace.errors() == {1: error}
    assert trace.group is None


def test_a_member_needs_a_protocol_that_all_others_have() -> None:
    trace, _ = stable(None)
    trace.join(protocols=[ROUND_ROBIN])
    assert trace.errors() == {trace.request: "INCONSISTENT_GROUP_PROTOCOL"}
    trace.join(protocol_type="connect")
    assert trace.errors() == {trace.request: "INCONSISTENT_GROUP_PROTOCOL"}


def test_an_empty_group_needs_some_protocol() -> None:
    trace = Trace()
    trace.join(protocols=[])
    assert trace.errors() == {1: "INCONSISTENT_GROUP_PROTOCOL"}


def test_the_protocol_is_voted_for() -> None:
    trace = Trace()
    requests = [
        trace.join(protocols=[RANGE, ROUND_ROBIN]),
        trace.join(protocols=[ROUND_ROBIN, RANGE]),
        trace.join(protocols=[("sticky", b""), ROUND_ROBIN, RANGE]),
    ]
    trace.passes(3_000)
    trace.passes(3_000)
    assert {trace.joined(request).protocol for request in requests} == {"roundrobin"}


def test_an_unknown_member_is_sent_away() -> None:
    trace = Trace()
    trace.join("c-7")
    assert trace.errors() == {1: "UNKNOWN_MEMBER_ID"}
    assert trace.group is None


def test_a_newcomer_in_a_stable_group_makes_all_join_anew() -> None:
    trace, members = stable(None, None)
    newcomer = trace.join()
    assert trace.answers() == []
    assert [trace.heartbeat(member) for member in members] == ["REBALANCE_IN_PROGRESS"] * 2
    waiting = [trace.join(member) for member in members]
    assert set(trace.errors()) == {newcomer, *waiting}
    assert trace.generation == 2
    assert trace.reasons[-2].startswith("Group g: member c-") and "rebalancing after generation 1" in trace.reasons[-2]


def test_a_follower_that_comes_again_unchanged_gets_the_generation_there_is() -> None:
    trace, (leader, follower) = stable(None, None)
    trace.join(follower)
    assert trace.joined(trace.request).generation == 1
    assert trace.state is GroupState.STABLE
    trace.join(follower, protocols=[("range", subscription("payments"))])
    assert trace.state is GroupState.PREPARING_REBALANCE
    trace.join(leader)
    assert trace.generation == 2


def test_the_leader_rebalances_by_joining_again() -> None:
    trace, members = stable(None, None)
    trace.join(members[0])
    assert trace.state is GroupState.PREPARING_REBALANCE


def test_who_lost_its_answer_while_the_assignment_is_waited_for_gets_it_again() -> None:
    trace = Trace()
    first = trace.join()
    trace.passes(3_000)
    member = trace.joined(first).member_id
    again = trace.join(member)
    assert trace.joined(again) == msgspec.structs.replace(trace.joined(again), request=again, generation=1)
    assert trace.state is GroupState.COMPLETING_REBALANCE
    trace.join(member, protocols=[ROUND_ROBIN, RANGE])
    assert trace.generation == 2


def test_a_join_that_is_asked_again_while_it_waits_answers_the_first_one() -> None:
    trace, members = stable(None, None)
    first = trace.join(members[0])
    trace.join(members[0])
    assert trace.errors() == {first: "REBALANCE_IN_PROGRESS"}


def test_who_does_not_join_in_time_is_dropped() -> None:
    trace, (leader, follower) = stable(None, None)
    waiting = trace.join(follower, protocols=[ROUND_ROBIN, RANGE])
    trace.passes(9_000)
    assert trace.heartbeat(leader) == "REBALANCE_IN_PROGRESS"
    for _ in range(6):
        trace.passes(9_000)
        if trace.generation == 1:
            trace.heartbeat(leader)
    answer = trace.group
    assert answer is not None and list(answer.members) == [follower]
    assert answer.leader == follower
    assert waiting


def test_static_members_that_do_not_join_stay_until_their_session_ends() -> None:
    trace, (leader, follower) = stable("i-1", "i-2")
    trace.join(leader, instance_id="i-1")
    for _ in range(7):
        trace.passes(9_000)
        trace.heartbeat(follower, instance_id="i-2")
    assert trace.generation == 2
    assert trace.group is not None and set(trace.group.members) == {leader, follower}


def test_a_leader_that_did_not_join_is_replaced_by_who_did() -> None:
    trace, (leader, follower) = stable("i-1", "i-2")
    waiting = trace.join(follower, instance_id="i-2", protocols=[ROUND_ROBIN, RANGE])
    while trace.generation == 1:
        trace.heartbeat(leader, instance_id="i-1")
        trace.passes(9_000)
    assert trace.joined(waiting).leader == follower


def test_a_full_group_takes_nobody_else() -> None:
    settings = GroupSettings(group_max_size=1)
    trace = Trace(settings=settings)
    first = trace.join()
    refused = trace.join()
    assert trace.errors() == {refused: "GROUP_MAX_SIZE_REACHED"}
    trace.passes(3_000)
    member = trace.joined(first).member_id
    settle(trace, [member])
    trace.join()
    assert trace.errors() == {trace.request: "GROUP_MAX_SIZE_REACHED"}
    assert trace.state is GroupState.STABLE


def test_a_newcomer_that_waits_too_long_is_given_up() -> None:
    trace, (leader,) = stable(None)
    newcomer = trace.join(rebalance_ms=600_000)
    for _ in range(34):
        trace.heartbeat(leader)
        trace.passes(9_000)
        if trace.answers():
            break
    assert trace.errors() == {newcomer: "UNKNOWN_MEMBER_ID"}


def test_no_delay_at_all_still_leaves_the_answer_to_time() -> None:
    trace = Trace(settings=msgspec.structs.replace(SETTINGS, group_initial_rebalance_delay_ms=0))
    first = trace.join()
    trace.passes(0)
    assert trace.joined(first).generation == 1
