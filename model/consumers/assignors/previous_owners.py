"""Who had partitions in generations that are over: a sticky assignor gives back to them rather than to anybody.

Source: `AbstractStickyAssignor.GeneralAssignmentBuilder.prepopulateCurrentAssignments` (3.9).
"""

import numpy as np

from model.consumers.assignors.group import NO_GENERATION, NOBODY, Group, Ints


def previous_owners(group: Group, *, subscribed: bool = True) -> Ints | None:
    """int32[P]: who claims a partition from a generation older than the newest, of several the newest; None: nobody.

    `subscribed`: who does not subscribe to the topic any more does not count.
    """
    claims = group.claims
    stale = _stale(group)
    if not stale:
        return None
    previous = np.full(group.numbered, NOBODY, dtype=np.int32)
    stale.reverse()  # of one generation the first has it, so it comes last
    for member in sorted(stale, key=lambda c: int(claims.generations[c])):
        partitions = claims.partitions[claims.starts[member] : claims.starts[member + 1]]
        if subscribed:
            partitions = partitions[group.subscribed[group.subscription_of[member]][group.topic_of[partitions]]]
        previous[partitions] = member
    return previous


def has_strays(group: Group) -> bool:
    """Whether somebody of an old generation claims a partition of a topic it does not subscribe to any more."""
    previous = previous_owners(group, subscribed=False) if _stale(group) else None
    if previous is None:
        return False
    known = np.flatnonzero(previous != NOBODY)
    return not bool(group.subscribes(previous[known], group.topic_of[known]).all())


def _stale(group: Group) -> list[int]:
    """Members that claim something from a generation older than the newest, in Java's order."""
    claims = group.claims
    newest, counts = int(claims.generations.max(initial=NO_GENERATION)), claims.counts
    return [c for c in group.walk.tolist() if claims.generations[c] < newest and counts[c]]
