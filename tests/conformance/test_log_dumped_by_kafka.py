"""Folders written here are what Kafka's own DumpLogSegments (3.9.1) takes for sound, indexes included."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from model.log.compaction import Compaction
from model.log.names import INDEX, LOG, TIME_INDEX
from model.log.partition_log import PartitionLog
from model.log.records import Codec, Producer
from model.log.recovery import Checkpointed, open_log
from model.log.settings import LogSettings
from tests.conformance.kafka.releases import Installation, install_or_skip
from tests.conformance.kafka.tool_server import tool_done
from tests.model.log.batches import START_MS, all_records, batch, end_transaction, keyed

pytestmark = pytest.mark.conformance

SETTINGS = LogSettings(segment_bytes=9_000, index_interval_bytes=1_000, cleanup_policy=frozenset({"delete"}))


@pytest.fixture(scope="module")
def kafka() -> Installation:
    return install_or_skip("3.9.1")


def dump(kafka: Installation, files: list[Path], *options: str) -> tuple[str, str]:
    """What DumpLogSegments prints about files to its two outputs."""
    done = tool_done(kafka, "kafka.tools.DumpLogSegments", *options, "--files", ",".join(map(str, files)))
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def written(folder: Path, settings: LogSettings = SETTINGS) -> PartitionLog:
    log, _ = open_log(folder, settings, Checkpointed(clean=True), now_ms=START_MS)
    return log


def append(log: PartitionLog, data: bytes) -> None:
    log.append_as_leader(data, leader_epoch=0, now_ms=START_MS)
    log.set_high_watermark(log.end_offset)


def write_all_codecs(folder: Path) -> int:
    log = written(folder)
    for number in range(200):
        values = [f"{number}-{index}" + "x" * 100 for index in range(3)]
        append(log, batch(*values, time_ms=START_MS + number, codec=Codec(number % 5)))
    log.close(now_ms=START_MS)
    return len(all_records(log))


def write_idempotent_and_transactional(folder: Path) -> int:
    log = written(folder)
    for number in range(60):
        append(log, batch("a" * 300, "b", time_ms=START_MS + number, producer=Producer(7, 1, 2 * number)))
        transaction = Producer(8, 0, number, transactional=True)
        append(log, batch(f"t{number}", time_ms=START_MS + number, producer=transaction))
        if number % 3 == 2:
            end_transaction(log, transaction, committed=number % 2 == 0, now_ms=START_MS + number)
            log.set_high_watermark(log.end_offset)
    log.close(now_ms=START_MS)
    return len(all_records(log))


def write_compacted(folder: Path) -> int:
    log = written(
        folder, LogSettings(segment_bytes=4_000, index_interval_bytes=500, cleanup_policy=frozenset({"compact"}))
    )
    for number in range(300):
        append(log, keyed([(f"k{number % 17}", f"v{number}"), (f"k{number % 5}", None)], START_MS + number))
    compacted = Compaction(log, None, now_ms=START_MS + 1_000).run()
    assert compacted.bytes_after < compacted.bytes_before / 2
    log.close(now_ms=START_MS)
    log.remove_deleted_files(now_ms=START_MS + 100_000)
    return len(all_records(log))


@pytest.mark.parametrize("write", [write_all_codecs, write_idempotent_and_transactional, write_compacted])
def test_kafka_finds_no_fault_in_a_folder(kafka: Installation, tmp_path: Path, write: Callable[[Path], int]) -> None:
    count = write(tmp_path / "t-0")
    files = sorted(path for path in (tmp_path / "t-0").iterdir() if path.suffix[1:].isalpha() and path.stem.isdigit())
    logs = [path for path in files if path.suffix == LOG]
    assert len(logs) > 2
    out, complaints = dump(kafka, files, "--deep-iteration")
    assert len(re.findall(r"^\| offset: \d+ (?!.*endTxnMarker)", out, re.MULTILINE)) == count
    assert "isvalid: false" not in out
    if write is write_compacted:  # gaps are as they should be
        complaints = re.sub(r"Non-consecutive offsets in .*\n(  .* is followed by .*\n)*", "", complaints)
    assert not complaints
    sane, complaints = dump(kafka, files, "--index-sanity-check")
    indexes = [path for path in files if path.suffix in (INDEX, TIME_INDEX)]
    assert sane.count("passed sanity check") + sane.count(" is empty") == len(indexes)
    assert not complaints
