"""Partitions in the order they are looked at, cut into runs that the same members may have."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.consumers.assignors.group import Group, Ints, spans


class Run(NamedTuple):
    """Neighbouring partitions, and who may have them, by id."""

    partitions: Ints
    members: Ints


def runs_of(partitions: Ints, labels: Ints, members: Sequence[Ints]) -> list[Run]:
    """Cuts where the label changes; a label says which of `members` may have the partition."""
    if not len(partitions):
        return []
    starts = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist()]
    ends = [*starts[1:], len(partitions)]
    return [Run(partitions[s:e], members[int(labels[s])]) for s, e in zip(starts, ends, strict=True)]


def runs_by_subscribers(group: Group, partitions: Ints) -> list[Run]:
    """Cuts where topics with other subscribers begin."""
    sets = group.subscriber_sets
    return runs_of(partitions, sets.of_topic[group.topic_of[partitions]], sets.members)


def runs_of_topics(group: Group, topics: Ints) -> list[Run]:
    """All partitions of these topics in their order, cut in the same way."""
    counts, sets = group.partition_counts[topics], group.subscriber_sets
    partitions = spans(group.first[:-1][topics], counts)
    ends = np.cumsum(counts)
    runs = runs_of(topics, sets.of_topic[topics], sets.members)
    last = np.cumsum([len(run.partitions) for run in runs], dtype=np.intp)
    bounds = [0, *ends[last - 1].tolist()]
    return [Run(partitions[s:e], run.members) for run, s, e in zip(runs, bounds, bounds[1:], strict=False)]
