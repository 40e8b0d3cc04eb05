"""Sticky assignment where all subscribe to the same: all end with the same number, or one more, and keep what fits.

Source: `AbstractStickyAssignor.ConstrainedAssignmentBuilder` (3.9). Which members have the one more follows the order
in which Java walks a map of their ids. The result is worked out in closed form, except for racks (`even_racks`).
"""

from typing import NamedTuple

import numpy as np

from model.consumers.assignors.dealing import rounds
from model.consumers.assignors.even_racks import Unfilled, deal_by_rack
from model.consumers.assignors.group import NOBODY, AssignorError, Group, Ints, Racks
from model.consumers.assignors.missing import check_kept
from model.consumers.assignors.ownership import Ownership


class Sticky(NamedTuple):
    """Owners, and the partitions that change hands while their old owner still has them."""

    owner: Ints  # int32[P]
    transferred: Ints


class _Owned(NamedTuple):
    """Partitions by who owns them, one member after the other; and those given up, with who gives them up."""

    partitions: Ints
    starts: Ints  # [C + 1]
    given_up: Ints
    given_up_by: Ints


def assign_evenly(group: Group, before: Ownership, racks: Racks | None) -> Sticky:
    """Owners for a group whose subscriptions are equal; `racks` None: they do not matter."""
    if not len(group.claims.partitions) and racks is None:
        everybody = np.arange(group.members, dtype=np.int32)
        return Sticky(np.resize(everybody, group.partitions), np.zeros(0, dtype=np.intp))
    owned = _owned(group, before, racks)
    quotas, longer = _quotas(group, np.diff(owned.starts))
    surplus, surplus_of = _surplus(group, owned, quotas)
    given_up = np.concatenate((owned.given_up, surplus))
    given_up_by = np.concatenate((owned.given_up_by, surplus_of))
    owner = before.owner.copy()
    owner[before.contested] = NOBODY
    owner[given_up] = NOBODY
    unfilled = _unfilled(group, np.minimum(np.diff(owned.starts), quotas), longer)
    free = np.flatnonzero(owner[: group.partitions] == NOBODY)
    check_kept(owner, group, np.arange(group.topics))
    if racks is not None:
        free = deal_by_rack(owner, free, racks, unfilled)
    owner[free] = _dealt(unfilled, len(free))
    passed_on = given_up[owner[given_up] != given_up_by]
    return Sticky(owner, np.concatenate((passed_on, before.contested)))


def _owned(group: Group, before: Ownership, racks: Racks | None) -> _Owned:
    """What members own and may keep, were it not for quotas: nothing contested, nothing off their rack."""
    none = np.zeros(0, dtype=np.intp)
    if before.agreed and racks is None:
        return _Owned(group.claims.partitions, group.claims.starts, none, none)
    owner = before.owner.copy()
    owner[before.contested] = NOBODY
    off = none
    if racks is not None:
        off = np.flatnonzero(owner != NOBODY)
        off = off[~racks.matches[racks.row_of_partition[off], owner[off]]]
        owner[off] = NOBODY
    kept = np.flatnonzero(owner != NOBODY)
    starts = np.concatenate(([0], np.cumsum(np.bincount(owner[kept], minlength=group.members))))
    return _Owned(kept[np.argsort(owner[kept], kind="stable")], starts, off, before.owner[off])


def _quotas(group: Group, counts: Ints) -> tuple[Ints, int]:
    """How many partitions each member may keep, and how many members may still get one more than the least."""
    least, longer = divmod(group.partitions, group.members)
    quotas = np.full(group.members, least, dtype=np.int64)
    full = group.walk[counts[group.walk] > least][:longer]
    quotas[full] += 1
    return quotas, longer - len(full)


def _surplus(group: Group, owned: _Owned, quotas: Ints) -> tuple[Ints, Ints]:
    """What is over the quota, of each member the last in order of number and topic; and whose it was."""
    counts = np.diff(owned.starts)
    over = np.flatnonzero(counts > quotas)
    parts = [_last(group, owned.partitions[owned.starts[c] : owned.starts[c + 1]], int(quotas[c])) for c in over]
    none = np.zeros(0, dtype=np.intp)
    return np.concatenate(parts) if parts else none, np.repeat(over, (counts - quotas)[over])


def _last(group: Group, partitions: Ints, quota: int) -> Ints:
    topics, numbers = group.located(partitions)
    return partitions[np.argpartition(numbers * group.topics + topics, quota)[quota:]]


def _unfilled(group: Group, kept: Ints, longer: int) -> Unfilled:
    """Who may get more. Nobody with the smaller quota may once enough members have the larger one."""
    least = group.partitions // group.members
    under = np.flatnonzero(kept < least)
    at_least = np.flatnonzero(kept == least) if longer else under[:0]
    return Unfilled(under.tolist(), (least - kept[under]).tolist(), at_least.tolist(), longer)


def _dealt(unfilled: Unfilled, partitions: int) -> Ints:
    """Who gets each of the free partitions: members under the quota in rounds, then one more for who is at it.

    Those that reach the quota line up behind those that were there before.
    """
    under = np.array(unfilled.under, dtype=np.int32)
    missing = np.array(unfilled.missing, dtype=np.int64)
    in_rounds = under[rounds(np.zeros(len(under), dtype=np.int64), missing)]
    reached = under[np.argsort(missing, kind="stable")]
    dealt = np.concatenate((in_rounds, np.array(unfilled.at_least, dtype=np.int32), reached))
    if len(dealt) < partitions:
        raise AssignorError("no member is left to get the remaining partitions")
    return dealt[:partitions]
