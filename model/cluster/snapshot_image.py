"""An image as a kdrill.snapshot/1 document, and a document as an image. No file is touched, no secret let through."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from msgspec import UNSET, UnsetType

from model.cluster import records as r
from model.cluster import snapshot_format
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, BrokerImage, ClusterImage, Provenance, fenced, group_records, registered
from model.cluster.findings.check import Finding
from model.cluster.ids import NO_STATE, TopicPartition
from model.cluster.image_parts import ZOOKEEPER, GroupImage, LogDir, Member, Rebalance, largest_replicas
from model.cluster.texts import redacted
from model.cluster.topic_image import Ints, TopicImage, told_in, unpadded

V = TypeVar("V")


def group_document(key: str, group: GroupImage) -> snapshot_format.GroupDocument:
    """One group; `key` is what the document calls it."""
    is_classic = group.kind != ZOOKEEPER
    return snapshot_format.GroupDocument(
        kind=group.kind,
        members={name: _member(member) for name, member in group.members.items()},
        owners=by_topic(group.owners),
        offsets=by_topic(group.offsets),
        name=group.name if key != group.name else UNSET,
        state=group.state if is_classic else UNSET,
        protocol_type=group.protocol_type if is_classic else UNSET,
        protocol=group.protocol if is_classic else UNSET,
        coordinator=group.coordinator if is_classic else UNSET,
        generation=group.generation if is_classic else UNSET,
        rebalances=tuple(map(_rebalance, group.rebalances)) or UNSET,
    )


def _member(member: Member) -> snapshot_format.MemberDocument:
    return snapshot_format.MemberDocument(
        dict(member.subscription),
        member.pattern,
        member.joined_ms or UNSET,
        member.client_id or UNSET,
        member.host or UNSET,
        UNSET if member.instance_id is None else member.instance_id,
        _numbers({"": member.reads}).get("") or UNSET,
        UNSET if member.epoch is None else member.epoch,
    )


def _rebalance(past: Rebalance) -> snapshot_format.RebalanceDocument:
    return snapshot_format.RebalanceDocument(
        past.at_ms,
        past.why,
        past.took_ms,
        past.generation,
        _numbers(past.gained),
        _numbers(past.lost),
        past.generations,
    )


def _numbers(owned: Mapping[str, Iterable[TopicPartition]]) -> dict[str, dict[str, tuple[int, ...]]]:
    topics: dict[str, dict[str, tuple[int, ...]]] = {}
    for owner, partitions in owned.items():
        for topic, number in sorted(partitions):
            mine = topics.setdefault(owner, {})
            mine[topic] = (*mine.get(topic, ()), number)
    return topics


def group_of(key: str, group: snapshot_format.GroupDocument) -> GroupImage:
    """The group of a document. Whatever is not of ZooKeeper is taken for a classic group."""
    return GroupImage(
        _known(group.name, key),
        {member: _member_of(facts) for member, facts in group.members.items()},
        by_partition(group.owners),
        by_partition(group.offsets),
        group.kind,
        _known(group.state, ""),
        _known(group.protocol_type, ""),
        _known(group.protocol, ""),
        _known(group.coordinator, None),
        _known(group.generation, None),
        tuple(_rebalance_of(past) for past in _known(group.rebalances, ())),
    )


def _member_of(facts: snapshot_format.MemberDocument) -> Member:
    return Member(
        facts.subscription,
        facts.pattern,
        _known(facts.joined_ms, 0),
        _known(facts.client_id, ""),
        _known(facts.client_host, ""),
        _known(facts.instance_id, None),
        _partitions({"": _known(facts.reads, {})})[""],
        _known(facts.epoch, None),
    )


def _rebalance_of(past: snapshot_format.RebalanceDocument) -> Rebalance:
    return Rebalance(
        past.at_ms,
        past.why,
        past.took_ms,
        past.generation,
        _partitions(past.gained),
        _partitions(past.lost),
        past.generations,
    )


def _partitions(owned: Mapping[str, Mapping[str, tuple[int, ...]]]) -> dict[str, tuple[TopicPartition, ...]]:
    return {
        owner: tuple(TopicPartition(topic, number) for topic, numbers in topics.items() for number in numbers)
        for owner, topics in owned.items()
    }


def _known(value: V | UnsetType, default: V) -> V:
    return default if value is UNSET else value


def by_topic(values: Mapping[TopicPartition, V]) -> dict[str, dict[int, V]]:
    """By topic and partition number, in order."""
    topics: dict[str, dict[int, V]] = {}
    for named, value in sorted(values.items(), key=lambda pair: pair[0]):
        topics.setdefault(named.topic, {})[named.partition] = value
    return topics


def by_partition(values: Mapping[str, Mapping[int, V]]) -> dict[TopicPartition, V]:
    """The other way round."""
    return {
        TopicPartition(topic, partition): value
        for topic, partitions in values.items()
        for partition, value in partitions.items()
    }


def document_of(image: ClusterImage, findings: Iterable[Finding] = ()) -> snapshot_format.SnapshotDocument:
    """An image as a document, secrets hidden."""
    seen, configs = image.provenance, {entity: redacted(entity, config) for entity, config in image.configs.items()}
    own, sizes = {f"topics/{name}" for name in image.topics}, largest_replicas(image.log_dirs)
    return snapshot_format.SnapshotDocument(
        format=snapshot_format.FORMAT,
        taken_at_ms=seen.time_ms,
        source=seen.source,
        cluster_id=image.cluster_id,
        kafka_generation=image.generation,
        controller=snapshot_format.ControllerDocument(
            image.controller.broker, image.controller.epoch, image.controller.since_ms
        ),
        brokers=tuple(_broker(broker) for _, broker in sorted(image.brokers.items())),
        topics={
            name: _topic(topic, configs.get(f"topics/{name}"), sizes) for name, topic in sorted(image.topics.items())
        },
        groups={key: group_document(key, group) for key, group in sorted(image.every_group())},
        log_ends=by_topic(image.log_ends) or UNSET,
        admin=snapshot_format.AdminDocument(
            by_topic(image.admin.reassignments),
            tuple(snapshot_format.PartitionName(*asked) for asked in image.admin.preferred_election),
            tuple(sorted(image.admin.delete_topics)),
        ),
        findings=tuple(findings),
        zxid=seen.zxid,
        complete=seen.complete,
        configs={entity: config for entity, config in configs.items() if entity not in own},
        unreadable=dict(image.unreadable),
        quorum=image.quorum or UNSET,
        metadata=image.metadata or UNSET,
        log_dirs={broker: tuple(map(_log_dir, folders)) for broker, folders in sorted(image.log_dirs.items())} or UNSET,
        offline_replicas=by_topic(image.offline_replicas) or UNSET,
        differences=dict(image.differences) or UNSET,
        fenced_brokers=tuple(_broker(broker) for _, broker in sorted(image.fenced.items())) or UNSET,
    )


def _broker(broker: BrokerImage) -> snapshot_format.BrokerDocument:
    return snapshot_format.BrokerDocument(
        broker.id,
        broker.rack,
        broker.epoch,
        broker.endpoints,
        broker.registered_ms,
        UNSET if broker.fenced is None else broker.fenced,
        UNSET if broker.in_controlled_shutdown is None else broker.in_controlled_shutdown,
    )


def _log_dir(folder: LogDir) -> snapshot_format.LogDirDocument:
    sizes = by_topic(folder.sizes)
    return snapshot_format.LogDirDocument(folder.path, folder.error, folder.total_bytes, folder.usable_bytes, sizes)


def _topic(
    topic: TopicImage, config: dict[str, str] | None, sizes: Mapping[TopicPartition, int]
) -> snapshot_format.TopicDocument:
    partitions = {int(partition): _partition(topic, row, sizes) for row, partition in enumerate(topic.partitions)}
    for stray in sorted({*topic.adding, *topic.removing} - partitions.keys()):
        adding, removing = topic.adding.get(stray, ()), topic.removing.get(stray, ())
        partitions[stray] = snapshot_format.PartitionDocument((), adding, removing, version=NO_STATE)
    return snapshot_format.TopicDocument(
        topic.topic_id, config or {}, partitions, UNSET if config is not None else False
    )


def _partition(topic: TopicImage, row: int, sizes: Mapping[TopicPartition, int]) -> snapshot_format.PartitionDocument:
    partition = int(topic.partitions[row])
    return snapshot_format.PartitionDocument(
        replicas=unpadded(topic.replicas[row]),
        adding=topic.adding.get(partition, ()),
        removing=topic.removing.get(partition, ()),
        leader=int(topic.leader[row]),
        leader_epoch=int(topic.leader_epoch[row]),
        isr=unpadded(topic.isr[row]),
        controller_epoch=int(topic.controller_epoch[row]),
        version=int(topic.version[row]),
        size_bytes=sizes.get(TopicPartition(topic.name, partition), UNSET),
        recovering=bool(topic.recovering[row]) or UNSET,
        zxid=int(topic.zxid[row]) if topic.zxid[row] >= 0 else UNSET,
        time_ms=int(topic.time_ms[row]) or UNSET,
        elr=_told(topic.elr[row]),
        last_known_elr=_told(topic.last_known_elr[row]),
        directories=_told(topic.directories[row]),
    )


def _told(brokers: Ints) -> tuple[int, ...] | UnsetType:
    told = told_in(brokers)
    return UNSET if told is None else told


def image_of(document: snapshot_format.SnapshotDocument) -> ClusterImage:
    """The image a document describes. Its findings are not read: they follow from the image."""
    seen = Provenance(document.source, document.zxid, document.taken_at_ms, document.complete)
    return ClusterDelta(EMPTY).replay_all(_records(document)).apply(seen)


def _records(document: snapshot_format.SnapshotDocument) -> Iterator[r.ClusterRecord]:
    controller = document.controller
    if controller.broker is None:
        yield r.ControllerLost(time_ms=controller.since_ms)
    else:
        yield r.ControllerElected(broker=controller.broker, since_ms=controller.since_ms)
    if controller.epoch is not None:
        yield r.ControllerEpochChanged(epoch=controller.epoch)
    if document.cluster_id is not None:
        yield r.ClusterIdentified(cluster_id=document.cluster_id)
    yield r.GenerationRecognised(generation=document.kafka_generation)
    for broker in document.brokers:
        yield registered(_broker_image(broker))
    for broker in document.fenced_brokers or ():
        yield fenced(_broker_image(broker))
    for name, topic in document.topics.items():
        yield from _topic_records(name, topic)
    for key, group in document.groups.items():
        yield from group_records(group_of(key, group))
    if document.log_ends is not UNSET:
        yield r.LogEndsRead(ends=by_partition(document.log_ends))
    for entity, config in document.configs.items():
        yield r.ConfigChanged(entity=entity, config=config)
    yield from _admin_records(document.admin)
    yield from _brokers_records(document)
    for path, reason in document.unreadable.items():
        yield r.ZnodeUnreadable(path=path, reason=reason)


def _broker_image(broker: snapshot_format.BrokerDocument) -> BrokerImage:
    return BrokerImage(
        broker.id,
        broker.endpoints,
        broker.rack,
        broker.epoch,
        broker.registered_ms,
        None if broker.fenced is UNSET else broker.fenced,
        None if broker.in_controlled_shutdown is UNSET else broker.in_controlled_shutdown,
    )


def _brokers_records(document: snapshot_format.SnapshotDocument) -> Iterator[r.ClusterRecord]:
    """What brokers told, and ZooKeeper does not know."""
    if document.quorum:
        yield r.QuorumDescribed(quorum=document.quorum)
    if document.metadata:
        yield r.MetadataDescribed(metadata=document.metadata)
    for broker, folders in (document.log_dirs or {}).items():
        found = (
            LogDir(each.path, each.error, by_partition(each.sizes), each.total_bytes, each.usable_bytes)
            for each in folders
        )
        yield r.LogDirsDescribed(broker=broker, folders=tuple(found))
    if document.offline_replicas:
        yield r.ReplicasWentOffline(replicas=by_partition(document.offline_replicas))
    if document.differences:
        yield r.ViewsDiffered(differences=document.differences)


def _topic_records(name: str, topic: snapshot_format.TopicDocument) -> Iterator[r.ClusterRecord]:
    if topic.has_config is not False:
        yield r.ConfigChanged(entity=f"topics/{name}", config=topic.config)
    replicas = {number: partition.replicas for number, partition in topic.partitions.items() if partition.replicas}
    adding = {number: partition.adding for number, partition in topic.partitions.items() if partition.adding}
    removing = {number: partition.removing for number, partition in topic.partitions.items() if partition.removing}
    if replicas:
        yield r.TopicAssigned(topic=name, replicas=replicas, topic_id=topic.topic_id, adding=adding, removing=removing)
    states = (
        r.PartitionState(
            partition=number,
            leader=partition.leader,
            leader_epoch=partition.leader_epoch,
            isr=partition.isr,
            controller_epoch=partition.controller_epoch,
            version=partition.version,
            recovering=partition.recovering is True,
            zxid=-1 if partition.zxid is UNSET else partition.zxid,
            time_ms=0 if partition.time_ms is UNSET else partition.time_ms,
            elr=None if partition.elr is UNSET else partition.elr,
            last_known_elr=None if partition.last_known_elr is UNSET else partition.last_known_elr,
            directories=None if partition.directories is UNSET else partition.directories,
        )
        for number, partition in topic.partitions.items()
        if partition.version > NO_STATE
    )
    yield r.PartitionStatesWritten(topic=name, states=tuple(states))


def _admin_records(admin: snapshot_format.AdminDocument) -> Iterator[r.ClusterRecord]:
    yield r.ReassignmentsRequested(targets=by_partition(admin.reassignments))
    asked = tuple(TopicPartition(name.topic, name.partition) for name in admin.preferred_election)
    yield r.PreferredElectionRequested(partitions=asked)
    for topic in admin.delete_topics:
        yield r.TopicDeletionRequested(topic=topic)
