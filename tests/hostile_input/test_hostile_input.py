"""A few hundred cases of each kind; `python -m tests.hostile_input` plays many. A value that was made blindly, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hostile_input.catalogue import TARGETS
from tests.hostile_input.playing import play
from tests.hostile_input.target import Target

SEED = 1_000
CASES = {
    "znodes": 100,
    "recordings": 60,
    "log-files": 80,
    "metadata-logs": 100,
    "controller-answers": 200,
    "broker": 200,
}
"""Of those that take long; the others are played more often."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_nothing_breaks(target: Target, tmp_path: Path) -> None:
    played = play(target, SEED, range(CASES.get(target.name, 300)), tmp_path)
    assert played.failures == []


BLIND = [
    target
    for name, target in TARGETS.items()
    if name not in ("broker", "log-files", "recordings", "wire-answers", "controller-answers")
]


@pytest.mark.parametrize("target", BLIND, ids=lambda target: target.name)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=st.binary(max_size=60) | JSON.map(repr).map(str.encode))
def test_any_bytes(target: Target, tmp_path: Path, case: bytes) -> None:
    target.judge(case, tmp_path)


def test_a_case_is_the_same_wherever_it_is_played() -> None:
    target = TARGETS["plans"]
    assert target.case(1, 5) == target.case(1, 5)
    assert target.case(1, 5) != target.case(2, 5)


def test_what_must_not_happen_is_told_with_its_number(tmp_path: Path) -> None:
    def judge(case: bytes, _folder: Path) -> None:
        assert case != b"3", "a case that fails"

    numbered = Target("numbered", lambda random: b"3" if random.random() < 0.5 else b"4", judge)
    played = play(numbered, 1, range(20), tmp_path)
    assert played.cases == 20
    assert played.failures
    assert all(numbered.case(1, failed.number) == b"3" for failed in played.failures)
    assert "a case that fails" in played.failures[0].why
