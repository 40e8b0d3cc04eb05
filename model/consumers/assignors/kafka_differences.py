"""Ours beside what Kafka 3.9.1 decides: the better one, and in words where that is not Kafka's, and why.

Kafka's assignors have bugs. Ours do without them, and so differ in groups that bring them out. Where Kafka's answer is
valid all the same, and ours is not better in every way of counting, Kafka's is taken.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from model.cluster.texts import listed
from model.consumers.assignors.assignment import AssignedCase, Assignment, Strategy
from model.consumers.assignors.case import Case
from model.consumers.assignors.group import NOBODY, AssignorError, Group, Ints, counts_of, has_strays
from model.consumers.assignors.named_group import NamedGroup, named_group
from model.consumers.assignors.strategies import assign

MOST_NAMED = 3
"""What a sentence names of members and partitions; the rest is counted."""
TAKEN_FOR_EQUAL = "it takes subscriptions for equal that are not"


class BestAnswer(NamedTuple):
    """What a case comes to. `differs`: what Kafka 3.9.1 does instead and why, a sentence; None: it does the same."""

    outcome: AssignedCase
    differs: str | None


def best_answer(case: Case, strategy: Strategy) -> BestAnswer:
    """Kafka's own answer, unless it is wrong or ours is better. Raises AssignorError where there is none."""
    ours = assign(case, strategy)
    if strategy.kind == "client":
        return BestAnswer(ours, None)
    causes = [*_causes(case, ours)]
    if not causes and not throws_at_times(strategy, ours.named.group):
        return BestAnswer(ours, None)
    try:
        theirs = assign(case, strategy, as_kafka=True)
    except AssignorError as error:
        return BestAnswer(ours, failure(error, causes))
    best = _better(ours, theirs)
    return BestAnswer(best, difference(best, theirs, causes))


def throws_at_times(strategy: Strategy, group: Group) -> bool:
    """Whether Kafka's assignor has groups of this sort for which it throws an exception in place of an answer."""
    return strategy.name == "uniform" and not group.alike


def failure(error: AssignorError, causes: Sequence[str]) -> str:
    """The sentence for a group that Kafka has no valid answer for; `causes` are why, as far as the group shows it."""
    return _sentence("gives no answer, or a wrong one", [*causes, str(error)])


def difference(ours: AssignedCase, theirs: AssignedCase, causes: Sequence[str]) -> str | None:
    """The sentence for what Kafka does in place of ours; None: it does the same."""
    what = _difference(ours, theirs)
    return what and _sentence(_flaw(ours.named, theirs) or what, causes)


def _better(ours: AssignedCase, theirs: AssignedCase) -> AssignedCase:
    """Kafka's answer without partitions that do not exist, unless it is invalid even so, or ours is better."""
    if _flaw(ours.named, theirs):
        return ours
    count, found = ours.named.group.partitions, theirs.assignment
    valid = replace(ours.assignment, owner=found.owner[:count], target=found.target[:count])
    return ours if _is_better(ours.assignment, valid) else replace(ours, assignment=valid)


def _causes(case: Case, ours: AssignedCase) -> Iterator[str]:
    """What in the group brings out bugs of Kafka's, if anything does."""
    group, beyond = ours.named.group, ours.named.beyond
    if beyond:
        claims = [f"{topic}-{number} ({member})" for member, topic, number in beyond]
        yield f"partitions are claimed that do not exist, {listed(claims, MOST_NAMED)}"
    if ours.strategy.kind == "coordinator":
        return
    claims = group.claims
    if not ours.assignment.before.agreed and bool((claims.generations != claims.subscription_generations).any()):
        yield "of two claims it takes the older one where a member tells its generation in user data alone"
    if not group.alike and named_group(case, ours.strategy.kind, as_kafka=True).group.alike:
        yield TAKEN_FOR_EQUAL
    if has_strays(group):
        yield "partitions go back to who had them in an older generation, whether it subscribes or not"


def _flaw(named: NamedGroup, theirs: AssignedCase) -> str | None:
    """What is wrong with Kafka's answer as far as partitions go that exist."""
    group, owner = named.group, theirs.assignment.target[: named.group.partitions]
    owned = np.flatnonzero(owner != NOBODY)
    uninvited = owned[~group.subscribes(owner[owned], group.topic_of[owned])]
    if len(uninvited):
        members = listed([named.members[member] for member in np.unique(owner[uninvited])], MOST_NAMED)
        return f"gives partitions to {members} of topics not subscribed to: {_names(named, uninvited)}"
    left = np.flatnonzero((owner == NOBODY) & (group.subscriber_counts > 0)[group.topic_of])
    return f"leaves partitions to nobody: {_names(named, left)}" if len(left) else None


def _difference(ours: AssignedCase, theirs: AssignedCase) -> str | None:
    count = ours.named.group.partitions
    mine, kafkas = ours.assignment.owner, theirs.assignment.owner
    missing = count + np.flatnonzero(kafkas[count:] != NOBODY)
    if len(missing):
        return f"also hands out partitions that do not exist: {_names(theirs.named, missing)}"
    others = np.flatnonzero(mine != kafkas[:count])
    if not len(others):
        return None
    members = np.unique(np.concatenate((mine[others], kafkas[others])))
    return f"gives other partitions to {listed([ours.named.members[m] for m in members if m != NOBODY], MOST_NAMED)}"


def _names(named: NamedGroup, partitions: Ints) -> str:
    topics, numbers = named.group.located(partitions)
    return listed(
        [f"{named.topics[topic]}-{number}" for topic, number in zip(topics, numbers, strict=True)], MOST_NAMED
    )


def _sentence(what: str, causes: Sequence[str]) -> str:
    return f"Kafka 3.9.1 has a bug here and {what}: {'; '.join(causes)}"


def _is_better(one: Assignment, other: Assignment) -> bool:
    """Whether it is at least as good now, and once nothing waits any more, however balance is counted."""
    ours, theirs = list(_ranks(one)), list(_ranks(other))
    return ours != theirs and all(mine <= its for mine, its in zip(ours, theirs, strict=True))


def _ranks(assignment: Assignment) -> Iterator[tuple[int, int, int]]:
    """Members without partitions, unevenness, and moves, the fewer the better; in each of the ways to count them."""
    before = assignment.before.owner
    for owner in (assignment.owner, assignment.target):
        counts = counts_of(owner, assignment.members)
        idle, moves = int((counts == 0).sum()), int(((before != NOBODY) & (before != owner)).sum())
        yield idle, int(counts.max() - counts.min()), moves
        yield idle, int((counts**2).sum()), moves
