"""A group with names, as `kdrill assign` reads it, and the facts in it that steer Kafka's assignors.

These are whether all members subscribe to the same topics, whether racks make a difference (KIP-881), and the order in
which the group coordinator walks topic ids (`org.apache.kafka.common.Uuid`, `UniformHomogeneousAssignmentBuilder`,
`UniformHeterogeneousAssignmentBuilder`, 3.9). It says what is wrong with a case and assigns nothing.
"""

import base64
import binascii
import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from model.consumers.assignors.group import AssignorError, Flags, GroupToAssign, Ints, Racks
from model.consumers.assignors.java_hashing import Hashes, copied_table, walk

MOST_PARTITIONS = 10_000_000
"""More in one case is a slip of the keyboard, and would take more memory than there is."""

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Owned = dict[str, list[int]] | list[tuple[str, int]]


class CaseMember(msgspec.Struct, frozen=True):
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


class AssignmentCase(msgspec.Struct, frozen=True):
    """A group to assign. `topics` maps names to numbers of partitions, `racks` to the racks of each one's replicas."""

    topics: dict[str, Int32]
    members: dict[str, CaseMember]
    id: Any = None
    assignor: str | None = None
    racks: dict[str, list[list[str | None]]] | None = None
    topic_ids: dict[str, str] | None = None
    prefer_rack_aware: bool = False
    via: Literal["cluster", "direct"] = "cluster"
    member_order: Literal["hash", "tree", "linked"] = "hash"
    subscription_type: Literal["HOMOGENEOUS", "HETEROGENEOUS"] | None = None


def read_case(document: Any) -> AssignmentCase:
    """A case out of decoded JSON. Raises AssignorError."""
    try:
        case = msgspec.convert(document, AssignmentCase)
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


def alike_to_clients(lists: Sequence[Sequence[Hashable]], *, as_kafka: bool) -> bool:
    """Whether a sticky assignor takes these subscriptions for equal; `lists` are in the order Kafka walks them.

    Source: `AbstractStickyAssignor.allSubscriptionsEqual` (3.9). Kafka looks at lengths and at what the first list that
    is not empty has: members without topics before it, and a topic named twice, go unnoticed, and such members then get
    partitions they never asked for. Only `as_kafka` overlooks them too.
    """
    first = frozenset[Hashable]()
    distinct = dict.fromkeys(map(tuple, lists))
    verdicts: dict[tuple[Hashable, ...], bool] = {}
    for named in map(tuple, lists):
        if not first:
            first = frozenset(named)
        elif named not in verdicts:
            verdicts[named] = len(named) == len(first) and first.issuperset(named)
    return all(verdicts.values()) and (as_kafka or len(set(map(frozenset, distinct))) <= 1)


def alike_to_coordinator(case: AssignmentCase) -> bool:
    """Whether every topic has all members for subscribers, unless the case says otherwise. Raises AssignorError."""
    if case.subscription_type == "HETEROGENEOUS":
        return False
    counts: dict[str, int] = {}
    for member in case.members.values():
        for topic in set(member.topics):
            counts[topic] = counts.get(topic, 0) + 1
    alike = all(count == len(case.members) for count in counts.values())
    if case.subscription_type == "HOMOGENEOUS" and not alike:
        raise AssignorError("subscription_type is HOMOGENEOUS, but members subscribe to different topics")
    return alike


def topic_id_hashes(topics: Sequence[str], ids: Mapping[str, str]) -> Hashes:
    """uint32[T]: `Uuid.hashCode` of each topic's id; a topic without one gets an id made from its name."""
    return np.array([_hash(_id_of(topic, ids.get(topic))) for topic in topics], dtype=np.uint32)


