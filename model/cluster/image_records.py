"""An image told as records: replayed on an empty image they give an equal one. For sources that hold images."""

from collections.abc import Iterator

from model.cluster import records as r
from model.cluster.cluster_image import BrokerImage, ClusterImage
from model.cluster.group_image import ZOOKEEPER, GroupImage
from model.cluster.ids import TopicPartition
from model.cluster.topic_image import TopicImage, told_in, unpadded


def records_of(image: ClusterImage) -> Iterator[r.Record]:
    """Every fact of an image, in an order that can be replayed."""
    if image.cluster_id is not None:
        yield r.ClusterIdentified(cluster_id=image.cluster_id)
    yield r.GenerationRecognised(generation=image.generation)
    yield from _controller(image)
    for broker in image.brokers.values():
        yield registered(broker)
    for broker in image.fenced.values():
        yield fenced(broker)
    for topic in image.topics.values():
        yield from _topic(topic)
    for _, group in image.every_group():
        yield from group_records(group)
    yield r.LogEndsRead(ends=image.log_ends)
    for entity, config in image.configs.items():
        yield r.ConfigChanged(entity=entity, config=config)
    yield r.ReassignmentsRequested(targets=image.admin.reassignments)
    yield r.PreferredElectionRequested(partitions=image.admin.preferred_election)
    for name in sorted(image.admin.delete_topics):
        yield r.TopicDeletionRequested(topic=name)
    if image.quorum is not None:
        yield r.QuorumDescribed(quorum=image.quorum)
    for broker, folders in image.log_dirs.items():
        yield r.LogDirsDescribed(broker=broker, folders=folders)
    yield r.ReplicasWentOffline(replicas=image.offline_replicas)
    yield r.ViewsDiffered(differences=image.differences)
    for path, reason in image.unreadable.items():
        yield r.ZnodeUnreadable(path=path, reason=reason)


def registered(broker: BrokerImage) -> r.Record:
    """A broker that lives."""
    return r.BrokerRegistered(
        broker=broker.id,
        endpoints=broker.endpoints,
        rack=broker.rack,
        epoch=broker.epoch,
        registered_ms=broker.registered_ms,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
    )


def fenced(broker: BrokerImage) -> r.Record:
    """A broker that is fenced."""
    return r.BrokerFenced(
        broker=broker.id,
        endpoints=broker.endpoints,
        rack=broker.rack,
        epoch=broker.epoch,
        registered_ms=broker.registered_ms,
    )


def _controller(image: ClusterImage) -> Iterator[r.Record]:
    controller = image.controller
    if controller.broker is not None:
        yield r.ControllerElected(broker=controller.broker, since_ms=controller.since_ms)
    elif controller.since_ms:
        yield r.ControllerLost(time_ms=controller.since_ms)
    if controller.epoch is not None:
        yield r.ControllerEpochChanged(epoch=controller.epoch)


def _topic(topic: TopicImage) -> Iterator[r.Record]:
    assigned = {partition: replicas for partition, replicas, _, _ in topic.rows() if replicas}
    if assigned:
        yield r.TopicAssigned(
            topic=topic.name,
            replicas=assigned,
            topic_id=topic.topic_id,
            adding=topic.adding,
            removing=topic.removing,
        )
    states = tuple(state_of(topic, row) for row in topic.has_state.nonzero()[0].tolist())
    if states:
        yield r.PartitionStatesWritten(topic=topic.name, states=states)


def state_in(image: ClusterImage, name: TopicPartition) -> r.PartitionState | None:
    """A partition's state; None if it has none."""
    topic = image.topics.get(name.topic)
    row = None if topic is None else topic.row_of.get(name.partition)
    return None if topic is None or row is None or not topic.has_state[row] else state_of(topic, row)


def state_of(topic: TopicImage, row: int) -> r.PartitionState:
    """One row of a topic as a state that was written."""
    return r.PartitionState(
        partition=int(topic.partitions[row]),
        leader=int(topic.leader[row]),
        leader_epoch=int(topic.leader_epoch[row]),
        isr=unpadded(topic.isr[row]),
        controller_epoch=int(topic.controller_epoch[row]),
        version=int(topic.version[row]),
        recovering=bool(topic.recovering[row]),
        zxid=int(topic.zxid[row]),
        time_ms=int(topic.time_ms[row]),
        elr=told_in(topic.elr[row]),
        last_known_elr=told_in(topic.last_known_elr[row]),
    )


def group_records(group: GroupImage) -> Iterator[r.Record]:
    """A group of either kind."""
    return _group(group) if group.kind == ZOOKEEPER else classic_group_records(group)


def classic_group_records(group: GroupImage) -> Iterator[r.Record]:
    """A group that a broker coordinates, as it was described."""
    yield r.GroupDescribed(
        group=group.name,
        state=group.state,
        kind=group.kind,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        coordinator=group.coordinator,
        generation=group.generation,
        members=group.members,
        owners=group.owners,
    )
    yield r.GroupOffsetsFetched(group=group.name, offsets=group.offsets)
    yield _rebalances(group)


def _rebalances(group: GroupImage) -> r.Record:
    return r.GroupRebalancesSeen(group=group.name, kind=group.kind, rebalances=group.rebalances)


def _group(group: GroupImage) -> Iterator[r.Record]:
    name = group.name
    yield r.GroupSeen(group=name)
    for member, facts in group.members.items():
        yield r.MemberJoined(
            group=name,
            member=member,
            subscription=facts.subscription,
            pattern=facts.pattern,
            joined_ms=facts.joined_ms,
        )
    for partition, owner in group.owners.items():
        yield r.PartitionClaimed(group=name, partition=partition, owner=owner)
    for partition, offset in group.offsets.items():
        yield r.OffsetCommitted(group=name, partition=partition, offset=offset)
    yield _rebalances(group)
