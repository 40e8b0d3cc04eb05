"""UpdateMetadata: what a broker knows of the cluster from now on.

Source: `ZkMetadataCache.updateMetadata`, `KafkaApis.handleUpdateMetadataRequest` (3.9).
"""

from collections.abc import Mapping

from model.broker.controller_requests.epoch_checks import refuse_request, ruled_by
from model.broker.controller_requests.metadata_image import BrokerNode, MetadataImage
from model.broker.controller_requests.served import Served, Standing
from model.cluster.ids import LEADER_DURING_DELETE, TopicPartition
from model.controller.requests import BrokerAnswer, PartitionToKnow, UpdateMetadataRequest


def serve_update_metadata(request: UpdateMetadataRequest, broker_epoch: int, standing: Standing) -> Served:
    """Whether the request holds. What it says does not matter for that: `learn` it if there is no error."""
    refused = refuse_request(standing, broker_epoch, request.controller_epoch)
    return refused or Served(BrokerAnswer(), ruled_by(standing, request.controller_epoch))


def learn(request: UpdateMetadataRequest, nodes: Mapping[int, BrokerNode], image: MetadataImage) -> MetadataImage:
    """The image after a request that holds.

    `nodes`: the addresses that came with the request; a live broker without any is known by its id alone. Live brokers
    replace those of before. Of partitions, only those that are named change. An image that stays the same in a part
    shares it with the one before.
    """
    topic_ids = {topic: topic_id for topic, topic_id in request.topic_ids if topic_id is not None}
    topics = _with(image.topics, request.partitions)
    return MetadataImage(
        controller=request.controller,
        brokers={broker: nodes.get(broker, BrokerNode(broker)) for broker in request.live_brokers},
        topics=topics,
        topic_ids={topic: topic_id for topic, topic_id in {**image.topic_ids, **topic_ids}.items() if topic in topics},
    )


def forgotten(request: UpdateMetadataRequest) -> tuple[TopicPartition, ...]:
    """Partitions whose topic is being deleted, so that their offsets and groups can go, too."""
    return tuple(each.partition for each in request.partitions if each.state.leader == LEADER_DURING_DELETE)


def _with(
    topics: Mapping[str, Mapping[int, PartitionToKnow]], told: tuple[PartitionToKnow, ...]
) -> Mapping[str, Mapping[int, PartitionToKnow]]:
    if not told:
        return topics
    changed: dict[str, dict[int, PartitionToKnow]] = {}
    for each in told:
        topic, number = each.partition
        partitions = changed.setdefault(topic, dict(topics.get(topic, {})))
        if each.state.leader == LEADER_DURING_DELETE:
            partitions.pop(number, None)
        else:
            partitions[number] = each
    after = {**topics, **changed}
    return {topic: partitions for topic, partitions in after.items() if partitions}
