"""A few faults, so that the chaos itself stays whole; `python -m tests.chaos` makes hundreds."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chaos.__main__ import told
from tests.chaos.chaos import Chaos, Course, Report
from tests.chaos.faults import KINDS, LONGEST_S, rounds
from tests.soak.samples import HAS_PROC

FAULTS = 8


@pytest.mark.skipif(not HAS_PROC, reason="threads and sockets are read from /proc")
async def test_what_is_followed_through_chaos_is_the_truth(tmp_path: Path) -> None:
    report = await Chaos(Course(FAULTS, seed=5, longest_s=2.0), tmp_path, lambda _: None).run()
    assert not report.violations, "\n".join(told(report))
    assert report.faults == FAULTS
    assert report.comparisons == len(report.history) + 1
    assert report.changes > 0
    assert report.marks > 0
    assert report.looks[0] > 0


@pytest.mark.skipif(not HAS_PROC, reason="threads and sockets are read from /proc")
async def test_a_watch_that_is_asked_for_too_late_is_found_out(tmp_path: Path) -> None:
    """By the first load already, and by no accident."""
    course = Course(faults=0, seed=1, changes_per_s=1, patience_s=5.0)
    late = (sys.executable, "-m", "tests.chaos.late_watch")
    report = await Chaos(course, tmp_path, lambda _: None, late).run()
    assert any(each.startswith("/configs/clients/mark-") for each in report.violations), "\n".join(told(report))


@given(st.integers(0, 2**32), st.integers(1, 60))
def test_the_same_seed_is_the_same_chaos(seed: int, count: int) -> None:
    played = list(rounds(seed, count))
    assert played == list(rounds(seed, count))
    assert sum(map(len, played)) == count
    assert all(0 < fault.lasts_s <= max(LONGEST_S[fault.kind], 1) for one in played for fault in one)
    assert all(fault.lasts_s <= 1 for one in rounds(seed, count, longest_s=1.0) for fault in one)


def test_two_hundred_faults_are_of_every_kind() -> None:
    kinds = Counter(fault.kind for one in rounds(1, 200) for fault in one)
    assert set(kinds) == {*KINDS}
    assert min(kinds.values()) >= 5


def test_a_broken_promise_is_told_with_all_that_led_to_it() -> None:
    report = Report(
        7, to_live_s=[0.1], to_truth_s=[0.2], history=["cut"], violations=["/brokers/1: followed a, there b"]
    )
    assert told(report)[-4:] == ["seed 7", "cut", "", "/brokers/1: followed a, there b"]
