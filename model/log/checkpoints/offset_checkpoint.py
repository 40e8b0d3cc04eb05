"""Offsets by partition: recovery points, high watermarks, log start offsets, first dirty offsets.

`org.apache.kafka.storage.internals.checkpoint.OffsetCheckpointFile` (3.9): a line is `topic partition offset`.
"""

from collections.abc import Mapping
from pathlib import Path

from model.log.checkpoints.text_checkpoint import INT32, INT64, read_checkpoint, whole_number, write_checkpoint

TopicPartition = tuple[str, int]


def read_offsets(path: Path) -> dict[TopicPartition, int]:
    """Offset by topic and partition; empty when there is no such file. Raises DamagedFileError."""
    return dict(read_checkpoint(path, _parse))


def write_offsets(path: Path, offsets: Mapping[TopicPartition, int], *, fsync: bool = True) -> None:
    """Replaces the file. Kafka's order of lines is a hash map's; here they are sorted."""
    lines = (f"{topic} {partition} {offset}" for (topic, partition), offset in sorted(offsets.items()))
    write_checkpoint(path, lines, fsync=fsync)


def _parse(words: list[str]) -> tuple[TopicPartition, int]:
    topic, partition, offset = words
    return (topic, whole_number(partition, INT32)), whole_number(offset, INT64)
