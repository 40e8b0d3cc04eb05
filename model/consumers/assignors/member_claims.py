"""What members say they own, as each assignor hears it. Does not settle claims that contradict each other.

How a claim travels is the assignor's own matter: the sticky one packs it into user data, the cooperative one reads the
subscription's fields first, and the group coordinator keeps the assignment itself.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from model.consumers.assignors.case import Case, Member
from model.consumers.assignors.group import NO_GENERATION, Claims

Kind = Literal["client", "sticky", "cooperative", "coordinator"]
"""Who assigns: a consumer that does not look at claims, one that does, or the coordinator of KIP-848's groups."""

Reading = tuple[list[tuple[str, int]], int, int]
"""What a member claims; the generation of the claim; the generation in the subscription's own field."""


def member_claims(
    case: Case, members: Sequence[str], numbers: Mapping[str, int], kind: Kind, *, missing: bool = False
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


def _generations(member: Member) -> tuple[int, int]:
    told = NO_GENERATION if member.generation is None else member.generation
    field = told if member.subscription_generation is None else member.subscription_generation
    return told, max(field, NO_GENERATION)


def _plain(member: Member) -> Reading:
    return member.claims(), *_generations(member)


def _sticky(member: Member) -> Reading:
    """`StickyAssignor.memberData`: all of it from user data, which version 0 has no generation in."""
    told, field = _generations(member)
    if member.user_data == "none":
        return [], NO_GENERATION, field
    return member.claims(), NO_GENERATION if member.user_data == "v0" else told, field


def _cooperative(member: Member) -> Reading:
    """`CooperativeStickyAssignor.memberData`: the subscription's fields first, the generation in user data else."""
    told, field = _generations(member)
    if field >= 0:
        told = field
    elif member.user_data == "none":
        told = NO_GENERATION
    return member.claims(), told, field


_READERS: Mapping[Kind, Callable[[Member], Reading]] = {"sticky": _sticky, "cooperative": _cooperative}


def _by_topic(claims: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """The coordinator keeps partitions topic by topic."""
    topics: dict[str, dict[int, None]] = {}
    for topic, number in claims:
        topics.setdefault(topic, {})[number] = None
    return [(topic, number) for topic, numbers in topics.items() for number in numbers]
