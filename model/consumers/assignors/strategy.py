"""What an assignor is, and what it made of a case. `strategies` lists them all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.consumers.assignors.assignment import Assignment
from model.consumers.assignors.group import NOBODY, Ints
from model.consumers.assignors.member_claims import Kind
from model.consumers.assignors.named_group import NamedGroup
from model.consumers.assignors.ownership import Ownership

if TYPE_CHECKING:
    from model.consumers.assignors.reasons import Question

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
class Outcome:
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
