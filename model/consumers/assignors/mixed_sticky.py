"""Sticky assignment where subscriptions differ: keep what may be kept, fill by least load, then move until it is even.

Source: `AbstractStickyAssignor.GeneralAssignmentBuilder` (3.9). No partition can then go to a subscriber that has at
least two fewer; that fewest partitions move is not promised.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from model.consumers.assignors.balancing import (
    Balancing,
    CheckedBalancing,
    Movements,
    Run,
    fill,
    fixed_members,
    runs_by_subscribers,
    runs_of,
    runs_of_topics,
    topic_partition_code,
)
from model.consumers.assignors.group import (
    NOBODY,
    AssignorError,
    Flags,
    Group,
    Ints,
    Ownership,
    Racks,
    check_kept,
    counts_of,
    previous_owners,
)


def assign_mixed(group: Group, before: Ownership, racks: Racks | None, *, as_kafka: bool = False) -> Ints:
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


def _assigned(group: Group, before: Ownership, racks: Racks | None, previous: Ints | None) -> Ints:
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


def _kept(group: Group, before: Ownership, racks: Racks | None) -> tuple[Ints, bool]:
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


def _near(group: Group, racks: Racks, free: Sequence[Run]) -> list[Run]:
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


def _still_free(owner: Ints, runs: Iterable[Run]) -> list[Run]:
    return [Run(run.partitions[owner[run.partitions] == NOBODY], run.members) for run in runs]


def _evened_out(group: Group, balancing: Balancing, free: Sequence[Run], whole: Sequence[Run], *, fresh: bool) -> Ints:
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
