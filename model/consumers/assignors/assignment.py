"""What an assignor is, what it decided, how good that is, and why a consumer has a partition: figures and sentences.

Figures: balance, moves, and the moves that nobody could avoid. Sentences have the arithmetic of the strategy's rule.
Decides nothing. Names are as the cluster gives them: make them harmless before they reach a terminal.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from model.cluster.texts import counted
from model.consumers.assignors.case import racks_that_matter
from model.consumers.assignors.from_scratch import ZOOKEEPER_RELEASES, Cut, even_cut, partition_hashes, rounded_up_cut
from model.consumers.assignors.group import NOBODY, GroupToAssign, Ints, Ownership, counts_of
from model.consumers.assignors.named_group import Kind, NamedGroup

if TYPE_CHECKING:
    from model.consumers.assignors.assignment import OwnerQuestion


@dataclass(frozen=True, eq=False)
class Assignment:
    """Who gets which partition, by number; NOBODY where a partition has no subscriber.

    A cooperative assignor lets a partition wait for one rebalance while its owner gives it up: `owner` says NOBODY
    there, and `target` who gets it in the next one. `before` is who owned it as far as the group agreed.
    """

    owner: Ints  # [P]
    target: Ints  # [P]
    before: Ownership
    members: int

    @cached_property
    def counts(self) -> Ints:
        """[C]: partitions each member gets now."""
        return counts_of(self.owner, self.members)

    @property
    def spread(self) -> int:
        """Partitions of the member with the most, minus those of the member with the fewest."""
        return int(self.counts.max() - self.counts.min()) if self.members else 0

    @property
    def withheld(self) -> Ints:
        """Partitions that wait for the next rebalance, ascending."""
        return np.zeros(0, dtype=np.intp) if self.owner is self.target else np.flatnonzero(self.owner != self.target)

    @cached_property
    def moves(self) -> int:
        """Partitions that their owner of before does not keep."""
        owned = self.before.owner != NOBODY
        return int(np.count_nonzero(owned & (self.before.owner != self.target)))

    def moves_lower_bound(self, group: GroupToAssign) -> int:
        """The moves that every assignor makes which ends with as many partitions per member, whoever has which number.

        A partition whose owner does not subscribe to it any more must move. Of the rest, a member that ends with n
        keeps n at most; pairing the largest of before with the largest of now keeps the most.
        """
        owned = np.flatnonzero(self.before.owner != NOBODY)
        owners = self.before.owner[owned]
        stays = owners
        if not group.subscribed.all():
            stays = owners[group.subscribes(owners, group.topic_of[owned]) | (self.target[owned] == owners)]
        had, has = counts_of(stays, self.members), counts_of(self.target, self.members)
        return len(owned) - len(stays) + int(np.maximum(np.sort(had) - np.sort(has), 0).sum())


Decide = Callable[[NamedGroup, Ownership, bool], tuple[Ints, Ints]]
"""Of a group, who owned what, and whether to repeat Kafka's bugs: owners now, and owners once all is revoked."""


@dataclass(frozen=True)
class Strategy:
    """An assignor, and how it explains itself: why the owner of a partition has it.

    `threads`: it deals to ZooKeeper consumers' threads; `kind`: how it learns what was owned; `compared`: previews
    and the lab set it beside the others of its sort unless they are told which.
    """

    name: str
    what: str
    decide: Decide
    why: "Callable[[OwnerQuestion], str]"
    kind: Kind = "client"
    threads: bool = False
    compared: bool = True


@dataclass(frozen=True, eq=False)
class AssignedCase:
    """What a strategy makes of a case."""

    strategy: Strategy
    named: NamedGroup
    assignment: Assignment

    def lists(self) -> dict[str, list[tuple[str, int]]]:
        """Member, or thread → its topics and partition numbers, in order.

        Kafka's uniform assignor does not even name the members of a group that subscribes to nothing.
        """
        if self.strategy.name == "uniform" and not self.named.topics:
            return {}
        return self.named.lists(self.assignment.owner)


def from_scratch(decide: Callable[[NamedGroup], Ints]) -> Decide:
    """Makes a decision of one that neither looks at what was owned nor holds anything back."""

    def both(named: NamedGroup, _before: Ownership, _as_kafka: bool) -> tuple[Ints, Ints]:
        owner = decide(named)
        missing = len(named.group.missing.topics)
        if missing:
            owner = np.concatenate((owner, np.full(missing, NOBODY, dtype=owner.dtype)))
        return owner, owner

    return both


