"""A group with names, as `kdrill assign` reads it. Says what is wrong with a case; assigns nothing."""

from typing import Annotated, Any, Literal

import msgspec

from model.consumers.assignors.group import AssignorError

MOST_PARTITIONS = 10_000_000
"""More in one case is a slip of the keyboard, and would take more memory than there is."""

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Owned = dict[str, list[int]] | list[tuple[str, int]]


class Member(msgspec.Struct, frozen=True):
    """A member: its topics, or with ZooKeeper its streams of each topic, or a pattern; and what it owned before.

    `generation` is that of the claim. `user_data` and `subscription_generation` tell apart the ways in which old and
    new versions of the protocol carry a claim; by default both fields agree, as with every client since 3.4.
    """

    topics: list[str] | dict[str, Int32] = msgspec.field(default_factory=list[str])
    owned: Owned | None = None
    generation: Int32 | None = None
    instance_id: str | None = None
    rack: str | None = None
    user_data: Literal["v0", "v1", "none"] = "v1"
    subscription_generation: Int32 | None = None
    white_list: str | None = None
    black_list: str | None = None
    threads: Int32 = 1

    @property
    def streams(self) -> bool:
        """Whether it is a ZooKeeper consumer that counts its streams."""
        return isinstance(self.topics, dict) or self.white_list is not None or self.black_list is not None

    def claims(self) -> list[tuple[str, int]]:
        """What it owned before, in the order it is told."""
        if isinstance(self.owned, dict):
            return [(topic, partition) for topic, numbers in self.owned.items() for partition in numbers]
        return self.owned or []


class Case(msgspec.Struct, frozen=True):
    """A group to assign. `topics` maps names to numbers of partitions, `racks` to the racks of each one's replicas."""

    topics: dict[str, Int32]
    members: dict[str, Member]
    id: Any = None
    assignor: str | None = None
    racks: dict[str, list[list[str | None]]] | None = None
    topic_ids: dict[str, str] | None = None
    prefer_rack_aware: bool = False
    via: Literal["cluster", "direct"] = "cluster"
    member_order: Literal["hash", "tree", "linked"] = "hash"
    subscription_type: Literal["HOMOGENEOUS", "HETEROGENEOUS"] | None = None


def read_case(document: Any) -> Case:
    """A case out of decoded JSON. Raises AssignorError."""
    try:
        case = msgspec.convert(document, Case)
    except msgspec.ValidationError as error:
        raise AssignorError(f"this is not a case: {error}") from None
    for topic, count in case.topics.items():
        if count < 0:
            raise AssignorError(f"topic {topic} has {count} partitions: give 0 or more")
    if sum(case.topics.values()) > MOST_PARTITIONS:
        raise AssignorError(f"{sum(case.topics.values()):,} partitions: a case may have {MOST_PARTITIONS:,}")
    for topic, rows in (case.racks or {}).items():
        if len(rows) > case.topics.get(topic, 0):
            raise AssignorError(f"racks of {topic} tell of {len(rows)} partitions; it has {case.topics.get(topic, 0)}")
    return case
