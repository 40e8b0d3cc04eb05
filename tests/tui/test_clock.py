"""How long ago something was does not depend on whether somebody sets the clock meanwhile."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.app.widgets.header import is_stale
from tui.engine.clock import JUMP_MS, Proof, RunningClock, steady_ms
from tui.engine.messages import HeaderFacts

HOUR_MS = 3_600_000
BEGUN_MS = 1_700_000_000_000


class Machine:
    """Two clocks: the time of day, which can be set, and one that cannot."""

    def __init__(self) -> None:
        self.wall_ms, self.steady_ms = BEGUN_MS, 5

    def pass_ms(self, ms: int) -> None:
        self.wall_ms += ms
        self.steady_ms += ms

    def proof(self) -> Proof:
        return Proof(lambda: self.wall_ms, lambda: self.steady_ms)


JUMPS = st.integers(-24 * HOUR_MS, 24 * HOUR_MS).filter(lambda ms: abs(ms) >= JUMP_MS)


@given(st.integers(0, HOUR_MS), st.lists(st.tuples(st.integers(0, 60_000), JUMPS), max_size=4), st.integers(0, 60_000))
def test_a_proof_is_as_old_as_it_is(age_ms: int, jumps: list[tuple[int, int]], last_ms: int) -> None:
    machine = Machine()
    proof = machine.proof()
    proof.take(machine.wall_ms - age_ms)
    passed_ms = age_ms + last_ms
    set_by_ms = 0
    for after_ms, by_ms in jumps:
        machine.pass_ms(after_ms)
        machine.wall_ms += by_ms
        proof.take(BEGUN_MS - age_ms)  # the source says the same once more
        passed_ms, set_by_ms = passed_ms + after_ms, set_by_ms + by_ms
    machine.pass_ms(last_ms)
    assert machine.steady_ms - proof.at_steady_ms == passed_ms
    unseen_ms = set_by_ms if abs(set_by_ms) < JUMP_MS else 0
    assert machine.wall_ms - proof.at_ms == passed_ms + unseen_ms


def test_a_time_that_is_still_to_come_is_now() -> None:
    machine = Machine()
    proof = machine.proof()
    proof.take(machine.wall_ms + HOUR_MS)
    assert proof.at_steady_ms == machine.steady_ms


@pytest.mark.parametrize("by_ms", [-HOUR_MS, HOUR_MS])
def test_row_one_disbelieves_a_silent_process_whatever_the_clock_says(
    by_ms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = RunningClock()
    heard_ms, real_ns = clock(), time.time_ns
    facts = HeaderFacts(phase="live", image_time_ms=heard_ms)
    monkeypatch.setattr(time, "time_ns", lambda: real_ns() + by_ms * 1_000_000)
    assert not is_stale(facts, clock(), 600_000)
    begun_ms = steady_ms()
    monkeypatch.setattr(time, "clock_gettime_ns", lambda _: (begun_ms + 601_000) * 1_000_000)
    assert is_stale(facts, clock(), 600_000)
    clock.set()
    assert abs(clock() - time.time_ns() // 1_000_000) < 60_000
