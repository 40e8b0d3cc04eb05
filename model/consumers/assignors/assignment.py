"""What an assignor decided, and how good it is: balance, moves, and the moves that nobody could have avoided."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.consumers.assignors.group import NOBODY, Group, Ints, counts_of
from model.consumers.assignors.ownership import Ownership


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
