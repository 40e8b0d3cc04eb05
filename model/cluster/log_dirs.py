"""A broker's log folders, and how large the replicas in them are."""

from collections.abc import Mapping

import msgspec

from model.cluster.ids import TopicPartition


class LogDir(msgspec.Struct, frozen=True):
    """One folder; `error` is Kafka's name of what is wrong with it, empty if nothing is. Bytes; -1: not known."""

    path: str
    error: str = ""
    sizes: Mapping[TopicPartition, int] = {}
    total_bytes: int = -1
    usable_bytes: int = -1


def largest(brokers: Mapping[int, tuple[LogDir, ...]]) -> dict[TopicPartition, int]:
    """Bytes of the largest replica of each partition: one that is still copying is smaller than it will be."""
    sizes: dict[TopicPartition, int] = {}
    for folders in brokers.values():
        for folder in folders:
            for name, size in folder.sizes.items():
                sizes[name] = max(size, sizes.get(name, 0))
    return sizes
