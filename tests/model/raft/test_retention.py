"""Which snapshots stay, and where the log begins."""

from __future__ import annotations

import pytest

from model.observer.messages import LogPosition
from model.raft.retention import Retention, SnapshotFile, new_start

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
