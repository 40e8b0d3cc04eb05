"""Which snapshots stay, and where the log begins."""

from __future__ import annotations

import pytest

from model.observer.messages import LogPosition
from model.raft.retention import READ_MS, Retention, SnapshotFile, new_start

FILES = [SnapshotFile(LogPosition(offset, 1), 100, offset) for offset in (10, 20, 30, 40)]


@pytest.mark.parametrize(
    ("limits", "start"),
    [
        (Retention(500, -1), None),
        (Retention(499, -1), 20),
        (Retention(300, -1), 30),
        (Retention(0, -1), 40),
        (Retention(-1, -1), None),
        (Retention(-1, 80), 20),
        (Retention(-1, 79), 30),
        (Retention(-1, 90), None),
        (Retention(-1, 0), 40),
        (Retention(399, 85), 30),
    ],
)
def test_the_oldest_go_while_all_is_too_large_or_they_are_too_old(limits: Retention, start: int | None) -> None:
    found = new_start(FILES, 100, limits, 100)
    assert (found and found.offset) == start


def test_the_newest_stays_whatever_it_is() -> None:
    assert new_start(FILES[:1], 1 << 40, Retention(0, 0), 1 << 40) is None
    assert new_start([], 1 << 40, Retention(0, 0), 1 << 40) is None


def test_what_a_follower_reads_stays_and_all_that_is_newer_until_it_has_long_asked_for_nothing() -> None:
    read = [*FILES[:1], SnapshotFile(LogPosition(20, 1), 100, 20, asked_ms=1_000), *FILES[2:]]
    all_go = Retention(0, -1)
    assert new_start(read, 100, all_go, 1_000 + READ_MS - 1) == LogPosition(20, 1)
    assert new_start(read, 100, all_go, 1_000 + READ_MS) == LogPosition(40, 1)
