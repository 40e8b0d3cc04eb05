"""Round-robin: all partitions in a row, dealt to the members in a ring, passing over who does not subscribe.

Source: `RoundRobinAssignor` of kafka-clients (3.9). The ring goes on from topic to topic, and whoever was passed over
is owed nothing, so that groups with different subscriptions may end far from balanced.
"""

import numpy as np

from model.consumers.assignors.group import NOBODY, Group, Ints


def assign_round_robin(group: Group) -> Ints:
    """int32[P]: owners by round-robin; neighbouring topics with equal subscribers are dealt together."""
    return deal_round(group, group.subscriber_sets.of_topic, group.partition_counts)


def deal_round(group: Group, sets: Ints, counts: Ints) -> Ints:
    """int32[sum of counts]: owners of runs of partitions, dealt one run after the other.

    `sets` says for each run which of the group's sets of subscribers it is for, `counts` how long it is.
    """
    owner = np.full(int(counts.sum()), NOBODY, dtype=np.int32)
    if not len(sets):
        return owner
    place = np.empty(group.members, dtype=np.intp)
    place[group.ring] = np.arange(group.members)
    rings = [np.sort(place[members]) for members in group.subscriber_sets.members]
    pointer = position = 0
    starts = np.concatenate(([0], np.flatnonzero(np.diff(sets)) + 1))
    for of, count in zip(sets[starts].tolist(), np.add.reduceat(counts, starts).tolist(), strict=True):
        ring = rings[int(of)]
        if count and len(ring):
            start = int(np.searchsorted(ring, pointer)) % len(ring)
            owner[position : position + count] = np.resize(np.roll(group.ring[ring], -start), count)
            pointer = int(ring[(start + count - 1) % len(ring)]) + 1
        position += count
    return owner
