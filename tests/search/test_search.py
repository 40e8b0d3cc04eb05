"""The search finds what fails, and prints a line that keeps it in the suite, whose own examples are always the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

PROPERTY = """\
from hypothesis import example, given, strategies as st

{kept}
@given(number=st.integers(0, {bound}))
def test_it_is_small(number):
    assert number < 1000

@given(number=st.integers())
def test_always(number):
    assert number == number
"""
ROUND = ["-n0", "-q", "-s", "-p", "tests.search.finds", "--rootdir", ".", "-c", "pyproject.toml"]


def played(file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", *ROUND, *options, str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])


def test_the_suite_plays_the_same_examples_each_time() -> None:
    assert settings.default is not None
    assert settings.default.derandomize


def test_a_find_is_printed_with_the_line_that_keeps_it(tmp_path: Path) -> None:
    file = tmp_path / "test_property.py"
    file.write_text(PROPERTY.format(kept="", bound=5000))
    options = ("--hypothesis-profile=search", "--hypothesis-seed=1")
    found = played(file, *options).stdout
    assert "test_it_is_small: AssertionError: assert 1000 < 1000" in found
    line = next(part for part in found.split("FOUND ")[1].splitlines() if part.startswith("@example("))
    whole = found[found.index(line) :].partition(")")[0] + ")"
    assert "number=1000" in whole
    assert "test_always:" not in found
    file.write_text(PROPERTY.format(kept=whole, bound=100))
    again = played(file, *options)
    assert again.returncode == pytest.ExitCode.TESTS_FAILED, "the kept line plays it where chance does not"


def test_no_property_begins_when_the_time_is_up(tmp_path: Path) -> None:
    file = tmp_path / "test_property.py"
    file.write_text(PROPERTY.format(kept="", bound=100))
    assert "1 passed" in played(file, "--hypothesis-profile=search", "--until=1").stdout
