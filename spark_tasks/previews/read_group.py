"""One consumer group of an image in numbers: who subscribes to what, who owns what, and how far it lags.

Patterns are not evaluated: a stranger's regular expression can run for ever. A member with one is taken for a
subscriber of the topics that its group uses, and of those that a white list names in full.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.cluster.group_image import ZOOKEEPER, GroupImage, Member
from model.cluster.ids import TopicPartition
from model.consumers.assignors.group import NOBODY, Ints
from model.consumers.assignors.java_strings import in_name_order
from model.consumers.assignors.strategies import STRATEGIES
from model.consumers.ownership import threads_of
from spark_tasks.previews.names import GroupNames
from spark_tasks.previews.rows import UNKNOWN
from spark_tasks.previews.topic_partitions import NOWHERE, Places, TopicPartitions


@dataclass(frozen=True, eq=False)
class GroupRead:
    """A group. Topics, members and consumers are numbered as `names` lists them."""

    names: GroupNames
    subscriptions: Sequence[Sequence[int]]  # the different lists of topics, ascending
    subscription_of: Sequence[int]  # [members] index into subscriptions
    consumer_of: Sequence[int]  # [members]
    ring: Sequence[int]  # members as range and round-robin line them up: static ones first, by instance id
    owner: Ints  # [partitions] the member that owns each, NOBODY where it is none that is there
    lag: Ints  # [partitions] records, UNKNOWN where it is not known

    @property
    def claims(self) -> Ints:
        """Partitions owned, one member after the other."""
        return np.argsort(self.owner, kind="stable")[np.count_nonzero(self.owner == NOBODY) :]

    @property
    def claim_counts(self) -> Ints:
        """[members] partitions that each owns."""
        return np.bincount(self.owner[self.owner != NOBODY], minlength=len(self.names.members))


def read_group(key: str, group: GroupImage, of: TopicPartitions, log_ends: Mapping[TopicPartition, int]) -> GroupRead:
    """The group of that key. Topics that `of` leaves out are not there."""
    used = {used.topic for used in (*group.owners, *group.offsets)}
    threads = {name: threads_of(group, name) for name in group.members}
    lists = {
        thread: told
        for name, member in group.members.items()
        for thread, told in zip(threads[name], _lists(member, used, len(threads[name])), strict=True)
    }
    members, consumers = in_name_order(lists), in_name_order(group.members)
    consumer_of = {thread: number for number, name in enumerate(consumers) for thread in threads[name]}
    wanted = set[str]().union(*lists.values()) if members else used
    # Round-robin of ZooKeeper consumers minds topics that are not there, and no other strategy does.
    topics = in_name_order(wanted if group.kind == ZOOKEEPER else wanted & of.counts.keys())
    number = {topic: place for place, topic in enumerate(topics)}
    # Whole lists, missing topics included, for so clients compare them.
    distinct = list(dict.fromkeys(lists[name] for name in members)) or [tuple(topics)]
    at = {told: place for place, told in enumerate(distinct)}
    places = Places(topics, of)
    lag = _lag(group, places, log_ends)
    return GroupRead(
        names=_names(key, group, topics, members, consumers, lag, of),
        subscriptions=[[number[topic] for topic in told if topic in number] for told in distinct],
        subscription_of=[at[lists[name]] for name in members],
        consumer_of=[consumer_of[name] for name in members],
        ring=_ring(group, members),
        owner=_owner(group, places, members),
        lag=lag,
    )


def _lists(member: Member, used: set[str], threads: int) -> Iterator[tuple[str, ...]]:
    """What each of the member's threads reads, in the order of names."""
    if member.pattern == "static":
        streams = member.subscription
    else:
        plain = (pattern.replace(",", "|").split("|") for pattern in member.subscription)
        named = used.union(*plain) if member.pattern == "white_list" else used
        streams = dict.fromkeys(named, threads)
    for thread in range(threads):
        yield tuple(in_name_order(topic for topic, count in streams.items() if count > thread))


def _owner(group: GroupImage, places: Places, members: Sequence[str]) -> Ints:
    owner = np.full(places.count, NOBODY, dtype=np.int32)
    if group.tells_owners:
        number = {name: place for place, name in enumerate(members)}
        for read, name in group.owners.items():
            place = places.of(read)
            if place != NOWHERE:
                owner[place] = number.get(name, NOBODY)
    return owner


def _lag(group: GroupImage, places: Places, ends: Mapping[TopicPartition, int]) -> Ints:
    lag = np.full(places.count, UNKNOWN, dtype=np.int64)
    for read, offset in group.offsets.items():
        place = places.of(read)
        if place != NOWHERE and read in ends:
            lag[place] = max(ends[read] - offset, 0)
    return lag


def _names(
    key: str,
    group: GroupImage,
    topics: Sequence[str],
    members: Sequence[str],
    consumers: Sequence[str],
    lag: Ints,
    of: TopicPartitions,
) -> GroupNames:
    known = lag[lag != UNKNOWN]
    return GroupNames(
        key=key,
        kind=group.kind,
        state=group.state,
        uses=group.protocol if group.protocol in STRATEGIES else None,
        topics=tuple(topics),
        numbers={topic: tuple(of.rows[topic]) for topic in topics if topic in of.rows},
        members=tuple(members),
        consumers=tuple(consumers),
        partitions=len(lag),
        lag=int(known.sum()) if len(known) else None,
        notes=tuple(_notes(group)),
    )


def _ring(group: GroupImage, members: Sequence[str]) -> Sequence[int]:
    if group.kind == ZOOKEEPER:
        return range(len(members))
    static = {name: group.members[name].instance_id for name in members}
    number = {name: place for place, name in enumerate(members)}
    ids = {instance: name for name, instance in static.items() if instance is not None}
    first = [number[ids[instance]] for instance in in_name_order(ids)]
    return [*first, *sorted(set(range(len(members))).difference(first))]


def _notes(group: GroupImage) -> Iterator[str]:
    if not group.members:
        yield "nobody is in it: it is taken to read what it has committed offsets of"
    elif not group.tells_owners:
        consumes = group.protocol_type in ("", "consumer")
        why = f"it is in {group.state}" if consumes else f"its members speak {group.protocol_type}"
        yield f"{why}, so who owns what is not known, and moves are not counted"
    if any(member.pattern != "static" for member in group.members.values()):
        yield "patterns are not evaluated: they are taken for the topics that the group uses"
