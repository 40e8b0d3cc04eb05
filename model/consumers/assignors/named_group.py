"""From a case with names to the arrays that assignors work on, and back: members or ZooKeeper consumers' threads.

How a claim travels depends on the assignor: the sticky one packs it into user data, the cooperative one reads the
subscription's fields first, and the group coordinator keeps the assignment itself. Contradicting claims are settled in
`group`.

Sources: `StickyAssignor` and `CooperativeStickyAssignor.memberData` (3.9); `kafka.consumer.TopicCount`, `TopicFilter`
and `ConsumerThreadId` (0.8.2), whose ids compare as text.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from model.cluster.ids import INTERNAL_TOPICS
from model.consumers.assignors.case import (
    AssignmentCase,
    CaseMember,
    alike_to_clients,
    alike_to_coordinator,
    racks_of,
    topic_id_hashes,
    topic_walk,
)
from model.consumers.assignors.group import NO_GENERATION, AssignorError, Claims, GroupToAssign, Ints, MissingPartitions
from model.consumers.assignors.java_hashing import string_hashes, walk
from model.consumers.assignors.java_strings import in_name_order
from model.consumers.ownership import MOST_THREADS

Kind = Literal["client", "sticky", "cooperative", "coordinator"]
"""Who assigns: a consumer that does not look at claims, one that does, or the coordinator of KIP-848's groups."""

Reading = tuple[list[tuple[str, int]], int, int]
"""What a member claims; the generation of the claim; the generation in the subscription's own field."""


def member_claims(
    case: AssignmentCase, members: Sequence[str], numbers: Mapping[str, int], kind: Kind, *, missing: bool = False
) -> tuple[Claims, list[tuple[str, str, int]]]:
    """Claims on the topics of `numbers`; and those beyond the partitions that a topic has.

    The latter are left out; with `missing` such partitions are numbered behind all others as they are met.
    """
    first = np.concatenate(([0], np.cumsum([case.topics[topic] for topic in numbers], dtype=np.int64))).tolist()
    partitions: list[int] = []
    met: dict[tuple[str, int], int] = {}
    starts, beyond = [0], list[tuple[str, str, int]]()
    readers = [_READERS.get(kind, _plain)(case.members[name]) for name in members]
    for name, (claimed, _, _) in zip(members, readers, strict=True):
        for topic, number in _by_topic(claimed) if kind == "coordinator" else claimed:
            if topic in numbers:
                if 0 <= number < case.topics[topic]:
                    partitions.append(first[numbers[topic]] + number)
                else:
                    beyond.append((name, topic, number))
                    if missing:
                        partitions.append(met.setdefault((topic, number), first[-1] + len(met)))
        starts.append(len(partitions))
    claims = Claims(
        np.array(partitions, dtype=np.int32),
        np.array(starts, dtype=np.int64),
        np.array([generation for _, generation, _ in readers], dtype=np.int64),
        np.array([generation for _, _, generation in readers], dtype=np.int64),
    )
    return claims, beyond


def _generations(member: CaseMember) -> tuple[int, int]:
    told = NO_GENERATION if member.generation is None else member.generation
    field = told if member.subscription_generation is None else member.subscription_generation
    return told, max(field, NO_GENERATION)


def _plain(member: CaseMember) -> Reading:
    return member.claims(), *_generations(member)


def _sticky(member: CaseMember) -> Reading:
    """`StickyAssignor.memberData`: all of it from user data, which version 0 has no generation in."""
    told, field = _generations(member)
    if member.user_data == "none":
        return [], NO_GENERATION, field
    return member.claims(), NO_GENERATION if member.user_data == "v0" else told, field


def _cooperative(member: CaseMember) -> Reading:
    """`CooperativeStickyAssignor.memberData`: the subscription's fields first, the generation in user data else."""
    told, field = _generations(member)
    if field >= 0:
        told = field
    elif member.user_data == "none":
        told = NO_GENERATION
    return member.claims(), told, field


_READERS: Mapping[Kind, Callable[[CaseMember], Reading]] = {"sticky": _sticky, "cooperative": _cooperative}


