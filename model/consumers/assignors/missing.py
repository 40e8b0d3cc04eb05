"""What Kafka makes of members that claim partitions which do not exist, as after a topic was made anew with fewer.

Source: `AbstractStickyAssignor.getUnassignedPartitions` (3.9): who keeps such a partition brings two lists out of step.
"""

import numpy as np

from model.consumers.assignors.group import NOBODY, AssignorError, Group, Ints


def check_kept(owner: Ints, group: Group, topics: Ints) -> None:
    """Raises AssignorError where a member keeps a partition that does not exist and others are kept behind it.

    `topics` are in the order in which Kafka compares what is kept with what there is. From the first partition on that
    is missing all count as free: those behind it that somebody keeps go to another member as well, or to nobody.
    """
    missing = group.partitions + np.flatnonzero(owner[group.partitions :] != NOBODY)
    if not len(missing):
        return
    place = np.empty(group.topics, dtype=np.intp)
    place[topics] = np.arange(group.topics)
    of, numbers = group.located(missing)
    first = np.lexsort((numbers, place[of]))[0]
    kept, kept_numbers = group.located(np.flatnonzero(owner[: group.partitions] != NOBODY))
    behind = (place[kept] > place[of[first]]) | (place[kept] == place[of[first]]) & (kept_numbers > numbers[first])
    if behind.any():
        raise AssignorError(
            "a member keeps a partition that does not exist, after which Kafka 3.9.1 gives partitions to two members "
            "at once, or throws IllegalStateException"
        )
