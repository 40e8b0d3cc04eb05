"""Znodes as read → records. Pure: one table from a znode's kind to what it says, and what its absence says.

A payload also shows which Kafka generation wrote it: each rule gives the oldest one that writes such a thing. Secrets
are left out here, so that no image, screen, snapshot or recording ever holds one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from model.cluster import records as r
from model.cluster.ids import KafkaGeneration, TopicPartition, newest
from model.cluster.texts import redacted
from model.sources.zookeeper.states import UsableStates
from model.znodes.catalogue import CONFIG_KINDS, ZnodeKind
from model.znodes.cluster import (
    BrokerRegistration,
    ClusterId,
    ControllerEpoch,
    ControllerRegistration,
    FinalizedFeatures,
    KraftMigration,
)
from model.znodes.codec import PAYLOAD_KINDS, decode_as
from model.znodes.configs import EntityConfig
from model.znodes.consumers import ConsumerOffset, ConsumerRegistration, PartitionOwner
from model.znodes.paths import ZnodeMatch, recognise
from model.znodes.payload import Unreadable
from model.znodes.topics import PartitionReassignment, PreferredReplicaElection, TopicAssignment
from model.zookeeper import Forbidden, Missing, Refused, Stat, TooLarge, Unread, Znode, columns_of


def generation_shown_by(payload: object, stat: Stat) -> KafkaGeneration:
    """The oldest generation that could have written this; "unknown" where any could.

    Sources: `BrokerIdZNode`, `TopicZNode`, `ControllerZNode`, `FeatureZNode` (3.9); KIP-380 (registration in 2.2).
    """
    match payload:
        case BrokerRegistration(version=version):
            return _BROKERS.get(version, "0.9-1.x") if stat.version == 0 or version < 4 else "2.x"
        case TopicAssignment(version=version) if version >= 2:
            return "2.x"
        case ControllerRegistration(version=2) | FinalizedFeatures(version=2) | KraftMigration():
            return "3.x"
        case FinalizedFeatures():
            return "2.x"
        case _:
            return "unknown"


_BROKERS: Final[Mapping[int, KafkaGeneration]] = {1: "0.8", 5: "2.x"}
"""Registration version → oldest generation, others 0.9-1.x. Version 4 is also 2.0 and 2.1, which look like 1.1 here."""


_K = ZnodeKind
_MARKERS = frozenset({_K.TOPIC_TO_DELETE, _K.GROUP})
"""Kinds whose mere existence says something."""

_NOT_FOLLOWED = frozenset({_K.CONFIG_CHANGE, _K.ACL_CHANGE, _K.EXTENDED_ACL_CHANGE, _K.TOKEN_CHANGE})
"""Change notifications name what is followed itself."""

_READ = (PAYLOAD_KINDS | _MARKERS) - _NOT_FOLLOWED


def is_read(path: str) -> bool:
    """Whether this znode says anything about the cluster."""
    return recognise(path).kind in _READ


def translate(answers: Sequence[Znode | Unread], now_ms: int, *, listing: bool = False) -> Iterator[r.ClusterRecord]:
    """What znodes, just read, say of the cluster; `now_ms` dates what is gone.

    A znode that cannot be used yields ZnodeUnreadable and nothing else: the last good value stands. In a `listing` the
    others go without saying that they are readable.
    """
    known = columns_of(answers)
    states = UsableStates(known)
    generation: KafkaGeneration = "unknown"
    if not listing:
        yield from (r.ZnodeReadable(path=known.paths[row]) for row in states.rows)
    for row in states.others:
        path, data = known.paths[row], known.data[row]
        match = recognise(path)
        if not isinstance(data, bytes):
            yield from _gone(match, path, now_ms) if isinstance(data, Missing) else _refused(data, now_ms)
            continue
        znode = cast(Znode, known[row])
        payload = decode_as(match.kind, path, data)
        if isinstance(payload, Unreadable):
            yield r.ZnodeUnreadable(path=path, reason=payload.reason, **_when(znode))
            continue
        if payload is None and match.kind in CONFIG_KINDS:  # emptied: as good as gone
            yield from _gone(match, path, now_ms)
            continue
        if not listing:
            yield r.ZnodeReadable(path=path)
        yield from _said(match, payload, znode)
        generation = newest(generation, generation_shown_by(payload, znode.stat))
    yield from states.records()
    if generation != "unknown":
        yield r.GenerationRecognised(generation=generation)


def _refused(answer: Forbidden | Refused | TooLarge, now_ms: int) -> Iterator[r.ClusterRecord]:
    yield r.ZnodeUnreadable(path=answer.path, reason=_refusal(answer), time_ms=now_ms)


def _refusal(answer: Forbidden | Refused | TooLarge) -> str:
    match answer:
        case Forbidden():
            return "no permission to read it"
        case TooLarge(_, length):
            return f"{length:,} bytes, which is too large to be Kafka's: nothing of it is kept"
        case Refused(_, code):
            return f"the server answers error {code}"


def _when(znode: Znode) -> dict[str, int]:
    return {"zxid": znode.stat.mzxid, "time_ms": znode.stat.mtime_ms}


def _said(match: ZnodeMatch, payload: object, znode: Znode) -> Iterator[r.ClusterRecord]:
    if match.kind in _MARKERS:
        yield _MARKED[match.kind](match, znode)
    say = _SAYS.get(type(payload))
    if say is not None:
        yield say(match, payload, znode)


def _gone(match: ZnodeMatch, path: str, now_ms: int) -> Iterator[r.ClusterRecord]:
    yield r.ZnodeReadable(path=path)
    say = _GONE.get(match.kind)
    if say is not None:
        yield say(match, path, now_ms)


def _registered(m: ZnodeMatch, payload: BrokerRegistration, znode: Znode) -> r.ClusterRecord:
    # A broker of Kafka 2.2 and later registers by create and set in one transaction (KIP-380): data version 1.
    epoch = znode.stat.czxid if znode.stat.version >= 1 else None
    return r.BrokerRegistered(
        broker=m.broker_id,
        endpoints=tuple(map(str, payload.listeners)),
        rack=payload.rack,
        epoch=epoch,
        registered_ms=payload.registered_ms or znode.stat.ctime_ms,
        registration_version=payload.version,
        zxid=znode.stat.mzxid,
        time_ms=znode.stat.mtime_ms,
    )


def _assigned(m: ZnodeMatch, payload: TopicAssignment, znode: Znode) -> r.ClusterRecord:
    return r.TopicAssigned(
        topic=m.topic,
        replicas=payload.partitions,
        topic_id=payload.topic_id,
        adding={p: brokers for p, brokers in payload.adding_replicas.items() if brokers},
        removing={p: brokers for p, brokers in payload.removing_replicas.items() if brokers},
        **_when(znode),
    )


def _reassigned(m: ZnodeMatch, payload: PartitionReassignment, znode: Znode) -> r.ClusterRecord:
    targets = {TopicPartition(entry.topic, entry.partition): entry.replicas for entry in payload.partitions}
    return r.ReassignmentsRequested(targets=targets, **_when(znode))


def _preferred(m: ZnodeMatch, payload: PreferredReplicaElection, znode: Znode) -> r.ClusterRecord:
    partitions = tuple(TopicPartition(entry.topic, entry.partition) for entry in payload.partitions)
    return r.PreferredElectionRequested(partitions=partitions, **_when(znode))


def _joined(m: ZnodeMatch, payload: ConsumerRegistration, znode: Znode) -> r.ClusterRecord:
    return r.MemberJoined(
        group=m.group,
        member=m.consumer_id,
        subscription=payload.subscription,
        pattern=payload.pattern,
        joined_ms=payload.registered_ms or znode.stat.ctime_ms,
        **_when(znode),
    )


def _elected(m: ZnodeMatch, payload: ControllerRegistration, znode: Znode) -> r.ClusterRecord:
    if payload.broker_id < 0:
        return r.ControllerLost(**_when(znode))
    return r.ControllerElected(
        broker=payload.broker_id, since_ms=payload.elected_ms or znode.stat.ctime_ms, **_when(znode)
    )


def _configured(m: ZnodeMatch, payload: EntityConfig, znode: Znode) -> r.ClusterRecord:
    entity = _entity(znode.path)
    return r.ConfigChanged(entity=entity, config=redacted(entity, payload.config), **_when(znode))


def _entity(path: str) -> str:
    return path.removeprefix("/config/")


def _partition(m: ZnodeMatch) -> TopicPartition:
    return TopicPartition(m.topic, m.partition)


_SAYS: dict[type, Callable[[ZnodeMatch, Any, Znode], r.ClusterRecord]] = {
    BrokerRegistration: _registered,
    TopicAssignment: _assigned,
    ControllerRegistration: _elected,
    ControllerEpoch: lambda m, payload, z: r.ControllerEpochChanged(epoch=payload.epoch, **_when(z)),
    PartitionReassignment: _reassigned,
    PreferredReplicaElection: _preferred,
    ConsumerRegistration: _joined,
    PartitionOwner: lambda m, payload, z: r.PartitionClaimed(
        group=m.group, partition=_partition(m), owner=payload.consumer_thread_id, **_when(z)
    ),
    ConsumerOffset: lambda m, payload, z: r.OffsetCommitted(
        group=m.group, partition=_partition(m), offset=payload.offset, **_when(z)
    ),
    EntityConfig: _configured,
    ClusterId: lambda m, payload, z: r.ClusterIdentified(cluster_id=payload.cluster_id, **_when(z)),
}
"""Payload type → the record it makes. Kinds that are not here are checked for being readable, and no more."""

_MARKED: dict[ZnodeKind, Callable[[ZnodeMatch, Znode], r.ClusterRecord]] = {
    _K.TOPIC_TO_DELETE: lambda m, z: r.TopicDeletionRequested(topic=m.topic, **_when(z)),
    _K.GROUP: lambda m, z: r.GroupSeen(group=m.group, **_when(z)),
}

_GONE: dict[ZnodeKind, Callable[[ZnodeMatch, str, int], r.ClusterRecord]] = {
    _K.BROKER: lambda m, path, ms: r.BrokerLost(broker=m.broker_id, time_ms=ms),
    _K.TOPIC: lambda m, path, ms: r.TopicRemoved(topic=m.topic, time_ms=ms),
    _K.PARTITION_STATE: lambda m, path, ms: r.PartitionStatesRemoved(
        topic=m.topic, partitions=(m.partition,), time_ms=ms
    ),
    _K.CONTROLLER: lambda m, path, ms: r.ControllerLost(time_ms=ms),
    _K.TOPIC_TO_DELETE: lambda m, path, ms: r.TopicDeletionCleared(topic=m.topic, time_ms=ms),
    _K.REASSIGN_PARTITIONS: lambda m, path, ms: r.ReassignmentsRequested(targets={}, time_ms=ms),
    _K.PREFERRED_REPLICA_ELECTION: lambda m, path, ms: r.PreferredElectionRequested(partitions=(), time_ms=ms),
    _K.GROUP: lambda m, path, ms: r.GroupRemoved(group=m.group, time_ms=ms),
    _K.GROUP_MEMBER: lambda m, path, ms: r.MemberLeft(group=m.group, member=m.consumer_id, time_ms=ms),
    _K.PARTITION_OWNER: lambda m, path, ms: r.PartitionReleased(group=m.group, partition=_partition(m), time_ms=ms),
    _K.CONSUMER_OFFSET: lambda m, path, ms: r.OffsetRemoved(group=m.group, partition=_partition(m), time_ms=ms),
    **dict.fromkeys(CONFIG_KINDS, lambda m, path, ms: r.ConfigRemoved(entity=_entity(path), time_ms=ms)),
}
"""Kind → the record its absence makes. Epochs, cluster ids and the like never go while a cluster lives."""
