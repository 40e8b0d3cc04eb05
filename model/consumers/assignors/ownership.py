"""Who owned what before, out of claims that may contradict each other.

Source: `AbstractStickyAssignor.allSubscriptionsEqual` (3.9). Two members that claim a partition in one generation both
lose it; otherwise the newer generation has it. Kafka reads the generation of whoever claimed first from another field
than that of whoever claims next, so members that speak an old version of the protocol are misjudged; `as_kafka` is
wrong in the same way.
"""

from typing import NamedTuple

import numpy as np

from model.consumers.assignors.group import NOBODY, Claims, Group, Ints


class Ownership(NamedTuple):
    """Who owns each partition, and which partitions several members claimed in one generation."""

    owner: Ints  # int32[P], not to be written to
    contested: Ints  # ascending; whoever has such a partition still, has it from a newer generation
    agreed: bool  # no partition was claimed twice, so that the claims are the ownership


def ownership(group: Group, *, as_kafka: bool = False) -> Ownership:
    """Settles the group's claims."""
    claims = group.claims
    none = np.zeros(0, dtype=np.intp)
    if not len(claims.partitions):
        return Ownership(np.broadcast_to(np.int32(NOBODY), group.numbered), none, agreed=True)
    owner = np.full(group.numbered, NOBODY, dtype=np.int32)
    owner[claims.partitions] = claims.members
    if np.count_nonzero(owner >= 0) == len(claims.partitions):
        return Ownership(owner, none, agreed=True)
    contested = _settle(claims, group.walk, owner, as_kafka)
    return Ownership(owner, contested, agreed=False)


def _settle(claims: Claims, walk: Ints, owner: Ints, as_kafka: bool) -> Ints:
    """Walks the claims on partitions that are claimed more than once, writes their owners, returns the contested."""
    earlier_generations = claims.subscription_generations if as_kafka else claims.generations
    twice = np.bincount(claims.partitions, minlength=len(owner)) > 1
    owner[twice] = NOBODY
    last: dict[int, int] = {}
    contested: set[int] = set()
    for member in walk.tolist():
        mine = claims.partitions[claims.starts[member] : claims.starts[member + 1]]
        generation = claims.generations[member]
        for partition in mine[twice[mine]].tolist():
            other = last.get(partition)
            if other is None or generation > earlier_generations[other]:
                owner[partition] = last[partition] = member
            elif generation == earlier_generations[other]:
                owner[partition], last[partition] = NOBODY, member
                contested.add(partition)
    return np.array(sorted(contested), dtype=np.intp)
