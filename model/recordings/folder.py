"""Where a recording's files are: clusters, days, sets, parts, by their names alone; and times as people write them.

Opens no file and reads no clock. Times are ms since the epoch, written `2026-11-20T12:03:58Z`.
"""

import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

import msgspec


class RecordingError(Exception):
    """A recording that cannot be read or written; the message is one line that names the file and the way out."""


def said(at_ms: int) -> str:
    """In UTC, with milliseconds where there are any; what no calendar has is said as a number."""
    try:
        at = datetime.fromtimestamp(at_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{at_ms:,} ms"
    text = at.isoformat(timespec="milliseconds" if at_ms % 1000 else "seconds")
    return text.replace("+00:00", "Z")


def parse_time(text: str) -> int:
    """ms of a day or a time in ISO 8601; UTC where no offset is given. Raises ValueError."""
    parsed = datetime.fromisoformat(text)
    at_ms = round((parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp() * 1000)
    if at_ms < 0:
        raise ValueError("before 1970")
    return at_ms


DAY_MS: Final = 86_400_000

_CLUSTER, _DAY = "cluster=", "day="
_PART_NAME: Final = re.compile(r"(\d{13,})-([0-9a-f]+)-(\d{4,})-(\d{4,})\.parquet")


class PartFile(msgspec.Struct, frozen=True, order=True):
    """A file's name taken apart; in the order in which files were begun."""

    from_ms: int
    session: str
    image_set: int
    part: int
    path: str

    @property
    def set_id(self) -> tuple[str, int]:
        """What files of one set have in common."""
        return self.session, self.image_set


class PartSet(msgspec.Struct, frozen=True):
    """A whole image and what changed after it, within a day; parts 0, 1, 2 … without a gap."""

    from_ms: int
    parts: tuple[PartFile, ...]


class ClusterFolder(msgspec.Struct, frozen=True):
    """One cluster's recording."""

    name: str
    path: str

    def days(self) -> list[str]:
        """`2026-11-20`, in order."""
        return sorted(name.removeprefix(_DAY) for name in _names(self.path) if name.startswith(_DAY))

    def files(self, day: str) -> list[PartFile]:
        """Of one day, in order."""
        folder = os.path.join(self.path, f"{_DAY}{day}")
        return sorted(part for name in _names(folder) if (part := _part_file(folder, name)))

    def sets(self, days: Sequence[str] | None = None) -> Iterator[PartSet]:
        """Of some days or all, in order."""
        for day in self.days() if days is None else days:
            yield from sets_of(self.files(day))


def clusters_in(path: Path) -> list[ClusterFolder]:
    """The clusters recorded in a folder, or the one whose folder it is. Raises RecordingError where there is none."""
    own = path.absolute().name
    if own.startswith(_CLUSTER):
        return [ClusterFolder(unquote(own.removeprefix(_CLUSTER)), str(path))]
    named = sorted(name for name in _names(path) if name.startswith(_CLUSTER))
    if not named:
        raise RecordingError(f"{path}: no recording here; kdrill record SOURCE -o {path} makes one")
    return [ClusterFolder(unquote(name.removeprefix(_CLUSTER)), str(path / name)) for name in named]


def the_cluster_in(path: Path) -> ClusterFolder:
    """The only cluster in a folder. Raises RecordingError where there are several."""
    found = clusters_in(path)
    if len(found) > 1:
        some = ", ".join(os.path.basename(each.path) for each in found[:4]) + (", …" if len(found) > 4 else "")
        raise RecordingError(f"{path}: {len(found)} clusters are recorded here; name one: {path}/({some})")
    return found[0]


def sets_of(files: Sequence[PartFile]) -> Iterator[PartSet]:
    """The sets that files form. What stands behind a missing part cannot be used and is left out."""
    by_set: dict[tuple[str, int], list[PartFile]] = {}
    for file in sorted(files):
        parts = by_set.setdefault(file.set_id, [])
        if file.part == len(parts):
            parts.append(file)
    for parts in by_set.values():
        if parts:
            yield PartSet(parts[0].from_ms, tuple(parts))


def part_path(folder: Path, cluster: str, session: str, image_set: int, part: int, from_ms: int) -> Path:
    """Where a file belongs. Names are in the order of time."""
    day = datetime.fromtimestamp(from_ms // 1000, UTC).date().isoformat()
    name = f"{from_ms:013}-{session}-{image_set:04}-{part:04}.parquet"
    return cluster_path(folder, cluster) / f"{_DAY}{day}" / name


def cluster_path(folder: Path, cluster: str) -> Path:
    """A cluster's folder; what a file's name cannot hold is written %2F."""
    return folder / f"{_CLUSTER}{quote(cluster, safe=' ')}"


def _part_file(folder: str, name: str) -> PartFile | None:
    match = _PART_NAME.fullmatch(name)
    if match is None:
        return None
    from_ms, session, image_set, part = match.groups()
    return PartFile(int(from_ms), session, int(image_set), int(part), os.path.join(folder, name))


def _names(path: Path | str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror or error}") from None
