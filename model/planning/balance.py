"""How evenly replicas, leaders and bytes lie on brokers, and what a change costs. One definition for every plan.

Spread is most minus least over the brokers that stay; that of the disks is in percent of the mean; that of topics is
the mean over topics. A rack is violated by a partition on fewer racks than it has replicas, where there are more;
where not every broker names its rack, a rule says how racks are looked at. Costs are replicas copied, bytes and
leaders; whether they are worth it is not said.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from model.cluster.topic_image import NOBODY, Column, Flags, Ints, Longs, widened
from model.planning.layout import Layout

Racks = Mapping[int, str | None]


def rack_rule(staying: Sequence[int], racks: Racks, widest: int) -> Racks | None:
    """The racks as plans go by them; None: they cannot. `widest` is the largest replication factor.

    Where nobody names a rack, there is one. Where only some do, each of the others counts as a rack of its own, as
    long as the named ones are enough for every partition: else too much would be put on a broker because nobody
    knows where it is.
    """
    silent = [broker for broker in staying if racks.get(broker) is None]
    if len(silent) in (0, len(staying)):
        return racks
    named = {racks.get(broker) for broker in staying} - {None}
    return None if len(named) < widest else {**racks, **{broker: f"\0{broker}" for broker in silent}}


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
        disk_spread_percent=None if size is None else (100 * (max(size) - min(size)) / (sum(size) / len(size) or 1)),
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


class Cost(msgspec.Struct, frozen=True):
    """`moves`: replicas on brokers that had none; `bytes` that are copied for it, None: no size is known."""

    moves: int
    bytes: int | None
    leader_changes: int
    """Partitions whose preferred leader changes."""
    touched: int
    """Partitions that change at all."""
    reorders: int
    """Of those, the ones that only change the order of their replicas: nothing is copied."""


def cost_of(before: Ints, after: Ints, size: Longs | None) -> Cost:
    """What it costs to come from one set of replicas to another; rows are partitions, padded with -1."""
    width = max(before.shape[1], after.shape[1])
    before, after = widened(before, width), widened(after, width)
    added = newcomers(before, after).sum(axis=1)
    touched = (before != after).any(axis=1)
    same = (np.sort(before, axis=1) == np.sort(after, axis=1)).all(axis=1)
    return Cost(
        moves=int(added.sum()),
        bytes=None if size is None else int((added * size).sum()),
        leader_changes=int((before[:, 0] != after[:, 0]).sum()),
        touched=int(touched.sum()),
        reorders=int((touched & same).sum()),
    )


def newcomers(before: Ints, after: Ints) -> Flags:
    """bool like `after`: whether that broker had no replica of the partition."""
    return (after != NOBODY) & ~(after[:, :, None] == before[:, None, :]).any(axis=2)
