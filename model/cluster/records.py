"""Records: facts in the past tense, as every source yields them.

A record says what became true, when (`time_ms`, server time where known) and at which ZooKeeper transaction (`zxid`,
-1 where unknown). Records say nothing about how they were learnt, and replaying one never fails.
"""

from collections.abc import Mapping, Sequence

import msgspec

from model.cluster.ids import KafkaGeneration, TopicPartition
from model.cluster.image_parts import CLASSIC, KraftMetadata, LogDir, Member, Quorum, Rebalance


class ClusterRecord(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """What all records have: the transaction (-1: unknown) and the time (ms since epoch, 0: unknown)."""

    zxid: int = -1
    time_ms: int = 0


class BrokerRegistered(ClusterRecord, frozen=True, tag=True):
    """`/brokers/ids/N` was written. `epoch` is the znode's czxid from Kafka 2.2 on, None before (KIP-380).

    Of KRaft: it is registered and serves. `fenced` False: the controllers say so; None: nobody told. So with
    `in_controlled_shutdown`, which stands in the metadata log alone.
    """

    broker: int
    endpoints: tuple[str, ...] = ()
    rack: str | None = None
    epoch: int | None = None
    registered_ms: int = 0
    registration_version: int = 1
    fenced: bool | None = None
    in_controlled_shutdown: bool | None = None


class BrokerFenced(ClusterRecord, frozen=True, tag=True):
    """A broker is registered, and the controllers (KRaft) have fenced it: it serves nothing, and leads nothing."""

    broker: int
    endpoints: tuple[str, ...] = ()
    rack: str | None = None
    epoch: int | None = None
    registered_ms: int = 0


class BrokerLost(ClusterRecord, frozen=True, tag=True):
    """`/brokers/ids/N` is gone: its session ended or it deregistered."""

    broker: int


class ControllerElected(ClusterRecord, frozen=True, tag=True):
    """`/controller` names this broker since `since_ms`."""

    broker: int
    since_ms: int = 0


class ControllerLost(ClusterRecord, frozen=True, tag=True):
    """`/controller` is gone."""


class ControllerEpochChanged(ClusterRecord, frozen=True, tag=True):
    """`/controller_epoch` holds this number."""

    epoch: int


class TopicAssigned(ClusterRecord, frozen=True, tag=True):
    """`/brokers/topics/T` was written: replicas by partition, preferred replica first."""

    topic: str
    replicas: Mapping[int, tuple[int, ...]]
    topic_id: str | None = None
    adding: Mapping[int, tuple[int, ...]] = {}
    removing: Mapping[int, tuple[int, ...]] = {}


class TopicRemoved(ClusterRecord, frozen=True, tag=True):
    """`/brokers/topics/T` is gone."""

    topic: str


class PartitionState(msgspec.Struct, frozen=True, gc=False):
    """One partition's leadership as its state znode holds it; `version` is the znode's data version.

    `elr` and `last_known_elr` are KRaft's (KIP-966); None: nobody told them.
    """

    partition: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int = 0
    version: int = 0
    recovering: bool = False
    zxid: int = -1
    time_ms: int = 0
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None
    directories: tuple[int, ...] | None = None
    """Of each replica, in their order, the `directory_number` of its log directory (KIP-858); None: nobody told."""


class PartitionStatesWritten(ClusterRecord, frozen=True, tag=True):
    """State znodes of one topic were written. One record carries many partitions, perhaps as `StateColumns`."""

    topic: str
    states: Sequence[PartitionState]


class PartitionStatesRemoved(ClusterRecord, frozen=True, tag=True):
    """State znodes of one topic are gone."""

    topic: str
    partitions: tuple[int, ...]


class ConfigChanged(ClusterRecord, frozen=True, tag=True):
    """`/config/ENTITY` was written; `entity` as in Kafka's entity path, `topics/orders` or `users/u/clients/c`."""

    entity: str
    config: Mapping[str, str]


class ConfigRemoved(ClusterRecord, frozen=True, tag=True):
    """`/config/ENTITY` is gone."""

    entity: str


class GroupSeen(ClusterRecord, frozen=True, tag=True):
    """`/consumers/G` exists, perhaps with nobody in it."""

    group: str


class GroupRemoved(ClusterRecord, frozen=True, tag=True):
    """`/consumers/G` is gone."""

    group: str


class MemberJoined(ClusterRecord, frozen=True, tag=True):
    """`/consumers/G/ids/C` was written. `subscription` is topic (or pattern) → number of consumer threads."""

    group: str
    member: str
    subscription: Mapping[str, int]
    pattern: str = "static"
    joined_ms: int = 0


class MemberLeft(ClusterRecord, frozen=True, tag=True):
    """`/consumers/G/ids/C` is gone."""

    group: str
    member: str


class PartitionClaimed(ClusterRecord, frozen=True, tag=True):
    """`/consumers/G/owners/T/P` names a consumer thread, `<consumer id>-<thread>`."""

    group: str
    partition: TopicPartition
    owner: str


class PartitionReleased(ClusterRecord, frozen=True, tag=True):
    """`/consumers/G/owners/T/P` is gone."""

    group: str
    partition: TopicPartition


class OffsetCommitted(ClusterRecord, frozen=True, tag=True):
    """`/consumers/G/offsets/T/P` holds the next offset to consume."""

    group: str
    partition: TopicPartition
    offset: int


class OffsetRemoved(ClusterRecord, frozen=True, tag=True):
    """`/consumers/G/offsets/T/P` is gone."""

    group: str
    partition: TopicPartition


class GroupDescribed(ClusterRecord, frozen=True, tag=True):
    """A coordinator described a classic group: all of its members. `owners` is None where it did not tell them."""

    group: str
    state: str
    kind: str = CLASSIC
    protocol_type: str = ""
    protocol: str = ""
    coordinator: int | None = None
    generation: int | None = None
    members: Mapping[str, Member] = {}
    owners: Mapping[TopicPartition, str] | None = None


class GroupOffsetsFetched(ClusterRecord, frozen=True, tag=True):
    """These are all offsets that a classic group has committed."""

    group: str
    offsets: Mapping[TopicPartition, int]


class GroupDied(ClusterRecord, frozen=True, tag=True):
    """A classic group is not known to its coordinator any more."""

    group: str


class GroupRebalancesSeen(ClusterRecord, frozen=True, tag=True):
    """These are a group's past rebalances. Whoever follows a cluster works them out; they are told of old images."""

    group: str
    kind: str
    rebalances: tuple[Rebalance, ...]


class LogEndsRead(ClusterRecord, frozen=True, tag=True):
    """These are the log end offsets of all partitions of which they are known."""

    ends: Mapping[TopicPartition, int]


class ReassignmentsRequested(ClusterRecord, frozen=True, tag=True):
    """`/admin/reassign_partitions` holds these targets; empty: the znode is gone."""

    targets: Mapping[TopicPartition, tuple[int, ...]]


class PreferredElectionRequested(ClusterRecord, frozen=True, tag=True):
    """`/admin/preferred_replica_election` names these partitions; empty: the znode is gone."""

    partitions: tuple[TopicPartition, ...]


class TopicDeletionRequested(ClusterRecord, frozen=True, tag=True):
    """`/admin/delete_topics/T` exists."""

    topic: str


class TopicDeletionCleared(ClusterRecord, frozen=True, tag=True):
    """`/admin/delete_topics/T` is gone: deleted, or refused."""

    topic: str


class ClusterIdentified(ClusterRecord, frozen=True, tag=True):
    """`/cluster/id` holds this id (Kafka 0.10.1 and later)."""

    cluster_id: str


class QuorumDescribed(ClusterRecord, frozen=True, tag=True):
    """The controllers of a KRaft cluster stand like this."""

    quorum: Quorum


class MetadataDescribed(ClusterRecord, frozen=True, tag=True):
    """What only the metadata log knows of a KRaft cluster stands like this."""

    metadata: KraftMetadata


class LogDirsDescribed(ClusterRecord, frozen=True, tag=True):
    """A broker told its log folders."""

    broker: int
    folders: tuple[LogDir, ...]


class ReplicasWentOffline(ClusterRecord, frozen=True, tag=True):
    """These are all replicas that are offline although their brokers live: a log folder failed."""

    replicas: Mapping[TopicPartition, tuple[int, ...]]


class ViewsDiffered(ClusterRecord, frozen=True, tag=True):
    """All that brokers tell and ZooKeeper does not bear out, for longer than news take: subject → sentence."""

    differences: Mapping[str, str]


class GenerationRecognised(ClusterRecord, frozen=True, tag=True):
    """Payload versions seen so far show that the cluster is at least of this generation."""

    generation: KafkaGeneration


UNTOLD = "the source does not tell it"
"""Why a znode is unreadable where a source is no ZooKeeper and has nothing like it."""


class ZnodeUnreadable(ClusterRecord, frozen=True, tag=True):
    """A znode's payload could not be decoded, or may not be read; the rest of the cluster is unaffected."""

    path: str
    reason: str


class ZnodeReadable(ClusterRecord, frozen=True, tag=True):
    """A znode that was unreadable is readable again, or gone."""

    path: str
