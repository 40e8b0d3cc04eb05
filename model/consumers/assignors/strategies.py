"""The assignors by name, what a case comes to with one of them, and where and why Kafka 3.9.1 decides otherwise.

Names are Kafka's own `partition.assignment.strategy` and `group.consumer.assignors`, with a prefix where two are alike.
Kafka's assignors have bugs. Ours do without them, and so differ in groups that bring them out. Where Kafka's answer is
valid all the same, and ours is not better in every way of counting, Kafka's is taken.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from model.cluster.texts import listed
from model.consumers.assignors.assignment import (
    AssignedCase,
    Assignment,
    Decide,
    Strategy,
    from_scratch,
    why_by_hash,
    why_by_number,
    why_range,
    why_range_of_threads,
    why_rounded_up,
    why_sticky,
    why_uniform,
)
from model.consumers.assignors.case import AssignmentCase
from model.consumers.assignors.from_scratch import (
    ZOOKEEPER_RELEASES,
    ReleaseDifference,
    assign_rack_ranges,
    assign_ranges,
    assign_round_robin,
    assign_zookeeper_round_robin,
    rounded_up_cut,
)
from model.consumers.assignors.group import (
    NOBODY,
    AssignorError,
    GroupToAssign,
    Ints,
    Ownership,
    counts_of,
    has_strays,
    ownership,
)
from model.consumers.assignors.named_group import NamedGroup, named_group, named_threads
from model.consumers.assignors.sticky import assign_cooperatively, assign_sticky
from model.consumers.assignors.uniform import assign_mixed_uniformly, assign_uniformly


def _zookeeper_round_robin(release: ReleaseDifference) -> Decide:
    return from_scratch(lambda named: assign_zookeeper_round_robin(named.group, named.topics, release))


def _sticky(named: NamedGroup, before: Ownership, as_kafka: bool) -> tuple[Ints, Ints]:
    owner = assign_sticky(named.group, before, as_kafka=as_kafka)
    return owner, owner


def _cooperative(named: NamedGroup, before: Ownership, as_kafka: bool) -> tuple[Ints, Ints]:
    return assign_cooperatively(named.group, before, as_kafka=as_kafka)


def _uniform(named: NamedGroup, before: Ownership, as_kafka: bool) -> tuple[Ints, Ints]:
    group = named.group
    if not before.agreed:
        raise AssignorError("a partition is owned by two members, which a group coordinator never has in its target")
    if not group.members or not group.partitions:
        owner = before.owner
    elif group.alike:
        owner = assign_uniformly(group, before)
    else:
        owner = assign_mixed_uniformly(group, before, as_kafka=as_kafka)
    return owner, owner


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy(
            "range",
            "runs of each topic's partitions; racks count",
            from_scratch(lambda n: assign_rack_ranges(n.group)),
            why_range,
        ),
        Strategy(
            "roundrobin",
            "one by one around the members",
            from_scratch(lambda n: assign_round_robin(n.group)),
            why_by_number,
        ),
        Strategy("sticky", "even, and keeps what it can; all revoke first", _sticky, why_sticky, kind="sticky"),
        Strategy(
            "cooperative-sticky",
            "even, and keeps what it can; what changes hands waits for the next rebalance",
            _cooperative,
            why_sticky,
            kind="cooperative",
        ),
        Strategy("uniform", "KIP-848: even, and keeps what it can", _uniform, why_uniform, kind="coordinator"),
        Strategy(
            "server-range",
            "KIP-848: range",
            from_scratch(lambda n: assign_ranges(n.group)),
            why_range,
            kind="coordinator",
        ),
        Strategy(
            "zk-range",
            "0.8's range, by thread",
            from_scratch(lambda n: assign_ranges(n.group)),
            why_range_of_threads,
            threads=True,
        ),
        Strategy(
            "zk-roundrobin",
            "0.8.2's round-robin, which wants the same threads for every topic",
            _zookeeper_round_robin(ZOOKEEPER_RELEASES["zk-roundrobin"]),
            why_by_hash,
            threads=True,
        ),
        Strategy(
            "zk-roundrobin-0.10.2",
            "round-robin of ZooKeeper consumers in 0.10.2 and 0.11",
            _zookeeper_round_robin(ZOOKEEPER_RELEASES["zk-roundrobin-0.10.2"]),
            why_by_hash,
            threads=True,
            compared=False,
        ),
        Strategy(
            "zk-roundrobin-1.0",
            "round-robin of ZooKeeper consumers in 1.0 and 1.1",
            _zookeeper_round_robin(ZOOKEEPER_RELEASES["zk-roundrobin-1.0"]),
            why_by_hash,
            threads=True,
        ),
        Strategy(
            "ceil",
            "runs of partitions / threads rounded up: often told of 0.8, used by no release",
            from_scratch(lambda n: assign_ranges(n.group, rounded_up_cut)),
            why_rounded_up,
            threads=True,
            compared=False,
        ),
    )
}
"""Every strategy by its name, as all lists show them."""


def strategy_named(name: str) -> Strategy:
    """The strategy. Raises AssignorError with the names there are."""
    strategy = STRATEGIES.get(name)
    if strategy is None:
        raise AssignorError(f"no strategy {name!r}; there are: {', '.join(STRATEGIES)}")
    return strategy


def assign(case: AssignmentCase, strategy: Strategy, *, as_kafka: bool = False) -> AssignedCase:
    """Assigns a case. `as_kafka` repeats the bugs of 3.9.1, exceptions included. Raises AssignorError."""
    named = named_threads(case) if strategy.threads else named_group(case, strategy.kind, as_kafka=as_kafka)
    before = ownership(named.group, as_kafka=as_kafka)
    owner, target = strategy.decide(named, before, as_kafka)
    return AssignedCase(strategy, named, Assignment(owner, target, before, named.group.members))


MOST_NAMED = 3
"""What a sentence names of members and partitions; the rest is counted."""
TAKEN_FOR_EQUAL = "it takes subscriptions for equal that are not"


class BestAnswer(NamedTuple):
    """What a case comes to. `differs`: what Kafka 3.9.1 does instead and why, a sentence; None: it does the same."""

    outcome: AssignedCase
    differs: str | None


def best_answer(case: AssignmentCase, strategy: Strategy) -> BestAnswer:
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


def throws_at_times(strategy: Strategy, group: GroupToAssign) -> bool:
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


def _causes(case: AssignmentCase, ours: AssignedCase) -> Iterator[str]:
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
