"""Which replica lies where at one moment, how evenly replicas, leaders and bytes lie, and what a change costs.

All that planning looks at, as columns. Rows are partitions, topics by name and partitions ascending. The arrays are
never written to. Sizes are told by brokers, where they were asked, or by files: a kdrill.snapshot/1 with `size_bytes`,
or an object of topic → partition → bytes. It opens no file.

Of the balance there is one definition for every plan. Spread is most minus least over the brokers that stay; that of
the disks is in percent of the mean; that of topics is the mean over topics. A rack is violated by a partition on fewer
racks than it has replicas, where there are more; where not every broker names its rack, a rule says how racks are
looked at. Costs are replicas copied, bytes and leaders; whether they are worth it is not said.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import msgspec
import numpy as np

from model.cluster.cluster_image import BrokerImage, ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import are_all_cordoned, largest_replicas
from model.cluster.partition_columns import stacked
from model.cluster.snapshot_format import FORMAT
from model.cluster.topic_image import NOBODY, Column, Flags, Ints, Longs, TopicImage, padded, rows_of, widened


class Sizes(msgspec.Struct, frozen=True):
    """Bytes that one replica of a partition takes, as far as they are known; `source` says where from."""

    bytes: Mapping[TopicPartition, int]
    source: str


class _Partition(msgspec.Struct, frozen=True):
    size_bytes: int | None = None


class _Topic(msgspec.Struct, frozen=True):
    partitions: dict[int, _Partition] = {}


class _Snapshot(msgspec.Struct, frozen=True):
    topics: dict[str, _Topic] = {}


def measured(image: ClusterImage) -> Sizes | None:
    """The sizes that brokers told of their log folders; None where none did."""
    found = largest_replicas(image.log_dirs)
    return Sizes(found, "log folders as the brokers told them") if found else None


def sizes_of(document: Any, name: str) -> Sizes | None:
    """The sizes in a file's JSON; None for a snapshot that has none. Raises ValueError with a line for the user."""
    is_snapshot = _format(document) == FORMAT
    try:
        found = _of_snapshot(document) if is_snapshot else _of_plain(document)
    except msgspec.ValidationError as error:
        raise ValueError(f"{name}: no sizes: {error}; write them as topic → partition → bytes") from None
    if wrong := next((partition for partition, size in found.items() if size < 0), None):
        raise ValueError(f"{name}: {wrong} has {found[wrong]} bytes; sizes are 0 or more")
    if not found:
        return None
    return Sizes(found, f"size_bytes of {name}" if is_snapshot else name)


def _format(document: Any) -> object:
    return cast(dict[object, object], document).get("format") if isinstance(document, dict) else None


def _of_snapshot(document: Any) -> dict[TopicPartition, int]:
    topics = msgspec.convert(document, type=_Snapshot, str_keys=True).topics
    return {
        TopicPartition(topic, number): partition.size_bytes
        for topic, found in topics.items()
        for number, partition in found.partitions.items()
        if partition.size_bytes is not None
    }


def _of_plain(document: Any) -> dict[TopicPartition, int]:
    topics = msgspec.convert(document, type=dict[str, dict[int, int]], str_keys=True)
    return {TopicPartition(topic, number): size for topic, sizes in topics.items() for number, size in sizes.items()}


@dataclass(frozen=True, eq=False)
class ReplicaLayout:
    """Replicas of N partitions. `racks` names every live broker; one may have none.

    A broker of KRaft in its controlled shutdown does not live any more: it gets into no ISR.
    """

    topics: tuple[str, ...]
    topic: Ints  # [N] index into topics, ascending
    partition: Ints  # [N]
    replicas: Ints  # [N, RF] broker ids, preferred leader first, padded with -1
    leader: Ints  # [N] who leads now, -1 nobody
    size: Longs | None  # [N] bytes of one replica; None: no size is known
    guessed: int  # partitions whose size is the mean of those known
    busy: Flags  # [N] being reassigned or deleted: not to be touched
    racks: Mapping[int, str | None]
    fenced: Mapping[int, str | None] = field(default_factory=dict[int, str | None])
    """Racks of brokers of KRaft that are registered and cannot be in an ISR: fenced, or about to stop."""
    cordoned: frozenset[int] = frozenset()
    """Brokers of KRaft that live and get no new replicas, as all of their log directories are cordoned (KIP-1066)."""

    def __len__(self) -> int:
        return len(self.partition)

    @cached_property
    def row_of(self) -> Mapping[TopicPartition, int]:
        """Partition → row."""
        return {name: row for row, name in enumerate(self.names())}

    @cached_property
    def stranded(self) -> Flags:
        """bool[N]: led by nobody who is alive: there is nobody to copy from. Unknown where nobody leads anything."""
        led = np.isin(self.leader, list(self.racks))
        return ~led if led.any() else np.zeros(len(self), np.bool_)

    def names(self, rows: Iterable[int] | None = None) -> Iterator[TopicPartition]:
        topic, partition = self.topic.tolist(), self.partition.tolist()
        for row in range(len(topic)) if rows is None else rows:
            yield TopicPartition(self.topics[topic[row]], partition[row])

    def name(self, row: int) -> TopicPartition:
        return TopicPartition(self.topics[self.topic[row]], int(self.partition[row]))

    def moved(self, targets: Mapping[TopicPartition, tuple[int, ...]]) -> Ints:
        """int32[N, W]: the replicas once these partitions have those. Raises KeyError for an unknown partition."""
        rows = rows_of(self.replicas)
        for name, replicas in targets.items():
            rows[self.row_of[name]] = replicas
        return padded(rows)

    def with_replicas(self, replicas: Ints) -> "ReplicaLayout":
        """The same partitions, elsewhere."""
        return replace(self, replicas=replicas)


