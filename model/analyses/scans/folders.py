"""Finds log folders on disk, lists what is in them, and reports of a partition folder apart from its segments.

A name may be that of a log folder, of a partition folder, or of a folder with several of them anywhere near below.
Listing is quick: of files, only checkpoints are read. What is listed is what a scan is asked for.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from model.analyses.scans import findings
from model.analyses.scans.findings import Gathered
from model.analyses.scans.tally import Report
from model.cluster.whole_file import MOST_FACTS, read_whole
from model.log.checkpoints import TopicPartition, read_leader_epochs, read_meta_properties, read_offsets, read_topic_id
from model.log.names import (
    CLEAN_SHUTDOWN_FILE,
    CLEANED,
    CLEANER_OFFSET_FILE,
    DELETED,
    HIGH_WATERMARK_FILE,
    LEADER_EPOCH_FILE,
    LOG,
    LOG_START_OFFSET_FILE,
    META_PROPERTIES_FILE,
    PARTITION_METADATA_FILE,
    RECOVERY_POINT_FILE,
    SNAPSHOT,
    SWAP,
    TIME_INDEX,
    DamagedFileError,
    FolderRole,
    PartitionFolder,
    numbered_file,
    orphaned_indexes,
    partition_folder,
)
from model.log.producers import decode_snapshot


class FoundSegment(msgspec.Struct, frozen=True, array_like=True):
    """A .log file. `bytes` is its size when it was listed."""

    base_offset: int
    bytes: int


class FoundPartition(msgspec.Struct, frozen=True):
    """A partition folder, and what its log folder's checkpoints say of it: -1 where they say nothing."""

    path: str
    topic: str
    partition: int
    """-1 for a folder whose name tells none."""
    segments: tuple[FoundSegment, ...]
    """By base offset, rising."""
    role: FolderRole = FolderRole.CURRENT
    time_indexed: bool = False
    """There are time indexes, as since 0.10.1."""
    other_bytes: int = 0
    """What all files that are no segment take on disk: indexes, snapshots, leftovers."""
    high_watermark: int = -1
    recovery_point: int = -1
    compacted: bool | None = None
    """Whether the log cleaner has been here; None without a log folder that would tell."""


class FoundLogFolder(msgspec.Struct, frozen=True):
    """A broker's log folder, or the folder that a partition folder lies in."""

    path: str
    partitions: tuple[FoundPartition, ...]
    broker: int | None = None
    cluster_id: str = ""
    clean_stop: bool = False
    """There is the mark of an orderly stop: no broker runs on it, and none crashed."""
    damaged_checkpoints: tuple[tuple[str, str], ...] = ()
    """Files of the log folder itself that can't be used: path, cause."""


class ScanParameters(msgspec.Struct, frozen=True):
    """What is asked. A folder that has changed makes another question."""

    log_folders: tuple[FoundLogFolder, ...]
    now_ms: int
    """Timestamps well after it are in the future."""
    deep: bool = False
    """Records too: decompressed, each one's lengths checked."""
    most_findings: int = 200
    """So many are told one by one; all are counted."""


_ROLES = {
    FolderRole.STRAY: (findings.STRAY, "a partition that this broker should not have, {:,} bytes"),
    FolderRole.DELETE: (findings.UNFINISHED, "waits for its deletion, {:,} bytes"),
    FolderRole.FUTURE: (findings.UNFINISHED, "is being filled by a move between log folders, {:,} bytes so far"),
}
_SUFFIXES = {
    DELETED: "wait for their deletion",
    CLEANED: "are being written by the log cleaner, or were when the broker ended",
    SWAP: "are about to replace what they were made from",
}


def folder_report(folder: FoundPartition) -> Report:
    """What there is to say of it. Raises nothing for what is wrong with files."""
    gathered = Gathered()
    if folder.role in _ROLES:
        kind, cause = _ROLES[folder.role]
        gathered.add(kind, cause.format(folder.other_bytes + sum(each.bytes for each in folder.segments)))
    path = Path(folder.path)
    try:
        names = os.listdir(path)
    except FileNotFoundError:
        gathered.add(findings.GONE, "deleted since it was listed")
        return Report(tuple(gathered.kept), gathered.counts, was_read=False)
    except OSError as error:
        gathered.add(findings.UNREADABLE, error.strerror or str(error))
        return Report(tuple(gathered.kept), gathered.counts, was_read=False)
    _see_names(names, gathered)
    _check(path, LEADER_EPOCH_FILE, read_leader_epochs, gathered, findings.BAD_CHECKPOINT)
    topic_id = _check(path, PARTITION_METADATA_FILE, lambda _: read_topic_id(path), gathered, findings.BAD_CHECKPOINT)
    for name in sorted(names):
        numbered = numbered_file(name)
        if numbered and numbered.kind == SNAPSHOT and not numbered.suffix:
            _check(
                path,
                name,
                lambda file: decode_snapshot(read_whole(file, MOST_FACTS, only_file=True)),
                gathered,
                findings.BAD_SNAPSHOT,
            )
    return Report(tuple(gathered.kept), gathered.counts, topic_id=str(topic_id or ""))


def _see_names(names: Sequence[str], gathered: Gathered) -> None:
    for name in orphaned_indexes(names):
        gathered.add(findings.ORPHANED_INDEX, "an index without its log", file=name)
    suffixes = Counter(numbered.suffix for name in names if (numbered := numbered_file(name)) and numbered.suffix)
    for suffix, number in sorted(suffixes.items()):
        gathered.add(findings.UNFINISHED, f"{number:,} {suffix} files {_SUFFIXES[suffix]}")


def _check(path: Path, name: str, read: Callable[[Path], object], gathered: Gathered, kind: str) -> object:
    """What a file holds; None, with a finding, for one that can't be used, and without for one that is gone."""
    try:
        return read(path / name)
    except FileNotFoundError:
        return None
    except DamagedFileError as error:
        gathered.add(kind, cause_of(error), file=name)
    except ValueError as error:
        gathered.add(kind, str(error), file=name)
    except OSError as error:
        gathered.add(findings.UNREADABLE, error.strerror or str(error), file=name)
    return None


def cause_of(error: DamagedFileError) -> str:
    """What is wrong with the file, without its path."""
    return str(error).removeprefix(str(error.path)).lstrip(":, ")


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
