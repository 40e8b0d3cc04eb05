"""Kafka's DumpLogSegments (3.9.1) and `kdrill dump-log` print the same of files that our encoder wrote."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.log.records import (
    Codec,
    EndTransactionMarker,
    Producer,
    Record,
    RecordBatch,
    encode_batch,
    encode_message_set,
    scan,
)
from model.sandbox.java import java_environment
from tests.conformance.kafka.releases import Installation, install_or_skip
from tests.harness.command import KDRILL
from tests.model.log.batches import encode_end_transaction_marker

pytestmark = pytest.mark.conformance

NOW_MS = 1_700_000_000_000
BAD_UTF8 = b"\xff\xed\xa0\x80\xc0\xaf\xe2\x82 \xf0\x9f\x98\x80"
PLAIN = [
    Record(0, NOW_MS, b"key", "value é中😀".encode()),
    Record(1, NOW_MS - 5, None, b""),
    Record(2, NOW_MS + 7, b"", None),
    Record(3, NOW_MS, BAD_UTF8, BAD_UTF8),
]
HEADED = [Record(4, NOW_MS, b"k", b"v", ((b"a", b"1"), (b"", None), (b"a", b"2"))), Record(5, NOW_MS, b"k", b"v")]
LARGE = [Record(n, NOW_MS + n, b"%d" % n, b"%d " % n * 500) for n in range(300)]


@pytest.fixture(scope="module")
def kafka() -> Installation:
    return install_or_skip("3.9.1")


def logs() -> Iterator[tuple[str, bytes]]:
    """What the files are about, and their bytes; offsets within one follow each other."""
    for codec in Codec:
        yield f"v2-{codec.name}", encode_batch(PLAIN, codec=codec, leader_epoch=3) + encode_batch(HEADED, codec=codec)
        yield f"v2-large-{codec.name}", encode_batch(LARGE, codec=codec)
    for magic in (0, 1):
        for codec in (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4):
            yield f"v{magic}-{codec.name}", encode_message_set(PLAIN, magic, codec)
    yield "v1-append-time", encode_message_set(PLAIN, 1, Codec.GZIP, append_time_ms=NOW_MS)
    yield "v2-append-time", encode_batch(PLAIN, append_time_ms=NOW_MS)
    yield "v2-delete-horizon", encode_batch(PLAIN, delete_horizon_ms=NOW_MS + 10**9)
    yield "v2-emptied", encode_batch([], base_offset=0, last_offset=3, producer=Producer(1, 2, 2**31 - 2))
    producer = Producer(7, 1, 2**31 - 2, transactional=True)
    yield (
        "v2-transaction",
        encode_batch(PLAIN, producer=producer, codec=Codec.LZ4)
        + marker(producer, True, 4)
        + encode_batch([Record(5, NOW_MS, b"k", b"v")], producer=producer)
        + marker(producer, False, 6),
    )


def marker(producer: Producer, committed: bool, offset: int) -> bytes:
    return encode_end_transaction_marker(EndTransactionMarker(committed, 12), producer, offset=offset, timestamp=NOW_MS)


def write(folder: Path) -> list[Path]:
    """Each log in a folder of its own, with an index and a time index that fit it."""
    for name, data in logs():
        stem = folder / name / f"{0:020d}"
        stem.parent.mkdir()
        stem.with_suffix(".log").write_bytes(data)
        batches = [batch for batch in scan(data) if isinstance(batch, RecordBatch)]
        entries = [struct.pack(">ii", batch.last_offset, batch.position) for batch in batches[1:]]
        stem.with_suffix(".index").write_bytes(b"".join(entries))
        first = batches[0]
        if first.max_timestamp > 0:
            stem.with_suffix(".timeindex").write_bytes(struct.pack(">qi", first.max_timestamp, first.last_offset))
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("options", [(), ("--deep-iteration",), ("--print-data-log",)], ids=" ".join)
def test_the_same_text(kafka: Installation, tmp_path: Path, options: tuple[str, ...]) -> None:
    files = [str(path.relative_to(tmp_path)) for path in write(tmp_path)]
    environment = java_environment()
    command = kafka.java("kafka.tools.DumpLogSegments", "--files", ",".join(files), *options, heap_mb=256)
    theirs = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment, check=False, timeout=120)
    ours = subprocess.run([*KDRILL, "dump-log", *files, *options], capture_output=True, cwd=tmp_path, check=False)
    assert (theirs.returncode, theirs.stderr) == (0, b"")
    assert (ours.returncode, ours.stderr) == (0, b"")
    assert len(files) > 50
    # Between files the tool prints nothing; so does ours.
    assert ours.stdout == theirs.stdout
