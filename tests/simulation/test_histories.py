"""A thousand histories keep every promise; 100,000 do by `python -m tests.simulation --histories 100000`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.simulation.history import run
from tests.simulation.scenario import scenario_of
from tests.thorough import the_rest_when_asked

HISTORIES = 1_000
CHUNK = 50
ONCE_FAILED = (
    *(12, 26, 36, 42, 91, 122, 135, 290, 819, 905, 1139, 1771, 1931),
    *(4085, 5672, 7034, 7784, 11364, 13502, 18846, 19987, 33172, 50026, 57049, 99708),
)
"""Seeds that found something, in the controller or in the world around it."""


@pytest.mark.parametrize("first", the_rest_when_asked(range(0, HISTORIES, CHUNK)))
def test_histories_keep_their_promises(first: int) -> None:
    for seed in range(first, first + CHUNK):
        run(seed)


@pytest.mark.parametrize("seed", [seed for seed in ONCE_FAILED if seed >= HISTORIES])
def test_what_once_failed_fails_no_more(seed: int) -> None:
    run(seed)


@pytest.mark.parametrize("seed", [3, 290])
def test_a_seed_is_all_there_is_to_a_history(seed: int) -> None:
    first, again = run(seed), run(seed)
    assert first.acts_done == again.acts_done
    assert list(first.cluster.journal) == list(again.cluster.journal)
    assert first.cluster.zookeeper == again.cluster.zookeeper


def test_seeds_decide_on_different_clusters() -> None:
    scenarios = [scenario_of(seed) for seed in range(200)]
    assert {len(scenario.brokers) for scenario in scenarios} == {2, 3, 4, 5}
    assert {scenario.unclean for scenario in scenarios} == {True, False}
    assert len({scenario.generation.since for scenario in scenarios}) > 1
    assert len({repr(scenario._replace(seed=0)) for scenario in scenarios}) > 150


def test_a_history_can_be_replayed_and_read_from_the_command_line() -> None:
    command = [sys.executable, "-m", "tests.simulation", "--seed", "5", "--trace"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert any("---- heal" in line for line in lines)
    assert lines[-1].startswith("seed 5: every promise was kept")
