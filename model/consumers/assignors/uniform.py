"""The group coordinator's uniform assignor, for groups whose members subscribe to the same topics.

Source: `UniformHomogeneousAssignmentBuilder` (3.9, KIP-848). Members keep what they have up to their quota, and the
first members in the order of a hash have the larger quota whatever they own: a full member may lose a partition for
nothing. What is free is then given away in runs. Racks do not count.
"""

import numpy as np

from model.consumers.assignors.group import NOBODY, AssignorError, Group, Ints, spans
from model.consumers.assignors.ownership import Ownership


def assign_uniformly(group: Group, before: Ownership) -> Ints:
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


def _free(group: Group, owner: Ints) -> Ints:
    """Partitions that nobody had, topics in the order of their ids' hashes."""
    if not len(group.claims.partitions):
        return spans(group.first[:-1][group.topic_walk], group.partition_counts[group.topic_walk])
    free = np.flatnonzero(owner[: group.partitions] == NOBODY)
    place = np.empty(group.topics, dtype=np.intp)
    place[group.topic_walk] = np.arange(group.topics)
    topics, _ = group.located(free)
    return free[np.argsort(place[topics], kind="stable")]
