"""One thing after the other: what a member does about what happens, and what is left in ZooKeeper."""

from __future__ import annotations

import json

import pytest

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups import events_and_commands
from model.consumers.zookeeper_groups.events_and_commands import (
    AUTO_COMMIT,
    BACKOFF,
    REGISTRATION,
    AttemptFailed,
    RebalanceBegan,
)
from model.consumers.zookeeper_groups.member_state import MemberStage, new_consumer_id
from model.zookeeper import Create, SetData
from tests.model.consumers.zookeeper_groups.disagreements import consumed_twice, disagreements, waves
from tests.model.consumers.zookeeper_groups.virtual_group import Host, VirtualGroup

T0 = TopicPartition("t", 0)


def owned(host: Host) -> list[str]:
    return [str(read) for read in sorted(host.member.owned)]


def kinds(host: Host) -> list[str]:
    return [type(command).__name__ for command in host.done]


def why(host: Host) -> list[str]:
    return [told.why for told in host.told if isinstance(told, RebalanceBegan)]


def test_the_name_of_a_consumer_has_no_leading_zeros() -> None:
    assert new_consumer_id("g", "h-1", 1525747915346, 0x6B48FF32_11112222) == "g_h-1-1525747915346-6b48ff32"
    assert new_consumer_id("g", "h", 5, 0x00012345_6789ABCD) == "g_h-5-12345678"


def test_a_lone_member_registers_reads_claims_and_fetches() -> None:
    group = VirtualGroup({"t": 2}, records=5)
    a = group.join("a", subscription={"t": 3})
    group.settle()
    registration = json.loads(group.text("/consumers/g/ids/g_a"))
    assert registration == {"version": 1, "subscription": {"t": 3}, "pattern": "static", "timestamp": "1000"}
    assert group.owners() == {"t-0": "a-0", "t-1": "a-1"}
    asked = [str(c.stage) for c in a.done if isinstance(c, events_and_commands.AskZooKeeper)]
    assert asked == [
        *("registering", "subscribing", "reading-self", "reading-members", "reading-registrations"),
        *("reading-topics", "claiming", "claiming", "reading-offsets"),  # the second with the directories
    ]
    assert a.done[-1] == events_and_commands.StartFetching(
        {read: events_and_commands.FetchPosition(thread, -1) for read, thread in a.member.owned.items()}
    )
    group.check_at_rest()


def test_everybody_rebalances_when_one_joins_and_the_one_who_comes_has_to_wait() -> None:
    group = VirtualGroup({"t": 4})
    a = group.join("a")
    group.settle()
    group.now_ms += 1
    b = group.join("b")
    while b.member.stage is not MemberStage.BACKING_OFF:  # a does nothing meanwhile
        b.take() if b.inbox else b.send()
    assert [(str(c.partition), c.thread, c.owner) for c in b.member.conflicts] == [
        ("t-2", "g_b-0", "g_a-0"),
        ("t-3", "g_b-0", "g_a-0"),
    ]
    (split, _) = disagreements([a.member, b.member])
    assert split.owners == {"g_a-0": ("g_a",), "g_b-0": ("g_b",)}
    group.settle()
    group.check_at_rest()
    assert not disagreements([a.member, b.member])
    assert group.owners() == {"t-0": "a-0", "t-1": "a-0", "t-2": "b-0", "t-3": "b-0"}
    assert why(a) == ["it joins", "members have come or gone"]
    (_, wave) = waves([a.member, b.member])
    assert (wave.rebalances.keys(), wave.attempts, wave.conflicts) == ({"g_a", "g_b"}, 3, 2)
    assert [list(map(str, each.lost)) for each in wave.rebalances["g_a"]] == [["t-2", "t-3"]]


