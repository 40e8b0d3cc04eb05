"""The sticky assignors: which algorithm a group gets, how racks count, and what cooperative members wait for.

Sources: `AbstractStickyAssignor` with its `ConstrainedAssignmentBuilder` and `GeneralAssignmentBuilder`,
`StickyAssignor`, `CooperativeStickyAssignor` (3.9); KIP-54, KIP-429, KIP-881. Where all subscribe to the same topics,
all end with the same number of partitions or one more; which members get one more follows the order in which Java walks
a map of their ids. The result is worked out in closed form, except with racks: there free partitions first go to
members that have a replica near, in a ring.

Where subscriptions differ, what may be kept is kept, the rest goes to the least loaded, then partitions move until it
is even: none can then go to a subscriber that has at least two fewer. That fewest move is not promised.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from model.consumers.assignors.balancing import (
    Balancing,
    CheckedBalancing,
    Movements,
    PartitionRun,
    fill,
    fixed_members,
    rounds,
    runs_by_subscribers,
    runs_of,
    runs_of_topics,
    topic_partition_code,
)
from model.consumers.assignors.case import racks_that_matter
from model.consumers.assignors.group import (
    NOBODY,
    AssignorError,
    Flags,
    GroupToAssign,
    Ints,
    Ownership,
    Racks,
    check_kept,
    counts_of,
    previous_owners,
)


def assign_mixed(group: GroupToAssign, before: Ownership, racks: Racks | None, *, as_kafka: bool = False) -> Ints:
    """int32[P]: owners for any group; `racks` None: they do not matter. With `as_kafka` see `watched_evening`.

    Raises AssignorError where partitions move in circles; without `as_kafka` only if they do so even where who had them
    in older generations does not count.
    """
    previous = previous_owners(group, subscribed=not as_kafka)
    try:
        return _assigned(group, before, racks, previous)
    except AssignorError:
        if as_kafka or previous is None:
            raise
        return _assigned(group, before, racks, None)


def _assigned(group: GroupToAssign, before: Ownership, racks: Racks | None, previous: Ints | None) -> Ints:
    owner, given_up = _kept(group, before, racks)
    counts = counts_of(owner, group.members)
    fresh = not counts.any()
    topics = np.argsort(group.subscriber_counts, kind="stable")
    whole = runs_of_topics(group, topics)
    check_kept(owner, group, topics)
    free = whole
    if not fresh:
        in_order = np.concatenate([run.partitions for run in whole])
        free = runs_by_subscribers(group, in_order[owner[in_order] == NOBODY])
    if racks is not None:
        fill(owner, counts, _near(group, racks, free))
    fill(owner, counts, free if racks is None else _still_free(owner, free))
    movements = Movements(partial(topic_partition_code, group))
    if previous is not None or len(group.missing.topics):
        balancing = CheckedBalancing(group, owner, counts, movements, previous)
        free, whole = balancing.shared(free), balancing.shared(whole)
    else:
        balancing = Balancing(group, owner, counts, movements)
    return _evened_out(group, balancing, [] if given_up else free, whole, fresh=fresh)


def _kept(group: GroupToAssign, before: Ownership, racks: Racks | None) -> tuple[Ints, bool]:
    """Owners that subscribe, and have a replica near where racks matter; and whether any partition was given up."""
    owner = before.owner.copy()
    given_up = False
    if not group.subscribed.all():
        all_of_them: Flags = np.logical_and.reduce(group.subscribed, axis=1)
        picky = ~all_of_them[group.subscription_of]
        owned = np.flatnonzero((owner != NOBODY) & picky[owner])
        strange = owned[~group.subscribes(owner[owned], group.topic_of[owned])]
        owner[strange] = NOBODY
        given_up = len(strange) > 0
    if racks is not None:
        owned = np.flatnonzero(owner != NOBODY)
        far = owned[~racks.matches[racks.row_of_partition[owned], owner[owned]]]
        owner[far] = NOBODY
        given_up |= len(far) > 0
    return owner, given_up


def _near(group: GroupToAssign, racks: Racks, free: Sequence[PartitionRun]) -> list[PartitionRun]:
    """The same partitions, each for subscribers that have a replica near, or no rack."""
    partitions = np.concatenate([run.partitions for run in free]) if free else np.zeros(0, dtype=np.intp)
    sets, rows = group.subscriber_sets, len(racks.rows)
    labels = sets.of_topic[group.topic_of[partitions]] * rows + racks.row_of_partition[partitions]
    used, labels = np.unique(labels, return_inverse=True)
    matches = racks.matches
    near: list[Ints] = []
    for label in used.tolist():
        subscribers = sets.at(label // rows)
        near.append(subscribers[matches[label % rows, subscribers]])
    return runs_of(partitions, labels, near)


def _still_free(owner: Ints, runs: Iterable[PartitionRun]) -> list[PartitionRun]:
    return [PartitionRun(run.partitions[owner[run.partitions] == NOBODY], run.members) for run in runs]


def _evened_out(
    group: GroupToAssign,
    balancing: Balancing,
    free: Sequence[PartitionRun],
    whole: Sequence[PartitionRun],
    *,
    fresh: bool,
) -> Ints:
    """Owners once nothing can move; first of the partitions that were free, then of all.

    What was owned before is put back if moving did not pay.
    """
    owner, counts = balancing.owner.copy(), balancing.counts.copy()
    balancing.even_out(free)
    if balancing.even_out(whole) and not fresh:
        takes_part = ~fixed_members(group, owner, counts)
        if _unevenness(balancing.counts[takes_part]) >= _unevenness(counts[takes_part]):
            return owner
    return balancing.owner


def _unevenness(counts: Ints) -> int:
    """Sum of the differences between all pairs of members."""
    ordered, size = np.sort(counts), len(counts)
    return int((ordered * (2 * np.arange(size) - size + 1)).sum())


@dataclass
class Unfilled:
    """Members that may get more partitions."""

    under: list[int]  # below the smaller quota, by id
    missing: list[int]  # how many each of them is below
    at_least: list[int]  # at the smaller quota, in the order in which they get one more
    longer: int  # how many may still get one more


class _Line:
    """Members in a line, by place; those on a rack can be found from any place on."""

    def __init__(self, racks: Ints) -> None:
        self._racks = racks
        self._places: dict[int, list[int]] = {}

    def add(self, place: int, member: int) -> None:
        """Puts a member into the line; without a rack nobody will find it."""
        if self._racks[member] >= 0:
            insort(self._places.setdefault(int(self._racks[member]), []), place)

    def remove(self, place: int, member: int) -> None:
        if self._racks[member] >= 0:
            self._places[int(self._racks[member])].remove(place)

    def next(self, racks: Iterable[int], start: int) -> int | None:
        """The first place at or after `start`, or else from the beginning, of a member on one of the racks."""
        ahead, behind = list[int](), list[int]()
        for rack in racks:
            places = self._places.get(rack)
            if places:
                found = bisect_left(places, start)
                (ahead if found < len(places) else behind).append(places[found % len(places)])
        return min(ahead) if ahead else min(behind, default=None)


def assign_by_rack(owner: Ints, free: Ints, racks: Racks, unfilled: Unfilled) -> Ints:
    """Writes owners of free partitions that find a member on their racks; changes `unfilled`; returns those left.

    Partitions with the fewest members near come first.
    """
    near = np.bincount(racks.of_member[racks.of_member >= 0], minlength=racks.rows.shape[1])
    rows = racks.row_of_partition
    ordered = free[np.argsort((racks.rows @ near)[rows[free]], kind="stable")]
    of_row: list[list[int]] = [np.flatnonzero(row).tolist() for row in racks.rows]
    dealing = _RackAssignment(racks.of_member, unfilled)
    takers = [dealing.take(of_row[int(row)]) for row in rows[ordered].tolist()]
    given = np.array([taker is not None for taker in takers], dtype=np.bool_)
    owner[ordered[given]] = [taker for taker in takers if taker is not None]
    dealing.close()
    return ordered[~given]


class _RackAssignment:
    """Who gets the next partition, by its racks."""

    def __init__(self, racks: Ints, unfilled: Unfilled) -> None:
        self._unfilled = unfilled
        self._missing = dict(zip(unfilled.under, unfilled.missing, strict=True))
        self._under, self._at_least = _Line(racks), _Line(racks)
        self._members, self._turn = unfilled.under, 0
        self._queue = dict(enumerate(unfilled.at_least))
        self._tail = len(self._queue)
        for place, member in enumerate(unfilled.under):
            self._under.add(place, member)
        for place, member in self._queue.items():
            self._at_least.add(place, member)

    def take(self, racks: list[int]) -> int | None:
        place = self._under.next(racks, self._turn)
        if place is not None:
            return self._take_under(place)
        place = self._at_least.next(racks, 0)
        return None if place is None else self._take_at_least(place)

    def _take_under(self, place: int) -> int:
        member, self._turn = self._members[place], place + 1
        self._missing[member] -= 1
        if not self._missing[member]:
            self._under.remove(place, member)
            if self._unfilled.longer > 0:
                self._queue[self._tail] = member
                self._at_least.add(self._tail, member)
                self._tail += 1
        return member

    def _take_at_least(self, place: int) -> int:
        member = self._queue.pop(place)
        self._at_least.remove(place, member)
        self._unfilled.longer -= 1
        if not self._unfilled.longer:
            for left, other in self._queue.items():
                self._at_least.remove(left, other)
            self._queue.clear()
        return member

    def close(self) -> None:
        """Leaves in `unfilled` who still wants partitions."""
        left = [(member, missing) for member, missing in self._missing.items() if missing]
        self._unfilled.under = [member for member, _ in left]
        self._unfilled.missing = [missing for _, missing in left]
        self._unfilled.at_least = list(self._queue.values())


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


def assign_evenly(group: GroupToAssign, before: Ownership, racks: Racks | None) -> Sticky:
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
        free = assign_by_rack(owner, free, racks, unfilled)
    owner[free] = _filled(unfilled, len(free))
    passed_on = given_up[owner[given_up] != given_up_by]
    return Sticky(owner, np.concatenate((passed_on, before.contested)))


def _owned(group: GroupToAssign, before: Ownership, racks: Racks | None) -> _Owned:
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


def _quotas(group: GroupToAssign, counts: Ints) -> tuple[Ints, int]:
    """How many partitions each member may keep, and how many members may still get one more than the least."""
    least, longer = divmod(group.partitions, group.members)
    quotas = np.full(group.members, least, dtype=np.int64)
    full = group.walk[counts[group.walk] > least][:longer]
    quotas[full] += 1
    return quotas, longer - len(full)


def _surplus(group: GroupToAssign, owned: _Owned, quotas: Ints) -> tuple[Ints, Ints]:
    """What is over the quota, of each member the last in order of number and topic; and whose it was."""
    counts = np.diff(owned.starts)
    over = np.flatnonzero(counts > quotas)
    parts = [_last(group, owned.partitions[owned.starts[c] : owned.starts[c + 1]], int(quotas[c])) for c in over]
    none = np.zeros(0, dtype=np.intp)
    return np.concatenate(parts) if parts else none, np.repeat(over, (counts - quotas)[over])


def _last(group: GroupToAssign, partitions: Ints, quota: int) -> Ints:
    topics, numbers = group.located(partitions)
    return partitions[np.argpartition(numbers * group.topics + topics, quota)[quota:]]


def _unfilled(group: GroupToAssign, kept: Ints, longer: int) -> Unfilled:
    """Who may get more. Nobody with the smaller quota may once enough members have the larger one."""
    least = group.partitions // group.members
    under = np.flatnonzero(kept < least)
    at_least = np.flatnonzero(kept == least) if longer else under[:0]
    return Unfilled(under.tolist(), (least - kept[under]).tolist(), at_least.tolist(), longer)


def _filled(unfilled: Unfilled, partitions: int) -> Ints:
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


def assign_sticky(group: GroupToAssign, before: Ownership, *, as_kafka: bool = False) -> Ints:
    """int32[P]: owners by the eager sticky assignor."""
    if not group.members:
        return before.owner
    if group.alike:
        return assign_evenly(group, before, racks_that_matter(group)).owner
    return assign_mixed(group, before, racks_that_matter(group), as_kafka=as_kafka)


def assign_cooperatively(group: GroupToAssign, before: Ownership, *, as_kafka: bool = False) -> tuple[Ints, Ints]:
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


def _changes_hands(group: GroupToAssign, target: Ints) -> Ints:
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
