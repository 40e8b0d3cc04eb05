"""A snapshot of the metadata log that is so large that it is told in parts, while the rest is read."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, Provenance
from model.log.records.batch import stored_crc
from model.sources.addresses import METADATA_LOG, MetadataLogName, parse_source
from model.sources.feed import Feed, Moment
from model.sources.metadata_log.log_files import MetadataLog, Until
from model.sources.metadata_log.metadata_log_source import FIRST_BYTES, MetadataLogSource
from tests.model.metadata_log.snapshot_writer import snapshot, write_snapshot
from tests.model.metadata_log.writing import batch, topic_id, written

TOPICS, PARTITIONS = 30, 1_000


@pytest.fixture(scope="module")
def large() -> list[bytes]:
    batches = [*snapshot(TOPICS, PARTITIONS)]
    assert sum(map(len, batches)) > 2 * FIRST_BYTES
    return batches


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / METADATA_LOG
    folder.mkdir()
    return folder


def opened(name: Path | str) -> list[Moment]:
    """All moments until it is read, or cannot be read further."""
    named = parse_source(str(name))
    assert isinstance(named, MetadataLogName), named
    moments, ended = list[Moment](), threading.Event()

    def publish(moment: Moment) -> None:
        moments.append(moment)
        if moment.status.phase in ("snapshot", "closed"):
            ended.set()

    with closing(MetadataLogSource(named)) as source:
        source.open(Feed(source.name, publish, iter(range(1_000_000)).__next__))
        assert ended.wait(30)
    return moments


def damaged(large: list[bytes]) -> list[bytes]:
    """The first record of the last data batch ends elsewhere than the second begins; the CRC holds."""
    last = bytearray(large[-2])
    last[61] ^= 0x02
    last[17:21] = stored_crc(bytes(last), 2).to_bytes(4)
    return [*large[:-2], bytes(last), large[-1]]


def test_parts_are_shown_while_the_rest_is_read_and_end_in_the_whole(folder: Path, large: list[bytes]) -> None:
    write_snapshot(folder, large)
    (folder / f"{1_000:020}.log").write_bytes(batch([written("Topic", name="late", topicId=topic_id(999))], 1_000))
    moments = opened(folder)
    parts = [moment.image for moment in moments if not moment.image.provenance.complete]
    assert 0 < parts[0].partition_count < TOPICS * PARTITIONS * 2 // 3
    assert len({part.partition_count for part in parts}) >= 2
    assert {moment.status.phase for moment in moments[:-2]} == {"connecting", "loading"}
    last = moments[-1]
    step, nothing = MetadataLog(folder).steps(Until())
    assert not nothing.facts
    assert last.image.topics == ClusterDelta(EMPTY).replay_all(step.facts).apply(Provenance()).topics
    assert (last.image.partition_count, last.image.provenance.zxid) == (TOPICS * PARTITIONS, 1_000)
    assert last.image.provenance.complete


def test_one_that_turns_out_to_be_damaged_is_replaced_by_another(folder: Path, large: list[bytes]) -> None:
    worse = write_snapshot(folder, damaged(large), 2_000, 2)
    write_snapshot(folder, snapshot(2, 3))
    first, *_, last = opened(folder)
    assert first.image.partition_count > 6
    assert [*map(len, last.image.topics.values())] == [3, 3]
    assert last.image.provenance.zxid == 999
    assert f"{worse}: is damaged at byte" in last.status.warning


def test_one_that_turns_out_to_be_damaged_and_has_no_other_ends_in_one_line(folder: Path, large: list[bytes]) -> None:
    path = write_snapshot(folder, damaged(large))
    status = opened(folder)[-1].status
    assert status.phase == "closed"
    assert status.reason.startswith(f"{path}: is damaged at byte ")
    assert status.reason.endswith(": use another snapshot")


def test_an_offset_behind_the_end_is_told_when_the_end_is_reached(folder: Path, large: list[bytes]) -> None:
    write_snapshot(folder, large)
    status = opened(f"{folder}@1000").pop().status
    assert (status.phase, status.reason) == ("closed", f"{folder}: ends at offset 999, before 1000")
