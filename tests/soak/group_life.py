"""ZooKeeper consumer groups of a busy cluster, from dice: consumers come and go, own partitions, commit offsets.

Carries nothing out. Each group reads one topic; each consumer has a session of its own, and ever a new name.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from model.sandbox.demo.tree import CLUSTER, DemoCommand, EndSession, InSession
from model.znodes import paths
from model.znodes.codec import encode
from model.znodes.consumers import ConsumerOffset, ConsumerRegistration, PartitionOwner
from model.zookeeper import Create, Delete, SetData
from tests.soak.shape import Shape

COMMITTED_AT_ONCE = 10


class GroupLife:
    """One group. It never loses its last consumer, and has at most twice as many as it is meant to have."""

    def __init__(self, number: int, topic: str, shape: Shape, dice: random.Random) -> None:
        self._name, self._topic, self._shape, self._dice = f"group-{number}", topic, shape, dice
        self._consumers: list[str] = []
        self._owners: dict[int, str] = {}
        self._came = 0

    def founding(self) -> Iterator[DemoCommand]:
        """The group's folders, offsets and first consumers."""
        group = f"/consumers/{self._name}"
        folders = ("", "/ids", "/owners", f"/owners/{self._topic}", "/offsets", f"/offsets/{self._topic}")
        offsets = (paths.offset_path(self._name, self._topic, row) for row in range(self._shape.partitions))
        made = [Create(group + folder) for folder in folders]
        made += [Create(path, encode(ConsumerOffset(0))) for path in offsets]
        yield InSession(CLUSTER, tuple(made))
        for _ in range(self._shape.consumers):
            yield from self._joins()

    def rebalance(self) -> Iterator[DemoCommand]:
        """A consumer comes, or its session ends; then the others share its partitions."""
        few, many = len(self._consumers) < 2, len(self._consumers) >= 2 * self._shape.consumers
        if few or (not many and self._dice.random() < 0.5):
            yield from self._joins()
            return
        gone = self._consumers.pop(self._dice.randrange(len(self._consumers)))
        yield EndSession(gone)
        self._owners = {row: owner for row, owner in self._owners.items() if owner != gone}
        yield from self._shared()

    def commit(self) -> Iterator[DemoCommand]:
        """Owners commit what they have read."""
        for row in self._dice.sample(sorted(self._owners), min(COMMITTED_AT_ONCE, len(self._owners))):
            offset = encode(ConsumerOffset(self._dice.randrange(10**6)))
            path = paths.offset_path(self._name, self._topic, row)
            yield InSession(self._owners[row], (SetData(path, offset),))

    def _joins(self) -> Iterator[DemoCommand]:
        self._came += 1
        consumer = f"{self._name}_host-{self._came:06}"
        self._consumers.append(consumer)
        registration = ConsumerRegistration(subscription={self._topic: 1}, pattern="static", timestamp=str(self._came))
        path = paths.member_path(self._name, consumer)
        yield InSession(consumer, (Create(path, encode(registration), ephemeral=True),))
        yield from self._shared()

    def _shared(self) -> Iterator[DemoCommand]:
        """Whoever has too much lets go, then everybody takes its share."""
        rows = range(self._shape.partitions)
        wanted = {row: self._consumers[row % len(self._consumers)] for row in rows}
        moved = [row for row in rows if self._owners.get(row) != wanted[row]]
        for row in moved:
            if row in self._owners:
                yield InSession(self._owners[row], (Delete(self._owner_path(row)),))
        for row in moved:
            owner = encode(PartitionOwner(f"{wanted[row]}-0"))
            yield InSession(wanted[row], (Create(self._owner_path(row), owner, ephemeral=True),))
        self._owners = wanted

    def _owner_path(self, row: int) -> str:
        return paths.owner_path(self._name, self._topic, row)
