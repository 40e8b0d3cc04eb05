"""How a consumer group fares, in numbers: what its ownership graph would show, without making one. For long lists."""

from collections.abc import Mapping
from typing import NamedTuple

from model.cluster.cluster_image import ClusterImage
from model.cluster.group_image import SHARE, GroupImage
from model.consumers.ownership import subscribed_topics, threads_of


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
    """Counts what `ownership_graph` of the same group would show."""
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
        lag=_lag(group, image, assigned),
    )


def _lag(group: GroupImage, image: ClusterImage, assigned: Mapping[str, frozenset[int]]) -> int | None:
    ends = image.log_ends
    known = [
        max(ends[read] - offset, 0)
        for read, offset in group.offsets.items()
        if read in ends and (read in group.owners or read.partition in assigned.get(read.topic, ()))
    ]
    return sum(known) if known else None
