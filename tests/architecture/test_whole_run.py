"""A run of the whole suite leaves out what takes a download or minutes, says so, and runs it when asked."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT
from tests.fast_tier import FEWER_EXAMPLES
from tests.whole_run import INSTRUMENTS

FILES = {
    "conftest.py": """
from hypothesis import settings
from tests import fast_tier, whole_run

settings.register_profile("kdrill", derandomize=True)

def pytest_addoption(parser):
    parser.addoption(whole_run.ALL, action="store_true")
    parser.addoption(whole_run.SHARE)

def pytest_configure(config):
    config.addinivalue_line("markers", "conformance: as in the suite")
    for hooks in (fast_tier, whole_run):
        config.pluginmanager.register(hooks)
""",
    "pytest.ini": "[pytest]\ntestpaths = tests\nasyncio_default_fixture_loop_scope = function\n",
    "tests/soak/test_soak.py": "def test_short(): pass",
    "tests/test_others.py": """
import pytest

@pytest.mark.conformance
def test_real(): pass

@pytest.fixture
def zookeeper(): pass

def test_waiting(zookeeper): pass

def test_quick():
    from hypothesis import settings
    print(settings().max_examples, "examples")
""",
}


def run(folder: Path, *arguments: str) -> str:
    """What pytest says of a suite with one test of each kind."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""},
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(("processes", "where"), [("0", "in this process"), ("2", "on 2 processes")])
def test_it_says_at_its_start_what_it_runs_and_what_it_leaves_out(processes: str, where: str, tmp_path: Path) -> None:
    said = run(tmp_path, "-n", processes)
    assert f"2 tests {where}; these wait: 1 for ZooKeeper" in said, said
    assert "not asked for: 1 tests that compare with real Kafka" in said
    assert "not asked for: 1 tests that are short forms" in said
    assert "2 passed" in said


@pytest.mark.parametrize(
    ("asked", "many"),
    [(["--all"], 4), (["-m", "conformance"], 1), (["-m", "instrument"], 1), (["-k", "real"], 1), (["tests/soak"], 1)],
)
def test_who_asks_for_it_gets_it(asked: list[str], many: int, tmp_path: Path) -> None:
    said = run(tmp_path, "-n", "0", *asked)
    assert f"{many} passed" in said, said


@pytest.mark.parametrize(
    ("asked", "many"),
    [(["-n", "0"], FEWER_EXAMPLES), (["-n", "2"], FEWER_EXAMPLES), (["-n", "2", "--all"], 100), (["tests"], 100)],
)
def test_a_property_has_fewer_examples_in_a_plain_run(asked: list[str], many: int, tmp_path: Path) -> None:
    said = run(tmp_path, "-rP", *asked)
    assert f"{many} examples" in said, said


def test_the_parts_of_what_is_more_of_the_same_are_all_of_it(tmp_path: Path) -> None:
    seeds = [f"tests/test_seed_{number}.py" for number in range(9)]
    (tmp_path / "tests").mkdir()
    for seed in seeds:
        real = "@pytest.mark.conformance\n" if seed.endswith("8.py") else ""  # with real Kafka, too
        (tmp_path / seed).write_text(f"import pytest\n{real}@pytest.mark.thorough\ndef test_more(): pass\n")
    parts = [run(tmp_path, "-n", "0", "-v", "--all", "--share", f"{part}/3") for part in (1, 2, 3)]
    ran = [[seed for seed in seeds if f"{seed}::test_more PASSED" in said] for said in parts]
    assert sorted(itertools.chain(*ran)) == seeds
    assert all(0 < len(part) < len(seeds) for part in ran)
    assert all(f"{4 + len(part)} passed" in said for part, said in zip(ran, parts, strict=True))
    assert "tests that are more of the same" in parts[0]


@pytest.mark.parametrize("instrument", INSTRUMENTS)
def test_instruments_are_there(instrument: str) -> None:
    assert (ROOT / instrument).exists()
