"""A metadata log as the recording that would have been written of it: its times, and those that cannot be."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from model.analyses import analysis
from model.analyses.history.history import HISTORY, history_of
from model.analyses.history.results import HistoryResult, parameters_of
from model.log.records import RecordBatch, SegmentFile, scan
from model.recordings.folder import DAY_MS, RecordingError, clusters_in
from model.recordings.playback import image_at, images
from model.sources.metadata_log.log_files import ALL, Until
from model.sources.metadata_log.recorded import record_log
from model.sources.metadata_log.stretches import LULL_MS, MOST_MS
from tests.model.metadata_log.kept import DATA, LOG
from tests.model.metadata_log.writing import START_MS, batch, topic_id, written


def log_of(folder: Path, *times_ms: int) -> Path:
    """A batch at each of these times; each makes a topic with a partition."""
    offset, batches = 0, list[bytes]()
    for number, time_ms in enumerate(times_ms, 1):
        topic, brokers = topic_id(number), [1, 2, 3]
        values = [
            written("Topic", name=f"t{number}", topicId=topic),
            written("Partition", topicId=topic, replicas=brokers, isr=brokers, leader=1),
        ]
        batches.append(batch(values, offset, time_ms=time_ms))
        offset += len(values)
    folder.mkdir()
    (folder / LOG).write_bytes(b"".join(batches))
    return folder


def recorded(tmp_path: Path, *times_ms: int) -> dict[int, int]:
    """How many topics there were, and since when."""
    remarks: list[str] = []
    path = record_log(log_of(tmp_path / "prod", *times_ms), tmp_path / "out", remarks.append)
    assert not remarks
    (folder,) = clusters_in(path)
    moments = [(at_ms, len(image.topics)) for at_ms, image in images(folder, 0, 1 << 52)]
    return {count: at_ms for at_ms, count in reversed(moments)}


def test_moments_are_as_the_log_has_them_and_days_begin_anew(tmp_path: Path) -> None:
    times = [START_MS, START_MS + 5, START_MS + 3 * DAY_MS]
    assert recorded(tmp_path, *times) == {1: times[0], 2: times[1], 3: times[2]}
    (folder,) = clusters_in(tmp_path / "out")
    assert len(folder.days()) == 4
    assert len(image_at(folder, START_MS + 2 * DAY_MS).topics) == 2


def test_what_has_no_time_is_of_the_time_that_comes_next(tmp_path: Path) -> None:
    since = recorded(tmp_path, 0, -1, START_MS, 1 << 62, START_MS + 9)
    assert since == {3: START_MS, 4: START_MS + 2, 5: START_MS + 9}, "no two moments are of the same ms"


def test_times_that_cannot_be_are_told_in_one_line(tmp_path: Path) -> None:
    late = log_of(tmp_path / "late", START_MS, START_MS + MOST_MS + DAY_MS)
    with pytest.raises(
        RecordingError, match=f"^{late}: offset 3 is of 2043-11-1.*, 20 years and more after the first$"
    ):
        record_log(late, tmp_path / "out", print)
    timeless = log_of(tmp_path / "timeless", 0, 0)
    with pytest.raises(RecordingError, match=f"^{timeless}: no record has a time$"):
        record_log(timeless, tmp_path / "out", print)


DEATHS = DATA / "deaths" / "4.4.0" / "__cluster_metadata-0"
WHOLE = 1 << 40


def history_in(log: Path, stretch_bytes: int, processes: int = 0, until: Until = ALL) -> tuple[HistoryResult, int]:
    """What a log's recording tells, and in how many stretches it was made."""
    with tempfile.TemporaryDirectory() as out:
        remarks: list[str] = []
        path = record_log(log, Path(out), remarks.append, until=until, stretch_bytes=stretch_bytes, processes=processes)
        assert not remarks
        (folder,) = clusters_in(path)
        assert {each.name for each in Path(out).iterdir()} == {path.name}, "no stretch is left"
        stretches = {file.session for day in folder.days() for file in folder.files(day)}
        parameters = msgspec.structs.replace(parameters_of([path]), drills=False)
        told = analysis.run_here(HISTORY, {}, parameters)
        text = msgspec.json.encode(history_of(told, parameters)).replace(str(path).encode(), b"")
        return msgspec.json.decode(text, type=HistoryResult), len(stretches)


