"""Round-robin of the ZooKeeper consumers: partitions in the order of a hash, dealt to the group's threads in a ring.

Source: `kafka.consumer.RoundRobinAssignor` (0.8.2 and 1.1). Members of the group are threads here. Until 0.10.1 every
topic had to be consumed by the same threads, and the group did not balance otherwise. Until 0.11 the text that is
hashed was `[topic,partition]`, from 1.0 on `topic-partition` (`kafka.common.TopicAndPartition.toString`).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from model.consumers.assignors.group import NOBODY, AssignorError, Group, Ints
from model.consumers.assignors.java_hashing import Hashes
from model.consumers.assignors.java_strings import string_hash
from model.consumers.assignors.round_robin import deal_round


class Release(NamedTuple):
    """What changed: whether every topic needs the same threads, and the text before, between and after the two."""

    same_threads: bool
    text: tuple[str, str, str] = ("[", ",", "]")


ZOOKEEPER_RELEASES: Mapping[str, Release] = {
    "zk-roundrobin": Release(same_threads=True),
    "zk-roundrobin-0.10.2": Release(same_threads=False),
    "zk-roundrobin-1.0": Release(same_threads=False, text=("", "-", "")),
}
"""How round-robin of ZooKeeper consumers changed."""


def assign_zookeeper_round_robin(group: Group, topics: Sequence[str], release: Release) -> Ints:
    """int32[P]: owners by round-robin as `release` does it. Raises AssignorError where it refuses."""
    sets = group.subscriber_sets
    used = [of for of in set(sets.of_topic.tolist()) if len(sets.at(of))]
    if release.same_threads and len(used) > 1:
        raise AssignorError(_mismatch(group, topics))
    owner = np.full(group.partitions, NOBODY, dtype=np.int32)
    hashes = partition_hashes(topics, group.partition_counts, release.text)
    order = np.argsort(hashes.view(np.int32), kind="stable")
    owner[order] = deal_round(group, sets.of_topic[group.topic_of[order]], np.ones(len(order), dtype=np.int64))
    return owner


def _mismatch(group: Group, topics: Sequence[str]) -> str:
    sets = group.subscriber_sets.of_topic
    subscribed = [topic for topic in range(group.topics) if len(group.subscriber_sets.at(int(sets[topic])))]
    one = subscribed[0]
    other = next(topic for topic in subscribed if sets[topic] != sets[one])
    return (
        f"topics {topics[one]} and {topics[other]} are not consumed by the same threads, and until 0.10.1 round-robin "
        "balances no such group: use the same topics and streams everywhere, or zk-range"
    )


def partition_hashes(topics: Sequence[str], counts: Ints, text: tuple[str, str, str]) -> Hashes:
    """uint32[P]: Java's hash of every partition's name, written with `text` before, between and after."""
    if not len(topics):
        return np.zeros(0, dtype=np.uint32)
    before, between, after = text
    return np.concatenate(
        [
            _hashes(f"{before}{topic}{between}", count, after)
            for topic, count in zip(topics, counts.tolist(), strict=True)
        ]
    )


def _hashes(start: str, count: int, end: str) -> Hashes:
    numbers = np.arange(count, dtype=np.uint32)
    codes = np.full(count, string_hash(start), dtype=np.uint32)
    for power in reversed(range(len(str(count)))):
        digits = numbers // np.uint32(10**power)
        longer = codes * np.uint32(31) + (digits % np.uint32(10) + np.uint32(ord("0")))
        codes = np.where((digits > 0) | (power == 0), longer, codes)
    for sign in end:
        codes = codes * np.uint32(31) + np.uint32(ord(sign))
    return codes
