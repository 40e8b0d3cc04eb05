"""The sticky assignors: which algorithm a group gets, and what cooperative members have to wait for.

Sources: `AbstractStickyAssignor`, `StickyAssignor`, `CooperativeStickyAssignor` (3.9), KIP-54, KIP-429.
"""

import numpy as np

from model.consumers.assignors.even_sticky import assign_evenly
from model.consumers.assignors.group import NOBODY, Group, Ints
from model.consumers.assignors.mixed_sticky import assign_mixed
from model.consumers.assignors.ownership import Ownership
from model.consumers.assignors.racks import racks_that_matter


def assign_sticky(group: Group, before: Ownership, *, as_kafka: bool = False) -> Ints:
    """int32[P]: owners by the eager sticky assignor."""
    if not group.members:
        return before.owner
    if group.alike:
        return assign_evenly(group, before, racks_that_matter(group)).owner
    return assign_mixed(group, before, racks_that_matter(group), as_kafka=as_kafka)


def assign_cooperatively(group: Group, before: Ownership, *, as_kafka: bool = False) -> tuple[Ints, Ints]:
    """int32[P] each: owners now, and owners after the next rebalance.

    A partition that goes from one member to another waits, so that the one has given it up before the other starts.
    """
    if not group.members:
        return before.owner, before.owner
    if group.alike:
        target, waits = assign_evenly(group, before, racks_that_matter(group))
    else:
        target = assign_mixed(group, before, racks_that_matter(group), as_kafka=as_kafka)
        waits = _changes_hands(group, target)
    if not len(waits):
        return target, target
    owner = target.copy()
    owner[waits] = NOBODY
    return owner, target


def _changes_hands(group: Group, target: Ints) -> Ints:
    """Partitions that somebody claims and does not get, and that go to somebody who does not claim them."""
    claimed, claimants = group.claims.partitions, group.claims.members
    kept = target[claimed] == claimants
    lost = claimed[~kept]
    if not len(lost):
        return lost
    keeps = np.zeros(group.numbered, dtype=np.bool_)
    keeps[claimed[kept]] = True
    lost = np.unique(lost)
    return lost[~keeps[lost] & (target[lost] != NOBODY)]
