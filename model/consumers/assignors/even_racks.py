"""The rack phase of even sticky assignment: free partitions first go to members that have a replica near, in a ring.

Source: `ConstrainedAssignmentBuilder.assignRackAwareRoundRobin`, `RackInfo` of `AbstractStickyAssignor` (3.9, KIP-881).
Members without a rack take no part here.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from model.consumers.assignors.group import Ints, Racks


@dataclass
class Unfilled:
    """Members that may get more partitions."""

    under: list[int]  # below the smaller quota, by id
    missing: list[int]  # how many each of them is below
    at_least: list[int]  # at the smaller quota, in the order in which they get one more
    longer: int  # how many may still get one more


class _Line:
    """Members in a line, by place; those on a rack can be found from any place on."""

    def __init__(self, racks: Ints) -> None:
        self._racks = racks
        self._places: dict[int, list[int]] = {}

    def add(self, place: int, member: int) -> None:
        """Puts a member into the line; without a rack nobody will find it."""
        if self._racks[member] >= 0:
            insort(self._places.setdefault(int(self._racks[member]), []), place)

    def remove(self, place: int, member: int) -> None:
        """Takes a member out."""
        if self._racks[member] >= 0:
            self._places[int(self._racks[member])].remove(place)

    def next(self, racks: Iterable[int], start: int) -> int | None:
        """The first place at or after `start`, or else from the beginning, of a member on one of the racks."""
        ahead, behind = list[int](), list[int]()
        for rack in racks:
            places = self._places.get(rack)
            if places:
                found = bisect_left(places, start)
                (ahead if found < len(places) else behind).append(places[found % len(places)])
        return min(ahead) if ahead else min(behind, default=None)


def deal_by_rack(owner: Ints, free: Ints, racks: Racks, unfilled: Unfilled) -> Ints:
    """Writes owners of free partitions that find a member on their racks; changes `unfilled`; returns those left.

    Partitions with the fewest members near come first.
    """
    near = np.bincount(racks.of_member[racks.of_member >= 0], minlength=racks.rows.shape[1])
    rows = racks.row_of_partition
    ordered = free[np.argsort((racks.rows @ near)[rows[free]], kind="stable")]
    of_row: list[list[int]] = [np.flatnonzero(row).tolist() for row in racks.rows]
    dealing = _Dealing(racks.of_member, unfilled)
    takers = [dealing.take(of_row[int(row)]) for row in rows[ordered].tolist()]
    given = np.array([taker is not None for taker in takers], dtype=np.bool_)
    owner[ordered[given]] = [taker for taker in takers if taker is not None]
    dealing.close()
    return ordered[~given]


class _Dealing:
    """Who gets the next partition, by its racks."""

    def __init__(self, racks: Ints, unfilled: Unfilled) -> None:
        self._unfilled = unfilled
        self._missing = dict(zip(unfilled.under, unfilled.missing, strict=True))
        self._under, self._at_least = _Line(racks), _Line(racks)
        self._members, self._turn = unfilled.under, 0
        self._queue = dict(enumerate(unfilled.at_least))
        self._tail = len(self._queue)
        for place, member in enumerate(unfilled.under):
            self._under.add(place, member)
        for place, member in self._queue.items():
            self._at_least.add(place, member)

    def take(self, racks: list[int]) -> int | None:
        place = self._under.next(racks, self._turn)
        if place is not None:
            return self._take_under(place)
        place = self._at_least.next(racks, 0)
        return None if place is None else self._take_at_least(place)

    def _take_under(self, place: int) -> int:
        member, self._turn = self._members[place], place + 1
        self._missing[member] -= 1
        if not self._missing[member]:
            self._under.remove(place, member)
            if self._unfilled.longer > 0:
                self._queue[self._tail] = member
                self._at_least.add(self._tail, member)
                self._tail += 1
        return member

    def _take_at_least(self, place: int) -> int:
        member = self._queue.pop(place)
        self._at_least.remove(place, member)
        self._unfilled.longer -= 1
        if not self._unfilled.longer:
            for left, other in self._queue.items():
                self._at_least.remove(left, other)
            self._queue.clear()
        return member

    def close(self) -> None:
        """Leaves in `unfilled` who still wants partitions."""
        left = [(member, missing) for member, missing in self._missing.items() if missing]
        self._unfilled.under = [member for member, _ in left]
        self._unfilled.missing = [missing for _, missing in left]
        self._unfilled.at_least = list(self._queue.values())
