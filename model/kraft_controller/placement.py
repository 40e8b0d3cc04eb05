"""Which brokers get the replicas of new partitions: in stripes over racks, beginning anywhere.

Kafka's `java.util.Random` has no seed, so what it draws is given here: a `Draw` answers a number below the one that it
gets. Racks draw in their order, those without a name first, each for its fenced brokers, then for the others.
Source: `org.apache.kafka.metadata.placement.StripedReplicaPlacer` (3.3 to 4.4).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

Draw = Callable[[int], int]


class Usable(msgspec.Struct, frozen=True, order=True):
    """A broker that may be given replicas; not in a controlled shutdown."""

    id: int
    rack: str | None = None
    fenced: bool = False


class PlacementError(Exception):
    """INVALID_REPLICATION_FACTOR; the message says why."""


def _shuffle(some: list[Any], draw: Draw) -> None:
    """As `java.util.Collections.shuffle`."""
    for size in range(len(some), 1, -1):
        other = draw(size)
        some[size - 1], some[other] = some[other], some[size - 1]


class _Ring:
    """Brokers of a rack from some point on, each once in an epoch."""

    def __init__(self, brokers: Iterable[int]) -> None:
        self._brokers = sorted(brokers)
        self._epoch = self._index = self._offset = 0

    def __len__(self) -> int:
        return len(self._brokers)

    def begin(self, draw: Draw) -> None:
        if self._brokers:
            self._offset = draw(len(self._brokers))

    def shuffle(self, draw: Draw) -> None:
        """Where it is stays."""
        _shuffle(self._brokers, draw)

    def next(self, epoch: int) -> int | None:
        """The next one; None where all had their turn."""
        if epoch != self._epoch:
            self._epoch, self._index = epoch, 0
            self._offset = (self._offset + 1) % max(1, len(self._brokers))
        if self._index >= len(self._brokers):
            return None
        self._index += 1
        return self._brokers[(self._offset + self._index - 1) % len(self._brokers)]


class _Rack:
    def __init__(self, brokers: Sequence[Usable]) -> None:
        self.fenced = _Ring(each.id for each in brokers if each.fenced)
        self.unfenced = _Ring(each.id for each in brokers if not each.fenced)

    def begin(self, draw: Draw) -> None:
        self.fenced.begin(draw)
        self.unfenced.begin(draw)

    def shuffle(self, draw: Draw) -> None:
        self.fenced.shuffle(draw)
        self.unfenced.shuffle(draw)

    def next(self, epoch: int) -> int | None:
        """Its fenced brokers come last, yet before those of the next rack."""
        found = self.unfenced.next(epoch)
        return self.fenced.next(epoch) if found is None else found


class StripedPlacer:
    """Lists of replicas, one partition after the other. It is used for one topic."""

    def __init__(self, brokers: Iterable[Usable], draw: Draw) -> None:
        by_rack: dict[str | None, list[Usable]] = {}
        for broker in brokers:
            by_rack.setdefault(broker.rack, []).append(broker)
        names = sorted(by_rack, key=lambda rack: (rack is not None, rack or ""))
        self._racks = [_Rack(by_rack[name]) for name in names]
        self._unfenced = sum(len(rack.unfenced) for rack in self._racks)
        self._all = self._unfenced + sum(len(rack.fenced) for rack in self._racks)
        self._draw = draw
        self._epoch = 0
        for rack in self._racks:
            rack.begin(draw)
        self._offset = draw(len(self._racks)) if self._racks else 0
        self._in_turn = list(self._racks)

    def place(self, partitions: int, replicas: int) -> list[tuple[int, ...]]:
        """So many partitions. Raises PlacementError where there are too few brokers."""
        if replicas <= 0:
            raise PlacementError(f"{replicas} replicas: at least one is needed")
        if not self._unfenced:
            raise PlacementError("all brokers are fenced")
        if replicas > self._all:
            raise PlacementError(f"{replicas} replicas, and only {self._all} brokers are registered")
        return [self._place(replicas) for _ in range(partitions)]

    def _place(self, count: int) -> tuple[int, ...]:
        if self._epoch == self._unfenced and self._unfenced > 1:
            self._epoch = 0
            _shuffle(self._in_turn, self._draw)
            for rack in self._racks:
                rack.shuffle(self._draw)
        racks, epoch = self._in_turn, self._epoch
        turns = [(self._offset + step) % len(racks) for step in range(len(racks))]
        leader, led_from = self._leader(turns)
        found, skips = [leader], {led_from}
        while len(found) < count:
            for turn in turns:
                if turn in skips:
                    skips.remove(turn)
                elif len(found) < count and (broker := racks[turn].next(epoch)) is not None:
                    found.append(broker)
        self._epoch += 1
        self._offset = (self._offset + 1) % len(racks)
        return tuple(found)

    def _leader(self, turns: Iterable[int]) -> tuple[int, int]:
        for turn in turns:
            if (broker := self._in_turn[turn].unfenced.next(self._epoch)) is not None:
                return broker, turn
        raise PlacementError("no broker is left to lead")  # each rack would have to be without one
