"""How much is asked of a server: less while it answers slower than it is used to, and again all when it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.hosts.zookeeper.settings import (
    FAST_MS,
    LEAST,
    LONGEST_READ_PAUSE_S,
    SLOW,
    ReadLimits,
    Throttle,
    TrafficMeter,
    Turnstile,
)

LATENCIES = st.lists(st.floats(0.01, 60_000), max_size=200)


def after(*latencies_ms: float, courtesy: Throttle | None = None) -> Throttle:
    courtesy = courtesy or Throttle()
    for latency_ms in latencies_ms:
        courtesy = courtesy.after(latency_ms)
    return courtesy


def test_a_server_that_is_far_away_is_not_slow() -> None:
    far = after(*[300.0] * 50)
    assert (far.share, far.is_holding_back, far.in_flight(500), far.pause_s(2)) == (1.0, False, 500, 0.0)


def test_what_takes_a_few_milliseconds_is_fast_whatever_is_usual() -> None:
    assert after(0.2, *[FAST_MS] * 50).share == 1.0


def test_a_server_that_becomes_slow_is_asked_less_and_less_often_and_then_all_again() -> None:
    slow = after(*[5.0] * 20, *[400.0] * 10)
    assert slow.is_holding_back
    assert slow.in_flight(500) < 50
    assert slow.in_flight(2) == 1
    assert 0 < slow.pause_s(2) <= LONGEST_READ_PAUSE_S
    well = after(*[5.0] * 60, courtesy=slow)
    assert (well.share, well.pause_s(2), well.in_flight(2)) == (1.0, 0.0, 2)


def test_one_slow_answer_among_many_is_no_reason() -> None:
    assert after(*[5.0] * 20, SLOW * FAST_MS).share == 1.0


def test_a_server_that_stays_slower_is_measured_by_that_in_the_end() -> None:
    assert not after(*[20.0] * 20, *[150.0] * 1_000).is_holding_back


@given(LATENCIES, st.integers(1, 1_000))
def test_something_is_always_asked_and_never_more_than_usual(latencies_ms: list[float], most: int) -> None:
    courtesy = after(*latencies_ms)
    assert LEAST <= courtesy.share <= 1
    assert 1 <= courtesy.in_flight(most) <= most
    assert 0 <= courtesy.pause_s(most) <= LONGEST_READ_PAUSE_S


@given(st.lists(st.tuples(st.integers(1, 100), st.floats(0, 5)), max_size=50), st.floats(1, 10_000))
def test_no_more_reads_get_through_than_the_ceiling_allows(asked: list[tuple[int, float]], reads_per_s: float) -> None:
    turnstile, now_s, sent = Turnstile(reads_per_s), 100.0, 0
    for reads, later_s in asked:
        now_s += later_s
        now_s += turnstile.wait_s(reads, now_s)
        assert sent <= reads_per_s * (now_s - 100.0) + 1e-3
        sent += reads


def test_without_a_ceiling_nobody_waits() -> None:
    assert Turnstile(0).wait_s(1_000_000, 5.0) == 0


def test_a_meter_counts_and_times_answers_in_the_order_of_their_requests() -> None:
    times_s = iter([1.0, 2.0, 2.5, 4.0, 5.0])
    meter = TrafficMeter(lambda: next(times_s))
    meter.sent(2, 300)
    meter.sent(1, 100)
    meter.received(5_000)
    meter.answered()
    meter.answered()
    usage = meter.usage
    assert (usage.requests, usage.bytes_out, usage.bytes_in, usage.in_flight) == (3, 400, 5_000, 1)
    assert usage.courtesy == after(1_500.0, 3_000.0)
    meter.connected()
    meter.answered()
    assert (meter.usage.in_flight, meter.usage.requests, meter.usage.courtesy) == (0, 3, Throttle())


def test_connections_that_end_at_once_are_made_less_and_less_often() -> None:
    now_s = 0.0
    meter = TrafficMeter(lambda: now_s)
    pauses_s: list[float] = []
    for _ in range(8):
        pauses_s.append(meter.pause_s())
        meter.connected()
        now_s += 0.5
    assert pauses_s == [0.0, 0.0, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0]
    now_s += 1.0
    assert meter.pause_s() == 0.0


def test_a_question_that_is_garbled_again_and_again_is_noticed_until_it_is_answered() -> None:
    meter = TrafficMeter()
    for question in ("a", "b", "a", "c", "a"):
        meter.garbled(question)
    meter.understood("b")
    assert meter.usage.garbled == 3
    meter.understood("a")
    assert meter.usage.garbled == 1


@pytest.mark.parametrize("limits", [{"in_flight": 0}, {"reads_per_s": -1.0}, {"reads_per_s": float("nan")}])
def test_ceilings_that_are_none_are_refused_in_one_line(limits: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"^.*: .*$"):
        ReadLimits(**limits)  # type: ignore[arg-type]
