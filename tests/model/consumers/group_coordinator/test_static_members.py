"""Static members (KIP-345) as traces: they come back without a rebalance, and who was before them is fenced."""

from __future__ import annotations

from model.consumers.group_coordinator.events_and_commands import JoinedMember, LeavingMember
from model.consumers.group_coordinator.group import GroupState
from model.consumers.group_coordinator.stored_formats import GroupRecord
from tests.model.consumers.group_coordinator.traces import Trace, assignment, stable, subscription


def test_a_follower_comes_back_with_what_it_had() -> None:
    trace, (leader, old) = stable("i-1", "i-2")
    back = trace.join(instance_id="i-2", new_id="back")
    assert trace.answers() == []
    (record,) = trace.appended().records
    assert isinstance(record, GroupRecord) and record.value is not None
    assert [each.member_id for each in record.value.members] == [leader, "i-2-back"]
    trace.written(back)
    answer = trace.joined(back)
    assert (answer.error, answer.member_id, answer.generation, answer.leader) == ("NONE", "i-2-back", 1, leader)
    assert trace.state is GroupState.STABLE
    trace.sync("i-2-back", instance_id="i-2")
    assert trace.synced(trace.request).assignment == assignment("orders", 1)
    assert trace.heartbeat(old, instance_id="i-2") == "FENCED_INSTANCE_ID"


def test_a_leader_comes_back_and_skips_the_assignment() -> None:
    trace, (_, follower) = stable("i-1", "i-2")
    back = trace.join(instance_id="i-1", new_id="back")
    trace.written(back)
    answer = trace.joined(back)
    assert answer.skip_assignment
    assert answer.leader == answer.member_id == "i-1-back"
    assert JoinedMember(follower, "i-2", subscription("orders")) in answer.members


def test_an_old_client_that_led_is_told_of_its_former_self() -> None:
    trace, (old, _) = stable("i-1", "i-2")
    back = trace.join(instance_id="i-1", v9=False)
    trace.written(back)
    answer = trace.joined(back)
    assert (answer.leader, answer.skip_assignment, answer.members) == (old, False, ())


def test_another_protocol_makes_a_rebalance() -> None:
    trace, members = stable("i-1")
    back = trace.join(
        instance_id="i-1", protocols=[("roundrobin", subscription("orders")), ("range", subscription("orders"))]
    )
    assert trace.joined(back).protocol == "roundrobin"
    assert trace.generation == 2
    assert members == ["i-1-1"]


def test_what_the_former_one_waits_for_is_fenced() -> None:
    trace, (leader, old) = stable("i-1", "i-2")
    trace.join(instance_id="i-3")
    waiting = trace.join(old, instance_id="i-2")
    trace.join(instance_id="i-2", new_id="back")
    assert trace.errors() == {waiting: "FENCED_INSTANCE_ID"}
    trace.join(leader, instance_id="i-1")
    assert trace.generation == 2
    assert trace.group is not None and "i-2-back" in trace.group.members


def test_while_the_assignment_is_waited_for_a_new_id_makes_a_rebalance() -> None:
    trace = Trace()
    trace.join(instance_id="i-1")
    trace.passes(3_000)
    waiting = trace.sync("i-1-1", {"i-1-1": b"1"})
    trace.join(instance_id="i-1", new_id="back")
    assert trace.errors()[waiting] == "FENCED_INSTANCE_ID"
    assert trace.generation == 2
    trace.written(waiting)
    assert trace.state is GroupState.COMPLETING_REBALANCE


def test_a_new_id_that_cannot_be_written_is_taken_back() -> None:
    trace, (old,) = stable("i-1")
    back = trace.join(instance_id="i-1", new_id="back")
    trace.written(back, "NOT_LEADER_OR_FOLLOWER")
    assert trace.errors() == {back: "NOT_COORDINATOR"}
    assert trace.heartbeat(old, instance_id="i-1") == "NONE"
    assert trace.group is not None and trace.group.leader == old


def test_a_rebalance_may_begin_before_the_new_id_is_written() -> None:
    trace, (leader, _) = stable("i-1", "i-2")
    back = trace.join(instance_id="i-2", new_id="back")
    newcomer = trace.join()
    trace.written(back)
    assert trace.answers() == []
    last = trace.join(leader, instance_id="i-1")
    assert {trace.joined(each).generation for each in (back, newcomer, last)} == {2}


def test_unknown_instances_and_other_ids_are_refused() -> None:
    trace, (member,) = stable("i-1")
    assert trace.heartbeat(member, instance_id="i-9") == "UNKNOWN_MEMBER_ID"
    assert trace.heartbeat("i-1-other", instance_id="i-1") == "FENCED_INSTANCE_ID"
    trace.join("i-1-other", instance_id="i-1")
    assert trace.errors() == {trace.request: "FENCED_INSTANCE_ID"}
    trace.sync("i-1-other", instance_id="i-1")
    assert trace.errors() == {trace.request: "FENCED_INSTANCE_ID"}
    trace.commit("i-1-other", instance_id="i-1", generation=1)
    assert trace.commit_error() == "FENCED_INSTANCE_ID"


def test_operators_remove_members_by_instance() -> None:
    trace, members = stable("i-1", "i-2", None)
    errors = trace.leave(
        LeavingMember(instance_id="i-2", why="scaled in"),
        LeavingMember(instance_id="i-9"),
        LeavingMember(members[2]),
        LeavingMember("c-7"),
        LeavingMember("other", "i-1"),
    )
    assert errors == ["NONE", "UNKNOWN_MEMBER_ID", "NONE", "UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"]
    assert trace.group is not None and list(trace.group.members) == [members[0]]
    assert trace.group.rebalance is not None and trace.group.rebalance.why == "member i-2 left (scaled in)"
