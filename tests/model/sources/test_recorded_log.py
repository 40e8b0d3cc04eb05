"""A metadata log as the recording that would have been written of it: its times, and those that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.recordings.folder import DAY_MS, RecordingError, clusters_in
from model.recordings.playback import image_at, images
from model.sources.metadata_log.recorded import MOST_MS, record_log
from tests.model.metadata_log.kept import LOG
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
