"""Which replica lies where at one moment, and how large partitions are: all that planning looks at, as columns.

Rows are partitions, topics by name and partitions ascending. The arrays are never written to. Sizes are told by
brokers, where they were asked, or by files: a kdrill.snapshot/1 with `size_bytes`, or an object of topic → partition →
bytes. It judges nothing and opens no file.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import msgspec
import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import largest_replicas
from model.cluster.partition_columns import stacked
from model.cluster.snapshot_format import FORMAT
from model.cluster.topic_image import NOBODY, Flags, Ints, Longs, TopicImage, padded, rows_of, widened


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
class Layout:
    """Replicas of N partitions. `racks` names every live broker; one may have none."""

    topics: tuple[str, ...]
    topic: Ints  # [N] index into topics, ascending
    partition: Ints  # [N]
    replicas: Ints  # [N, RF] broker ids, preferred leader first, padded with -1
    leader: Ints  # [N] who leads now, -1 nobody
    size: Longs | None  # [N] bytes of one replica; None: no size is known
    guessed: int  # partitions whose size is the mean of those known
    busy: Flags  # [N] being reassigned or deleted: not to be touched
    racks: Mapping[int, str | None]

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

    def with_replicas(self, replicas: Ints) -> "Layout":
        """The same partitions, elsewhere."""
        return replace(self, replicas=replicas)


def layout_of(image: ClusterImage, sizes: Sizes | None = None) -> Layout:
    """The layout of an image. Partitions that no assignment names are left out."""
    names = sorted(name for name, topic in image.topics.items() if not topic.orphaned.all())
    topics = [image.topics[name] for name in names]
    columns = stacked(topics, [np.flatnonzero(~topic.orphaned) for topic in topics])
    size, guessed = _sizes(topics, sizes)
    return Layout(
        topics=tuple(names),
        topic=columns.topic,
        partition=columns.partitions.astype(np.int32),
        replicas=_without_gaps(columns.replicas),
        leader=columns.leader.astype(np.int32),
        size=size,
        guessed=guessed,
        busy=_busy(image, topics),
        racks={broker: image.brokers[broker].rack for broker in sorted(image.brokers)},
    )


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
