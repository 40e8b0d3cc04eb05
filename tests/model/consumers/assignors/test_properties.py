"""What is true of every assignment, whatever the group."""

from __future__ import annotations

from collections import Counter

import msgspec
from hypothesis import given

from model.consumers.assignors.assignment import AssignedCase, balance, explain
from model.consumers.assignors.case import AssignmentCase
from model.consumers.assignors.strategies import STRATEGIES, assign
from tests.model.consumers.assignors.groups import group_cases

ALWAYS = sorted(STRATEGIES.keys() - {"zk-roundrobin"})
"""All but the one that refuses groups."""
STICKY = ("sticky", "cooperative-sticky")
ANY = group_cases() | group_cases(racks=True) | group_cases(alike=True) | group_cases(alike=True, racks=True)


def target_of(case: AssignmentCase, name: str) -> tuple[AssignedCase, dict[tuple[str, int], str]]:
    """The outcome, and owners once nothing is withheld any more."""
    outcome = assign(case, STRATEGIES[name])
    lists = outcome.named.lists(outcome.assignment.target)
    return outcome, {(topic, number): member for member, own in lists.items() for topic, number in own}


@given(ANY)
def test_every_partition_has_one_owner_that_subscribes(case: AssignmentCase) -> None:
    wanted = {topic for member in case.members.values() for topic in member.topics}
    partitions = {(topic, number) for topic in wanted for number in range(case.topics[topic])}
    for name in ALWAYS:
        _, owners = target_of(case, name)
        assert owners.keys() == partitions, name
        assert all(topic in case.members[member].topics for (topic, _), member in owners.items()), name


@given(ANY)
def test_the_order_in_which_topics_are_told_does_not_matter(case: AssignmentCase) -> None:
    again = msgspec.structs.replace(case, topics=dict(reversed(case.topics.items())))
    for name in ALWAYS:
        assert assign(again, STRATEGIES[name]).lists() == assign(case, STRATEGIES[name]).lists(), name


@given(ANY)
def test_no_assignor_beats_the_lower_bound_of_moves(case: AssignmentCase) -> None:
    for name in ALWAYS:
        outcome = assign(case, STRATEGIES[name])
        assert 0 <= outcome.assignment.moves_lower_bound(outcome.named.group) <= outcome.assignment.moves, name


@given(group_cases(alike=True) | group_cases(alike=True, racks=True))
def test_equal_subscriptions_are_balanced_to_within_one(case: AssignmentCase) -> None:
    for name in (*STICKY, "uniform", "roundrobin"):
        outcome, owners = target_of(case, name)
        counts = Counter(owners.values())
        shares = [counts[member] for member in case.members]
        assert max(shares) - min(shares) <= 1, name
        assert outcome.assignment.withheld.size or outcome.assignment.spread <= 1, name


@given(group_cases() | group_cases(racks=True))
def test_no_partition_has_a_subscriber_with_two_fewer_than_its_owner(case: AssignmentCase) -> None:
    for name in STICKY:
        _, owners = target_of(case, name)
        counts = Counter(owners.values())
        for (topic, _), owner in owners.items():
            fewest = min(counts[member] for member, told in case.members.items() if topic in told.topics)
            assert counts[owner] - fewest <= 1, name


@given(group_cases(alike=True))
def test_sticky_moves_no_more_than_it_must(case: AssignmentCase) -> None:
    for name in STICKY:
        outcome = assign(case, STRATEGIES[name])
        assert outcome.assignment.moves == outcome.assignment.moves_lower_bound(outcome.named.group), name


@given(group_cases() | group_cases(alike=True))
def test_sticky_keeps_its_own_assignment(case: AssignmentCase) -> None:
    for name in STICKY:
        _, owners = target_of(case, name)
        own = {member: [p for p, owner in owners.items() if owner == member] for member in case.members}
        told = {
            member: msgspec.structs.replace(how, generation=7, owned=own[member])
            for member, how in case.members.items()
        }
        again, kept = target_of(msgspec.structs.replace(case, members=told), name)
        assert kept == owners, name
        assert (again.assignment.moves, again.assignment.withheld.size) == (0, 0), name


@given(ANY)
def test_cooperative_rebalances_hand_nothing_over_and_come_to_rest(case: AssignmentCase) -> None:
    """With racks that may take more than two rebalances: what has come free may fit better somewhere else."""
    for _ in range(2 + sum(case.topics.values())):
        outcome = assign(case, STRATEGIES["cooperative-sticky"])
        lists = outcome.lists()
        claimed = {claim: member for member, told in case.members.items() for claim in told.claims()}
        for member, own in lists.items():
            assert all(claimed.get(partition, member) == member for partition in own)
        if not outcome.assignment.withheld.size:
            return
        told = {
            name: msgspec.structs.replace(member, generation=9, owned=lists[name])
            for name, member in case.members.items()
        }
        case = msgspec.structs.replace(case, members=told)
    raise AssertionError("it does not come to rest")


@given(ANY)
def test_everything_has_a_reason(case: AssignmentCase) -> None:
    for name in ALWAYS:
        outcome = assign(case, STRATEGIES[name])
        _, owners = target_of(case, name)
        told = explain(outcome)
        assert {(each.topic, each.partition): each.member for each in told} == owners, name
        assert all((each.member or "") in each.why for each in told), name
        assert balance(outcome).endswith((" must.", " rebalance.")), name