def test_it_stops_commits_and_only_then_lets_go() -> None:
    group = VirtualGroup({"t": 1}, records=5)
    a = group.join("a")
    group.settle()
    a.read(3)
    group.put_topic("t", 2, 5)
    a.done.clear()
    group.settle()
    assert kinds(a)[2:5] == ["StopFetching", "AskZooKeeper", "AskZooKeeper"]
    stages = [c.stage for c in a.done if isinstance(c, events_and_commands.AskZooKeeper)]
    assert stages[:4] == [
        MemberStage.SIDE_WATCH,
        MemberStage.READING_SELF,
        MemberStage.COMMITTING,
        MemberStage.RELEASING,
    ]
    assert group.offset(T0) == 3
    assert why(a)[1:] == ["partitions of t have changed"]
    assert a.positions == {T0: 3, TopicPartition("t", 1): 0}


def test_changes_meanwhile_become_one_more_rebalance() -> None:
    group = VirtualGroup({"t": 4})
    a = group.join("a")
    group.settle()
    group.put_topic("t", 5)
    while a.member.stage is not MemberStage.READING_OFFSETS:
        a.take() if a.inbox else a.send()
    for partitions in (6, 7, 8):
        group.put_topic("t", partitions)
    group.join("b")
    group.settle()
    group.check_at_rest()
    assert len(why(a)) in (3, 4)  # it joins, the fifth partition, and then all that came meanwhile


def test_attempts_end_and_whoever_could_not_join_gives_up() -> None:
    group = VirtualGroup({"t": 1})
    for path in ("/consumers", "/consumers/g", "/consumers/g/owners", "/consumers/g/owners/t"):
        group.ask(group.admin, Create(path))
    group.ask(group.admin, Create("/consumers/g/owners/t/0", b"somebody-0"))
    a = group.join("a", rebalance_max_retries=3)
    group.settle()
    failures = [told for told in a.told if isinstance(told, AttemptFailed)]
    assert [(told.attempt, told.retries_left) for told in failures] == [(1, 2), (2, 1), (3, 0)]
    why_not = "can't rebalance after 3 retries: partitions still belong to others"
    assert a.done[-1] == events_and_commands.GiveUp(why_not)
    assert not a.alive


def test_an_offset_that_is_none_gives_all_claims_back() -> None:
    group = VirtualGroup({"t": 2})
    for path in ("/consumers", "/consumers/g", "/consumers/g/offsets", "/consumers/g/offsets/t"):
        group.ask(group.admin, Create(path))
    group.ask(group.admin, Create("/consumers/g/offsets/t/1", b"many"))
    a = group.join("a", rebalance_max_retries=1)
    group.settle()
    assert a.member.rebalances[0].failures[0].startswith("the offset of t-1 ")
    assert group.owners() == {}


def test_who_has_joined_survives_a_rebalance_that_fails_for_good() -> None:
    group = VirtualGroup({"t": 2})
    a = group.join("a", rebalance_max_retries=2)
    group.settle()
    group.ask(group.admin, SetData("/brokers/topics/t", b"no topic"))
    group.settle()
    assert (a.alive, a.member.stage, owned(a)) == (True, MemberStage.IDLE, [])
    assert a.member.rebalances[-1].failures[0].startswith("topic t ")
    group.put_topic("t", 2)
    group.settle()
    group.check_at_rest()


def test_without_brokers_it_waits_for_one() -> None:
    group = VirtualGroup({}, brokers=0)
    a = group.join("a", subscription={"t": 1}, pattern="white_list")
    group.settle()
    assert owned(a) == []
    group.put_topic("t", 1)
    group.settle()
    assert owned(a) == []
    group.ask(group.admin, Create("/brokers/ids/1"))
    group.settle()
    assert why(a) == ["it joins", "the topics that its pattern allows have changed", "brokers have come"]
    group.check_at_rest()


