"""Racks of members and replicas, and whether they make a difference. KIP-881."""

from collections.abc import Sequence

import numpy as np

from model.consumers.assignors.case import Case
from model.consumers.assignors.group import Flags, Group, Ints, Racks


def racks_of(case: Case, members: Sequence[str], topics: Sequence[str], missing: int = 0) -> Racks | None:
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


def racks_that_matter(group: Group) -> Racks | None:
    """The group's racks, where they make a difference to it as a whole."""
    racks = group.racks
    if racks is None or not len(racks.rows):
        return None
    return racks if racks_matter(racks.of_member, racks.rows, prefer=group.prefer_racks) else None
