"""Clusters with consumer groups for Hypothesis, and what the assignors themselves make of such a group by its names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
import numpy as np
from hypothesis import strategies as st

from model.analyses.previews.changed_group import NOTHING, GroupChange
from model.analyses.previews.result import newcomers
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import CLASSIC, ZOOKEEPER, GroupImage
from model.cluster.image_parts import Member as Registered
from model.cluster.topic_image import blank_topic
from model.consumers.assignors.assignment import AssignedCase
from model.consumers.assignors.case import AssignmentCase, CaseMember
from model.consumers.assignors.strategies import STRATEGIES, assign
from model.consumers.ownership import threads_of

NAMES = st.text(st.sampled_from("abxyz-_.09Z"), min_size=1, max_size=6)
"""Of groups and members; in ASCII, so that whoever joins sorts last."""
TOPICS: tuple[str, ...] = ("a", "b", "c.d", "e-1", "ä")


@st.composite
def clusters(draw: st.DrawFn, *, most_groups: int = 3, kinds: Iterable[str] = (CLASSIC, ZOOKEEPER)) -> ClusterImage:
    """A few topics, and groups that read some of them and of topics that are gone."""
    counts = draw(st.dictionaries(st.sampled_from(TOPICS), st.integers(1, 7), max_size=4))
    names = draw(st.lists(NAMES, min_size=1, max_size=most_groups, unique=True))
    groups = [draw(_groups(name, counts, draw(st.sampled_from(list(kinds))))) for name in names]
    partitions = [TopicPartition(topic, number) for topic, count in counts.items() for number in range(count)]
    return cluster(counts, groups, {each: draw(st.integers(0, 50)) for each in partitions if draw(st.booleans())})


def cluster(
    counts: Mapping[str, int], groups: Iterable[GroupImage], ends: Mapping[TopicPartition, int] | None = None
) -> ClusterImage:
    """An image with these topics and groups."""
    topics = {
        name: blank_topic(name, np.arange(count, dtype=np.int32), np.ones((count, 1), dtype=np.int32))
        for name, count in counts.items()
    }
    groups = list(groups)
    return msgspec.structs.replace(
        EMPTY,
        provenance=Provenance("zk://there", 7, 1, complete=True),
        topics=topics,
        groups={group.name: group for group in groups if group.kind == ZOOKEEPER},
        classic_groups={group.name: group for group in groups if group.kind != ZOOKEEPER},
        log_ends=ends or {},
    )


@st.composite
def _groups(draw: st.DrawFn, name: str, counts: Mapping[str, int], kind: str) -> GroupImage:
    ids = draw(st.lists(NAMES, max_size=5, unique=True))
    alike = draw(st.booleans())
    lists = st.lists(st.sampled_from([*counts, "gone"]), max_size=4, unique=True)
    one, streams = draw(lists), st.integers(1, 1 if kind == CLASSIC else 3)
    static = draw(st.permutations(["i1", "i2", "i3", "i4", "i5"]))
    members = {
        member: Registered(
            {topic: draw(streams) for topic in (one if alike else draw(lists))},
            instance_id=static[place] if kind == CLASSIC and draw(st.booleans()) else None,
        )
        for place, member in enumerate(ids)
    }
    group = GroupImage(name, members, kind=kind, state="Stable" if kind == CLASSIC else "")
    owners = [None, "who is this-0", *(thread for member in ids for thread in threads_of(group, member))]
    partitions = [TopicPartition(topic, number) for topic, count in counts.items() for number in range(count + 1)]
    owned = {each: draw(st.sampled_from(owners)) for each in partitions} if draw(st.booleans()) else {}
    return msgspec.structs.replace(
        group,
        owners={each: owner for each, owner in owned.items() if owner is not None},
        offsets={each: draw(st.integers(0, 50)) for each in partitions if draw(st.booleans())},
    )


def case_of(image: ClusterImage, group: GroupImage, change: GroupChange = NOTHING) -> AssignmentCase:
    """The group after a change, with names: every consumer thread is a member of its own."""
    consumers = [name for place, name in enumerate(sorted(group.members, key=_order)) if place != change.leaves]
    counts = {name: len(topic) for name, topic in image.topics.items()}
    members: dict[str, CaseMember] = {}
    for name in consumers:
        member = group.members[name]
        for number, thread in enumerate(threads_of(group, name)):
            owned = [read for read in sorted(group.owners) if group.owners[read] == thread]
            members[thread] = CaseMember(
                topics=sorted((t for t, streams in member.subscription.items() if streams > number), key=_order),
                owned=[(t, p) for t, p in owned if p < counts.get(t, 0)],
                generation=0,
                instance_id=member.instance_id,
            )
    if change.joins:
        everybody = case_of(image, group).members.values()
        lists = [tuple(each.topics) for each in everybody if not counts.keys().isdisjoint(each.topics)]
        used = sorted({read.topic for read in (*group.owners, *group.offsets)} & counts.keys(), key=_order)
        fallback = next((each.topics for each in everybody), used)
        usual = max(dict.fromkeys(lists), key=lists.count, default=fallback)
        members |= {name: CaseMember(topics=list(usual)) for name in newcomers(change.joins)}
    return AssignmentCase(topics=counts, members=dict(sorted(members.items(), key=lambda each: _order(each[0]))))


def assigned(image: ClusterImage, group: GroupImage, strategy: str, change: GroupChange = NOTHING) -> AssignedCase:
    """What the assignors say when they are asked by names. Raises AssignorError."""
    case, chosen = case_of(image, group, change), STRATEGIES[strategy]
    if chosen.kind == "coordinator":
        there = {
            name: msgspec.structs.replace(member, topics=[topic for topic in member.topics if topic in case.topics])
            for name, member in case.members.items()
        }
        case = msgspec.structs.replace(case, members=there)
    return assign(case, chosen)


def _order(name: str) -> bytes:
    return name.encode("utf-16-be")
