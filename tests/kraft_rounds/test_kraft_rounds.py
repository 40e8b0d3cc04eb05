"""The short form of the instrument."""

from __future__ import annotations

from pathlib import Path

from tests.kraft_rounds.rounds import play


def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    outcome = play(tmp_path, rounds=3, seed=7)
    assert outcome.rounds == 3
    assert outcome.acknowledged > 100