class AssignmentFacts:
    """What the answers of one outcome have in common, worked out when it is first needed."""

    def __init__(self, outcome: AssignedCase) -> None:
        self.outcome = outcome
        self.assignment = outcome.assignment
        self.group = outcome.named.group
        self._lines: dict[int, list[int]] = {}

    def name(self, member: int) -> str | None:
        """None for nobody."""
        return None if member == NOBODY else self.outcome.named.members[member]

    def line(self, topic: int) -> list[int]:
        """The topic's subscribers in the order of the ring."""
        sets = self.group.subscriber_sets
        of = int(sets.of_topic[topic])
        if of not in self._lines:
            subscribers = set(sets.at(of).tolist())
            self._lines[of] = [member for member in self.group.ring.tolist() if member in subscribers]
        return self._lines[of]

    @cached_property
    def had(self) -> Ints:
        """[C]: partitions owned before."""
        return counts_of(self.assignment.before.owner, self.group.members)

    @cached_property
    def has(self) -> Ints:
        """[C]: partitions owned in the end."""
        return counts_of(self.assignment.target, self.group.members)

    @cached_property
    def turns(self) -> Ints:
        """[P]: when each partition's turn comes where ZooKeeper consumers deal by hash, from 0."""
        texts = ZOOKEEPER_RELEASES[self.outcome.strategy.name].text
        hashes = partition_hashes(self.outcome.named.topics, self.group.partition_counts, texts)
        turns = np.empty(self.group.partitions, dtype=np.intp)
        turns[np.argsort(hashes.view(np.int32), kind="stable")] = np.arange(self.group.partitions)
        return turns

    @property
    def share(self) -> str:
        least, longer = divmod(self.group.partitions, self.group.members)
        return f"{least} or {least + 1}" if longer else str(least)


class OwnerQuestion(NamedTuple):
    """What is asked: about a partition, as a number among all of the group, and its owner in the end."""

    facts: AssignmentFacts
    topic_number: int
    partition: int
    owner: int

    @property
    def group(self) -> GroupToAssign:
        return self.facts.group

    @property
    def topic(self) -> str:
        return self.facts.outcome.named.topics[self.topic_number]

    @property
    def member(self) -> str:
        return self.facts.outcome.named.members[self.owner]

    @property
    def before(self) -> int:
        return int(self.facts.assignment.before.owner[self.partition])


def _even(count: int, members: int) -> str:
    least, longer = divmod(count, members)
    return f"{least} each and one more for the first {longer}" if longer else f"{least} each"


def _rounded_up(count: int, members: int) -> str:
    return f"{-(-count // members)} each, rounded up, until none are left"


def _range(cut: Cut, rule: Callable[[int, int], str], order: str) -> Callable[[OwnerQuestion], str]:
    def reason(q: OwnerQuestion) -> str:
        count, first = int(q.group.partition_counts[q.topic_number]), int(q.group.first[q.topic_number])
        line = q.facts.line(q.topic_number)
        place, runs = line.index(q.owner), cut(count, len(line))
        end = int(runs[: place + 1].sum())
        start = end - int(runs[place])
        whole = f"{counted(count, 'partition')} of {q.topic} for {counted(len(line), 'subscriber')}, in runs"
        text = f"{whole}: {rule(count, len(line))}, {order}; "
        if not start <= q.partition - first < end:
            return f"{text}{q.member} has it because members with a replica on their rack are served first."
        run = str(start) if end == start + 1 else f"{start} to {end - 1}"
        return f"{text}{q.member} is number {place + 1} of them and has {run}."

    return reason


def _ring(order: str, turn: Callable[[OwnerQuestion], int]) -> Callable[[OwnerQuestion], str]:
    def reason(q: OwnerQuestion) -> str:
        dealt = f"Partitions are dealt one by one in the order of {order}"
        if not q.group.subscribed.all():
            return f"{dealt}, passing over who does not subscribe to {q.topic}; this one came to {q.member}."
        number, members = turn(q), q.group.members
        return (
            f"{dealt}; this one is number {number + 1} of {q.group.partitions}, the turn of member "
            f"{number % members + 1} of {members}, {q.facts.name(int(q.group.ring[number % members]))}."
        )

    return reason


def why_sticky(q: OwnerQuestion) -> str:
    """Kept, moved or waiting."""
    text = _moved_or_kept(q)
    if q.facts.assignment.owner[q.partition] == NOBODY:
        text += f" It waits: {q.member} gets it in the next rebalance, once it is given up."
    return text


