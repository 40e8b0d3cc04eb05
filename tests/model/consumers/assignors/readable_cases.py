"""Cases as people write them, and what comes of them, for tests to read at a glance."""

from __future__ import annotations

from typing import Any

from model.consumers.assignors.assignment import AssignedCase
from model.consumers.assignors.case import read_case
from model.consumers.assignors.strategies import STRATEGIES, assign

Shares = dict[str, str]
"""Member → its partitions as `t0:0,1 t1:0`."""


def outcome_of(
    assignor: str, topics: dict[str, int], *, as_kafka: Any = False, racks: Any = None, **members: Any
) -> AssignedCase:
    """The outcome for members that are dicts, or just topics between blanks."""
    told = {name: {"topics": m.split()} if isinstance(m, str) else m for name, m in members.items()}
    case = read_case({"topics": topics, "members": told, "racks": racks})
    return assign(case, STRATEGIES[assignor], as_kafka=as_kafka)


def owning(topics: str, owned: str, generation: int = 1, **more: Any) -> dict[str, Any]:
    """A member that owns `t0:0,1 t1:0`."""
    parts = dict(part.split(":") for part in owned.split())
    claims = {topic: [int(number) for number in numbers.split(",")] for topic, numbers in parts.items()}
    return {"topics": topics.split(), "owned": claims, "generation": generation, **more}


def shares(outcome: AssignedCase) -> Shares:
    """Who got what."""
    return {member: short(partitions) for member, partitions in outcome.lists().items()}


def short(partitions: list[tuple[str, int]]) -> str:
    """`t0:0,1 t1:0`."""
    numbers: dict[str, list[str]] = {}
    for topic, number in partitions:
        numbers.setdefault(topic, []).append(str(number))
    return " ".join(f"{topic}:{','.join(told)}" for topic, told in numbers.items())