def test_a_white_list_follows_the_topics_that_come_and_go() -> None:
    group = VirtualGroup({"logs-a": 1, "other": 1, "__consumer_offsets": 1})
    a = group.join("a", subscription={"logs-.*": 2}, pattern="white_list")
    b = group.join("b", subscription={"logs-.*, __consumer_offsets": 1}, pattern="black_list")
    group.settle()
    assert group.owners() == {"logs-a-0": "a-0", "other-0": "b-0"}
    before = len(why(b))
    group.put_topic("logs-b", 2)
    group.settle()
    assert owned(a) == ["logs-a-0", "logs-b-0", "logs-b-1"]
    assert len(why(b)) == before
    group.delete("/brokers/topics/logs-a")
    group.settle()
    assert owned(a) == ["logs-b-0", "logs-b-1"]


def test_a_static_topic_is_waited_for_and_its_end_is_no_reason() -> None:
    group = VirtualGroup({})
    a = group.join("a")
    group.settle()
    assert owned(a) == []
    group.put_topic("t", 1)
    group.settle()
    assert owned(a) == ["t-0"]
    group.delete("/brokers/topics/t")
    group.settle()
    assert len(why(a)) == 2
    assert owned(a) == ["t-0"]


def test_an_id_of_an_earlier_life_is_waited_out() -> None:
    group = VirtualGroup({"t": 1})
    before = group.join("a")
    group.settle()
    before.alive = False
    group.now_ms += 1
    again = group.join("a")
    while again.inbox or again.outbox:
        again.take() if again.inbox else again.send()
    assert again.member.stage is MemberStage.REGISTERED_BEFORE
    before.kill()
    assert again.timers[REGISTRATION] == 6_000
    group.settle()
    group.check_at_rest()


def test_a_claim_whose_answer_was_lost_is_its_own() -> None:
    group = VirtualGroup({"t": 1})
    a = group.join("a")
    while a.member.stage is not MemberStage.CLAIMING:
        a.take() if a.inbox else a.send()
    for path in ("/consumers/g/owners", "/consumers/g/owners/t"):
        group.ask(group.admin, Create(path))
    group.ask(a.session, Create("/consumers/g/owners/t/0", b"g_a-0", ephemeral=True))
    group.settle()
    assert a.member.conflicts == ()
    group.check_at_rest()


def test_the_old_round_robin_balances_no_group_of_unequal_threads() -> None:
    group = VirtualGroup({"t": 2, "u": 2})
    more = {"strategy": "zk-roundrobin", "rebalance_max_retries": 1}
    a = group.join("a", subscription={"t": 1, "u": 1}, **more)
    group.settle()
    b = group.join("b", subscription={"t": 1}, **more)
    group.settle()
    (failed,) = (told for told in b.told if isinstance(told, AttemptFailed))
    assert "topics t and u are not consumed by the same threads" in failed.why
    assert not b.alive
    assert len(owned(a)) == 4  # the one who could not join has left


def test_offsets_go_out_by_time_only_where_they_differ_and_by_hand_at_any_time() -> None:
    group = VirtualGroup({"t": 2}, records=9)
    a = group.join("a", auto_commit_interval_ms=700)
    group.settle()
    assert a.timers == {AUTO_COMMIT: 700}
    a.read(4)
    a.done.clear()
    for _ in range(2):
        a.fire(AUTO_COMMIT)
        group.settle()
    asked = [c for c in a.done if isinstance(c, events_and_commands.AskZooKeeper)]
    assert [c.offsets for c in asked] == [{T0: 4, TopicPartition("t", 1): 4}]
    assert kinds(a).count("StartTimer") == 2
    a.read(1)
    a.put(events_and_commands.CommitRequested)
    group.settle()
    assert group.offset(T0) == 5
    group.delete("/consumers/g/offsets/t/0")
    a.put(events_and_commands.CommitRequested, offsets={T0: 2})
    group.settle()
    assert T0 not in a.member.committed  # it was gone; the next commit makes it anew
    a.put(events_and_commands.CommitRequested, offsets={T0: 2})
    group.settle()
    assert group.offset(T0) == 2


