"""What changed of the groups that brokers coordinate. Their source never lists: it says which group died."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from model.cluster import records as r
from model.cluster.group_delta import merged
from model.cluster.group_image import CLASSIC, REBALANCING, GroupImage, Rebalance

V = TypeVar("V")


class ClassicGroupsDelta:
    """Collects what happened on top of `base`."""

    def __init__(self, base: Mapping[str, GroupImage]) -> None:
        self._base = base
        self._groups: dict[str, GroupImage | None] = {}

    def describe(self, record: r.GroupDescribed) -> None:
        """Takes over all but offsets. Where owners are not told, those that are still members keep what they had.

        A group that rebalances is in the generation it was in, until a new one is told.
        """
        before = self._group(record.group)
        told, rebalances = record.owners, record.state in REBALANCING
        if told is None:
            told = {read: owner for read, owner in before.owners.items() if owner in record.members}
        self._put(
            before,
            members=_kept(before.members, record.members),
            owners=_kept(before.owners, told),
            kind=record.kind,
            state=record.state,
            protocol_type=record.protocol_type,
            protocol=record.protocol,
            coordinator=record.coordinator,
            generation=before.generation if record.generation is None and rebalances else record.generation,
        )

    def commit(self, record: r.GroupOffsetsFetched) -> None:
        """All offsets are these."""
        before = self._group(record.group)
        self._put(before, offsets=_kept(before.offsets, record.offsets))

    def remember(self, group: str, rebalances: tuple[Rebalance, ...]) -> None:
        """Its past is this."""
        self._put(self._group(group), rebalances=rebalances)

    def bury(self, group: str) -> None:
        """It is gone."""
        self._groups[group] = None

    def apply(self) -> Mapping[str, GroupImage]:
        """All groups afterwards; the very same objects where nothing differs."""
        return merged(self._base, self._groups)

    def _group(self, name: str) -> GroupImage:
        known = self._groups[name] if name in self._groups else self._base.get(name)
        return known or GroupImage(name, kind=CLASSIC)

    def _put(self, before: GroupImage, **changed: object) -> None:
        after = msgspec.structs.replace(before, **changed)
        self._groups[before.name] = self._base[before.name] if after == self._base.get(before.name) else after


def _kept(before: Mapping[V, object], after: Mapping[V, object]) -> Mapping[V, object]:
    return before if before == after else dict(after)