def layout_of(image: ClusterImage, sizes: Sizes | None = None) -> ReplicaLayout:
    """The layout of an image. Partitions that no assignment names are left out."""
    names = sorted(name for name, topic in image.topics.items() if not topic.orphaned.all())
    topics = [image.topics[name] for name in names]
    columns = stacked(topics, [np.flatnonzero(~topic.orphaned) for topic in topics])
    size, guessed = _sizes(topics, sizes)
    return ReplicaLayout(
        topics=tuple(names),
        topic=columns.topic,
        partition=columns.partitions.astype(np.int32),
        replicas=_without_gaps(columns.replicas),
        leader=columns.leader.astype(np.int32),
        size=size,
        guessed=guessed,
        busy=_busy(image, topics),
        racks={broker.id: broker.rack for broker in _by_id(image.brokers) if not broker.in_controlled_shutdown},
        fenced={
            **{broker.id: broker.rack for broker in _by_id(image.brokers) if broker.in_controlled_shutdown},
            **{broker.id: broker.rack for broker in _by_id(image.fenced)},
        },
        cordoned=cordoned_brokers(image),
    )


def cordoned_brokers(image: ClusterImage) -> frozenset[int]:
    """Those of KRaft all of whose log directories are cordoned, as far as somebody told of them."""
    metadata = image.metadata
    if metadata is None:
        return frozenset()
    every = metadata.log_dirs
    return frozenset(each for each, some in metadata.cordoned.items() if are_all_cordoned(every.get(each, ()), some))


def _by_id(known: Mapping[int, BrokerImage]) -> Iterator[BrokerImage]:
    return (known[broker] for broker in sorted(known))


def partitions_of(topics: Iterable[TopicImage]) -> Iterator[TopicPartition]:
    """Every partition that has replicas, in the order of a layout's rows."""
    for topic in topics:
        for partition in topic.partitions[~topic.orphaned].tolist():
            yield TopicPartition(topic.name, partition)


def _without_gaps(replicas: Ints) -> Ints:
    """Rows as wide as the longest list of replicas."""
    width = max(int((replicas != NOBODY).sum(axis=1).max(initial=0)), 1)
    return np.ascontiguousarray(widened(replicas, width)[:, :width])


def _sizes(topics: list[TopicImage], sizes: Sizes | None) -> tuple[Longs | None, int]:
    """A partition of unknown size is taken to be as large as the others on average."""
    if sizes is None:
        return None, 0
    size = np.array([sizes.bytes.get(name, -1) for name in partitions_of(topics)], np.int64)
    known = size >= 0
    if not known.any():
        return None, 0
    mean = round(float(size[known].mean()))
    return np.where(known, size, mean), int((~known).sum())


def _busy(image: ClusterImage, topics: list[TopicImage]) -> Flags:
    pending, dying = image.admin.reassignments, image.admin.delete_topics
    by_name = {topic.name: topic for topic in topics}

    def is_busy(name: TopicPartition) -> bool:
        topic = by_name[name.topic]
        moving = name.partition in topic.adding or name.partition in topic.removing
        return moving or name in pending or name.topic in dying

    return np.fromiter(map(is_busy, partitions_of(topics)), np.bool_)


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


def balance_of(layout: ReplicaLayout, staying: Sequence[int], racks: Racks, rule: Racks | None) -> Balance:
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


def _bytes(layout: ReplicaLayout, at: Column, stays: Column, brokers: int) -> list[int]:
    if layout.size is None:
        return [0] * brokers
    total = np.zeros(brokers, np.int64)
    for column in range(at.shape[1]):
        np.add.at(total, at[stays[:, column], column], layout.size[stays[:, column]])
    return total.tolist()


def _topic_spread(layout: ReplicaLayout, at: Column, stays: Column, brokers: int) -> float:
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


class PlacementCost(msgspec.Struct, frozen=True):
    """`moves`: replicas on brokers that had none; `bytes` that are copied for it, None: no size is known."""

    moves: int
    bytes: int | None
    leader_changes: int
    """Partitions whose preferred leader changes."""
    touched: int
    """Partitions that change at all."""
    reorders: int
    """Of those, the ones that only change the order of their replicas: nothing is copied."""


def cost_of(before: Ints, after: Ints, size: Longs | None) -> PlacementCost:
    """What it costs to come from one set of replicas to another; rows are partitions, padded with -1."""
    width = max(before.shape[1], after.shape[1])
    before, after = widened(before, width), widened(after, width)
    added = newcomers(before, after).sum(axis=1)
    touched = (before != after).any(axis=1)
    same = (np.sort(before, axis=1) == np.sort(after, axis=1)).all(axis=1)
    return PlacementCost(
        moves=int(added.sum()),
        bytes=None if size is None else int((added * size).sum()),
        leader_changes=int((before[:, 0] != after[:, 0]).sum()),
        touched=int(touched.sum()),
        reorders=int((touched & same).sum()),
    )


def newcomers(before: Ints, after: Ints) -> Flags:
    """bool like `after`: whether that broker had no replica of the partition."""
    return (after != NOBODY) & ~(after[:, :, None] == before[:, None, :]).any(axis=2)
