"""What a fleet has played, kept in a folder as it comes: Parquet by generator, and a manifest that says what is there.

`manifest.json` names the cluster, what was asked, and the numbers of the scenarios that are stored. It is replaced
whole after their files, so that whoever is killed leaves nothing behind that counts; a second run plays what is
missing. Nothing is kept in memory but the worst rows.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from model.analyses.analysis import Arrays
from model.analyses.fleets.fleet import FleetRow
from model.analyses.fleets.scenarios import FleetParameters
from model.cluster.whole_file import read_whole, write_whole

FORMAT = "kdrill.fleet/1"
MANIFEST = "manifest.json"
MOST_WORST = 100
MOST_BYTES = 64 << 20
"""No manifest is near this long."""

_arrow: Any = pa  # whose stubs leave types open
_parquet: Any = pq


class StoreError(Exception):
    """The folder cannot be used; one line that says why, and the way out."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder holds."""

    format: str = FORMAT
    source: str = ""
    time_ms: int = 0
    image: str = ""
    """SHA-256 of the cluster's snapshot."""
    rules: str = ""
    """Since which Kafka release they are as played."""
    brokers: tuple[int, ...] = ()
    """In the order of `leaders_after`."""
    asked: FleetParameters
    scenarios: int = 0
    done: tuple[tuple[int, int], ...] = ()
    """Numbers of the scenarios that are stored: from, and up to but without."""
    hurting: int = 0
    """How many of them lose records, or leave partitions offline or under min ISR."""
    worst: tuple[FleetRow, ...] = ()
    """The worst of them, MOST_WORST at most."""


def hash_of(arrays: Arrays) -> str:
    """Names the cluster's state."""
    return hashlib.sha256(arrays["image"].tobytes()).hexdigest()


def with_rows(so_far: Manifest, rows: Sequence[FleetRow], most: int = MOST_WORST) -> Manifest:
    """The same and these rows, which are none of those before; with the worst of all, `most` at most."""
    worst = sorted((*so_far.worst, *rows), key=lambda row: (*(-each for each in row.badness), row.number))
    spans = [(row.number, row.number + 1) for row in rows]
    return msgspec.structs.replace(
        so_far,
        done=tuple(_joined([*so_far.done, *spans])),
        hurting=so_far.hurting + sum(row.hurts for row in rows),
        worst=tuple(worst[:most]),
    )


def missing(done: Iterable[tuple[int, int]], numbers: range) -> list[range]:
    """Those of the numbers that are not done."""
    found: list[range] = []
    first = numbers.start
    for begin, end in done:
        if first < min(begin, numbers.stop):
            found.append(range(first, min(begin, numbers.stop)))
        first = max(first, end)
    return [*found, range(first, numbers.stop)] if first < numbers.stop else found


def _joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    first: int | None = None
    last = 0
    for begin, end in sorted(spans):
        if first is None:
            first, last = begin, end
        elif begin <= last:
            last = max(last, end)
        else:
            yield first, last
            first, last = begin, end
    if first is not None:
        yield first, last


