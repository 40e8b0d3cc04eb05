"""What names tell of interrupted work."""

from __future__ import annotations

import pytest

from model.log.names import Leftovers, leftovers, orphaned_indexes, segment_bases


def named(*files: str) -> list[str]:
    """`7.log.swap` and the like, with all twenty digits."""
    return [file.split(".")[0].zfill(20) + "." + file.partition(".")[2] for file in files]


@pytest.mark.parametrize(
    ("files", "remove", "swap"),
    [
        (["0.log", "0.index", "0.timeindex"], [], ()),
        (["0.log.deleted", "0.snapshot.deleted", "5.log"], ["0.log.deleted", "0.snapshot.deleted"], ()),
        (["0.log", "0.log.cleaned", "0.index.cleaned"], ["0.index.cleaned", "0.log.cleaned"], ()),
        (["0.log", "5.log", "0.log.swap", "0.index.swap"], ["0.index.swap"], (0,)),
        # A split that was not done: what it has renamed goes too, what another compaction left below it stays.
        (["5.log.swap", "9.log.swap", "9.log.cleaned"], ["9.log.cleaned", "9.log.swap"], (5,)),
        (["5.index.swap"], ["5.index.swap"], ()),
    ],
)
def test_what_is_finished_and_what_is_undone(files: list[str], remove: list[str], swap: tuple[int, ...]) -> None:
    assert leftovers([*named(*files), "leader-epoch-checkpoint"]) == Leftovers(tuple(named(*remove)), swap)


def test_indexes_without_a_log_are_orphans() -> None:
    names = named("0.log", "0.index", "7.index", "7.timeindex", "7.snapshot", "9.index.deleted")
    assert orphaned_indexes(names) == named("7.index", "7.timeindex")


def test_segments_by_their_logs() -> None:
    assert segment_bases([*named("30.log", "7.log", "9.index", "8.log.deleted"), "partition.metadata"]) == [7, 30]
