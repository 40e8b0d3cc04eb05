"""Five hundred histories of consumer groups keep every promise; many more by `python -m tests.simulation`."""

from __future__ import annotations

import pytest

from tests.simulation.groups.play import play, tell

HISTORIES = 500
CHUNK = 50


@pytest.mark.parametrize("first", range(0, HISTORIES, CHUNK))
def test_histories_keep_their_promises(first: int) -> None:
    assert sum(play(seed) for seed in range(first, first + CHUNK)) > CHUNK


@pytest.mark.parametrize("seed", [5, 6])
def test_a_seed_is_all_there_is_to_a_history(seed: int) -> None:
    lines = list(tell(seed))
    assert lines == list(tell(seed))
    assert any("heal" in line for line in lines)
