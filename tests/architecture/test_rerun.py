"""What `.ci/run` makes of tests that fail: once is told, twice fails the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT
from tests.rerun import MOST_RERUN

STEADY = "def test_steady(): pass"
ONCE = """
from pathlib import Path

def test_once():
    before = Path("before")
    was_there = before.exists()
    before.touch()
    assert was_there, "the race is lost"
"""
TWICE = "def test_twice(): assert False, 'as ever'"
MANY = f"import pytest\n@pytest.mark.parametrize('n', range({MOST_RERUN + 1}))\ndef test_many(n): assert not n < 99"


def run(folder: Path, *tests: str, processes: int = 0) -> tuple[int, str]:
    """Exit code and output."""
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    for number, test in enumerate(tests):
        (folder / f"test_{number}.py").write_text(test)
    done = subprocess.run(
        [sys.executable, "-m", "tests.rerun", "-n", str(processes), "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""},
    )
    return done.returncode, done.stdout + done.stderr


def test_one_that_passes_alone_is_told_with_its_first_failure(tmp_path: Path) -> None:
    code, said = run(tmp_path, STEADY, ONCE)
    assert code == 0, said
    told = said.partition("== Unsteady: failed beside others, passed alone: test_1.py::test_once\n")[2]
    assert "the race is lost" in told
    assert "test_steady" not in told


def test_one_that_fails_twice_fails_the_run(tmp_path: Path) -> None:
    code, said = run(tmp_path, STEADY, ONCE, TWICE)
    assert code == 1, said
    assert "== Unsteady: failed beside others, passed alone: test_1.py::test_once" in said
    assert "== Failed twice: test_2.py::test_twice" in said


@pytest.mark.parametrize(
    ("tests", "processes", "code"), [([STEADY], 0, 0), ([MANY, ONCE], 0, 1), (["not python", ONCE], 2, 1)]
)
def test_else_nothing_is_run_again(tests: list[str], processes: int, code: int, tmp_path: Path) -> None:
    """Many failures are no accident, and what can't be collected was not even run."""
    found, said = run(tmp_path, *tests, processes=processes)
    assert found == code, said
    assert "once more" not in said