def _moved_or_kept(q: OwnerQuestion) -> str:
    facts = q.facts
    share = f"the share is {facts.share}" if q.group.alike else f"it ends with {facts.has[q.owner]}"
    if q.before == q.owner:
        return f"{q.member} owned it and keeps it; {share}."
    if q.partition in facts.assignment.before.contested:
        return f"Several members claimed it in one generation, so none keeps it; dealt anew, it came to {q.member}."
    full = f"{q.member} had room below its share of {facts.share}"
    got = full if q.group.alike else f"{q.member} had fewest of {q.topic}'s subscribers"
    if q.before == NOBODY:
        return f"Nobody owned it, and {got} when its turn came."
    return f"It moves from {facts.name(q.before)}, {_given_up(q)}; {got} when its turn came."


def _given_up(q: OwnerQuestion) -> str:
    """Why the owner of before does not keep it."""
    before, racks = q.before, racks_that_matter(q.group)
    if before not in q.facts.line(q.topic_number):
        return f"which does not subscribe to {q.topic} any more"
    if racks is not None and not racks.matches[racks.row_of_partition[q.partition], before]:
        return "which has no replica of it on its rack"
    return f"which owned {q.facts.had[before]} and ends with {q.facts.has[before]}"


def why_uniform(q: OwnerQuestion) -> str:
    """Kept, moved, or given away in a run."""
    if q.group.alike and q.before == NOBODY:
        filled = f"this one filled {q.member}'s {q.facts.has[q.owner]}"
        return f"Nobody owned it; free partitions are given away in runs, and {filled}."
    return _moved_or_kept(q)


why_range = _range(even_cut, _even, "by instance id and then member id")
why_range_of_threads = _range(even_cut, _even, "by thread id")
why_rounded_up = _range(rounded_up_cut, _rounded_up, "by thread id")
why_by_number = _ring("topics and numbers around the members, static members first", lambda q: q.partition)
why_by_hash = _ring(
    "Kafka's hash of their names around the threads, by thread id", lambda q: int(q.facts.turns[q.partition])
)


class Explanation(msgspec.Struct, frozen=True):
    """One partition: who gets it, who had it, and why. `member` is None where nobody subscribes to the topic.

    `waits`: the member gets it in the next rebalance only, when its owner of before has given it up.
    """

    member: str | None
    topic: str
    partition: int
    before: str | None
    waits: bool
    why: str


def explain(outcome: AssignedCase) -> tuple[Explanation, ...]:
    """Every partition that the group reads, by topic and number. See `balance` for the whole."""
    named, assignment = outcome.named, outcome.assignment
    facts = AssignmentFacts(outcome)
    topics, numbers = named.group.located(np.arange(named.group.partitions))
    withheld = set(assignment.withheld.tolist())
    rows: list[tuple[int, int, int]] = list(
        zip(topics.tolist(), numbers.tolist(), assignment.target.tolist(), strict=True)
    )
    return tuple(
        Explanation(
            member=facts.name(owner),
            topic=named.topics[topic],
            partition=number,
            before=facts.name(int(assignment.before.owner[place])),
            waits=place in withheld,
            why=_why(OwnerQuestion(facts, topic, place, owner)),
        )
        for place, (topic, number, owner) in enumerate(rows)
    )


def why(outcome: AssignedCase, topic: str, number: int) -> str:
    """Why this partition is where it is. Raises KeyError where the group does not read it."""
    named = outcome.named
    at = {name: place for place, name in enumerate(named.topics)}[topic]
    if not 0 <= number < named.group.partition_counts[at]:
        raise KeyError(number)
    partition = int(named.group.first[at]) + number
    return _why(OwnerQuestion(AssignmentFacts(outcome), at, partition, int(outcome.assignment.target[partition])))


def _why(question: OwnerQuestion) -> str:
    if question.owner == NOBODY:
        return f"Nobody has it: no member subscribes to {question.topic}."
    return question.facts.outcome.strategy.why(question)


def balance(outcome: AssignedCase) -> str:
    """How even the assignment is and what it moves, for example
    `2 members have 3 partitions, 1 has 2. 1 of 8 moves; for this balance at least 1 must.`"""
    assignment = outcome.assignment
    counts: list[int] = np.bincount(assignment.counts).tolist()
    shares = [
        f"{members} {'has' if members == 1 else 'have'} {share}"
        for share, members in reversed(list(enumerate(counts)))
        if members
    ]
    owned = int(np.count_nonzero(assignment.before.owner != NOBODY))
    moves, least = assignment.moves, assignment.moves_lower_bound(outcome.named.group)
    waits = len(assignment.withheld)
    waiting = f" {waits} {'waits' if waits == 1 else 'wait'} for the next rebalance." if waits else ""
    parts = f"Partitions per member: {', '.join(shares)}." if shares else "There are no members."
    return f"{parts} {moves} of {owned} owned before move; for this balance at least {least} must.{waiting}"
