"""What a fleet has played, kept in a folder as it comes: Parquet by generator, and a manifest that says what is there.

Whoever plays scenarios writes their parts, and tells no more of them than what they come to. `manifest.json` names
the cluster, what was asked, and the numbers of the scenarios that are stored. It is replaced whole after their files,
so that whoever is killed leaves nothing behind that counts; a second run plays what is missing.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import mean
from typing import Any
from uuid import uuid4

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from model.analyses import AnalysisError
from model.analyses.analysis import Arrays, Unit, Wave
from model.analyses.fleets.fleet import StagedCluster, played, stage_of
from model.analyses.fleets.scenarios import FleetParameters, FleetRow
from model.cluster.whole_file import read_whole, write_whole
from model.hosts.process import uncollected

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


class CountedRows(msgspec.Struct, frozen=True, kw_only=True):
    """What some rows come to, when they themselves are elsewhere."""

    done: tuple[tuple[int, int], ...] = ()
    """As a manifest has it, and so are the next two."""
    hurting: int = 0
    worst: tuple[FleetRow, ...] = ()
    parts: tuple[str, ...] = ()
    """Files in the folder."""
    rows: tuple[FleetRow, ...] = ()
    """All of them, where they are asked for."""


def counted(rows: Sequence[FleetRow], most: int = MOST_WORST) -> CountedRows:
    """Of rows; the worst of them, `most` at most."""
    return CountedRows(
        done=tuple(_joined((row.number, row.number + 1) for row in rows)),
        hurting=sum(row.hurts for row in rows),
        worst=_worst(rows, most),
    )


def _worst(rows: Iterable[FleetRow], most: int) -> tuple[FleetRow, ...]:
    return tuple(sorted(rows, key=lambda row: (*(-each for each in row.badness), row.number))[:most])


def with_counted(so_far: Manifest, new: CountedRows, most: int = MOST_WORST) -> Manifest:
    """The same and these, which are none of those before; with the worst of all, `most` at most."""
    return msgspec.structs.replace(
        so_far,
        done=tuple(_joined([*so_far.done, *new.done])),
        hurting=so_far.hurting + new.hurting,
        worst=_worst((*so_far.worst, *new.worst), most),
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
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.manifest = self._opened(wanted)
        self.stored = sum(end - begin for begin, end in self.manifest.done)
        """How many scenarios were there before."""
        self._remove_what_does_not_count()

    def count(self, new: CountedRows) -> None:
        """Rows whose parts are in the folder, whoever wrote them. Raises StoreError where they are not, OSError."""
        if absent := next((part for part in new.parts if not (self.folder / part).exists()), None):
            raise StoreError(f"{self.folder / absent} was written elsewhere: name a folder that all executors share")
        self._tell(with_counted(self.manifest, new))

    def _tell(self, manifest: Manifest) -> None:
        self.manifest = manifest
        write_whole(self.folder / MANIFEST, msgspec.json.encode(manifest))

    def _opened(self, wanted: Manifest) -> Manifest:
        path = self.folder / MANIFEST
        try:
            found = msgspec.json.decode(read_whole(path, MOST_BYTES), type=Manifest)
        except FileNotFoundError:
            if any(self.folder.iterdir()):
                raise StoreError(f"{self.folder} holds other files: name an empty folder, or a new one") from None
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
                raise StoreError(f"{self.folder} holds a fleet of another {name} ({_of(found)}): name another folder")
        return found

    def _remove_what_does_not_count(self) -> None:
        """Parts that were written and not told of: they are played again."""
        for path in self.folder.glob("generator=*/part-*"):
            numbers = _numbers(path)
            if path.suffix != ".parquet" or missing(self.manifest.done, numbers):
                path.unlink(missing_ok=True)


def _of(manifest: Manifest) -> str:
    return f"{manifest.source}, {','.join(manifest.asked.generators)}, seed {manifest.asked.seed}"


class StoredParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Which scenarios are played, and where their rows go."""

    asked: FleetParameters
    folder: str
    """The same for all who play."""
    scenarios_a_part: int = 1_000
    worst: int = MOST_WORST
    """How many rows come back, the worst ones."""
    tells: bool = False
    """Whether all rows come back, too."""


