"""Rebalances of groups, told by what is new: with each of them, the twenty before it would be written again."""

from collections.abc import Mapping
from typing import Any

import msgspec

from model.cluster.group_image import Rebalance
from model.cluster.records import GroupRebalancesSeen

_Past = tuple[Rebalance, ...]


class NewRebalances(msgspec.Struct, frozen=True):
    """What follows on the rebalances told before: without the first `dropped`, the next `kept`, then `added`."""

    kind: str
    dropped: int
    kept: int
    added: _Past


class RebalanceMemory:
    """What was told last of each group of a set, by writer and reader alike."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], _Past] = {}

    def shortened(self, record: GroupRebalancesSeen) -> NewRebalances:
        """What is new in a record. Remembers it."""
        before = self._told.get((record.kind, record.group), ())
        dropped = max(range(len(before) + 1), key=lambda start: _common(before[start:], record.rebalances))
        kept = _common(before[dropped:], record.rebalances)
        self._told[record.kind, record.group] = record.rebalances
        return NewRebalances(record.kind, dropped, kept, record.rebalances[kept:])

    def whole(self, group: str, new: NewRebalances, when: Mapping[str, Any]) -> GroupRebalancesSeen:
        """The record again; `when` is its zxid and time_ms. Remembers it."""
        before = self._told.get((new.kind, group), ())
        after = (*before[new.dropped : new.dropped + new.kept], *new.added)
        self._told[new.kind, group] = after
        return GroupRebalancesSeen(group=group, kind=new.kind, rebalances=after, **when)


def _common(one: _Past, other: _Past) -> int:
    """How many they begin with alike."""
    return next(
        (n for n, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), min(len(one), len(other))
    )
