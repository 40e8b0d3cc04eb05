"""Files of recordings: rows that make no sense in sound Parquet, and Parquet that is broken."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from model.cluster.cluster_image import records_of
from model.cluster.snapshot_file import read_snapshot
from model.recordings.folder import RecordingError, clusters_in, part_path
from model.recordings.format import FORMAT, METADATA, SCHEMA, PartHeader
from model.recordings.playback import Encoder, image_at, images, stretch_around
from model.sources.addresses import RecordingName
from model.sources.file_source import RecordingSource
from model.sources.source import FactBatch, SourceError, SourceStatus
from tests.hostile_input.broken_bytes import broken
from tests.hostile_input.broken_json import broken_json
from tests.hostile_input.forged_pages import FOOTER, HEADER, with_footer, with_page, with_rows
from tests.hostile_input.hostile_values import TEXTS
from tests.hostile_input.looked_at import look_at
from tests.hostile_input.shown import check_error
from tests.hostile_input.target import Target
from tests.hostile_input.targets.snapshots import SMALL

FROM_MS = 1_700_000_000_000
_INTS = (0, 1, -1, -2, 2**31 - 1, -(2**31), 7, 100_000)
_SIZES = (0, 1, 2, 3, 7, 8, 60, 1_000, 1 << 20, 1 << 27, 1 << 30, 2**31 - 1, 2**31, 2**62, -1)
_LONGS = (*_INTS, 2**63 - 1, -(2**63), FROM_MS, 253_402_300_800_000, 1 << 52)


@cache
def _rows() -> list[dict[str, Any]]:
    """A small cluster, and the same again: two moments."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "s.json"
        file.write_bytes(SMALL)
        image = read_snapshot(file)
    encoder = Encoder()
    records = tuple(records_of(image))
    for at_ms in (FROM_MS, FROM_MS + 1_000):
        encoder.moment(at_ms, image.provenance, records)
    return encoder.table().to_pylist()


def _header() -> bytes:
    return msgspec.json.encode(
        PartHeader(
            format=FORMAT,
            cluster="c",
            source="s",
            session="1a",
            image_set=0,
            part=0,
            from_ms=FROM_MS,
            until_ms=FROM_MS + 2_000,
        )
    )


def make(random: Random) -> bytes:
    """A Parquet file."""
    rows = [dict(row) for row in _rows()]
    for _ in range(random.choice((0, 1, 1, 2, 4))):
        _break_row(random, rows)
    schema, header = SCHEMA, _header()
    if random.random() < 0.1:
        header = broken_json(random, [header])
    if random.random() < 0.1:
        schema = _broken_schema(random)
    try:
        table = pa.Table.from_pylist(rows, schema=schema)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        table = pa.Table.from_pylist(_rows(), schema=SCHEMA)
    file = io.BytesIO()
    codec = random.choice(("zstd", "gzip", "snappy", "none", "lz4", "brotli"))
    with_checksums = random.random() < 0.5
    pq.write_table(
        table.replace_schema_metadata({METADATA: header}), file, compression=codec, write_page_checksum=with_checksums
    )
    data = file.getvalue()
    if not with_checksums and random.random() < 0.4:
        data = _forged(random, data)
    return broken(random, data) if random.random() < 0.4 else data


def _forged(random: Random, data: bytes) -> bytes:
    """Sizes and counts that are not those of what is there."""
    group = pq.read_metadata(io.BytesIO(data)).row_group(0)
    column = random.randrange(group.num_columns)
    match random.randrange(4):
        case 0:
            return with_footer(data, column, _numbers(random, FOOTER))
        case 1:
            return with_rows(data, random.choice(_SIZES))
        case _:
            said: Any = group.column(column)
            is_dictionary = said.has_dictionary_page and random.random() < 0.5
            return with_page(data, column, _numbers(random, HEADER), is_dictionary=is_dictionary)


def _numbers(random: Random, names: Sequence[str]) -> dict[str, int]:
    return {name: random.choice(_SIZES) for name in random.sample(names, random.choice((1, 1, 2)))}


def _break_row(random: Random, rows: list[dict[str, Any]]) -> None:
    row = random.choice(rows)
    match random.randrange(8):
        case 0:
            rows.remove(row)
        case 1:
            rows.append(dict(random.choice(rows)))
        case 2:
            random.shuffle(rows)
        case 3 | 4 if any(each["payload"] for each in rows):
            row = random.choice([each for each in rows if each["payload"]])
            sound = random.choice([each["payload"] for each in _rows() if each["payload"]])
            row["payload"] = broken_json(random, [sound.encode()]).decode("utf-8", "replace")
        case _:
            name = random.choice(SCHEMA.names)
            row[name] = _value(random, SCHEMA.field(name).type, rows)
    if not rows:
        rows.append(row)


def _value(random: Random, kind: pa.DataType, rows: Sequence[dict[str, Any]]) -> Any:
    if random.random() < 0.2:
        return None
    if pa.types.is_list(kind):
        return [random.choice(_INTS) for _ in range(random.choice((0, 1, 3, 400)))]
    if pa.types.is_boolean(kind):
        return random.random() < 0.5
    if pa.types.is_integer(kind):
        return random.choice(_LONGS if kind.bit_width == 64 else _INTS)
    return random.choice((*TEXTS[:40], *(row["kind"] for row in rows[:20])))


def _broken_schema(random: Random) -> pa.Schema:
    fields = list(SCHEMA)
    at = random.randrange(len(fields))
    if random.random() < 0.5:
        del fields[at]
    else:
        kind = random.choice(
            (pa.string(), pa.int8(), pa.float64(), pa.list_(pa.string()), pa.binary(), pa.timestamp("ns"))
        )
        fields[at] = pa.field(fields[at].name, kind)
    return pa.schema(fields)


class _Sink:
    def take(self, batch: FactBatch) -> None:
        assert batch.records is not None

    def report(self, status: SourceStatus) -> None:
        assert status.phase


def judge(case: bytes, folder: Path) -> None:
    """Played, looked at, and used as a source; or one line."""
    path = part_path(folder, "c", "1a", 0, 0, FROM_MS)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(case)
    recording = clusters_in(folder)[0]
    for read in (
        lambda: look_at(image_at(recording)),
        lambda: [look_at(image) for _, image in images(recording, FROM_MS, FROM_MS + 5_000)],
        lambda: stretch_around(recording, FROM_MS, 3),
    ):
        try:
            read()
        except RecordingError as error:
            check_error(error)
    for at_ms in (None, FROM_MS):
        try:
            RecordingSource(RecordingName(folder, at_ms)).open(_Sink())
        except SourceError as error:
            check_error(error)


TARGET = Target("recordings", make, judge)
