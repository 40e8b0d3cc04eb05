"""Stretches of a recording as timelines: each moment as it was recorded, under the same number in whichever stretch."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.sources.addresses import RecordingName
from model.sources.file_source import RecordingSource
from model.sources.source import SourceError
from model.sources.timeline import Timeline
from model.sources.timeline_window import TimelineWindow, recorded_ms, seq_at, window_around
from tests.model.cluster.build import brokers, topic
from tests.model.recordings.lives import SECOND, START_MS, Life, life, lives, record
from tests.zookeeper.followed import facts

DAYS = life([(0, [*brokers(1, 2), *topic("t", (1, 2))]), *((40_000_000, [*brokers(3 + n)]) for n in range(12))])
"""Thirteen moments over six days."""


def window(folder: Path, at_ms: int, nothing: Timeline, ended: bool = False) -> TimelineWindow:
    source = RecordingSource(RecordingName(folder))
    return window_around(source, at_ms, lambda done, of: None, lambda: ended, nothing)


@settings(max_examples=25)
@given(lives, st.integers(1, 6), st.data())
def test_it_holds_the_moments_around_a_time_as_they_were(told: Life, most: int, data: st.DataObject) -> None:
    times = [each.provenance.time_ms for each in told]
    at_ms = data.draw(st.integers(times[0] - 5, times[-1] + 5 * SECOND))
    with tempfile.TemporaryDirectory() as folder:
        record(Path(folder), told)
        whole = window(Path(folder), at_ms, Timeline())
        some = window(Path(folder), at_ms, Timeline(most_moments=most))
    assert whole.is_first and whole.is_last
    kept = {each.seq: facts(whole.timeline.image_of(each)) for each in whole.timeline.instants}
    assert list(kept) == sorted(kept)
    assert [facts(each) for each in told if facts(each) not in kept.values()] == []
    line = some.timeline
    assert 1 <= len(line.instants) <= most
    for instant in line.instants:
        assert facts(line.image_of(instant)) == kept[instant.seq], "under the same number, the same moment"
    assert some.is_first == (line.instants[0].seq == min(kept))
    assert some.is_last == (line.instants[-1].seq == max(kept))
    near, found = line.at_seq(seq_at(at_ms)), whole.timeline.at_seq(seq_at(at_ms))
    assert near is not None and found is not None and near.seq == found.seq, "the time itself is among them"


@pytest.mark.parametrize("place", [0, 5, 12])
def test_the_time_is_in_the_middle_within_a_bound_of_memory(tmp_path: Path, place: int) -> None:
    record(tmp_path, DAYS)
    at_ms = DAYS[place].provenance.time_ms
    cost = window(tmp_path, at_ms, Timeline()).timeline.size_bytes
    line = window(tmp_path, at_ms, Timeline(most_bytes=cost // 2)).timeline
    assert line.size_bytes <= cost // 2
    seqs = [each.seq for each in line.instants]
    assert any(recorded_ms(seq) == at_ms for seq in seqs)
    assert 2 < len(seqs) < 20
    if place == 5:
        assert seqs[0] < seq_at(at_ms - 1) and recorded_ms(seqs[-1]) > at_ms


def test_ended_early_it_holds_what_was_played(tmp_path: Path) -> None:
    record(tmp_path, DAYS)
    assert window(tmp_path, START_MS, Timeline(), ended=True).timeline.instants == ()


def test_a_file_that_is_damaged_is_one_line(tmp_path: Path) -> None:
    record(tmp_path, DAYS)
    source = RecordingSource(RecordingName(tmp_path))
    sorted(tmp_path.rglob("*.parquet"))[0].write_bytes(b"nothing")
    with pytest.raises(SourceError, match="damaged or cut off"):
        window_around(source, START_MS, lambda done, of: None, lambda: False)
