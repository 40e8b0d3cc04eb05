"""The instrument itself: what it calls a violation, and what it does not."""

from __future__ import annotations

import pytest

from tests.quorum_faults.acknowledged import MOST_BEHIND_S, Acknowledged

A, NOTHING = {"a"}, set[str]()
LATE_S = 100 + MOST_BEHIND_S + 0.1


@pytest.fixture
def acknowledged() -> Acknowledged:
    """Topic a is there since second 100."""
    ledger = Acknowledged()
    ledger.look("stale", "an election", NOTHING, 99.0)
    ledger.came("a", 100.0)
    return ledger


def test_live_without_a_topic_is_wrong_once_it_is_late(acknowledged: Acknowledged) -> None:
    assert not acknowledged.look("live", "", NOTHING, 100 + MOST_BEHIND_S)
    assert acknowledged.look("live", "", NOTHING, LATE_S) == [
        "LIVE without a, which was made 3.6 s ago; -4.60 s stale (an election); -0.10 s live"
    ]
    assert not acknowledged.look("live", "", NOTHING, LATE_S + 1), "it is told once"
    assert acknowledged.most_behind_s == pytest.approx(LATE_S - 100)


def test_stale_may_be_as_late_as_it_likes(acknowledged: Acknowledged) -> None:
    assert not acknowledged.look("stale", "an election", NOTHING, LATE_S)
    assert not acknowledged.look("live", "", A, LATE_S + 1)
    assert acknowledged.most_behind_s == 0


def test_what_came_and_went_between_two_looks_need_not_be_seen(acknowledged: Acknowledged) -> None:
    acknowledged.asked_to_go("a")
    assert not acknowledged.look("live", "", NOTHING, LATE_S)


def test_live_with_a_topic_that_is_gone_is_wrong_too(acknowledged: Acknowledged) -> None:
    assert not acknowledged.look("live", "", A, 100.5)
    acknowledged.asked_to_go("a")
    assert not acknowledged.look("live", "", A, 101.0)
    acknowledged.gone("a", 101.5)
    told = acknowledged.look("live", "", A, 101.6 + MOST_BEHIND_S)
    assert [each.partition(";")[0] for each in told] == ["LIVE still with a, which was deleted 3.6 s ago"]
