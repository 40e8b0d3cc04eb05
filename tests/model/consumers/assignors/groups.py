"""Groups for Hypothesis: members, topics, subscriptions, what was owned before, racks."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from model.consumers.assignors.case import AssignmentCase, read_case

NAMES = st.text(st.sampled_from("abcxyz-_.09Zäß"), min_size=1, max_size=6)


@st.composite
def group_cases(draw: st.DrawFn, *, alike: bool = False, claims: bool = True, racks: bool = False) -> AssignmentCase:
    """A case that any assignor understands; nothing is claimed twice."""
    topics = draw(st.dictionaries(NAMES, st.integers(1, 9), min_size=1, max_size=5))
    names = draw(st.lists(NAMES, min_size=1, max_size=7, unique=True))
    lists = st.lists(st.sampled_from(sorted(topics)), min_size=0, max_size=5, unique=True)
    members: dict[str, Any] = {name: {"topics": sorted(topics) if alike else draw(lists)} for name in names}
    if claims and draw(st.booleans()):
        everything = [[topic, number] for topic, count in topics.items() for number in range(count)]
        owners = draw(st.lists(st.sampled_from([*names, None]), min_size=len(everything), max_size=len(everything)))
        for name, member in members.items():
            member["owned"] = [p for p, owner in zip(everything, owners, strict=True) if owner == name]
            member["generation"] = draw(st.sampled_from([1, 1, 1, 0]))
    case: dict[str, Any] = {"topics": topics, "members": members}
    if racks:
        rack = st.sampled_from(["r1", "r2", "r3"])
        for member in members.values():
            member["rack"] = draw(st.none() | rack)
        some = st.lists(rack, min_size=1, max_size=2, unique=True)
        case["racks"] = {topic: [draw(some) for _ in range(count)] for topic, count in topics.items()}
    return read_case(case)
