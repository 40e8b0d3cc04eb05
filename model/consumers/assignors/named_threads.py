"""ZooKeeper consumers as a group of threads: what each streams, and the names and the order of their threads.

Sources: `kafka.consumer.TopicCount`, `TopicFilter`, `ConsumerThreadId` (0.8.2). Ids of threads compare as text.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from model.cluster.ids import INTERNAL_TOPICS
from model.consumers.assignors.case import Case, Member
from model.consumers.assignors.group import NO_GENERATION, AssignorError, Claims, Group
from model.consumers.assignors.java_hashing import string_hashes
from model.consumers.assignors.java_strings import in_name_order
from model.consumers.assignors.named_group import NamedGroup
from model.consumers.ownership import MOST_THREADS

MOST_THREADS_OF_ALL = 1_000_000


def named_threads(case: Case) -> NamedGroup:
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
    group = Group(
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


def streams_of(name: str, member: Member, topics: Mapping[str, int]) -> dict[str, int]:
    """Topic → how many streams of it the member has; a list chooses among `topics`. Raises AssignorError."""
    if member.white_list is not None or member.black_list is not None:
        counts = dict.fromkeys(_chosen(name, member, topics), member.threads)
    else:
        counts = member.topics if isinstance(member.topics, dict) else dict.fromkeys(member.topics, 1)
    for topic, count in counts.items():
        if not 1 <= count <= MOST_THREADS:
            raise AssignorError(f"member {name} has {count} streams of {topic}: give 1 to {MOST_THREADS:,}")
    return counts


def _chosen(name: str, member: Member, topics: Mapping[str, int]) -> list[str]:
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


def _claims(case: Case, threads: Sequence[str], thread_of: Mapping[str, str], numbers: Mapping[str, int]) -> Claims:
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
