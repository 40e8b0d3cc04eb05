"""What the names in a partition's folder tell about work that was interrupted. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from model.log.names import CLEANED, DELETED, INDEXES, LOG, SWAP, NumberedFile, numbered_file


@dataclass(frozen=True)
class Leftovers:
    """Files to be removed, and compacted segments (base offsets, rising) to be put into their place."""

    remove: tuple[str, ...]
    swap: tuple[int, ...]


def leftovers(names: Iterable[str]) -> Leftovers:
    """What is to be done before segments are read.

    A `.cleaned` file means that its compaction (or split) was not done: it goes, and with it every `.swap` that lies
    not below it. The `.swap` logs left are whole: they win over what they were made from.
    """
    files = _numbered(names)
    unfinished = min((file.offset for file in files if file.suffix == CLEANED), default=None)
    swapped = [file for file in files if file.suffix == SWAP]
    valid = [file for file in swapped if unfinished is None or file.offset < unfinished]
    logs = sorted(file.offset for file in valid if file.kind == LOG)
    remove = [file for file in files if file.suffix in (DELETED, CLEANED)]
    remove += [file for file in swapped if not (file.kind == LOG and file.offset in logs)]  # indexes are made anew
    return Leftovers(tuple(map(str, sorted(remove))), tuple(logs))


def orphaned_indexes(names: Iterable[str]) -> list[str]:
    """Indexes that belong to no log."""
    files = [file for file in _numbered(names) if not file.suffix]
    logs = {file.offset for file in files if file.kind == LOG}
    return sorted(str(file) for file in files if file.kind in INDEXES and file.offset not in logs)


def segment_bases(names: Iterable[str]) -> list[int]:
    """The base offsets of all segments, rising."""
    return sorted(file.offset for file in _numbered(names) if file.kind == LOG and not file.suffix)


def _numbered(names: Iterable[str]) -> list[NumberedFile]:
    return [file for name in names if (file := numbered_file(name))]
