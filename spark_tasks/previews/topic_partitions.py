"""Which partitions topics have, and their numbers within a group that reads some of the topics. Knows no consumers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition

NOWHERE = -1


@dataclass(frozen=True)
class TopicPartitions:
    """Topics that can be read, by name. Assignors know how many partitions each has, and number them from 0."""

    counts: Mapping[str, int]
    rows: Mapping[str, Mapping[int, int]]
    """Partition id → its number, for topics whose partitions are not called 0, 1, 2 …: no sound cluster has any."""


class Places:
    """Partitions of a few topics, numbered one topic after the other."""

    def __init__(self, topics: Sequence[str], of: TopicPartitions) -> None:
        counts = [of.counts.get(topic, 0) for topic in topics]
        starts: list[int] = np.cumsum([0, *counts]).tolist()
        self._spans = dict(zip(topics, zip(starts, counts, strict=False), strict=True))
        self._rows = {topic: of.rows[topic] for topic in topics if topic in of.rows}
        self.count = starts[-1]

    def of(self, read: TopicPartition) -> int:
        """The partition's number; NOWHERE where there is no such partition."""
        topic, partition = read
        span = self._spans.get(topic)
        if span is None:
            return NOWHERE
        if topic in self._rows:
            partition = self._rows[topic].get(partition, NOWHERE)
        return span[0] + partition if 0 <= partition < span[1] else NOWHERE


def topic_partitions(image: ClusterImage) -> TopicPartitions:
    """All topics of a cluster but those being deleted."""
    counts: dict[str, int] = {}
    rows: dict[str, Mapping[int, int]] = {}
    for name, topic in image.topics.items():
        ids = topic.partitions[~topic.orphaned]
        if len(ids) and name not in image.admin.delete_topics:
            counts[name] = len(ids)
            if int(ids[-1]) != len(ids) - 1:
                rows[name] = {partition: row for row, partition in enumerate(ids.tolist())}
    return TopicPartitions(counts, rows)