def _by_topic(claims: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """The coordinator keeps partitions topic by topic."""
    topics: dict[str, dict[int, None]] = {}
    for topic, number in claims:
        topics.setdefault(topic, {})[number] = None
    return [(topic, number) for topic, numbers in topics.items() for number in numbers]


@dataclass(frozen=True, eq=False)
class NamedGroup:
    """A group, and the names its numbers stand for."""

    topics: Sequence[str]
    members: Sequence[str]
    group: GroupToAssign
    beyond: Sequence[tuple[str, str, int]] = ()
    """Claims, as member, topic and number, on partitions that their topics do not have (any more)."""

    def lists(self, owner: Ints) -> dict[str, list[tuple[str, int]]]:
        """Member → its topics and partition numbers, in order."""
        shared = owner >= 0
        order = np.flatnonzero(shared)[np.argsort(owner[shared], kind="stable")]
        topics, numbers = self.group.located(order)
        pairs = list(zip(map(self.topics.__getitem__, topics.tolist()), numbers.tolist(), strict=True))
        ends = np.cumsum(np.bincount(owner[shared], minlength=len(self.members))).tolist()
        return {name: pairs[start:end] for name, start, end in zip(self.members, [0, *ends], ends, strict=False)}


def named_group(case: AssignmentCase, kind: Kind, *, as_kafka: bool = False) -> NamedGroup:
    """The group of a case, for an assignor of that kind. Raises AssignorError."""
    for name, member in case.members.items():
        if member.streams:
            raise AssignorError(f"member {name} counts streams: that is for zk-range, zk-roundrobin and ceil")
    lists = {name: list(member.topics) for name, member in case.members.items()}
    members, topics = in_name_order(lists), _topics_of(case, lists, kind)
    place = {name: number for number, name in enumerate(members)}
    written = [place[name] for name in lists]
    order = np.array(written, dtype=np.intp)
    if kind != "coordinator" or case.member_order == "hash":
        order = order[walk(string_hashes(list(lists)))]
    elif case.member_order == "tree":
        order = np.arange(len(members), dtype=np.intp)
    walked = [members[number] for number in order.tolist()]
    numbers = {topic: number for number, topic in enumerate(topics)}
    distinct: dict[tuple[str, ...], int] = {}
    subscription_of = [distinct.setdefault(tuple(lists[name]), len(distinct)) for name in members]
    subscriptions = [np.array(sorted(numbers[t] for t in named if t in numbers), dtype=np.intp) for named in distinct]
    noticed = as_kafka and kind != "client"
    claims, beyond = member_claims(case, members, numbers, kind, missing=noticed)
    missing = _missing(numbers, beyond if noticed else ())
    ids = kind == "coordinator"
    hashes = topic_id_hashes(topics, case.topic_ids or {}) if ids else string_hashes(topics)
    alike = alike_to_coordinator(case) if ids else alike_to_clients([lists[name] for name in walked], as_kafka=as_kafka)
    group = GroupToAssign(
        partition_counts=np.array([case.topics[topic] for topic in topics], dtype=np.int64),
        subscriptions=subscriptions,
        subscription_of=np.array(subscription_of, dtype=np.intp),
        alike=alike,
        claims=claims,
        ring=np.array(sorted(order.tolist(), key=lambda c: _ring_place(case.members, members[c])), dtype=np.intp),
        walk=order,
        topic_hashes=hashes,
        topic_walk=topic_walk([lists[name] for name in walked], numbers, hashes, alike=alike) if ids else order[:0],
        racks=None if ids else racks_of(case, members, topics, len(missing.topics)),
        prefer_racks=case.prefer_rack_aware,
        missing=missing,
    )
    return NamedGroup(topics, members, group, beyond)


def _missing(numbers: Mapping[str, int], beyond: Sequence[tuple[str, str, int]]) -> MissingPartitions:
    """Partitions that are claimed and do not exist, in the order in which `member_claims` numbers them."""
    met = dict.fromkeys((numbers[topic], number) for _, topic, number in beyond)
    return MissingPartitions(
        np.array([topic for topic, _ in met], dtype=np.intp), np.array([number for _, number in met], dtype=np.int64)
    )


def _topics_of(case: AssignmentCase, lists: Mapping[str, Sequence[str]], kind: Kind) -> list[str]:
    if kind != "coordinator" and case.via == "direct":
        return in_name_order(case.topics)
    wanted = {topic for named in lists.values() for topic in named}
    if kind == "coordinator":
        for topic in sorted(wanted - case.topics.keys()):
            raise AssignorError(f"topic {topic} is subscribed to, but there is no such topic: add it to topics")
        return in_name_order(wanted)
    return in_name_order(topic for topic in wanted if case.topics.get(topic))


def _ring_place(members: Mapping[str, CaseMember], name: str) -> tuple[bool, str | bytes]:
    instance = members[name].instance_id
    text = name if instance is None else instance
    return instance is None, text.encode("utf-16-be", "surrogatepass")


MOST_THREADS_OF_ALL = 1_000_000


def named_threads(case: AssignmentCase) -> NamedGroup:
    """The threads of a case. A member with a plain list of topics is one thread and keeps its own name.

    Raises AssignorError.
    """
    streams = {name: streams_of(name, member, case.topics) for name, member in case.members.items()}
    if sum(max(counts.values(), default=0) for counts in streams.values()) > MOST_THREADS_OF_ALL:
        raise AssignorError(f"the members have more than {MOST_THREADS_OF_ALL:,} threads in all")
    topics = in_name_order({topic for counts in streams.values() for topic in counts})
    numbers = {topic: number for number, topic in enumerate(topics)}
    thread_of: dict[str, str] = {}
    lists: dict[str, tuple[int, ...]] = {}
    for name, counts in streams.items():
        for stream in range(max(counts.values(), default=0 if case.members[name].streams else 1)):
            thread_of[f"{name}-{stream}"] = name
            lists[f"{name}-{stream}"] = tuple(
                sorted(numbers[topic] for topic, count in counts.items() if count > stream)
            )
    threads = in_name_order(lists)
    distinct = {named: number for number, named in enumerate(dict.fromkeys(lists.values()))}
    everybody = np.arange(len(threads), dtype=np.intp)
    group = GroupToAssign(
        partition_counts=np.array([case.topics.get(topic, 0) for topic in topics], dtype=np.int64),
        subscriptions=[np.array(named, dtype=np.intp) for named in distinct],
        subscription_of=np.array([distinct[lists[thread]] for thread in threads], dtype=np.intp),
        alike=len(distinct) < 2,
        claims=_claims(case, threads, thread_of, numbers),
        ring=everybody,
        walk=everybody,
        topic_hashes=string_hashes(topics),
        topic_walk=everybody[:0],
    )
    names = [thread if case.members[thread_of[thread]].streams else thread_of[thread] for thread in threads]
    return NamedGroup(topics, names, group)


def streams_of(name: str, member: CaseMember, topics: Mapping[str, int]) -> dict[str, int]:
    """Topic → how many streams of it the member has; a list chooses among `topics`. Raises AssignorError."""
    if member.white_list is not None or member.black_list is not None:
        counts = dict.fromkeys(_chosen(name, member, topics), member.threads)
    else:
        counts = member.topics if isinstance(member.topics, dict) else dict.fromkeys(member.topics, 1)
    for topic, count in counts.items():
        if not 1 <= count <= MOST_THREADS:
            raise AssignorError(f"member {name} has {count} streams of {topic}: give 1 to {MOST_THREADS:,}")
    return counts


def _chosen(name: str, member: CaseMember, topics: Mapping[str, int]) -> list[str]:
    """Topics that the member's list allows; Kafka's internal ones are hidden."""
    written = member.black_list if member.white_list is None else member.white_list
    assert written is not None
    pattern = re.sub(r"\s", "", written.strip().replace(",", "|")).strip("\"'")
    try:
        matches = re.compile(pattern)
    except re.error as error:
        raise AssignorError(f"member {name}: {written!r} is not a regular expression: {error}") from None
    wanted = member.white_list is not None
    return [
        topic for topic in topics if topic not in INTERNAL_TOPICS and (matches.fullmatch(topic) is not None) == wanted
    ]


def _claims(
    case: AssignmentCase, threads: Sequence[str], thread_of: Mapping[str, str], numbers: Mapping[str, int]
) -> Claims:
    first = np.concatenate(([0], np.cumsum([case.topics.get(topic, 0) for topic in numbers], dtype=np.int64))).tolist()
    partitions, starts = list[int](), [0]
    for thread in threads:
        name = thread_of[thread]
        claimed = case.members[name].claims()
        if claimed and f"{name}-1" in thread_of:
            raise AssignorError(f"member {name} has several threads: nobody can tell whose its owned partitions are")
        partitions += [
            first[numbers[topic]] + number
            for topic, number in claimed
            if topic in numbers and 0 <= number < case.topics.get(topic, 0)
        ]
        starts.append(len(partitions))
    none = np.full(len(threads), NO_GENERATION, dtype=np.int64)
    return Claims(np.array(partitions, dtype=np.int32), np.array(starts, dtype=np.int64), none, none)
