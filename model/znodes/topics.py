"""Znodes of topics: assignments, partition states, work asked of the controller, and what brokers notify it of.

`/brokers/topics/T` has versions 1 to 3. A partition state's `version` has been 1 since 0.8.0; the partition epoch is
the znode's data version and is not in here. A topic to delete is an empty child of `/admin/delete_topics` (0.8.1 and
later): there is no payload to read. Notifications of configs, ACLs and tokens are beside what they are about. Whether
topics exist is not checked here.

Source: `kafka.zk.TopicZNode` (3.9), KIP-455 (v2), KIP-516 (v3); `TopicPartitionStateZNode` (3.9),
`kafka.api.LeaderAndIsr`, KIP-704 (leader_recovery_state, 3.2); `ReassignPartitionsZNode`,
`PreferredReplicaElectionZNode` (3.9); `IsrChangeNotificationSequenceZNode` (0.9),
`LogDirEventNotificationSequenceZNode` (1.0, KIP-112).
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from model.znodes.payload import (
    INT32_MAX,
    BrokerId,
    Epoch,
    JsonCodec,
    JsonObject,
    JsonPayload,
    LeftOut,
    Name,
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


RECOVERING = 1
"""`leader_recovery_state` after an unclean election, until the leader has recovered."""


class LeaderIsrAndControllerEpoch(JsonPayload, frozen=True, kw_only=True, gc=False):
    """`leader` is -1 for none, -2 while the topic is being deleted (which Kafka keeps out of ZooKeeper).

    An empty `isr` is what Kafka up to 1.0 wrote for an offline partition. An odd state (a leader outside the ISR, a
    broker named twice) is decoded as it stands.
    """

    controller_epoch: Epoch
    leader: Annotated[int, Meta(ge=-2, le=INT32_MAX)]
    version: Version = 1
    leader_recovery_state: Annotated[int, Meta(ge=0, le=127)] = 0
    leader_epoch: Epoch
    isr: tuple[BrokerId, ...]

    left_out: ClassVar[Mapping[str, LeftOut]] = {"leader_recovery_state": LeftOut(0)}

    def to_bytes(self) -> bytes:
        if self.extra is not None:
            return super().to_bytes()
        recovery = f'"leader_recovery_state":{self.leader_recovery_state},' if self.leader_recovery_state else ""
        isr = ",".join(map(str, self.isr))
        return (
            f'{{"controller_epoch":{self.controller_epoch},"leader":{self.leader},"version":{self.version},'
            f'{recovery}"leader_epoch":{self.leader_epoch},"isr":[{isr}]}}'
        ).encode()  # by hand: a failover writes thousands of these, and the general way takes four times as long


decode_partition_state = JsonCodec(LeaderIsrAndControllerEpoch)


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


LOG_DIR_FAILURE = 1
"""The only event there is."""


class IsrChange(JsonPayload, frozen=True, kw_only=True):
    """Partitions whose ISR their leader has changed."""

    version: Version = 1
    partitions: tuple[PartitionEntry, ...]

    nested: ClassVar[Mapping[str, type[JsonObject]]] = {"partitions": PartitionEntry}


class LogDirEvent(JsonPayload, frozen=True, kw_only=True):
    """A broker lost a log folder."""

    version: Version = 1
    broker: BrokerId
    event: Annotated[int, Meta(ge=0, le=INT32_MAX)] = LOG_DIR_FAILURE


decode_isr_change = JsonCodec(IsrChange)
decode_log_dir_event = JsonCodec(LogDirEvent)
