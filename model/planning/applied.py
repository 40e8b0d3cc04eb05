"""A cluster as it is once a plan is done and preferred leaders are elected. Nothing is executed."""

from collections.abc import Iterator
from itertools import groupby

import msgspec

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import NO_LEADER
from model.cluster.topic_image import rows_of
from model.planning.plan import Change, Plan


def applied(image: ClusterImage, plan: Plan) -> ClusterImage:
    """The image with the plan's brokers and replicas; what changed is in sync and led by its preferred replica.

    Leader epochs and versions stay as they were: how often they are written depends on how it is run.
    """
    return ClusterDelta(image).replay_all(_records(image, plan)).apply(image.provenance)


def _records(image: ClusterImage, plan: Plan) -> Iterator[r.Record]:
    staying = {share.broker: share.rack for share in plan.after.brokers}
    for broker in sorted(image.brokers.keys() - staying.keys()):
        yield r.BrokerLost(broker=broker)
    gone = tuple(sorted(image.brokers.keys() - staying.keys()))
    if image.quorum is not None and gone:
        silent = tuple(sorted({*image.quorum.silent, *gone} & {each.id for each in image.quorum.voters}))
        yield r.QuorumDescribed(quorum=msgspec.structs.replace(image.quorum, silent=silent))
    for broker, rack in staying.items():
        if broker not in image.brokers:
            yield r.BrokerRegistered(broker=broker, rack=rack)
    by_topic = sorted(plan.changes, key=lambda change: (change.topic, change.partition))
    for topic, changes in groupby(by_topic, key=lambda change: change.topic):
        yield from _topic_records(image, topic, list(changes), staying)


def _topic_records(
    image: ClusterImage, topic: str, changes: list[Change], staying: dict[int, str | None]
) -> Iterator[r.Record]:
    known = image.topics[topic]
    rows = zip(known.partitions.tolist(), rows_of(known.replicas), strict=True)
    assigned = {partition: replicas for partition, replicas in rows if replicas}
    assigned |= {change.partition: change.after for change in changes}
    adding, removing = known.adding, known.removing
    yield r.TopicAssigned(topic=topic, replicas=assigned, topic_id=known.topic_id, adding=adding, removing=removing)
    yield r.PartitionStatesWritten(topic=topic, states=tuple(_state(image, change, staying) for change in changes))


def _state(image: ClusterImage, change: Change, staying: dict[int, str | None]) -> r.PartitionState:
    topic = image.topics[change.topic]
    row = topic.row_of[change.partition]
    in_sync = tuple(broker for broker in change.after if broker in staying)
    return r.PartitionState(
        partition=change.partition,
        leader=in_sync[0] if in_sync else NO_LEADER,
        leader_epoch=int(topic.leader_epoch[row]),
        isr=in_sync or change.after,
        controller_epoch=int(topic.controller_epoch[row]),
        version=max(int(topic.version[row]), 0),
    )
