"""How evenly replicas, leaders and bytes lie on brokers. One definition for every plan, whoever made it.

Spread is most minus least over the brokers that stay; that of the disks is in percent of the mean; that of topics is
the mean over topics. A rack is violated by a partition on fewer racks than it has replicas, where there are more.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from model.cluster.topic_image import NOBODY, Column, Ints
from model.planning.layout import Layout
from model.planning.rack_rule import Racks


class BrokerShare(msgspec.Struct, frozen=True):
    """What lies on one broker. `leaders`: partitions that prefer it; `bytes` None: unknown."""

    broker: int
    rack: str | None
    replicas: int
    leaders: int
    bytes: int | None


class Range(msgspec.Struct, frozen=True):
    """The least and the most that a broker has."""

    least: int
    most: int

    @property
    def spread(self) -> int:
        """How far they lie apart."""
        return self.most - self.least


class Balance(msgspec.Struct, frozen=True):
    """A cluster's balance over the brokers that stay. `disk_spread_percent` None: no size is known."""

    brokers: tuple[BrokerShare, ...]
    replicas: Range
    leaders: Range
    disk_spread_percent: float | None
    topic_spread: float
    """Mean over topics of most minus least replicas of the topic on a broker."""
    rack_violations: int | None
    """Partitions on fewer racks than they could be; None: too few brokers name theirs (`rack_rule`)."""
    elsewhere: int
    """Partitions with a replica on a broker that does not stay, or is dead."""


def balance_of(layout: Layout, staying: Sequence[int], racks: Racks, rule: Racks | None) -> Balance:
    """The balance over the brokers in `staying`; `racks` names theirs, and those of brokers that leave, and `rule` is
    how they count (`rack_rule`), None: they do not.

    A broker that is in neither counts as a rack of its own: nobody knows better. Raises ValueError without brokers.
    """
    ids = np.array(sorted(staying), np.int32)
    if not len(ids):
        raise ValueError("no broker stays")
    replicas, real = layout.replicas, layout.replicas != NOBODY
    at = np.searchsorted(ids, replicas).clip(max=len(ids) - 1)
    stays = real & (ids[at] == replicas)
    held = np.bincount(at[stays], minlength=len(ids))
    led = np.bincount(at[:, 0][stays[:, 0]], minlength=len(ids))
    size = None if layout.size is None else _bytes(layout, at, stays, len(ids))
    sizes: Sequence[int | None] = [None] * len(ids) if size is None else size
    shares = zip(ids.tolist(), held.tolist(), led.tolist(), sizes, strict=True)
    return Balance(
        brokers=tuple(BrokerShare(broker, racks.get(broker), own, leads, some) for broker, own, leads, some in shares),
        replicas=Range(int(held.min()), int(held.max())),
        leaders=Range(int(led.min()), int(led.max())),
        disk_spread_percent=None if size is None else _spread_percent(size),
        topic_spread=_topic_spread(layout, at, stays, len(ids)),
        rack_violations=None if rule is None else int(_violating(replicas, ids.tolist(), rule).sum()),
        elsewhere=int((real & ~stays).any(axis=1).sum()),
    )


def _violating(replicas: Ints, staying: Sequence[int], racks: Racks) -> Column:
    """bool[N]: whether the partition is on fewer racks than it could be."""
    number = {rack: i for i, rack in enumerate(dict.fromkeys(racks.values()))}
    known, where = np.unique(replicas, return_inverse=True)
    own = [
        NOBODY if b == NOBODY else number[racks[b]] if b in racks else len(number) + i
        for i, b in enumerate(known.tolist())
    ]
    rack = np.sort(np.array(own, np.int64)[where.reshape(replicas.shape)], axis=1)
    distinct = ((np.diff(rack, axis=1) != 0) & (rack[:, 1:] != NOBODY)).sum(axis=1) + (rack[:, 0] != NOBODY)
    possible = len({racks.get(broker) for broker in staying})
    return distinct < np.minimum((replicas != NOBODY).sum(axis=1), possible)


def _bytes(layout: Layout, at: Column, stays: Column, brokers: int) -> list[int]:
    if layout.size is None:
        return [0] * brokers
    total = np.zeros(brokers, np.int64)
    for column in range(at.shape[1]):
        np.add.at(total, at[stays[:, column], column], layout.size[stays[:, column]])
    return total.tolist()


def _spread_percent(size: Sequence[int]) -> float:
    return 100 * (max(size) - min(size)) / (sum(size) / len(size) or 1)


def _topic_spread(layout: Layout, at: Column, stays: Column, brokers: int) -> float:
    if not len(layout):
        return 0.0
    key = layout.topic.astype(np.int64)[:, None] * brokers + at
    keys, counts = np.unique(key[stays], return_counts=True)
    topic = keys // brokers
    most, seen = np.zeros(len(layout.topics), np.int64), np.bincount(topic, minlength=len(layout.topics))
    least = np.full(len(layout.topics), np.iinfo(np.int64).max)
    np.maximum.at(most, topic, counts)
    np.minimum.at(least, topic, counts)
    least[seen < brokers] = 0
    return float((most - least).mean())
