"""What an assignor is, what it decided, and how good that is: balance, moves, and the moves that nobody could avoid."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from model.consumers.assignors.group import NOBODY, Group, Ints, Ownership, counts_of
from model.consumers.assignors.named_group import Kind, NamedGroup

if TYPE_CHECKING:
    from model.consumers.assignors.reasons import Question


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

    def moves_lower_bound(self, group: Group) -> int:
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
    why: "Callable[[Question], str]"
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
