"""What is recorded is there again, at every moment, whatever became of the files around it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.cluster.changes import changes_between
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.records import (
    BrokerFenced,
    BrokerLost,
    BrokerRegistered,
    ClusterIdentified,
    ClusterRecord,
    PartitionState,
    TopicRemoved,
)
from model.recordings.folder import DAY_MS, RecordingError, clusters_in, said, the_cluster_in
from model.recordings.format import METADATA
from model.recordings.part_file import read_header
from model.recordings.playback import image_at, images
from model.recordings.recorder import Recorder, Rolling
from tests.model.cluster.build import brokers, image, topic, written
from tests.model.recordings.lives import SECOND, START_MS, Life, life, lives, record

SMALL = Rolling(flush_ms=0, heartbeat_ms=0, part_rows=5, set_rows=10)
"""Many small files and many images."""

SIMPLE: Life = life(
    [
        (0, [*brokers(1, 2, 3), *topic("orders", (1, 2, 3), 4), ClusterIdentified(cluster_id="prod-eu1")]),
        (5_000, [BrokerLost(broker=3)]),
        (DAY_MS, [TopicRemoved(topic="orders")]),
    ]
)


@settings(max_examples=40, deadline=None)
@given(lives, st.sampled_from((SMALL, Rolling())))
def test_every_moment_is_as_it_was(told: Life, rolling: Rolling) -> None:
    with tempfile.TemporaryDirectory() as folder:
        recorded = record(Path(folder), told, rolling=rolling)
        for before, each in zip([EMPTY, *told], told, strict=False):
            found = image_at(recorded, each.provenance.time_ms)
            assert parts(found) == parts(each)
            assert found.provenance == each.provenance or parts(each) == parts(before)
        assert parts(image_at(recorded)) == parts(told[-1])


@settings(max_examples=20, deadline=None)
@given(lives, st.sampled_from((SMALL, Rolling())))
def test_played_it_passes_every_moment_in_order(told: Life, rolling: Rolling) -> None:
    with tempfile.TemporaryDirectory() as folder:
        recorded = record(Path(folder), told, rolling=rolling)
        played = [each for _, each in images(recorded, told[0].provenance.time_ms, told[-1].provenance.time_ms)]
    assert distinct(played) == distinct(told)


def test_what_was_played_again_was_as_clean_as_it_was_live(tmp_path: Path) -> None:
    """The ELR is what tells an election without loss from one with it (KIP-966)."""

    def lone(leader: int, isr: tuple[int, ...], elr: tuple[int, ...]) -> ClusterRecord:
        return written("orders", PartitionState(0, leader, 5, isr, elr=elr, last_known_elr=elr))

    told = life(
        [
            (0, [*brokers(1, 2, 4), *topic("orders", (4, 1)), ClusterIdentified(cluster_id="prod-eu1")]),
            (5_000, [BrokerFenced(broker=4), lone(-1, (), (4,))]),
            (9_000, [BrokerRegistered(broker=4, fenced=False), lone(4, (4,), ())]),
        ]
    )
    recorded = record(tmp_path, told)
    played = [each for _, each in images(recorded, told[0].provenance.time_ms, told[-1].provenance.time_ms)]
    kinds = [change.kind for pair in pairwise(played) for change in changes_between(*pair)]
    assert kinds == [
        "broker-fenced", "partition-offline", "isr-shrunk", "broker-unfenced", "partition-online", "isr-expanded",
    ]  # fmt: skip


def distinct(images: Iterable[ClusterImage]) -> list[ClusterImage]:
    """Images that differ from the one before in more than the time."""
    found: list[ClusterImage] = []
    for each in map(parts, images):
        if not found or each != found[-1]:
            found.append(each)
    return found


def parts(image: ClusterImage) -> ClusterImage:
    """An image without when it was seen."""
    return msgspec.structs.replace(image, provenance=Provenance())


def test_a_day_begins_with_what_was_so_at_midnight(tmp_path: Path) -> None:
    recorded = record(tmp_path, SIMPLE)
    first, second = recorded.sets()
    midnight_ms = (START_MS // DAY_MS + 1) * DAY_MS
    assert read_header(Path(first.parts[-1].path)).until_ms == midnight_ms
    assert (first.from_ms, second.from_ms) == (START_MS, midnight_ms)
    assert parts(image_at(recorded, midnight_ms)) == parts(SIMPLE[1])
    assert recorded.days() == ["2024-10-04", "2024-10-05"]


def test_days_on_which_nothing_happened_are_recorded(tmp_path: Path) -> None:
    quiet = [SIMPLE[0], at(SIMPLE[0], START_MS + 3 * DAY_MS)]
    recorded = record(tmp_path, quiet)
    assert len(recorded.days()) == 4
    assert parts(image_at(recorded, START_MS + 2 * DAY_MS)) == parts(SIMPLE[0])


def at(image: ClusterImage, time_ms: int) -> ClusterImage:
    return msgspec.structs.replace(image, provenance=Provenance("test", 99, time_ms, complete=True))


def test_who_was_away_does_not_claim_to_know(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "c", "1a")
    recorder.take(SIMPLE[0], START_MS)
    recorder.tick(START_MS + SECOND)
    recorder.tick(START_MS + DAY_MS // 2)
    recorder.close(START_MS + DAY_MS // 2 + SECOND)
    first, second = the_cluster_in(tmp_path).sets()
    assert (read_header(Path(first.parts[0].path)).until_ms, second.from_ms) == (
        START_MS + SECOND,
        START_MS + DAY_MS // 2,
    )
    with pytest.raises(
        RecordingError, match="recorded until 2024-10-04T01:00:01Z, and again from 2024-10-04T13:00:00Z"
    ):
        image_at(the_cluster_in(tmp_path), START_MS + 2 * SECOND)


def test_another_cluster_begins_another_set(tmp_path: Path) -> None:
    other = at(image(*brokers(7), ClusterIdentified(cluster_id="other")), START_MS + SECOND)
    recorded = record(tmp_path, [SIMPLE[0], other])
    assert image_at(recorded, START_MS) == SIMPLE[0]
    assert image_at(recorded) == other


def test_without_an_end_all_is_there_that_was_written(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "c", "1a")
    recorder.take(SIMPLE[0], START_MS)
    recorder.take(SIMPLE[1], START_MS + 5_000)
    assert image_at(the_cluster_in(tmp_path)) == SIMPLE[0]
    recorder.tick(START_MS + 10_001)
    assert image_at(the_cluster_in(tmp_path)) == SIMPLE[1]


def test_what_nobody_knows_any_more_is_saved_and_not_claimed(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "c", "1a")
    recorder.take(SIMPLE[0], START_MS)
    recorder.take(SIMPLE[1], START_MS + 5_000)
    recorder.save()
    assert image_at(the_cluster_in(tmp_path)) == SIMPLE[1]
    with pytest.raises(RecordingError, match=r"recorded until 2024-10-04T01:00:05\.001Z"):
        image_at(the_cluster_in(tmp_path), START_MS + 6_000)


def test_a_quiet_recording_says_that_it_goes_on(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "c", "1a")
    recorder.take(SIMPLE[0], START_MS)
    recorder.tick(START_MS + 59_999)
    with pytest.raises(RecordingError, match="recorded until"):
        image_at(the_cluster_in(tmp_path), START_MS + 59_999)
    recorder.tick(START_MS + 60_001)
    assert parts(image_at(the_cluster_in(tmp_path), START_MS + 59_999)) == parts(SIMPLE[0])


def test_several_clusters_and_odd_names(tmp_path: Path) -> None:
    for name in ("a/b", "..", "zk://é:2181/x", "plain"):
        record(tmp_path, SIMPLE, cluster=name)
    assert [each.name for each in clusters_in(tmp_path)] == sorted(("a/b", "..", "zk://é:2181/x", "plain"))
    assert {path.parent for path in tmp_path.rglob("day=*")} == {Path(each.path) for each in clusters_in(tmp_path)}
    assert all(image_at(each, START_MS) == SIMPLE[0] for each in clusters_in(tmp_path))
    with pytest.raises(RecordingError, match="4 clusters are recorded here; name one"):
        the_cluster_in(tmp_path)
    assert the_cluster_in(tmp_path / "cluster=plain").name == "plain"


def test_one_recorder_at_a_time(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "c", "1a")
    with pytest.raises(RecordingError, match="another kdrill is recording here"):
        Recorder(tmp_path, "c", "2b")
    recorder.close(START_MS)
    record(tmp_path, SIMPLE, session="2b")


@pytest.mark.parametrize("asked_ms", [START_MS - 1, START_MS + 3 * DAY_MS])
def test_a_time_that_was_not_recorded(tmp_path: Path, asked_ms: int) -> None:
    recorded = record(tmp_path, SIMPLE)
    with pytest.raises(RecordingError, match=f"not at {said(asked_ms)}"):
        image_at(recorded, asked_ms)


@pytest.mark.parametrize("cut", [0, 1, 30, -1])
def test_a_file_cut_off(tmp_path: Path, cut: int) -> None:
    recorded = record(tmp_path, SIMPLE)
    path = Path(list(recorded.sets())[-1].parts[0].path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(RecordingError, match="damaged or cut off") as refused:
        image_at(recorded)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


def test_a_damaged_file_is_refused_or_read(tmp_path: Path) -> None:
    recorded = record(tmp_path, SIMPLE[:1])
    path = Path(next(recorded.sets()).parts[0].path)
    content = path.read_bytes()
    refused = 0
    for place in range(4, len(content) // 2, len(content) // 40):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        try:
            assert image_at(recorded) == SIMPLE[0]
        except RecordingError:
            refused += 1
    assert refused > 5


def test_behind_a_missing_file_nothing_is_read(tmp_path: Path) -> None:
    told = life([(1_000, [*topic(f"t{number}", (1,), 8)]) for number in range(6)])
    recorded = record(tmp_path, told, rolling=Rolling(flush_ms=0, heartbeat_ms=0, part_rows=5, set_rows=1_000))
    (whole,) = recorded.sets()
    assert len(whole.parts) > 4
    Path(whole.parts[2].path).unlink()
    assert set(image_at(recorded).topics) == {"t0", "t1"}


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (b'{"format":"kdrill.recording/2"}', "kdrill.recording/2: this kdrill reads /1; upgrade kdrill"),
        (b'{"format":"kdrill.recording/1"}', "Parquet, but no part of a kdrill recording"),
        (b"{", "Parquet, but no part of a kdrill recording"),
        (None, "Parquet, but no part of a kdrill recording"),
    ],
)
def test_a_file_of_another_kind(tmp_path: Path, metadata: bytes | None, reason: str) -> None:
    path = Path(next(record(tmp_path, SIMPLE[:1]).sets()).parts[0].path)
    table = pa.table({"a": [1]})
    pq.write_table(table.replace_schema_metadata({METADATA: metadata} if metadata else None), path)
    with pytest.raises(RecordingError, match=reason):
        image_at(the_cluster_in(tmp_path))


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        (pa.array([None], pa.int64()), "at_ms is not a time in every row"),
        (pa.array(["x"]), "its columns are not those of a recording"),
    ],
)
def test_rows_without_their_time(tmp_path: Path, times: pa.Array, reason: str) -> None:
    path = Path(next(record(tmp_path, SIMPLE[:1]).sets()).parts[0].path)
    table = pq.read_table(path).slice(0, 1)
    pq.write_table(table.set_column(table.column_names.index("at_ms"), "at_ms", times), path)
    with pytest.raises(RecordingError, match=rf"{reason}\); remove it to read the rest$"):
        image_at(the_cluster_in(tmp_path))


def test_a_description_nested_without_end(tmp_path: Path) -> None:
    path = Path(next(record(tmp_path, SIMPLE[:1]).sets()).parts[0].path)
    pq.write_table(pq.read_table(path).replace_schema_metadata({METADATA: b'{"a":' * 20_000}), path)
    with pytest.raises(RecordingError, match="Parquet, but no part of a kdrill recording"):
        image_at(the_cluster_in(tmp_path))


def test_times_that_no_calendar_has() -> None:
    assert said(START_MS) == "2024-10-04T01:00:00Z"
    assert said(2**63 - 1) == "9,223,372,036,854,775,807 ms"


def test_folders_without_a_recording(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"no recording here; kdrill record SOURCE -o .* makes one"):
        the_cluster_in(tmp_path)
    (tmp_path / "cluster=x" / "day=2024-01-01").mkdir(parents=True)
    with pytest.raises(RecordingError, match="nothing is recorded here"):
        image_at(the_cluster_in(tmp_path))


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match="cannot be written: Not a directory"):
        Recorder(tmp_path / "file", "c", "1a")
