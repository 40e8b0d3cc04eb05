"""Round-robin: partitions in a row, assigned to members in a ring that passes over those who do not subscribe.

Sources: `RoundRobinAssignor` of kafka-clients (3.9), where the ring goes on from topic to topic and a member that was
passed over is owed nothing; `kafka.consumer.RoundRobinAssignor` (0.8.2 and 1.1), which orders partitions by a hash and
assigns them to the group's threads. Until 0.10.1 the latter wanted every topic consumed by the same threads. Until 0.11
the text that is hashed was `[topic,partition]`, from 1.0 on `topic-partition` (`kafka.common.TopicAndPartition`).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from model.consumers.assignors.group import NOBODY, AssignorError, Group, Ints
from model.consumers.assignors.java_hashing import Hashes
from model.consumers.assignors.java_strings import string_hash


def assign_round_robin(group: Group) -> Ints:
    """int32[P]: owners by round-robin; neighbouring topics with equal subscribers are dealt together."""
    return assign_in_ring(group, group.subscriber_sets.of_topic, group.partition_counts)


def assign_in_ring(group: Group, sets: Ints, counts: Ints) -> Ints:
    """int32[sum of counts]: owners of runs of partitions, dealt one run after the other.

    `sets` says for each run which of the group's sets of subscribers it is for, `counts` how long it is.
    """
    owner = np.full(int(counts.sum()), NOBODY, dtype=np.int32)
    if not len(sets):
        return owner
    place = np.empty(group.members, dtype=np.intp)
    place[group.ring] = np.arange(group.members)
    rings = [np.sort(place[members]) for members in group.subscriber_sets.members]
    pointer = position = 0
    starts = np.concatenate(([0], np.flatnonzero(np.diff(sets)) + 1))
    for of, count in zip(sets[starts].tolist(), np.add.reduceat(counts, starts).tolist(), strict=True):
        ring = rings[int(of)]
        if count and len(ring):
            start = int(np.searchsorted(ring, pointer)) % len(ring)
            owner[position : position + count] = np.resize(np.roll(group.ring[ring], -start), count)
            pointer = int(ring[(start + count - 1) % len(ring)]) + 1
        position += count
    return owner


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
    owner[order] = assign_in_ring(group, sets.of_topic[group.topic_of[order]], np.ones(len(order), dtype=np.int64))
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
