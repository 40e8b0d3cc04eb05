"""Thousands of groups as clusters have them: most are small, some members own too much, a few subscribe differently."""

from __future__ import annotations

import random

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import CLASSIC, ZOOKEEPER, GroupImage, Member
from tests.spark.previews.groups import cluster

SIZES = (3, 6, 12, 24, 48, 96, 120)
CONSUMERS = (1, 2, 3, 5, 8, 12, 20)


def many_groups(groups: int, *, big: int = 0, seed: int = 1) -> ClusterImage:
    """So many groups, about 105 partitions each; and one of `big` partitions with 200 consumers and 100 topics."""
    dice = random.Random(seed)
    counts: dict[str, int] = {}
    made: list[GroupImage] = []
    for number in range(groups):
        topics = {f"g{number:05}.t{place}": dice.choice(SIZES) for place in range(dice.choice((1, 1, 2, 3, 5)))}
        counts |= topics
        kind = ZOOKEEPER if dice.random() < 0.1 else CLASSIC
        made.append(_group(dice, f"g{number:05}", topics, dice.choice(CONSUMERS), kind))
    if big:
        topics = {f"big.t{place:03}": big // 100 for place in range(100)}
        counts |= topics
        made.append(_group(dice, "big", topics, 200, CLASSIC))
    ends = {read: offset + dice.randrange(1_000) for group in made for read, offset in group.offsets.items()}
    return cluster(counts, made, ends)


def _group(dice: random.Random, name: str, topics: dict[str, int], consumers: int, kind: str) -> GroupImage:
    ids = [f"consumer-{name}-{dice.getrandbits(64):016x}" for _ in range(consumers)]
    members = {each: Member(dict.fromkeys(topics, 1)) for each in ids}
    if dice.random() < 0.1:
        members[ids[0]] = Member(dict.fromkeys(list(topics)[:1], 1))
    threads = [f"{each}-0" for each in ids] if kind == ZOOKEEPER else ids
    reads = [TopicPartition(topic, number) for topic, count in topics.items() for number in range(count)]
    owners = {
        read: threads[dice.randrange(consumers) if dice.random() < 0.1 else n % consumers]
        for n, read in enumerate(reads)
    }
    state = "Stable" if kind == CLASSIC else ""
    return GroupImage(name, members, owners, dict.fromkeys(reads, 10), kind, state, protocol="range" if state else "")