def test_without_auto_commit_nothing_is_written_and_the_next_owner_begins_again() -> None:
    group = VirtualGroup({"t": 1}, records=9)
    a = group.join("a", auto_commit_enable=False)
    group.settle()
    a.read(5)
    a.put(events_and_commands.LeaveRequested)
    group.settle()
    b = group.join("b")
    group.settle()
    assert AUTO_COMMIT not in a.timers
    assert b.positions == {T0: 0}


def test_the_application_has_its_say_before_release_and_before_start() -> None:
    group = VirtualGroup({"t": 2})
    a = group.join("a", call_back=True)
    a.hold_callbacks = True
    group.settle()
    a.put(events_and_commands.CallbackReturned)
    group.settle()
    called = [command for command in a.done if isinstance(command, events_and_commands.CallBack)]
    assert called[0] == events_and_commands.CallBack("release", {})
    assert called[1] == events_and_commands.CallBack("start", a.member.view.owners if a.member.view else {})
    assert a.member.stage is MemberStage.CALLING_BEFORE_START
    assert group.owners() == {"t-0": "a-0", "t-1": "a-0"}
    assert not a.positions
    a.put(events_and_commands.CallbackReturned)
    group.settle()
    group.check_at_rest()


def test_leaving_commits_first_and_another_takes_over() -> None:
    group = VirtualGroup({"t": 1}, records=9)
    a, b = group.join("a"), group.join("b")
    group.settle()
    a.read(6)
    a.put(events_and_commands.LeaveRequested)
    group.settle()
    assert kinds(a)[-1] == "CloseSession"
    assert b.positions == {T0: 6}
    group.check_at_rest()


def test_a_session_that_ends_splits_the_group_until_its_member_knows() -> None:
    group = VirtualGroup({"t": 2}, records=9)
    a, b = group.join("a"), group.join("b")
    group.settle()
    a.read(2)
    a.expire()
    group.settle()
    assert a.member.stage is MemberStage.AWAITING_SESSION
    assert consumed_twice([a.member, b.member]) == {T0: ("g_a-0", "g_b-0")}
    assert b.positions[T0] == 0  # what a took was not committed: b takes it again
    a.reconnect()
    group.settle()
    group.check_at_rest()
    assert consumed_twice([a.member, b.member]) == {}
    assert why(a)[-1] == "a new session"


@pytest.mark.parametrize(
    "stage", [MemberStage.STOPPING, MemberStage.READING_TOPICS, MemberStage.CLAIMING, MemberStage.BACKING_OFF]
)
def test_leaving_at_any_moment_leaves_nothing(stage: MemberStage) -> None:
    group = VirtualGroup({"t": 2})
    a = group.join("a")
    group.settle()
    b = group.join("b")
    while b.member.stage is not stage:
        b.take() if b.inbox else b.send()
    b.put(events_and_commands.LeaveRequested)
    if BACKOFF in b.timers:
        b.fire(BACKOFF)
    group.settle()
    assert not b.alive
    assert group.names("/consumers/g/ids") == ("g_a",)
    assert owned(a) == ["t-0", "t-1"]


def test_late_events_change_nothing() -> None:
    group = VirtualGroup({"t": 1})
    a = group.join("a")
    group.settle()
    rest, stale = a.member, events_and_commands.AskZooKeeper(MemberStage.CLAIMING, a.member.asked, ())
    for kind, facts in (
        (events_and_commands.ZooKeeperAnswered, {"asked": stale, "answers": ()}),
        (events_and_commands.TimerFired, {"timer": BACKOFF}),
        (events_and_commands.CallbackReturned, {}),
        (events_and_commands.SessionEstablished, {}),
        (events_and_commands.MemberStarted, {}),
        (events_and_commands.RecordsConsumed, {"offsets": {TopicPartition("u", 0): 3}}),
        (events_and_commands.WatchFired, {"path": "/consumers/other/ids"}),
    ):
        a.put(kind, **facts)
        a.take()
    assert a.member == rest
