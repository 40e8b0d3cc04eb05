"""Who owns what in a consumer group, in numbers.

Rules: `kafka.consumer.ZookeeperConsumerConnector` (0.8 to 1.1). A member runs `<consumer id>-0` … `<consumer id>-n`; a
thread claims a partition by a znode that dies with its session. A member of a classic group is its own thread.
Says what is there, not whether that is bad: see `model.cluster.findings`.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.check import topics_of
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import SHARE, ZOOKEEPER, GroupImage
from model.cluster.texts import listed
from model.cluster.topic_image import TopicImage

MOST_THREADS = 10_000
"""More threads than this in one member is a damaged znode, not a consumer."""


def threads_of(group: GroupImage, name: str) -> tuple[str, ...]:
    """Ids of the threads a registered member runs: as many as its topic with the most streams asks for."""
    if name not in group.members:
        return ()
    if group.kind != ZOOKEEPER:
        return (name,)
    most = max(group.members[name].subscription.values(), default=0)
    return tuple(f"{name}-{number}" for number in range(min(most, MOST_THREADS)))


def subscribed_topics(group: GroupImage, image: ClusterImage) -> tuple[TopicImage, ...]:
    """The group's topics that the cluster has and is not deleting, by name. See `topics_of` on patterns."""
    names = topics_of(group) - image.admin.delete_topics
    return tuple(image.topics[name] for name in sorted(names) if name in image.topics)


class GroupCounts(NamedTuple):
    """Numbers of one group. `threads` are those of registered members; `lag` is in records, None where not known.

    Of a share group `owned` is what at least one member reads, and idle is who reads nothing.
    """

    members: int
    threads: int
    idle_threads: int
    dead_threads: int
    topics: int
    owned: int
    unowned: int
    lag: int | None


def group_counts(group: GroupImage, image: ClusterImage) -> GroupCounts:
    """Counts members, threads and partitions of a group."""
    assigned = {
        topic.name: frozenset(topic.partitions[~topic.orphaned].tolist()) for topic in subscribed_topics(group, image)
    }
    owners = frozenset(group.owners.values())
    dead = {owner for owner in owners if group.member_of(owner) not in group.members}
    named = {thread for name in group.members for thread in threads_of(group, name)}
    held = {read for read, _ in group.held}
    held_there = sum(read.partition in assigned.get(read.topic, ()) for read in held)
    idle = {name for name, member in group.members.items() if not member.reads}
    return GroupCounts(
        members=len(group.members),
        threads=len(named | (owners - dead)),
        idle_threads=len(idle if group.kind == SHARE else named - owners),
        dead_threads=len(dead),
        topics=len({name for name, there in assigned.items() if there} | {read.topic for read in held}),
        owned=len(held),
        unowned=sum(map(len, assigned.values())) - held_there,
        lag=group_lag(group, image),
    )


def group_lag(group: GroupImage, image: ClusterImage) -> int | None:
    """Records that the group has not read yet, of partitions that it owns or that there are; None where not known."""
    ends, topics, deleted = image.log_ends, image.topics, image.admin.delete_topics
    known = [
        max(ends[read] - offset, 0)
        for read, offset in group.offsets.items()
        if read in ends
        and (read in group.owners or (read.topic not in deleted and _is_assigned(topics.get(read.topic), read)))
    ]
    return sum(known) if known else None


def _is_assigned(topic: TopicImage | None, read: TopicPartition) -> bool:
    row = None if topic is None else topic.row_of.get(read.partition)
    return topic is not None and row is not None and not topic.orphaned[row]


NONE = "no consumer groups"
NOT_ASKED = (
    "no consumer groups in ZooKeeper; brokers were not asked for theirs: "
    "--bootstrap host:port, or kafka in the configuration"
)
"""Since 0.9 consumers have their groups at brokers."""


def no_groups(image: ClusterImage) -> str:
    """One line, for an image without groups."""
    return NONE if image.provenance.asks_brokers else NOT_ASKED


def not_previewed(image: ClusterImage) -> str:
    """One line for groups that no strategy applies to; empty where there is none."""
    others = sorted((key, group.kind) for key, group in image.every_group() if not group.has_owners)
    if not others:
        return ""
    named = listed(f"{key} ({kind})" for key, kind in others)
    return f"not previewed: {named}; strategies here apply to groups in which each partition has one owner"


LEAST_RUN = 3
"""Numbers with a step above one that make a range; two of them are shorter as they are."""


def partition_ranges(numbers: Sequence[int], most_cells: int | None = None) -> str:
    """Ascending numbers as ranges; beyond `most_cells` characters the rest is counted (`0-3,7 +12`)."""
    text, written = "", 0
    for run in _runs(numbers):
        longer = f"{text},{_written(run)}" if text else _written(run)
        left = len(numbers) - written - len(run)
        if most_cells is not None and text and len(longer) + (len(f" +{left}") if left else 0) > most_cells:
            return f"{text} +{len(numbers) - written}"
        text, written = longer, written + len(run)
    return text


def _written(run: Sequence[int]) -> str:
    if len(run) == 1:
        return str(run[0])
    step = run[1] - run[0]
    return f"{run[0]}-{run[-1]}" + (f"/{step}" if step > 1 else "")


def _runs(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    start = 0
    while start < len(numbers):
        end = start + 1
        if end < len(numbers):
            step = numbers[end] - numbers[start]
            while end < len(numbers) and numbers[end] - numbers[end - 1] == step:
                end += 1
            if step > 1 and end - start < LEAST_RUN:
                end = start + 1
        yield numbers[start:end]
        start = end
