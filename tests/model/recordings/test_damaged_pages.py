"""Parquet files that hold more than they claim are refused by their page headers, before Arrow makes room for that."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from model.recordings.folder import RecordingError, clusters_in, part_path
from model.recordings.format import FORMAT, METADATA, SCHEMA, PartHeader
from model.recordings.parquet_checks import MOST_PAGES, check_pages, chunks
from model.recordings.part_file import read_part
from model.recordings.playback import image_at, stretch_around
from tests.hostile_input.forged_pages import with_footer, with_page, with_rows

HEADER = PartHeader(format=FORMAT, cluster="c", source="s", session="1a", image_set=0, part=0, from_ms=0, until_ms=1)
ROWS = 300
AT_MS, TOPIC, ISR, PAYLOAD = (SCHEMA.names.index(name) for name in ("at_ms", "topic", "isr", "payload"))
MOST = 2**31 - 1
MORE = "its pages hold more than its footer says"


def table(rows: int = ROWS, **columns: Any) -> pa.Table:
    values: dict[str, Any] = {
        "at_ms": range(rows),
        "topic": [f"t{number % 7}" for number in range(rows)],
        "isr": [[1, 2, number] for number in range(rows)],
        "payload": [f"payload {number}" for number in range(rows)],
    }
    none = {name: [None] * rows for name in SCHEMA.names}
    return pa.Table.from_pydict(
        {**none, **values, **columns}, SCHEMA.with_metadata({METADATA: msgspec.json.encode(HEADER)})
    )


def parquet(of: pa.Table, **settings: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(of, file, **{"compression": "zstd", **settings})  # pyright: ignore[reportUnknownMemberType]
    return file.getvalue()


def read(folder: Path, data: bytes) -> pa.Table:
    path = folder / "a.parquet"
    path.write_bytes(data)
    return read_part(path)[1]


def refused(folder: Path, data: bytes) -> str:
    """The reason."""
    with pytest.raises(RecordingError) as caught:
        read(folder, data)
    said = str(caught.value)
    assert said.startswith(f"{folder}/a.parquet: damaged or cut off (") and "\n" not in said
    return said.partition("(")[2].partition(")")[0]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"data_page_version": "2.0"},
        {"compression": "none"},
        {"row_group_size": 7},
        {"data_page_size": 64, "write_batch_size": 8},
        {"use_dictionary": False},
        {"dictionary_pagesize_limit": 100},
        {"write_statistics": False, "write_page_checksum": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("rows", [0, 1, ROWS])
def test_whatever_pyarrow_writes_is_read(tmp_path: Path, settings: dict[str, Any], rows: int) -> None:
    written = table(rows)
    assert read(tmp_path, parquet(written, **settings)).equals(written.replace_schema_metadata())


def test_a_long_statistic_is_read(tmp_path: Path) -> None:
    written = table(payload=["x" * 4_000] * ROWS)
    data = parquet(written, use_dictionary=False)
    assert data.count(b"x" * 4_000) >= 2, "there is none in the page's header"
    assert read(tmp_path, data).equals(written.replace_schema_metadata())


@pytest.mark.parametrize("column", [AT_MS, TOPIC, ISR, PAYLOAD])
@pytest.mark.parametrize(
    ("says", "reason"),
    [
        ({"values": MOST}, MORE),
        ({"values": ROWS * 3 + 1}, MORE),
        ({"size": MOST}, MORE),
        ({"stored": MOST}, MORE),
        ({"values": -1}, "a page's header is damaged"),
        ({"size": -1}, "a page's header is damaged"),
        ({"stored": -1}, "a page's header is damaged"),
        ({"kind": 1}, "a page's header is damaged"),
        ({"encoding": 7}, "a page is encoded as no recording is"),
    ],
    ids=str,
)
def test_a_page_that_lies(tmp_path: Path, column: int, says: dict[str, int], reason: str) -> None:
    data = parquet(table())
    read(tmp_path, with_page(data, column, {}))
    assert refused(tmp_path, with_page(data, column, says)) == reason


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        ({"values": MOST}, "a dictionary has more values than the file"),
        ({"size": MOST}, MORE),
        ({"stored": MOST}, MORE),
        ({"encoding": 6}, "a page is encoded as no recording is"),
    ],
    ids=str,
)
def test_a_dictionary_that_lies(tmp_path: Path, says: dict[str, int], reason: str) -> None:
    data = parquet(table())
    read(tmp_path, with_page(data, TOPIC, {}, is_dictionary=True))
    assert refused(tmp_path, with_page(data, TOPIC, says, is_dictionary=True)) == reason


@pytest.mark.parametrize("name", ["num_values", "total_uncompressed_size", "total_compressed_size"])
def test_a_footer_that_keeps_quiet_of_what_is_there(tmp_path: Path, name: str) -> None:
    data = parquet(table())
    assert refused(tmp_path, with_footer(data, ISR, {name: ROWS - (name != "num_values")})) == MORE


def test_rows_that_are_in_no_column(tmp_path: Path) -> None:
    data = parquet(table())
    read(tmp_path, with_rows(data, ROWS))
    for rows in (ROWS + 1, 1 << 33, -1):
        assert refused(tmp_path, with_rows(data, rows)) == "its footer is damaged"


def test_a_file_without_a_row(tmp_path: Path) -> None:
    path = part_path(tmp_path, "c", "1a", 0, 0, 0)
    path.parent.mkdir(parents=True)
    path.write_bytes(parquet(table(0)))
    (folder,) = clusters_in(tmp_path)
    for read_it in (lambda: image_at(folder), lambda: stretch_around(folder, 0, 3)):
        with pytest.raises(RecordingError, match=r"holds no image|nothing is recorded"):
            read_it()


def test_texts_that_grow_on_each_other(tmp_path: Path) -> None:
    """A byte or two each; a hundred thousand of them are 5 GB."""
    growing = table(payload=["x" * number for number in range(ROWS)])
    data = parquet(growing, use_dictionary=False, column_encoding={"payload": "DELTA_BYTE_ARRAY"})
    assert refused(tmp_path, data) == "a page is encoded as no recording is"


def test_more_pages_than_any_recording_has(tmp_path: Path) -> None:
    """Each row's time in a page of its own."""
    times = pa.table({"at_ms": pa.array(range(MOST_PAGES + 1), pa.int64())})
    settings: dict[str, Any] = {"data_page_size": 1, "write_batch_size": 1, "use_dictionary": False}
    most, more = (io.BytesIO(parquet(times[:rows], **settings)) for rows in (MOST_PAGES, MOST_PAGES + 1))
    check_pages(most, chunks(most))
    with pytest.raises(ValueError, match=MORE):
        check_pages(more, chunks(more))