def _id_of(topic: str, written: str | None) -> bytes:
    if written is None:
        digest = bytearray(hashlib.md5(topic.encode(), usedforsecurity=False).digest())
        digest[6] = digest[6] & 0x0F | 0x30
        digest[8] = digest[8] & 0x3F | 0x80
        return bytes(digest)
    try:
        plain = base64.urlsafe_b64decode(written + "=" * (-len(written) % 4))
    except (binascii.Error, ValueError):
        plain = b""
    if len(plain) != 16:
        raise AssignorError(f"topic id {written!r} of {topic} is not a base64 UUID of 22 characters")
    return plain


def _hash(plain: bytes) -> int:
    folded = int.from_bytes(plain[:8]) ^ int.from_bytes(plain[8:])
    return (folded >> 32) ^ (folded & 0xFFFFFFFF)


def topic_walk(lists: Sequence[Sequence[str]], numbers: Mapping[str, int], hashes: Hashes, *, alike: bool) -> Ints:
    """intp[T]: topics as the uniform assignor's set of their ids is walked; `lists` are in the order of members.

    Where all subscriptions are equal that set is a copy of the first member's, which has another table size.
    """
    if not lists:
        return np.zeros(0, dtype=np.intp)
    if alike:
        told = _walked(_numbers(lists[0], numbers), hashes)
        return told[walk(hashes[told], copied_table(len(told)))]
    met = dict.fromkeys(number for named in lists for number in _walked(_numbers(named, numbers), hashes).tolist())
    return _walked(np.fromiter(met, dtype=np.intp, count=len(met)), hashes)


def _numbers(named: Sequence[str], numbers: Mapping[str, int]) -> Ints:
    distinct = dict.fromkeys(named)
    return np.fromiter((numbers[topic] for topic in distinct), dtype=np.intp, count=len(distinct))


def _walked(topics: Ints, hashes: Hashes) -> Ints:
    return topics[walk(hashes[topics])]


def racks_of(case: AssignmentCase, members: Sequence[str], topics: Sequence[str], missing: int = 0) -> Racks | None:
    """Racks, where both members and replicas name some. An empty name is none for a member (KIP-881).

    `missing`: how many partitions are claimed that do not exist, and so have no replica anywhere.
    """
    told = {name: case.members[name].rack for name in members}
    if not case.racks or not any(told.values()):
        return None
    numbers: dict[str, int] = {}
    of_member = [numbers.setdefault(rack, len(numbers)) if rack else -1 for rack in told.values()]
    rows: dict[frozenset[str], int] = {}
    of_partition: list[int] = []
    for topic in topics:
        replicas = case.racks.get(topic, [])
        for number in range(case.topics[topic]):
            racks = replicas[number] if number < len(replicas) else []
            of_partition.append(rows.setdefault(frozenset(rack for rack in racks if rack is not None), len(rows)))
    for row in rows:
        for rack in row:
            numbers.setdefault(rack, len(numbers))
    table = np.zeros((len(rows), len(numbers)), dtype=np.bool_)
    for row, number in rows.items():
        table[number, [numbers[rack] for rack in row]] = True
    return Racks(np.array(of_member, dtype=np.intp), np.array([*of_partition, *[-1] * missing], dtype=np.intp), table)


def racks_matter(of_member: Ints, rows: Flags, *, prefer: bool) -> bool:
    """Whether there is anything to gain: members and replicas share a rack, and not every partition is on all racks.

    Source: `AbstractPartitionAssignor.useRackAwareAssignment` (3.9); `rows` are the partitions' sets of racks.
    """
    everywhere: Flags = np.logical_or.reduce(rows, axis=0)
    named = of_member[of_member >= 0]
    if not everywhere[named].any():
        return False
    return prefer or not bool((rows == everywhere).all())


def racks_that_matter(group: GroupToAssign) -> Racks | None:
    """The group's racks, where they make a difference to it as a whole."""
    racks = group.racks
    if racks is None or not len(racks.rows):
        return None
    return racks if racks_matter(racks.of_member, racks.rows, prefer=group.prefer_racks) else None
