"""Any history of a group: one leader, generations that only grow, shares for all, and every request answered once."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.events_and_commands import (
    AnswerJoin,
    CoordinatorResigned,
    LeavingMember,
    OffsetsChecked,
)
from model.consumers.group_coordinator.group import Group, GroupSettings, GroupState
from tests.model.consumers.group_coordinator.traces import GROUP, ORDERS, Trace, assignment, subscription

INSTANCES = ("i-1", "i-2")
RANGE, ROUND_ROBIN = ("range", subscription("orders")), ("roundrobin", subscription("orders"))
PROTOCOLS = ([RANGE], [RANGE, ROUND_ROBIN], [ROUND_ROBIN, RANGE], [("range", subscription("payments"))])
picks = st.integers(0, 7)


class Groups(RuleBasedStateMachine):
    """One group that many ask at random, also those who left long ago."""

    @initialize(delay_ms=st.sampled_from([0, 3_000]), size=st.sampled_from([3, 100]))
    def begin(self, delay_ms: int, size: int) -> None:
        settings = GroupSettings(group_initial_rebalance_delay_ms=delay_ms, group_max_size=size)
        self.trace = Trace(settings=settings)
        self.generation = 0
        self.told: dict[int, set[str]] = {}
        self.ids: list[str] = []

    @property
    def group(self) -> Group:
        return self.trace.group or Group(GROUP)

    @rule(
        instance=st.sampled_from([None, None, *INSTANCES]),
        protocols=st.sampled_from(PROTOCOLS),
        v4=st.booleans(),
        v9=st.booleans(),
        session_ms=st.sampled_from([6_000, 30_000]),
    )
    def somebody_joins(
        self, instance: str | None, protocols: list[tuple[str, bytes]], v4: bool, v9: bool, session_ms: int
    ) -> None:
        request = self.trace.join(instance_id=instance, protocols=protocols, v4=v4, v9=v9, session_ms=session_ms)
        self.ids.append(f"{instance or 'c'}-{request}")

    @precondition(lambda self: self.ids)
    @rule(pick=picks, protocols=st.sampled_from(PROTOCOLS))
    def somebody_joins_again(self, pick: int, protocols: list[tuple[str, bytes]]) -> None:
        member = self.picked(pick)
        self.trace.join(member, instance_id=self.instance_of(member), protocols=protocols)

    @precondition(lambda self: self.ids)
    @rule(pick=picks, late=st.booleans())
    def somebody_syncs(self, pick: int, late: bool) -> None:
        member = self.picked(pick)
        shares = {name: assignment("orders", number) for number, name in enumerate(self.group.members)}
        generation = self.group.generation - late
        leads = member == self.group.leader
        self.trace.sync(member, shares if leads else None, generation=generation, instance_id=self.instance_of(member))

    @rule(write=st.booleans(), size=st.integers(1, 3))
    def all_settles(self, write: bool, size: int) -> None:
        while len(self.group.members) < size:
            self.somebody_joins(None, [RANGE], v4=False, v9=True, session_ms=30_000)
            if self.group.state is GroupState.PREPARING_REBALANCE and not self.group.generation:
                break
        for member in list(self.group.members):
            self.trace.join(member, instance_id=self.instance_of(member), protocols=[RANGE])
        self.trace.passes(self.trace.settings.group_initial_rebalance_delay_ms)
        self.trace.passes(self.trace.settings.group_initial_rebalance_delay_ms)
        for pick in range(len(self.group.members)):
            self.somebody_syncs(pick, False)
        for request in sorted(self.group.writes) if write else ():
            self.trace.written(request, base_offset=self.trace.request)

    @precondition(lambda self: self.ids)
    @rule(pick=picks)
    def somebody_lives(self, pick: int) -> None:
        member = self.picked(pick)
        self.trace.heartbeat(member, generation=self.group.generation, instance_id=self.instance_of(member))

    @precondition(lambda self: self.ids)
    @rule(pick=st.lists(picks, min_size=1, max_size=2))
    def somebody_leaves(self, pick: list[int]) -> None:
        self.trace.leave(*(self.picked(each) for each in pick))

    @rule(instance=st.sampled_from(INSTANCES))
    def an_operator_removes(self, instance: str) -> None:
        self.trace.leave(LeavingMember(instance_id=instance))

    @rule(pick=picks, by_member=st.booleans(), partition=st.integers(0, 1))
    def somebody_commits(self, pick: int, by_member: bool, partition: int) -> None:
        named = TopicPartition(ORDERS.topic, partition)
        if by_member and self.ids:
            self.trace.commit(self.picked(pick), generation=self.group.generation, partition=named)
        else:
            self.trace.commit(partition=named)

    @precondition(lambda self: self.group.writes)
    @rule(pick=picks, error=st.sampled_from(["NONE", "NONE", "NONE", "NOT_ENOUGH_REPLICAS"]))
    def something_is_written(self, pick: int, error: str) -> None:
        waiting = sorted(self.group.writes)
        self.trace.written(waiting[pick % len(waiting)], error, base_offset=self.trace.request)

    @rule(ms=st.sampled_from([0, 1_000, 3_000, 6_000, 60_000, 300_000]))
    def time_passes(self, ms: int) -> None:
        self.trace.passes(ms)
        deadline_ms = self.group.next_deadline_ms()
        assert deadline_ms is None or deadline_ms > self.trace.now_ms

    @rule(end=st.sampled_from(["checked", "checked", "checked", "expired", "deleted", "moved"]))
    def it_may_end(self, end: str) -> None:
        if end == "deleted":
            self.trace.delete()
        elif end == "moved" and self.trace.group is not None:
            self.trace.sees(CoordinatorResigned(group_id=GROUP, at_ms=self.trace.now_ms))
        else:
            later_ms = 700_000_000 if end == "expired" else 0
            self.trace.sees(OffsetsChecked(group_id=GROUP, at_ms=self.trace.now_ms + later_ms))

    @invariant()
    def every_request_is_answered_or_waits(self) -> None:
        waiting: set[int] = set()
        for member in self.group.members.values():
            waiting |= {each for each in (member.join, member.sync) if each is not None}
        asked = set(range(1, self.trace.request + 1))
        assert asked - set(self.trace.given) <= waiting | set(self.group.writes)
        assert not waiting & set(self.trace.given)

    @invariant()
    def generations_only_grow(self) -> None:
        if self.trace.group is None:
            self.generation = 0
            self.told = {}
        assert self.group.generation >= self.generation
        self.generation = self.group.generation

    @invariant()
    def a_generation_has_one_leader(self) -> None:
        for answer in self.trace.answers():
            if isinstance(answer, AnswerJoin) and answer.error == "NONE" and answer.leader == answer.member_id:
                instance = self.instance_of(answer.member_id)
                self.told.setdefault(answer.generation, set()).add(instance or answer.member_id)
        assert all(len(leaders) == 1 for leaders in self.told.values())
        members = self.group.members
        assert self.group.leader in members if members else self.group.leader is None

    @invariant()
    def all_have_a_share_while_nothing_is_wrong(self) -> None:
        group = self.group
        if group.state is GroupState.STABLE:
            assert group.members and all(member.assignment for member in group.members.values())
            assert group.protocol in group.candidate_protocols
        if group.state is GroupState.EMPTY:
            assert not group.members

    @invariant()
    def ids_are_what_they_seem(self) -> None:
        group = self.group
        instances = [each.instance_id for each in group.members.values() if each.is_static]
        assert len(instances) == len(set(instances))
        assert group.pending_syncs <= set(group.members)
        assert not set(group.pending_members) & set(group.members)
        assert all(name == member.member_id for name, member in group.members.items())
        assert len(group.past) <= 50

    def picked(self, pick: int) -> str:
        """Mostly those who are members, sometimes somebody who was."""
        known = [*self.group.members, *self.ids[-2:]]
        return known[pick % len(known)]

    @staticmethod
    def instance_of(member: str) -> str | None:
        return next((each for each in INSTANCES if member.startswith(each)), None)


TestGroups = Groups.TestCase
TestGroups.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
