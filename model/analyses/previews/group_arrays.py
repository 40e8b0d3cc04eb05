"""Consumer groups of a cluster's image as flat arrays, which is all that workers get to see of them.

Each list of all groups stands one group after the other, and an array `…_starts` says where each begins. Topics are
numbered as their names sort, so that a group's topics ascend; its partitions stand topic after topic.
Decides nothing about partitions. Patterns are not evaluated: a stranger's regular expression can run for ever. A member
with one is taken for a subscriber of the topics that its group uses, and of those that a white list names in full.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.analyses.analysis import Arrays
from model.analyses.previews.figures import UNKNOWN
from model.analyses.previews.result import GroupNames
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import ZOOKEEPER, GroupImage, Member
from model.consumers.assignors.case import topic_id_hashes
from model.consumers.assignors.group import NOBODY, AssignorError, Ints
from model.consumers.assignors.java_hashing import string_hashes
from model.consumers.assignors.java_strings import in_name_order
from model.consumers.assignors.strategies import STRATEGIES
from model.consumers.ownership import threads_of

NOWHERE = -1


@dataclass(frozen=True)
class TopicPartitions:
    """Topics that can be read, by name. Assignors know how many partitions each has, and number them from 0."""

    counts: Mapping[str, int]
    rows: Mapping[str, Mapping[int, int]]
    """Partition id → its number, for topics whose partitions are not called 0, 1, 2 …: no sound cluster has any."""


class Places:
    """Partitions of a few topics, numbered one topic after the other."""

    def __init__(self, topics: Sequence[str], of: TopicPartitions) -> None:
        counts = [of.counts.get(topic, 0) for topic in topics]
        starts: list[int] = np.cumsum([0, *counts]).tolist()
        self._spans = dict(zip(topics, zip(starts, counts, strict=False), strict=True))
        self._rows = {topic: of.rows[topic] for topic in topics if topic in of.rows}
        self.count = starts[-1]

    def of(self, read: TopicPartition) -> int:
        """The partition's number; NOWHERE where there is no such partition."""
        topic, partition = read
        span = self._spans.get(topic)
        if span is None:
            return NOWHERE
        if topic in self._rows:
            partition = self._rows[topic].get(partition, NOWHERE)
        return span[0] + partition if 0 <= partition < span[1] else NOWHERE


def topic_partitions(image: ClusterImage) -> TopicPartitions:
    """All topics of a cluster but those being deleted."""
    counts: dict[str, int] = {}
    rows: dict[str, Mapping[int, int]] = {}
    for name, topic in image.topics.items():
        ids = topic.partitions[~topic.orphaned]
        if len(ids) and name not in image.admin.delete_topics:
            counts[name] = len(ids)
            if int(ids[-1]) != len(ids) - 1:
                rows[name] = {partition: row for row, partition in enumerate(ids.tolist())}
    return TopicPartitions(counts, rows)


@dataclass(frozen=True, eq=False)
class PreviewedGroup:
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


def read_group(
    key: str, group: GroupImage, of: TopicPartitions, log_ends: Mapping[TopicPartition, int]
) -> PreviewedGroup:
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
    return PreviewedGroup(
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


def staged(reads: Sequence[PreviewedGroup], counts: Mapping[str, int], ids: Mapping[str, str]) -> Staged:
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
