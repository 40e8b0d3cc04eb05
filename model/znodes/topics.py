"""`/brokers/topics/T`: which brokers hold which partition of a topic, versions 1 to 3.

Source: `kafka.zk.TopicZNode` (3.9); KIP-455 (v2: reassignment), KIP-516 (v3: topic ids). It does not know who leads.
"""

from collections.abc import Mapping
from typing import ClassVar

from model.znodes.payload import (
    BrokerId,
    JsonCodec,
    JsonPayload,
    LeftOut,
    PartitionId,
    Version,
    replicas_problem,
)


class TopicAssignment(JsonPayload, frozen=True, kw_only=True):
    """v1 (0.8): partitions; v2 (2.4) adds adding and removing replicas, v3 (2.8) the topic id (22
    characters of base64url).

    `partitions` holds all replicas, the preferred one first, also those being added or removed. The other two mappings
    name only partitions that are being reassigned.
    """

    partitions: Mapping[PartitionId, tuple[BrokerId, ...]]
    topic_id: str | None = None
    adding_replicas: Mapping[PartitionId, tuple[BrokerId, ...]] = {}
    removing_replicas: Mapping[PartitionId, tuple[BrokerId, ...]] = {}
    version: Version = 1

    left_out: ClassVar[Mapping[str, LeftOut]] = {
        "topic_id": LeftOut(None),
        "adding_replicas": LeftOut({}, 2),
        "removing_replicas": LeftOut({}, 2),
    }

    def problem(self) -> str | None:
        for replicas in set(self.partitions.values()):  # of a million partitions many have the same
            if not replicas or len(set(replicas)) != len(replicas):
                partition = next(each for each, brokers in self.partitions.items() if brokers == replicas)
                return f"partition {partition} {replicas_problem(replicas)}"
        return None


decode_topic = JsonCodec(TopicAssignment)
