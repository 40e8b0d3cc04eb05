"""How large partitions are, and who says so: brokers, where they were asked, or files. It opens none itself.

A file of sizes is a kdrill.snapshot/1 with `size_bytes`, or an object of topic → partition → bytes.
"""

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.log_dirs import largest
from model.cluster.snapshot_format import FORMAT


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
    found = largest(image.log_dirs)
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
