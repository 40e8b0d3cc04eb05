"""The group coordinator's uniform assignor, for groups whose members subscribe to the same topics and for mixed ones.

Source: `UniformHomogeneousAssignmentBuilder` and `UniformHeterogeneousAssignmentBuilder` (3.9, KIP-848). Racks do not
count. With equal subscriptions members keep what they have up to their quota, and the first members in the order of a
hash have the larger quota whatever they own: a full member may lose a partition for nothing. In mixed groups topics
with many partitions per subscriber come first, equal ones by partition number and then in the order of a hash.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from model.consumers.assignors.balancing import (
    Balancing,
    Movements,
    PartitionRun,
    fill,
    runs_by_subscribers,
    topic_id_partition_code,
)
from model.consumers.assignors.group import NOBODY, AssignorError, GroupToAssign, Ints, Ownership, counts_of, spans
from model.consumers.assignors.java_hashing import buckets, grown_table


def assign_uniformly(group: GroupToAssign, before: Ownership) -> Ints:
    """int32[P]: owners; `before` must be the coordinator's own target, in which nothing is owned twice."""
    least, longer = divmod(group.partitions, group.members)
    quotas = np.full(group.members, least, dtype=np.int64)
    quotas[group.walk[:longer]] += 1
    owner = before.owner.copy()
    kept = np.minimum(group.claims.counts, quotas)
    surplus = (group.claims.counts - kept)[group.walk]
    revoked = group.claims.partitions[spans((group.claims.starts[:-1] + kept)[group.walk], surplus)]
    owner[revoked] = NOBODY
    free = _free(group, before.owner)
    short = (quotas - kept)[group.walk]
    takers = np.repeat(group.walk, short)
    if len(takers) < len(free) + len(revoked):
        raise AssignorError("partitions that do not exist are in the way, at which Kafka 3.9.1 throws an exception")
    owner[np.concatenate((free, revoked))] = takers
    return owner


def _free(group: GroupToAssign, owner: Ints) -> Ints:
    """Partitions that nobody had, topics in the order of their ids' hashes."""
    if not len(group.claims.partitions):
        return spans(group.first[:-1][group.topic_walk], group.partition_counts[group.topic_walk])
    free = np.flatnonzero(owner[: group.partitions] == NOBODY)
    place = np.empty(group.topics, dtype=np.intp)
    place[group.topic_walk] = np.arange(group.topics)
    topics, _ = group.located(free)
    return free[np.argsort(place[topics], kind="stable")]


def assign_mixed_uniformly(group: GroupToAssign, before: Ownership, *, as_kafka: bool = False) -> Ints:
    """int32[P]: owners. `as_kafka` raises AssignorError where a partition moves twice, at which Kafka throws."""
    owner = before.owner.copy()
    owned = np.flatnonzero(owner != NOBODY)
    owner[owned[~group.subscribes(owner[owned], group.topic_of[owned])]] = NOBODY
    counts = counts_of(owner, group.members)
    order = _order(group)
    fill(owner, counts, _runs(group, order[owner[order] == NOBODY], counts))
    _check_given_out(group, owner)
    balancing = Balancing(group, owner, counts, Movements(partial(topic_id_partition_code, group)))
    _even_out(group, balancing, order[(group.subscriber_counts > 1)[group.topic_of[order]]], as_kafka)
    return balancing.owner


def _check_given_out(group: GroupToAssign, owner: Ints) -> None:
    wanted = (group.subscriber_counts > 0)[group.topic_of[: group.partitions]]
    if len(group.missing.topics) and (owner[: group.partitions][wanted] == NOBODY).any():
        raise AssignorError("partitions that do not exist are in the way, at which Kafka 3.9.1 throws an exception")


def _order(group: GroupToAssign) -> Ints:
    """Partitions as they are looked at."""
    subscribers = np.maximum(group.subscriber_counts, 1)
    crowding = -(group.partition_counts / subscribers)
    hashed = _hash_order(group)
    topics = group.topic_of[hashed]
    numbers = hashed - group.first[topics]
    return hashed[np.lexsort((numbers, subscribers[topics], crowding[topics]))]


def _hash_order(group: GroupToAssign) -> Ints:
    """Partitions as a HashSet of topic ids and numbers is walked that they were put into topic by topic."""
    topics = group.topic_walk
    partitions = spans(group.first[:-1][topics], group.partition_counts[topics])
    of = group.topic_of[partitions]
    hashes = np.uint32(31) * (np.uint32(31) + group.topic_hashes[of]) + (partitions - group.first[of]).astype(np.uint32)
    return partitions[np.argsort(buckets(hashes, grown_table(len(partitions))), kind="stable")]


def _runs(group: GroupToAssign, partitions: Ints, counts: Ints) -> Iterator[PartitionRun]:
    """Partitions with who may have them: not who has as many as it could have of those that exist, as `counts` tell.

    Only partitions that do not exist can bring a member that far while another partition could still be its own.
    """
    for run in runs_by_subscribers(group, partitions):
        if not len(group.missing.topics):
            yield run
            continue
        for place in range(len(run.partitions)):
            members = run.members[counts[run.members] < group.most[run.members]]
            yield PartitionRun(run.partitions[place : place + 1], members)


def _even_out(group: GroupToAssign, balancing: Balancing, order: Ints, as_kafka: bool) -> None:
    """Passes until nothing moves, or until the members that could take more are even, whatever the others have.

    What has moved is not looked at in later passes, so that groups may stay less even than they could be.
    """
    most, moved = group.most, True
    still = np.ones(group.partitions, dtype=np.bool_)
    while moved:
        moved, order = False, order[still[order]]
        for run in _runs(group, order, balancing.counts):
            move = balancing.next_move(run, 0)
            while move is not None:
                partition, moved = int(run.partitions[move.position]), True
                if as_kafka and balancing.moves_again(partition, move.to):
                    raise AssignorError("a partition would move twice, at which Kafka 3.9.1 throws an exception")
                still[balancing.move(partition, move.to)] = False
                if partition != order[-1] and _is_balanced(balancing.counts, most, as_kafka):
                    return
                move = balancing.next_move(run, move.position + 1)


def _is_balanced(counts: Ints, most: Ints, as_kafka: bool) -> bool:
    """Whether members that could take more differ by one at most."""
    could = counts[counts < most]
    if as_kafka and not len(could):
        raise AssignorError("no member could take more, at which Kafka 3.9.1 throws NoSuchElementException")
    return not len(could) or int(could.max() - could.min()) <= 1
