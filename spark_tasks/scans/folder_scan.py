"""A partition folder apart from its segments: its small files, and files that are there and should not be."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from model.cluster.whole_file import MOST_FACTS, read_whole
from model.log.checkpoints.properties import read_topic_id
from model.log.errors import DamagedFileError
from model.log.indexes.producer_snapshot import decode_snapshot
from model.log.leader_epochs import read_leader_epochs
from model.log.names import (
    CLEANED,
    DELETED,
    LEADER_EPOCH_FILE,
    PARTITION_METADATA_FILE,
    SNAPSHOT,
    SWAP,
    FolderRole,
    numbered_file,
)
from model.log.recovery.leftovers import orphaned_indexes
from spark_tasks.scans import findings
from spark_tasks.scans.findings import Gathered
from spark_tasks.scans.parameters import FoundPartition
from spark_tasks.scans.reports import Report

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
