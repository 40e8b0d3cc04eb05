"""Groups that are not there: so many consumers that read the topics that match, put into a copy of the cluster's image.

They have what range deals them, so that a death moves what it would move; they have read nothing, so no lag is known.
"""

from fnmatch import fnmatchcase

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.group_image import CLASSIC, ZOOKEEPER, GroupImage, Member
from model.cluster.ids import INTERNAL_TOPICS, TopicPartition
from model.consumers.assignors.group import NOBODY
from spark_tasks.errors import AnalysisError
from spark_tasks.previews.lab import Lab
from spark_tasks.previews.staging import stage
from tui.data.questions import MadeUp


def with_made_up(image: ClusterImage, wanted: MadeUp) -> ClusterImage:
    """The image with the group as brokers would coordinate it, and as one in ZooKeeper. Raises AnalysisError."""
    name, zookeeper_name = wanted.keys
    known = {key for key, _ in image.every_group()}
    if taken := known & {name, zookeeper_name}:
        raise AnalysisError(f"there is a real group {min(taken)}: make up another one")
    members = _members(wanted, image)
    bare = msgspec.structs.replace(
        image,
        classic_groups={
            **image.classic_groups,
            name: GroupImage(name, members, kind=CLASSIC, state="Stable", protocol_type="consumer", protocol="range"),
        },
        groups={
            **image.groups,
            zookeeper_name: GroupImage(zookeeper_name, members, kind=ZOOKEEPER, protocol="zk-range"),
        },
    )
    return msgspec.structs.replace(
        bare,
        classic_groups={**bare.classic_groups, name: _dealt(bare, name)},
        groups={**bare.groups, zookeeper_name: _dealt(bare, zookeeper_name)},
    )


def _members(wanted: MadeUp, image: ClusterImage) -> dict[str, Member]:
    topics = [
        topic
        for topic in image.topics
        if topic not in INTERNAL_TOPICS and any(fnmatchcase(topic, pattern) for pattern in wanted.patterns)
    ]
    digits = len(str(wanted.consumers))
    return {
        f"consumer-{number:0{digits}}": Member(dict.fromkeys(topics, 1)) for number in range(1, wanted.consumers + 1)
    }


def _dealt(image: ClusterImage, key: str) -> GroupImage:
    """The group with what its own strategy deals it."""
    group = image.group(key)
    assert group is not None
    compared = Lab(stage(image, [key])).compare(group.protocol, group.protocol)
    each = zip(compared.topic.tolist(), compared.partition.tolist(), compared.left.tolist(), strict=True)
    owners = {
        TopicPartition(compared.topics[topic], partition): compared.members[owner]
        for topic, partition, owner in each
        if owner != NOBODY
    }
    return msgspec.structs.replace(group, owners=owners)
