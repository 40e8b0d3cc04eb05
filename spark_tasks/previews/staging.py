"""Consumer groups of a cluster's image as flat arrays, which is all that workers get to see of them.

Each list of all groups stands one group after the other, and an array `…_starts` says where each begins. Topics are
numbered as their names sort, so that a group's topics ascend; its partitions stand topic after topic.
Decides nothing about partitions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.cluster.cluster_image import ClusterImage
from model.consumers.assignors.group import AssignorError
from model.consumers.assignors.java_hashing import string_hashes
from model.consumers.assignors.java_strings import in_name_order
from model.consumers.assignors.topic_ids import topic_id_hashes
from spark_tasks.analysis import Arrays
from spark_tasks.previews.names import GroupNames
from spark_tasks.previews.read_group import GroupRead, read_group
from spark_tasks.previews.topic_partitions import topic_partitions

Numbers = NDArray[np.integer]


@dataclass(frozen=True)
class Staged:
    """Groups as arrays, and the names to tell them apart by."""

    arrays: Arrays
    groups: tuple[GroupNames, ...]


def previewed(image: ClusterImage) -> list[str]:
    """Keys of the groups that strategies apply to."""
    return sorted(key for key, group in image.every_group() if group.has_owners)


def stage(image: ClusterImage, keys: Iterable[str] | None = None) -> Staged:
    """The groups of these keys, as `every_group` says them, in this order; None: all that are `previewed`.

    Raises KeyError where there is no such group.
    """
    groups, of = dict(image.every_group()), topic_partitions(image)
    wanted = previewed(image) if keys is None else keys
    ids = {name: topic.topic_id for name, topic in image.topics.items() if topic.topic_id}
    return staged([read_group(key, groups[key], of, image.log_ends) for key in wanted], of.counts, ids)


def staged(reads: Sequence[GroupRead], counts: Mapping[str, int], ids: Mapping[str, str]) -> Staged:
    """Groups that were read, as arrays; `counts`: topic → its partitions, `ids`: topic → its id, where it has one."""
    topics = in_name_order({topic for read in reads for topic in read.names.topics})
    number = {topic: place for place, topic in enumerate(topics)}
    written = [topic.encode("utf-8", "surrogatepass") for topic in topics]
    subscriptions = [row for read in reads for row in read.subscriptions]
    arrays: dict[str, Numbers] = {
        "zookeeper": _array([read.names.is_zookeeper for read in reads], np.int8),
        "consumers": _array([len(read.names.consumers) for read in reads], np.int32),
        "topic_partitions": _array([counts.get(topic, 0) for topic in topics], np.int32),
        "topic_hashes": string_hashes(topics),
        "topic_id_hashes": _id_hashes(topics, ids),
        "topic_name_starts": _starts(list(map(len, written))),
        "topic_name_bytes": np.frombuffer(b"".join(written), np.uint8),
        "group_topic_starts": _starts([len(read.names.topics) for read in reads]),
        "group_topics": _array([number[topic] for read in reads for topic in read.names.topics], np.int32),
        "partition_starts": _starts([read.names.partitions for read in reads]),
        "lag": _joined([read.lag for read in reads], np.int64),
        "subscription_starts": _starts([len(read.subscriptions) for read in reads]),
        "subscription_topic_starts": _starts(list(map(len, subscriptions))),
        "subscription_topics": _array([topic for row in subscriptions for topic in row], np.int32),
        "member_starts": _starts([len(read.names.members) for read in reads]),
        "member_subscription": _array([row for read in reads for row in read.subscription_of], np.int32),
        "member_consumer": _array([consumer for read in reads for consumer in read.consumer_of], np.int32),
        "member_hashes": string_hashes([name for read in reads for name in read.names.members]),
        "member_ring": _array([place for read in reads for place in read.ring], np.int32),
        "claim_counts": _joined([read.claim_counts for read in reads], np.int64),
        "claim_starts": _starts([len(read.claims) for read in reads]),
        "claims": _joined([read.claims for read in reads], np.int32),
    }
    return Staged(arrays, tuple(read.names for read in reads))


def _id_hashes(topics: Sequence[str], ids: Mapping[str, str]) -> Numbers:
    """Hashes of the topics' ids; a damaged id is as good as none."""
    try:
        return topic_id_hashes(topics, ids)
    except AssignorError:
        return np.concatenate([_id_hashes([topic], ids if _is_id(ids, topic) else {}) for topic in topics])


def _is_id(ids: Mapping[str, str], topic: str) -> bool:
    try:
        topic_id_hashes([topic], ids)
    except AssignorError:
        return False
    return True


def _array(numbers: Sequence[int], kind: type[np.integer]) -> Numbers:
    return np.array(numbers, dtype=kind)


def _starts(lengths: Sequence[int]) -> Numbers:
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def _joined(parts: Sequence[Numbers], kind: type[np.integer]) -> Numbers:
    return np.concatenate([np.zeros(0, dtype=kind), *parts], dtype=kind)
