"""Why a consumer has a partition, and how good an assignment is, as sentences. Decides nothing.

Names are as the cluster tells them: make them harmless before they reach a terminal.
"""

import msgspec
import numpy as np

from model.consumers.assignors.group import NOBODY
from model.consumers.assignors.reasons import Facts, Question
from model.consumers.assignors.strategy import Outcome


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


def explain(outcome: Outcome) -> tuple[Explanation, ...]:
    """Every partition that the group reads, by topic and number. See `balance` for the whole."""
    named, assignment = outcome.named, outcome.assignment
    facts = Facts(outcome)
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
            why=_why(Question(facts, topic, place, owner)),
        )
        for place, (topic, number, owner) in enumerate(rows)
    )


def why(outcome: Outcome, topic: str, number: int) -> str:
    """Why this partition is where it is. Raises KeyError where the group does not read it."""
    named = outcome.named
    at = {name: place for place, name in enumerate(named.topics)}[topic]
    if not 0 <= number < named.group.partition_counts[at]:
        raise KeyError(number)
    partition = int(named.group.first[at]) + number
    return _why(Question(Facts(outcome), at, partition, int(outcome.assignment.target[partition])))


def _why(question: Question) -> str:
    if question.owner == NOBODY:
        return f"Nobody has it: no member subscribes to {question.topic}."
    return question.facts.outcome.strategy.why(question)


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
