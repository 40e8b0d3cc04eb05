"""Range: each topic's partitions cut into runs, one a subscriber, and no thought for other topics.

Sources: `RangeAssignor` of kafka-clients and of the group coordinator (3.9), `kafka.consumer.RangeAssignor` (0.8.2).
The three cut in the same way; they differ in how members are lined up, and in racks, which `rack_ranges` sees to.
"""

from collections.abc import Callable

import numpy as np

from model.consumers.assignors.group import NOBODY, Group, Ints

Cut = Callable[[int, int], Ints]
"""Of how many partitions, among how many members: int[members], the length of each run."""


def even_cut(partitions: int, members: int) -> Ints:
    """Runs that differ by one at most; the first members have the longer ones."""
    runs = np.full(members, partitions // members, dtype=np.int64)
    runs[: partitions % members] += 1
    return runs


def rounded_up_cut(partitions: int, members: int) -> Ints:
    """Runs of partitions / members, rounded up, until none are left: the last members may get nothing.

    A formula often told of Kafka 0.8's consumers; no release cuts like this.
    """
    length = -(-partitions // members)
    return np.clip(partitions - np.arange(members, dtype=np.int64) * length, 0, length)


def assign_ranges(group: Group, cut: Cut = even_cut) -> Ints:
    """int32[P]: owners by range; topics with equal subscribers and sizes are cut once."""
    owner = np.full(group.partitions, NOBODY, dtype=np.int32)
    place = np.empty(group.members, dtype=np.intp)
    place[group.ring] = np.arange(group.members)
    sets = group.subscriber_sets
    lined_up = [members[np.argsort(place[members])] for members in sets.members]
    known: dict[tuple[int, int], Ints] = {}
    for topic, (count, of) in enumerate(zip(group.partition_counts.tolist(), sets.of_topic.tolist(), strict=True)):
        members = lined_up[int(of)]
        if len(members):
            row = known.get((of, count))
            if row is None:
                row = known[of, count] = np.repeat(members, cut(count, len(members)))
            owner[group.first[topic] : group.first[topic + 1]] = row
    return owner
