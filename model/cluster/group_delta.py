"""What changed of one consumer group that lives in ZooKeeper."""

from collections.abc import Mapping
from typing import TypeVar

from model.cluster.group_image import GroupImage, Member, Rebalance
from model.cluster.ids import TopicPartition

K = TypeVar("K")
V = TypeVar("V")


class GroupDelta:
    """Collects what happened to one group on top of `base`. A None value in a mapping means: gone."""

    def __init__(self, name: str, base: GroupImage | None) -> None:
        self._base = base or GroupImage(name)
        self.exists = base is not None
        self.mentioned = False
        self.members: dict[str, Member | None] = {}
        self.owners: dict[TopicPartition, str | None] = {}
        self.offsets: dict[TopicPartition, int | None] = {}
        self.rebalances: tuple[Rebalance, ...] = self._base.rebalances

    def apply(self) -> GroupImage | None:
        """The group afterwards; the same object where nothing differs, None where it is gone."""
        after = GroupImage(
            name=self._base.name,
            members=merged(self._base.members, self.members),
            owners=merged(self._base.owners, self.owners),
            offsets=merged(self._base.offsets, self.offsets),
            rebalances=self.rebalances,
        )
        if not (self.exists or self.mentioned or after.members or after.owners or after.offsets):
            return None
        return self._base if after == self._base and self.exists else after


def merged(base: Mapping[K, V], changes: Mapping[K, V | None]) -> Mapping[K, V]:
    """`base` with changes laid over it, None deleting; `base` itself where nothing differs."""
    if all(base.get(key) == value for key, value in changes.items()):
        return base
    both = {**base, **changes}
    return {key: value for key, value in both.items() if value is not None}


def same(base: Mapping[K, V], after: Mapping[K, V]) -> Mapping[K, V]:
    """What is afterwards; `base` itself where nothing differs."""
    return base if after == base else after