class StoredFleet:
    """A fleet whose rows are kept by whoever plays them: parts in a folder. What comes back does not grow with them."""

    name = "stored-fleet"
    parameters_type = StoredParameters
    result_type = CountedRows

    def units(self, arrays: Arrays, parameters: StoredParameters) -> Sequence[Unit]:
        """A part each; the cost is about what playing it takes, in ms, by some of its scenarios."""
        stage = stage_of(arrays)
        made = stage.scenarios(parameters.asked)
        return [
            Unit(number, len(part) * mean(stage.cost_of(made[one]) for one in part[:: -(-len(part) // MOST_LOOKED_AT)]))
            for number, part in enumerate(_parts(made.numbers, parameters.scenarios_a_part))
        ]

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: StoredParameters) -> Arrays:
        """JSON of what is counted of each unit. Writing a part again replaces it."""
        stage = stage_of(arrays)
        parts = _parts(stage.scenarios(parameters.asked).numbers, parameters.scenarios_a_part)
        try:
            with uncollected():
                found = [_stored(stage, parameters, parts[unit]) for unit in units]
        except OSError as error:
            raise AnalysisError(
                f"--store: {parameters.folder}: {error.strerror or error}, where it is played"
            ) from None
        return {"counted": np.frombuffer(msgspec.json.encode(found), np.uint8)}

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: StoredParameters) -> CountedRows:
        found = [
            one for each in batches for one in msgspec.json.decode(each["counted"].tobytes(), type=list[CountedRows])
        ]
        return CountedRows(
            done=tuple(_joined(span for one in found for span in one.done)),
            hurting=sum(one.hurting for one in found),
            worst=_worst((row for one in found for row in one.worst), parameters.worst),
            parts=tuple(sorted(part for one in found for part in one.parts)),
            rows=tuple(sorted((row for one in found for row in one.rows), key=lambda row: row.number)),
        )


STORED_FLEET = StoredFleet()
MOST_LOOKED_AT = 8
FEWEST_A_PART, PARTS = 8, 16
"""Scenarios, where there are so many; and parts of a wave, so that it can be spread."""


def stored_parts(wave: Wave, folder: Path, *, tells: bool) -> Wave:
    """The wave of a fleet, as it is kept."""
    asked: FleetParameters = wave.parameters
    count = (asked.end or 0) - asked.first
    size = max(FEWEST_A_PART, -(-count // PARTS))
    kept = StoredParameters(asked=asked, folder=str(folder.absolute()), scenarios_a_part=size, tells=tells)
    return wave._replace(parameters=kept)


def _parts(numbers: range, size: int) -> Sequence[range]:
    return [numbers[first : first + size] for first in range(0, len(numbers), size)]


def _stored(stage: StagedCluster, parameters: StoredParameters, numbers: range) -> CountedRows:
    """Raises OSError."""
    rows = sorted(played(stage, parameters.asked, numbers), key=lambda row: row.number)
    parts = [
        _written(Path(parameters.folder), generator, list(some), unclean=parameters.asked.unclean)
        for generator, some in groupby(rows, lambda row: row.generator)
    ]
    told = tuple(rows) if parameters.tells else ()
    return msgspec.structs.replace(counted(rows, parameters.worst), parts=tuple(parts), rows=told)


def _written(folder: Path, generator: str, rows: Sequence[FleetRow], *, unclean: bool) -> str:
    """The part of rows whose numbers follow each other, none missing: its name. Whole, or not there."""
    path = folder / f"generator={generator}" / _name(rows[0].number, rows[-1].number + 1)
    path.parent.mkdir(exist_ok=True)
    fresh = path.with_suffix(f".{uuid4().hex}")  # the same task may run twice at a time
    try:
        _parquet.write_table(table_of(rows, unclean=unclean), fresh, compression="zstd")
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    return f"{path.parent.name}/{path.name}"


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
