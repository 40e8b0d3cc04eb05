"""Finds log folders on disk and lists what is in them. Quick: of files, only checkpoints are read.

A name may be that of a log folder, of a partition folder, or of a folder with several of them anywhere near below.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from model.log.checkpoints.offset_checkpoint import TopicPartition, read_offsets
from model.log.checkpoints.properties import read_meta_properties
from model.log.errors import DamagedFileError
from model.log.names import (
    CLEAN_SHUTDOWN_FILE,
    CLEANER_OFFSET_FILE,
    HIGH_WATERMARK_FILE,
    LEADER_EPOCH_FILE,
    LOG,
    LOG_START_OFFSET_FILE,
    META_PROPERTIES_FILE,
    PARTITION_METADATA_FILE,
    RECOVERY_POINT_FILE,
    TIME_INDEX,
    FolderRole,
    PartitionFolder,
    numbered_file,
    partition_folder,
)
from spark_tasks.scans.folder_scan import cause_of
from spark_tasks.scans.parameters import FoundLogFolder, FoundPartition, FoundSegment

DEEPEST = 4
"""Log folders are looked for so many levels below what was named."""

_CHECKPOINTS = (HIGH_WATERMARK_FILE, RECOVERY_POINT_FILE, LOG_START_OFFSET_FILE, CLEANER_OFFSET_FILE)

_BLOCK = 512
"""The unit of st_blocks. An active index is mostly a hole: its size is not what it takes."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class NothingToScanError(Exception):
    """A folder that is not there, can't be read, or holds no logs; the message is one line that names it."""


def find_logs(names: Sequence[str], topics: Sequence[str] = ()) -> tuple[FoundLogFolder, ...]:
    """The log folders that the names mean, by path; of all topics, or of some. Raises NothingToScanError."""
    folders: dict[str, list[FoundPartition]] = {}
    for name in names:
        try:
            found = list(_partitions(Path(os.path.abspath(name)), DEEPEST))
        except OSError as error:
            raise NothingToScanError(f"{error.filename}: {error.strerror}") from None
        if not found:
            raise NothingToScanError(f"{name}: no logs here: name a broker's log folder (log.dirs) or one in it")
        for partition in found:
            folders.setdefault(str(Path(partition.path).parent), []).append(partition)
    wanted = {path: _wanted(partitions, topics) for path, partitions in sorted(folders.items())}
    if not any(wanted.values()):
        raise NothingToScanError(f"{', '.join(names)}: no log of topic {', '.join(topics)} here")
    return tuple(_log_folder(Path(path), partitions) for path, partitions in wanted.items() if partitions)


def _wanted(partitions: Sequence[FoundPartition], topics: Sequence[str]) -> list[FoundPartition]:
    """Each once, by name."""
    chosen = {each.path: each for each in partitions if not topics or each.topic in topics}
    return sorted(chosen.values(), key=lambda each: (each.topic, each.partition, each.path))


def _partitions(folder: Path, levels: int) -> Iterator[FoundPartition]:
    """The partition folders at or below a folder. Raises OSError for one of these that can't be read."""
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    if any(_is_of_partition(entry.name) for entry in entries):
        yield _partition(folder, partition_folder(folder.name) or PartitionFolder(folder.name, -1), entries)
        return
    for entry in entries:
        if levels and entry.is_dir():
            try:
                yield from _partitions(folder / entry.name, levels - 1)
            except FileNotFoundError:  # deleted since it was listed
                continue
            except OSError:
                if partition_folder(entry.name):
                    raise


def _is_of_partition(name: str) -> bool:
    return numbered_file(name) is not None or name in (LEADER_EPOCH_FILE, PARTITION_METADATA_FILE)


def _partition(folder: Path, parts: PartitionFolder, entries: Sequence[os.DirEntry[str]]) -> FoundPartition:
    segments: list[FoundSegment] = []
    other_bytes = 0
    time_indexed = any(entry.name.endswith(TIME_INDEX) for entry in entries)
    for entry in entries:
        try:
            status = entry.stat()
        except OSError:  # deleted since it was listed
            continue
        numbered = numbered_file(entry.name)
        if numbered and numbered.kind == LOG and not numbered.suffix:
            segments.append(FoundSegment(numbered.offset, status.st_size))
        else:
            other_bytes += status.st_blocks * _BLOCK
    segments.sort(key=lambda segment: segment.base_offset)
    return FoundPartition(
        str(folder), parts.topic, parts.partition, tuple(segments), parts.role, time_indexed, other_bytes
    )


def _log_folder(folder: Path, partitions: Sequence[FoundPartition]) -> FoundLogFolder:
    """With what its checkpoints say; those that can't be read say nothing."""
    damaged: list[tuple[str, str]] = []

    def read(name: str, how: Callable[[], dict[Key, Value]]) -> dict[Key, Value]:
        try:
            return how()
        except DamagedFileError as error:
            damaged.append((str(error.path), cause_of(error)))
        except OSError as error:
            damaged.append((str(folder / name), error.strerror or str(error)))
        return {}

    offsets = {name: read(name, partial(read_offsets, folder / name)) for name in _CHECKPOINTS}
    properties = read(META_PROPERTIES_FILE, partial(read_meta_properties, folder))
    broker = properties.get("broker.id", properties.get("node.id", ""))
    return FoundLogFolder(
        str(folder),
        tuple(_with_offsets(each, offsets) for each in partitions),
        broker=int(broker) if broker.isascii() and broker.isdigit() else None,
        cluster_id=properties.get("cluster.id", ""),
        clean_stop=(folder / CLEAN_SHUTDOWN_FILE).exists(),
        damaged_checkpoints=tuple(damaged),
    )


def _with_offsets(partition: FoundPartition, offsets: Mapping[str, Mapping[TopicPartition, int]]) -> FoundPartition:
    if partition.role is not FolderRole.CURRENT:
        return partition
    key = partition.topic, partition.partition
    is_log_folder = bool(offsets[HIGH_WATERMARK_FILE])
    return msgspec.structs.replace(
        partition,
        high_watermark=offsets[HIGH_WATERMARK_FILE].get(key, -1),
        recovery_point=offsets[RECOVERY_POINT_FILE].get(key, -1),
        compacted=key in offsets[CLEANER_OFFSET_FILE] if is_log_folder else None,
    )