def cut_into(folder: Path, log: Path, size: int) -> Path:
    """The same log in segments of so many bytes or some more."""
    folder.mkdir()
    with SegmentFile(log / LOG) as source:
        batches = [batch for batch in scan(source) if isinstance(batch, RecordBatch)]
        starts = [batches[0]]
        for batch in batches:
            if batch.position - starts[-1].position >= size:
                starts.append(batch)
        ends = [*(each.position for each in starts[1:]), batches[-1].end]
        for start, end in zip(starts, ends, strict=True):
            piece = source.read(start.position, end - start.position)
            (folder / f"{start.base_offset:020}.log").write_bytes(piece)
    return folder


@pytest.mark.parametrize("stretch_bytes", [20_000, WHOLE])
def test_a_log_that_is_read_up_to_a_place_is_one_that_ends_there(tmp_path: Path, stretch_bytes: int) -> None:
    with SegmentFile(DEATHS / LOG) as source:
        batches = [batch for batch in scan(source) if isinstance(batch, RecordBatch)]
        last = batches[len(batches) * 3 // 4]
        (tmp_path / LOG).write_bytes(source.read(0, last.end))
    shorter, _ = history_in(tmp_path, WHOLE)
    names = [msgspec.structs.replace(each, cluster="") for each in shorter.clusters]
    for until in (Until(offset=last.last_offset), Until(at_ms=last.max_timestamp)):
        found, count = history_in(DEATHS, stretch_bytes, until=until)
        assert [msgspec.structs.replace(each, cluster="") for each in found.clusters] == names
        assert count > 1 or stretch_bytes == WHOLE


def test_a_real_log_tells_the_same_in_stretches_as_in_one_piece(tmp_path: Path) -> None:
    whole, count = history_in(DEATHS, WHOLE)
    assert count == 1
    assert whole.clusters[0].leader_changes > 100
    assert whole.clusters[0].leaderless.outages > 50
    segments = cut_into(tmp_path / "__cluster_metadata-0", DEATHS, 3_000)
    assert len(list(segments.iterdir())) > 15
    for size in (1_000, 5_000):
        told, count = history_in(segments, size)
        assert count >= 10
        named = msgspec.structs.replace(told.clusters[0], cluster=whole.clusters[0].cluster)
        assert named == whole.clusters[0]


TOPICS = 3
CHANGES = st.tuples(
    st.sampled_from([0, 1, 2, LULL_MS - 1, LULL_MS, LULL_MS + 5, 60_000, DAY_MS // 2, -500]),
    st.lists(
        st.tuples(st.integers(1, TOPICS), st.sampled_from([-1, 1, 2]), st.sampled_from([[1], [2, 1], []])), max_size=3
    ),
)


@given(st.lists(CHANGES, min_size=4, max_size=40), st.integers(1, 900))
@example([(60_000, [(1, -1, [])]), (60_000, []), (60_000, [(1, 1, [1])])], 1)
@example([(60_000, [(1, -1, [])]), (0, [(1, 2, [2, 1])]), (0, [(2, -1, [])]), (DAY_MS // 2, [(1, 1, [1])])] * 4, 100)
def test_any_log_tells_the_same_in_stretches_as_in_one_piece(
    changes: list[tuple[int, list[tuple[int, int, list[int]]]]], size: int
) -> None:
    with tempfile.TemporaryDirectory() as kept:
        folder = log_of(Path(kept) / "prod", *(START_MS + number for number in range(TOPICS)))
        offset, at_ms, batches = 2 * TOPICS, START_MS + TOPICS, list[bytes]()
        for more_ms, states in changes:
            at_ms += more_ms
            values = [
                written("PartitionChange", partitionId=0, topicId=topic_id(topic), leader=leader, isr=isr)
                for topic, leader, isr in states
            ] or [written("NoOp")]
            batches.append(batch(values, offset, time_ms=at_ms))
            offset += len(values)
        with (folder / LOG).open("ab") as file:
            file.writelines(batches)
        assert history_in(folder, size)[0] == history_in(folder, WHOLE)[0]
