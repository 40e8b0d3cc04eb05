"""From a case with names to the arrays that assignors work on, and back. Decides nothing about partitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.consumers.assignors.case import Case, Member
from model.consumers.assignors.group import AssignorError, Group, Ints, Missing
from model.consumers.assignors.java_hashing import string_hashes, walk
from model.consumers.assignors.java_strings import in_name_order
from model.consumers.assignors.member_claims import Kind, member_claims
from model.consumers.assignors.racks import racks_of
from model.consumers.assignors.same_subscriptions import alike_to_clients, alike_to_coordinator
from model.consumers.assignors.topic_ids import topic_id_hashes, topic_walk


@dataclass(frozen=True, eq=False)
class NamedGroup:
    """A group, and the names its numbers stand for."""

    topics: Sequence[str]
    members: Sequence[str]
    group: Group
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


def named_group(case: Case, kind: Kind, *, as_kafka: bool = False) -> NamedGroup:
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
    group = Group(
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


def _missing(numbers: Mapping[str, int], beyond: Sequence[tuple[str, str, int]]) -> Missing:
    """Partitions that are claimed and do not exist, in the order in which `member_claims` numbers them."""
    met = dict.fromkeys((numbers[topic], number) for _, topic, number in beyond)
    return Missing(
        np.array([topic for topic, _ in met], dtype=np.intp), np.array([number for _, number in met], dtype=np.int64)
    )


def _topics_of(case: Case, lists: Mapping[str, Sequence[str]], kind: Kind) -> list[str]:
    if kind != "coordinator" and case.via == "direct":
        return in_name_order(case.topics)
    wanted = {topic for named in lists.values() for topic in named}
    if kind == "coordinator":
        for topic in sorted(wanted - case.topics.keys()):
            raise AssignorError(f"topic {topic} is subscribed to, but there is no such topic: add it to topics")
        return in_name_order(wanted)
    return in_name_order(topic for topic in wanted if case.topics.get(topic))


def _ring_place(members: Mapping[str, Member], name: str) -> tuple[bool, str | bytes]:
    instance = members[name].instance_id
    text = name if instance is None else instance
    return instance is None, text.encode("utf-16-be", "surrogatepass")
