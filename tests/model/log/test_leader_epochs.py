"""Leader epochs: the table that followers ask, and how it is cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.log.checkpoints import (
    UNKNOWN_END,
    EpochEnd,
    EpochStart,
    LeaderEpochs,
    read_leader_epochs,
    write_leader_epochs,
)
from model.log.names import DamagedFileError


def epochs(*starts: tuple[int, int]) -> LeaderEpochs:
    return LeaderEpochs(tuple(EpochStart(*start) for start in starts))


HISTORY = epochs((2, 0), (4, 50), (7, 80))


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (7, EpochEnd(7, 100)),  # the latest ends with the log
        (8, UNKNOWN_END),  # newer than all
        (-1, UNKNOWN_END),
        (4, EpochEnd(4, 80)),
        (5, EpochEnd(4, 80)),  # unknown: the greatest that is not newer
        (2, EpochEnd(2, 50)),
        (1, EpochEnd(1, 0)),  # older than all: ends where the first known one begins
    ],
)
def test_where_an_epoch_ended(asked: int, answer: EpochEnd) -> None:
    assert HISTORY.end_offset_for(asked, log_end_offset=100) == answer


def test_nothing_known_is_no_answer() -> None:
    assert LeaderEpochs().end_offset_for(3, log_end_offset=100) == UNKNOWN_END


@pytest.mark.parametrize(
    ("epoch", "start", "result"),
    [
        (8, 100, epochs((2, 0), (4, 50), (7, 80), (8, 100))),
        (7, 100, HISTORY),  # goes on
        (9, 80, epochs((2, 0), (4, 50), (9, 80))),  # the one before wrote nothing
        (9, 60, epochs((2, 0), (4, 50), (9, 60))),
        (3, 90, epochs((2, 0), (3, 90))),  # contradicts what was known
    ],
)
def test_an_epoch_begins(epoch: int, start: int, result: LeaderEpochs) -> None:
    assert HISTORY.assign(epoch, start) == result


def test_cut_at_the_end() -> None:
    assert HISTORY.truncate_from_end(80) == epochs((2, 0), (4, 50))
    assert HISTORY.truncate_from_end(81) is HISTORY
    assert HISTORY.truncate_from_end(0) == epochs()


def test_cut_at_the_start() -> None:
    assert HISTORY.truncate_from_start(60) == epochs((4, 60), (7, 80))
    assert HISTORY.truncate_from_start(50) == epochs((4, 50), (7, 80))
    assert HISTORY.truncate_from_start(500) == epochs((7, 500))
    assert HISTORY.truncate_from_start(0) is HISTORY


@pytest.mark.parametrize(("offset", "epoch"), [(0, 2), (49, 2), (50, 4), (99, 7)])
def test_which_epoch_wrote_an_offset(offset: int, epoch: int) -> None:
    assert HISTORY.epoch_at(offset) == epoch


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 100))))
def test_whatever_is_assigned_both_columns_rise(assignments: list[tuple[int, int]]) -> None:
    history = LeaderEpochs()
    for epoch, start in assignments:
        history = history.assign(epoch, start)
        assert history.latest == epoch
    for earlier, later in zip(history.starts, history.starts[1:], strict=False):
        assert earlier.epoch < later.epoch
        assert earlier.start_offset < later.start_offset


def test_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "leader-epoch-checkpoint"
    assert read_leader_epochs(path) == LeaderEpochs()
    write_leader_epochs(path, HISTORY)
    assert path.read_bytes() == b"0\n3\n2 0\n4 50\n7 80\n"
    assert read_leader_epochs(path) == HISTORY


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "leader-epoch-checkpoint"
    path.write_text("0\n1\n2\n")
    with pytest.raises(DamagedFileError, match="line 3: '2' is no entry"):
        read_leader_epochs(path)