class FleetStore:
    """One folder, for one process at a time."""

    def __init__(self, folder: Path, wanted: Manifest) -> None:
        """Goes on where there is a store of the same; `wanted`: with nothing done. Raises StoreError, OSError."""
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.manifest = self._opened(wanted)
        self.stored = sum(end - begin for begin, end in self.manifest.done)
        """How many scenarios were there before."""
        self._remove_what_does_not_count()

    def keep(self, rows: Sequence[FleetRow]) -> None:
        """Rows that are in the order of their numbers, none missing between them. Raises OSError."""
        for generator, some in groupby(rows, lambda row: row.generator):
            part = list(some)
            path = self._folder / f"generator={generator}" / _name(part[0].number, part[-1].number + 1)
            path.parent.mkdir(exist_ok=True)
            fresh = path.with_suffix(".part")
            _parquet.write_table(table_of(part, unclean=self.manifest.asked.unclean), fresh, compression="zstd")
            os.replace(fresh, path)
        self._tell(with_rows(self.manifest, rows))

    def _tell(self, manifest: Manifest) -> None:
        self.manifest = manifest
        write_whole(self._folder / MANIFEST, msgspec.json.encode(manifest))

    def _opened(self, wanted: Manifest) -> Manifest:
        path = self._folder / MANIFEST
        try:
            found = msgspec.json.decode(read_whole(path, MOST_BYTES), type=Manifest)
        except FileNotFoundError:
            if any(self._folder.iterdir()):
                raise StoreError(f"{self._folder} holds other files: name an empty folder, or a new one") from None
            self._tell(wanted)
            return wanted
        except (msgspec.DecodeError, ValueError):
            raise StoreError(f"{path} is no manifest of a fleet: name another folder") from None
        if found.format != FORMAT:
            raise StoreError(f"{path} is of format {found.format!r}, not {FORMAT}: name another folder")
        for name, there, here in (
            ("cluster", found.image, wanted.image),
            ("question", found.asked, wanted.asked),
            ("release", found.rules, wanted.rules),
        ):
            if there != here:
                raise StoreError(f"{self._folder} holds a fleet of another {name} ({_of(found)}): name another folder")
        return found

    def _remove_what_does_not_count(self) -> None:
        """Parts that were written and not told of: they are played again."""
        for path in self._folder.glob("generator=*/part-*"):
            numbers = _numbers(path)
            if path.suffix != ".parquet" or missing(self.manifest.done, numbers):
                path.unlink(missing_ok=True)


def _of(manifest: Manifest) -> str:
    return f"{manifest.source}, {','.join(manifest.asked.generators)}, seed {manifest.asked.seed}"


def _name(first: int, end: int) -> str:
    return f"part-{first:012}-{end:012}.parquet"


def _numbers(path: Path) -> range:
    """Of a part's name; something that is never done for any other name."""
    words = path.stem.split("-")
    return range(int(words[1]), int(words[2])) if len(words) == 3 and all(map(str.isdigit, words[1:])) else range(-1, 0)


_DOWN = _arrow.struct([("broker", pa.int32()), ("at_ms", pa.float64()), ("back_ms", pa.float64())])
SCHEMA: Any = _arrow.schema(
    [
        ("id", pa.int64()),
        ("kills", _arrow.list_(_DOWN)),
        ("controller", pa.int32()),
        ("unclean", pa.bool_()),
        ("first_leaderless_ms", pa.float64()),
        ("longest_ms", pa.float64()),
        ("leaderless_ms", pa.float64()),
        ("under_min_ms", pa.float64()),
        ("partitions_leaderless", pa.int32()),
        ("partitions_under_min", pa.int32()),
        ("offline_after", pa.int32()),
        ("under_min_after", pa.int32()),
        ("moved", pa.int32()),
        ("unclean_elections", pa.int32()),
        ("lost_partitions", pa.int32()),
        ("leaders_after", _arrow.list_(pa.int32())),
        ("ended_ms", pa.float64()),
        ("at_rest", pa.bool_()),
        ("text", pa.string()),
        ("scenario", pa.string()),
        ("error", pa.string()),
    ],
    metadata={"format": FORMAT},
)
"""Columns of a part; its generator is in the folder's name."""


def table_of(rows: Iterable[FleetRow], *, unclean: bool) -> Any:
    """The rows as Arrow has them. Sums are partition-milliseconds."""
    return _arrow.Table.from_pylist([_record(row, unclean=unclean) for row in rows], schema=SCHEMA)


def _record(row: FleetRow, *, unclean: bool) -> dict[str, Any]:
    first_s = row.first_leaderless_s
    return {
        "id": row.number,
        "kills": [msgspec.structs.asdict(down) for down in row.down],
        "controller": row.controller,
        "unclean": unclean,
        "first_leaderless_ms": None if first_s is None else first_s * 1000,
        "longest_ms": row.longest_s * 1000,
        "leaderless_ms": row.leaderless_s * 1000,
        "under_min_ms": row.under_min_s * 1000,
        "partitions_leaderless": row.leaderless,
        "partitions_under_min": row.under_min,
        "lost_partitions": row.lost,
        "leaders_after": list(row.leaders_after),
        "ended_ms": row.ended_s * 1000,
        "error": row.error or None,
        **{
            name: getattr(row, name)
            for name in (
                "offline_after",
                "under_min_after",
                "moved",
                "unclean_elections",
                "at_rest",
                "text",
                "scenario",
            )
        },
    }
