"""Why a consumer has a partition, and how good an assignment is, as sentences. Decides nothing.

Names are as the cluster tells them: make them harmless before they reach a terminal.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from model.consumers.assignors.assignment import Assignment
from model.consumers.assignors.group import NOBODY, Group, Ints
from model.consumers.assignors.racks import racks_that_matter
from model.consumers.assignors.ranges import Cut, even_cut, rounded_up_cut
from model.consumers.assignors.strategies import Outcome


def why(outcome: Outcome, topic: str, number: int) -> str:
    """Why this partition is where it is. Raises KeyError where the group does not read it."""
    question = _Question.of(outcome, topic, number)
    if question.owner == NOBODY:
        return f"Nobody has it: no member subscribes to {topic}."
    return _REASONS[outcome.strategy.name](question)


def balance(outcome: Outcome) -> str:
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


@dataclass(frozen=True)
class _Question:
    """What is asked, with what the answers need."""

    group: Group
    assignment: Assignment
    names: list[str]
    topic: str
    topic_number: int
    partition: int  # among all of the group
    owner: int  # after the next rebalance

    @classmethod
    def of(cls, outcome: Outcome, topic: str, number: int) -> "_Question":
        named = outcome.named
        at = {name: place for place, name in enumerate(named.topics)}[topic]
        if not 0 <= number < named.group.partition_counts[at]:
            raise KeyError(number)
        partition = int(named.group.first[at]) + number
        owner = int(outcome.assignment.target[partition])
        return cls(named.group, outcome.assignment, list(named.members), topic, at, partition, owner)

    @property
    def member(self) -> str:
        return self.names[self.owner]

    @property
    def before(self) -> int:
        return int(self.assignment.before.owner[self.partition])

    @property
    def subscribers(self) -> Ints:
        sets = self.group.subscriber_sets
        return sets.at(int(sets.of_topic[self.topic_number]))

    @property
    def count(self) -> int:
        """Partitions the owner ends with."""
        return int(np.count_nonzero(self.assignment.target == self.owner))

    @property
    def share(self) -> str:
        least, longer = divmod(self.group.partitions, self.group.members)
        return f"{least} or {least + 1}" if longer else str(least)


def _range(cut: Cut, rule: str) -> Callable[[_Question], str]:
    def reason(q: _Question) -> str:
        count, first = int(q.group.partition_counts[q.topic_number]), int(q.group.first[q.topic_number])
        subscribers = set(q.subscribers.tolist())
        place = [member for member in q.group.ring.tolist() if member in subscribers].index(q.owner)
        ends = np.cumsum(cut(count, len(subscribers))).tolist()
        start, end = [0, *ends][place], ends[place]
        text = f"Of {q.topic}'s partitions, {count}, each subscriber of {len(subscribers)} gets a run, {rule}; "
        if not start <= q.partition - first < end:
            return f"{text}{q.member} has it because members with a replica on their rack are served first."
        run = str(start) if end == start + 1 else f"{start} to {end - 1}"
        return f"{text}{q.member} is number {place + 1} of them and has {run}."

    return reason


def _ring(order: str) -> Callable[[_Question], str]:
    def reason(q: _Question) -> str:
        passing = "" if len(q.group.subscriptions) < 2 else f", passing over who does not subscribe to {q.topic}"
        return f"Partitions are dealt one by one in the order of {order}{passing}; this one came to {q.member}."

    return reason


def _sticky(q: _Question) -> str:
    text = _moved_or_kept(q)
    if q.assignment.owner[q.partition] == NOBODY:
        text += f" It waits: {q.member} gets it in the next rebalance, once it is given up."
    return text


def _moved_or_kept(q: _Question) -> str:
    share = f"the share is {q.share}" if q.group.alike else f"it ends with {q.count}"
    if q.before == q.owner:
        return f"{q.member} owned it and keeps it; {share}."
    if q.partition in q.assignment.before.contested:
        return f"Several members claimed it in one generation, so none keeps it; dealt anew, it came to {q.member}."
    full = f"{q.member} had room below its share of {q.share}"
    got = full if q.group.alike else f"{q.member} had fewest of {q.topic}'s subscribers"
    if q.before == NOBODY:
        return f"Nobody owned it, and {got} when its turn came."
    return f"It moves from {q.names[q.before]}, {_given_up(q)}; {got} when its turn came."


def _given_up(q: _Question) -> str:
    """Why the owner of before does not keep it."""
    before, racks = q.before, racks_that_matter(q.group)
    if before not in q.subscribers:
        return f"which does not subscribe to {q.topic} any more"
    if racks is not None and not racks.matches[racks.row_of_partition[q.partition], before]:
        return "which has no replica of it on its rack"
    owned = int(np.count_nonzero(q.assignment.before.owner == before))
    return f"which owned {owned} and ends with {int(np.count_nonzero(q.assignment.target == before))}"


def _uniform(q: _Question) -> str:
    if q.group.alike and q.before == NOBODY:
        return f"Nobody owned it; free partitions are given away in runs, and this one filled {q.member}'s {q.count}."
    return _moved_or_kept(q)


_THREADS = "Kafka's hash of their names around the threads, by thread id"
_REASONS: Mapping[str, Callable[[_Question], str]] = {
    "range": _range(even_cut, "longer ones first, by instance id and then member id"),
    "server-range": _range(even_cut, "longer ones first, by instance id and then member id"),
    "zk-range": _range(even_cut, "longer ones first, by thread id"),
    "ceil": _range(rounded_up_cut, "all of partitions / threads rounded up, until none are left, by thread id"),
    "roundrobin": _ring("topics and numbers around the members, static members first"),
    "zk-roundrobin": _ring(_THREADS),
    "zk-roundrobin-0.10.2": _ring(_THREADS),
    "zk-roundrobin-1.0": _ring(_THREADS),
    "sticky": _sticky,
    "cooperative-sticky": _sticky,
    "uniform": _uniform,
}
