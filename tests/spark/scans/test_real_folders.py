"""Folders of real brokers: whole ones are clean, and what is damaged in the others is found where it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.spark.scans.scanning import scan, told

LOG = "00000000000000000060.log"
WHOLE = {
    "v0-by-0.8.2": {"older-index": 4},
    "v0-by-3.9": {},
    "v1-by-0.10.2": {"older-index": 3},
    "v1-by-3.9": {},
    "kraft": {},
}
"""Broker → notes."""
SHALLOW = {
    "batch-removed-gap": [("gap", LOG, 1103)],
    "batches-swapped": [("offsets-back", LOG, 1536), ("gap", LOG, 0), ("gap", LOG, 2639)],
    "codec-5-unknown": [("bad-crc", LOG, 1103)],
    "codec-none-on-lz4": [("bad-crc", LOG, 495)],
    "count-negative-crc-ok": [("bad-records", LOG, 1103)],
    "count-too-big-crc-ok": [("bad-records", LOG, 1103)],
    "count-zero-crc-ok": [("bad-records", LOG, 1103)],
    "crc-field-flip": [("bad-crc", LOG, 1103)],
    "crc-flip-payload": [("bad-crc", LOG, 1103)],
    "garbage-tail": [("truncated", LOG, 4280)],
    "lastoffsetdelta-wrong-crc-ok": [("bad-records", LOG, 1103), ("gap", LOG, 2639)],
    "magic-0-on-v2": [("bad-crc", LOG, 1103)],
    "magic-minus1": [("unknown-magic", LOG, 1103)],
    "size-14-magic2": [("bad-length", LOG, 1103)],
    "size-negative": [("bad-length", LOG, 1103)],
    "size-too-small": [("bad-length", LOG, 1103)],
    "truncated-in-header-16": [("torn", LOG, 2639)],
    "truncated-in-header-17": [("truncated", LOG, 2639)],
    "truncated-mid-batch": [("truncated", LOG, 2639)],
    "v0-crc-flip": [("bad-crc", "00000000000000000000.log", 39)],
    "v0-crc-flip-gzip": [("bad-crc", "00000000000000000000.log", 428)],
    "v1-crc-flip-lz4": [("bad-crc", "00000000000000000000.log", 0)],
    "zero-tail": [("zero-tail", LOG, 4280)],
    "zero-tail-10": [("zero-tail", LOG, 4280)],
    "index-empty": [],
    "index-nonmonotonic": [("bad-index", "00000000000000000000.index", 8)],
    "index-offset-off-by-one": [("bad-index", "00000000000000000000.index", 0)],
    "index-position-mid-batch": [("bad-index", "00000000000000000000.index", 8)],
    "index-position-past-eof": [("bad-index", "00000000000000000000.index", 112)],
    "index-zero-tail": [],
    "timeindex-odd-length": [("bad-time-index", "00000000000000000000.timeindex", 180)],
    "timeindex-out-of-order": [("bad-time-index", "00000000000000000000.timeindex", 12)],
    "timeindex-zero-tail": [],
    "snapshot-crc": [("bad-snapshot", "00000000000000000010.snapshot", None)],
    "snapshot-trailing": [("bad-snapshot", "00000000000000000010.snapshot", None)],
    "snapshot-truncated": [("bad-snapshot", "00000000000000000010.snapshot", None)],
    "snapshot-version-9": [("bad-snapshot", "00000000000000000010.snapshot", None)],
}
"""Folder in `damaged` → what its headers and indexes show."""
DEEP = {
    "bad-gzip-stream-crc-ok": [("bad-stream", LOG, 386)],
    "bad-snappy-stream-crc-ok": [("bad-stream", LOG, 479)],
    "record-length-wrong-crc-ok": [("bad-records", LOG, 1103)],
    "bad-lz4-stream-crc-ok": [],  # nothing in it tells: Kafka's tool prints it as well
}
"""Folder in `damaged` → what only its records show."""


@pytest.mark.parametrize("broker", WHOLE)
@pytest.mark.parametrize("deep", [False, True])
def test_nothing_is_wrong_with_whole_folders(corpus: Path, broker: str, deep: bool) -> None:
    result = scan(corpus / broker, deep=deep)
    assert (result.counts, result.damage, result.warnings) == (WHOLE[broker], 0, 0)
    assert result.totals.batches > 10


def test_damaged_files(corpus: Path) -> None:
    for folder, expected in SHALLOW.items():
        for deep in (False, True):
            assert told(scan(corpus / "damaged" / folder, deep=deep)) == expected, folder


def test_damaged_contents_under_a_crc_that_holds(corpus: Path) -> None:
    for folder, expected in DEEP.items():
        assert told(scan(corpus / "damaged" / folder)) == [], folder
        assert told(scan(corpus / "damaged" / folder, deep=True)) == expected, folder


def test_a_random_time_index(corpus: Path) -> None:
    result = scan(corpus / "damaged/timeindex-random")
    assert result.counts == {"bad-time-index": 15}
    assert len(result.findings) == 5
    assert result.findings_left_out == 10


def test_what_a_broker_found_damaged_at_its_start(corpus: Path) -> None:
    result = scan(corpus / "recovery/before")
    damaged = {(each.topic, each.kind) for each in result.findings}
    assert damaged == {
        ("t-idxfull", "bad-index"),
        ("t-idxfull", "below-high-watermark"),  # its last segments are not in the corpus
        ("t-live", "truncated"),
        ("t-live", "bad-index"),  # its last entry is for the batch that was cut
        ("t-live", "below-high-watermark"),
        ("t-livetxn", "bad-crc"),
        ("t-livetxn", "below-high-watermark"),
        ("t-plain", "bad-crc"),
        ("t-lz4", "zero-tail"),
        ("t-zstd", "truncated"),
    }


def test_a_running_broker(corpus: Path) -> None:
    """Indexes grown with zeros are no damage, nor is a preallocated file."""
    result = scan(corpus / "k39-live")
    assert result.damage == 0
    assert result.counts == {"gap": 1, "zero-tail": 1}
    (log_folder,) = result.log_folders
    assert (log_folder.broker, log_folder.clean_stop) == (1, False)


@pytest.mark.parametrize("broker", ["k39-clean", "v0-by-0.8.2", "v1-by-3.9"])
def test_the_counts_are_those_of_kafkas_tool(corpus: Path, broker: str) -> None:
    for folder in sorted({text.parent for text in (corpus / broker).rglob("*.log.print.txt")}):
        lines = [line for text in folder.glob("*.log.print.txt") for line in text.read_bytes().splitlines()]
        wrappers = [line for line in lines if re.match(rb"offset: \d+ position: \d+ .* compresscodec: (?!none)", line)]
        batches = [line for line in lines if re.match(rb"baseOffset: |offset: ", line)]
        records = [line for line in lines if re.match(rb"\| offset: \d+ ", line)]
        (found,) = scan(folder, deep=True).partitions
        measured = found.measures
        assert measured.batches == len(batches), folder
        assert measured.records == len(records), folder
        assert measured.tombstones == sum(b" valueSize: -1" in line for line in records if b"endTxn" not in line), (
            folder
        )
        assert measured.keyless_records == sum(b" keySize: -1" in line for line in records), folder
        assert measured.control_batches == sum(b"isControl: true" in line for line in batches)
        assert measured.transactional_batches == sum(
            b"isTransactional: true isControl: false" in line for line in batches
        )
        assert sum(share.batches for share in measured.codecs if share.codec != "none") >= len(wrappers)
        ids = {int(line.split(b"producerId: ")[1].split()[0]) for line in batches if b"producerId: " in line} - {-1}
        assert measured.producers == len(ids)


def test_what_is_told_of_a_partition(corpus: Path) -> None:
    (found,) = scan(corpus / "k39-clean", topics=("t-txn",), deep=True).partitions
    assert (found.topic, found.partition, found.broker, found.compacted) == ("t-txn", 0, 1, False)
    assert (found.first_offset, found.end_offset, found.first_epoch, found.last_epoch) == (10, 200, 0, 0)
    assert (found.damage, found.warnings, len(found.topic_id)) == (0, 0, 36)
    assert (found.measures.segments, found.measures.bytes) == (1, 7216)
    (codec,) = found.measures.codecs
    assert (codec.codec, codec.bytes, codec.plain_bytes) == ("none", 7216, codec.payload_bytes)
