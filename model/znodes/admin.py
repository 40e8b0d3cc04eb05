"""`/admin/…`: reassignments and preferred replica elections asked of the controller through ZooKeeper.

Source: `kafka.zk.ReassignPartitionsZNode`, `kafka.zk.PreferredReplicaElectionZNode` (3.9). A topic to delete is an
empty child of `/admin/delete_topics` (0.8.1 and later): there is no payload to read. Whether the topics exist is not
checked here.
"""

from collections.abc import Mapping
from typing import ClassVar

from model.znodes.payload import (
    BrokerId,
    JsonCodec,
    JsonObject,
    JsonPayload,
    Name,
    PartitionId,
    Version,
    replicas_problem,
)


class PartitionEntry(JsonObject, frozen=True, kw_only=True):
    """A partition in a list of partitions."""

    topic: Name
    partition: PartitionId


class ReassignmentEntry(JsonObject, frozen=True, kw_only=True):
    """A partition and the replicas it shall have, the preferred one first."""

    topic: Name
    partition: PartitionId
    replicas: tuple[BrokerId, ...]


class PartitionReassignment(JsonPayload, frozen=True, kw_only=True):
    """The reassignments asked for; the controller deletes the znode when all are done."""

    version: Version = 1
    partitions: tuple[ReassignmentEntry, ...]

    nested: ClassVar[Mapping[str, type[JsonObject]]] = {"partitions": ReassignmentEntry}

    def problem(self) -> str | None:
        for position, entry in enumerate(self.partitions):
            problem = replicas_problem(entry.replicas)
            if problem is not None:
                return f"partitions[{position}] {problem}"
        return None


class PreferredReplicaElection(JsonPayload, frozen=True, kw_only=True):
    """The partitions whose preferred replica shall lead; the controller deletes the znode at once."""

    version: Version = 1
    partitions: tuple[PartitionEntry, ...]

    nested: ClassVar[Mapping[str, type[JsonObject]]] = {"partitions": PartitionEntry}


decode_reassignment = JsonCodec(PartitionReassignment)
decode_preferred_election = JsonCodec(PreferredReplicaElection)
