"""Seconds of a soak, so that the soak itself stays whole; `python -m tests.soak` takes minutes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.soak.__main__ import table
from tests.soak.samples import HAS_PROC
from tests.soak.shape import Course, Shape
from tests.soak.soak import Soak

SMALL = Shape(brokers=4, topics=20, partitions=10, groups=2)
QUIET = Course(10.0, changes_per_s=300, check_s=3.0, sample_s=0.5, screen_s=0.5)
FAULTY = Course(14.0, changes_per_s=200, check_s=6.0, sample_s=1.0, screen_s=1.0, fault_s=1.0)


@pytest.mark.skipif(not HAS_PROC, reason="memory, threads and files are read from /proc")
@pytest.mark.parametrize("course", [QUIET, FAULTY], ids=["quiet", "faults"])
async def test_nothing_is_lost_and_nothing_left_behind(course: Course, tmp_path: Path) -> None:
    report = await Soak(SMALL, course, tmp_path, lambda _: None).run()
    assert report.passed, "\n".join(table(report))
    assert len(report.lags_s) >= 2
    assert report.figures["changes"] > 0
    assert report.figures["answers"] > 0
    assert bool(report.faults) == (course.fault_s is not None)


@pytest.mark.skipif(not HAS_PROC, reason="memory is read from /proc")
async def test_a_leak_is_found_out(tmp_path: Path) -> None:
    report = await Soak(SMALL, QUIET, tmp_path, lambda _: None, (sys.executable, "-m", "tests.soak.leaking")).run()
    (check,) = (check for check in report.checks if check.what.startswith("memory does not surely grow"))
    assert not check.passed, "\n".join(table(report))
