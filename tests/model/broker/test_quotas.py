"""Rates over windows, throttles and quotas: Kafka's own figures, cases of its formulas, and what must always hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.broker.quotas import (
    ANY,
    DEFAULT,
    EXACT,
    FilterPart,
    QuotaMeter,
    Quotas,
    ThrottledReplicas,
    altered_quotas,
    entity_at,
    entity_path,
    filter_problem,
    is_meant,
    quota_of,
    throttled_replicas,
)
from model.controller import Refusal
from model.znodes.configs import desanitise, sanitise

RATES = json.loads((Path(__file__).parents[2] / "data/broker/rates_3.9.1.json").read_text())
"""Steps of a time (ms), what was recorded then or null, `Rate`, its window (ms) and `SimpleRate` as Kafka 3.9.1's
classes of these names measured them afterwards, with 11 samples of 1 s."""


@pytest.mark.parametrize("steps", RATES)
def test_rates_are_those_that_kafka_measures(steps: list[tuple[int, int | None, float, int, float]]) -> None:
    meter = QuotaMeter()
    for now_ms, value, client_rate, window_ms, replication_rate in steps:
        if value is not None:
            meter = meter.recorded(value, now_ms)
        meter = meter.purged(now_ms)
        assert meter.client_rate(now_ms) == pytest.approx(client_rate)
        assert meter.client_window_ms(now_ms) == window_ms
        assert meter.replication_rate(now_ms) == pytest.approx(replication_rate)


def replication(*events: tuple[int, int], at: int) -> float:
    meter = QuotaMeter()
    for now_ms, value in events:
        meter = meter.recorded(value, now_ms)
    return meter.purged(at).replication_rate(at)


def test_a_replication_rate_counts_from_the_oldest_sample_on() -> None:
    """Bound 1000: exceeded from the second record on, until a second and a tenth have passed."""
    assert replication((0, 500), at=0) == 500
    both = ((0, 500), (0, 600))
    assert [replication(*both, at=at) for at in (0, 500, 1100)] == [1100, 1100, 1000]
    more = (*both, (2000, 5000))
    assert [replication(*more, at=at) for at in (2000, 5000)] == [3050, 1220]
    assert replication(*more, at=7000) < 1000


def waits(*events: tuple[int, int]) -> list[int]:
    """After each event, how long a client has to wait for a bound of 1000."""
    meter, found = QuotaMeter(), list[int]()
    for now_ms, value in events:
        meter = meter.recorded(value, now_ms).purged(now_ms)
        found.append(meter.throttle_ms(1000, now_ms))
    return found


def test_a_client_waits_until_its_rate_is_the_bound() -> None:
    assert waits((0, 5000), (0, 5000), (0, 1), (0, 5000), (100, 5000)) == [0, 0, 1, 5001, 9901]
    assert waits((0, 20_000)) == [10_000]
    assert waits((0, 1000), (1000, 1000), (5000, 10_000)) == [0, 0, 2000]


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 100_000)), min_size=1), st.integers(1, 50_000))
def test_who_waits_as_told_stays_below_the_bound(steps: list[tuple[int, int]], bound: int) -> None:
    """Waited for, the rate over the same records is the bound at most, whatever came before."""
    meter, now_ms = QuotaMeter(), 0
    for pause_ms, value in steps:
        now_ms += pause_ms
        meter = meter.recorded(value, now_ms).purged(now_ms)
        wait_ms = meter.throttle_ms(bound, now_ms)
        window_ms = meter.client_window_ms(now_ms)
        assert meter.total * 1000 / (window_ms + wait_ms) <= bound * (1 + 1 / window_ms)
        now_ms += wait_ms


@given(st.lists(st.integers(1, 3000), min_size=1), st.integers(500, 5000), st.integers(1, 400))
def test_what_a_throttle_lets_through_is_the_bound_and_one_piece(pauses: list[int], bound: int, piece: int) -> None:
    """Whoever sends a piece only while the rate is not exceeded has sent no more than the bound and a piece since."""
    meter, now_ms, sent, first_ms = QuotaMeter(), 0, 0, None
    for pause_ms in pauses:
        now_ms += pause_ms
        meter = meter.purged(now_ms)
        if meter.replication_rate(now_ms) > bound:
            continue
        meter = meter.recorded(piece, now_ms)
        first_ms = now_ms if first_ms is None else first_ms
        sent += piece
        if now_ms - first_ms < 10_000:  # nothing is forgotten yet
            assert sent <= bound * max(now_ms - first_ms, 1000) / 1000 + piece


def test_unrecorded_is_as_never_recorded() -> None:
    meter = QuotaMeter().recorded(700, 0)
    assert meter.recorded(900, 5).recorded(-900, 5).client_rate(5) == meter.client_rate(5)


def test_throttled_replicas_of_a_broker() -> None:
    words = ("0:1", "1:2", "2:1")
    assert throttled_replicas(words, 1) == ThrottledReplicas(frozenset({0, 2}))
    assert 7 in throttled_replicas(("*",), 1)
    assert 0 not in throttled_replicas((), 1)


LEVELS = [
    (("u", "c"), ("u", "c")),
    (("u", "<default>"), ("u", "c")),
    (("u", None), ("u", "")),
    (("<default>", "c"), ("u", "c")),
    (("<default>", "<default>"), ("u", "c")),
    (("<default>", None), ("u", "")),
    ((None, "c"), ("", "c")),
    ((None, "<default>"), ("", "c")),
]


@given(st.sets(st.sampled_from(range(len(LEVELS)))))
def test_the_first_level_that_says_something_holds(levels: set[int]) -> None:
    quotas: Quotas = {LEVELS[level][0]: {"producer_byte_rate": float(level)} for level in levels}
    found = quota_of(quotas, "producer_byte_rate", "u", "c")
    assert quota_of(quotas, "consumer_byte_rate", "u", "c") is None
    if not levels:
        assert found is None
    else:
        assert found == (float(min(levels)), *LEVELS[min(levels)][1])


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda name: name != "<default>"
)


@given(st.dictionaries(st.sampled_from(["user", "client-id"]), names | st.just("<default>"), min_size=1))
def test_entities_lie_where_kafka_looks_for_them(entity: dict[str, str]) -> None:
    path = entity_path(entity, sanitise)
    assert isinstance(path, str)
    assert entity_at(path, desanitise) == entity


def test_where_quotas_lie() -> None:
    assert entity_path({"user": "a b/c%", "client-id": "*"}, sanitise) == "users/a%20b%2Fc%25/clients/%2A"
    assert entity_path({"client-id": "<default>"}, sanitise) == "clients/<default>"
    assert entity_path({"ip": "127.0.0.1"}, sanitise) == "ips/127.0.0.1"


@pytest.mark.parametrize("entity", [{}, {"user": ""}, {"nosuch": "u"}, {"ip": "127.0.0.1", "user": "u"}])
def test_who_has_no_quotas(entity: dict[str, str]) -> None:
    refusal = entity_path(entity, sanitise)
    assert isinstance(refusal, Refusal) and refusal.error == "INVALID_REQUEST"


@pytest.mark.parametrize(
    ("entity", "key", "value", "after"),
    [
        ("user", "producer_byte_rate", 1000.0, {"producer_byte_rate": "1000"}),
        ("user", "producer_byte_rate", 0.0, {"producer_byte_rate": "0"}),
        ("user", "producer_byte_rate", 2.0**63, {"producer_byte_rate": str(2**63 - 1)}),
        ("user", "producer_byte_rate", 1.5, None),
        ("user", "producer_byte_rate", -5.0, None),
        ("user", "request_percentage", 5.5, {"request_percentage": "5.5"}),
        ("user", "nosuch", 5.0, None),
        ("user", "nosuch", None, {}),
        ("user", "connection_creation_rate", 5.0, None),
        ("ip", "connection_creation_rate", 5.0, {"connection_creation_rate": "5"}),
        ("ip", "connection_creation_rate", -1.0, None),
        ("ip", "producer_byte_rate", 5.0, None),
    ],
)
def test_what_a_quota_may_be(entity: str, key: str, value: float | None, after: dict[str, str] | None) -> None:
    """As a real broker of 3.9.1 took or refused it."""
    found = altered_quotas({}, {entity: "x"}, [(key, value)])
    assert found == after if after is not None else isinstance(found, Refusal)


ENTITIES = [{"user": "u", "client-id": "c"}, {"client-id": "x"}, {"ip": "<default>"}, {"user": "<default>"}]


@pytest.mark.parametrize(
    ("parts", "strict", "meant"),
    [
        ([], False, ENTITIES),
        ([], True, []),
        ([FilterPart("user", ANY)], False, [ENTITIES[0], ENTITIES[3]]),
        ([FilterPart("user", EXACT, "u")], False, [ENTITIES[0]]),
        ([FilterPart("user", EXACT, "u")], True, []),
        ([FilterPart("user", DEFAULT)], False, [ENTITIES[3]]),
        ([FilterPart("client-id", ANY)], True, [ENTITIES[1]]),
        ([FilterPart("ip", DEFAULT)], False, [ENTITIES[2]]),
    ],
)
def test_whom_a_question_is_about(parts: list[FilterPart], strict: bool, meant: list[dict[str, str]]) -> None:
    assert filter_problem(parts) is None
    assert [each for each in ENTITIES if is_meant(each, parts, strict=strict)] == meant


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ([FilterPart("user", ANY), FilterPart("ip", ANY)], "INVALID_REQUEST"),
        ([FilterPart("user", ANY), FilterPart("user", ANY)], "INVALID_REQUEST"),
        ([FilterPart("", ANY)], "INVALID_REQUEST"),
        ([FilterPart("nosuch", ANY)], "UNSUPPORTED_VERSION"),
        ([FilterPart("user", 3)], "UNKNOWN_SERVER_ERROR"),
        ([FilterPart("user", EXACT)], "UNKNOWN_SERVER_ERROR"),
    ],
)
def test_questions_without_an_answer(parts: list[FilterPart], error: str) -> None:
    problem = filter_problem(parts)
    assert problem is not None and problem[0] == error
