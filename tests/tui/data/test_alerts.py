"""What became critical is told once, seldom in a storm, and can be acknowledged until it changes."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from model.cluster.findings import Finding, Findings
from model.sources.feed import Moment
from tests.tui.data.small_cluster import NOW_MS, small_image
from tui.engine.cluster.findings import MOST_RAISED, NOTICES_APART_MS, Alerts, findings_window
from tui.engine.cluster.queries import FindingList
from tui.engine.listing import AnswerMemo

IMAGE = small_image()


def finding(subject: str, *partitions: int, kind: str = "offline", severity: str = "error") -> Finding:
    what = f"{len(partitions)} partitions offline"
    return Finding(severity, kind, subject, what, "why", "what to do", partitions)  # pyright: ignore[reportArgumentType]


def moment(*found: Finding) -> Moment:
    return Moment(1, IMAGE, Findings(found, IMAGE))


A, B, C = finding("a", 0), finding("b", 0, 1), finding("c", 5)
WARNING = finding("w", 0, kind="under-replicated", severity="warn")


def test_what_is_wrong_from_the_beginning_is_no_news_and_a_warning_never_is() -> None:
    alerts = Alerts()
    alerts.take(Moment())
    alerts.take(moment(A))
    alerts.take(moment(A, WARNING))
    assert (alerts.notice(0).number, alerts.raised, alerts.due_ms()) == (0, (), None)


def test_an_error_is_told_once_and_again_when_it_comes_back() -> None:
    alerts = Alerts()
    for found in ((), (A,), (A, WARNING)):
        alerts.take(moment(*found))
    first = alerts.notice(0)
    assert (first.number, first.text) == (1, "X 22:13:20 a: 1 partitions offline")
    assert alerts.notice(NOTICES_APART_MS * 5) == first, "nothing new"
    alerts.take(moment(finding("a", 0, 1)))
    assert alerts.notice(NOTICES_APART_MS * 6) == first, "the same finding about more partitions"
    alerts.take(moment())
    alerts.take(moment(A))
    assert alerts.notice(NOTICES_APART_MS * 7).number == 2
    assert [change.subject for change in alerts.raised] == ["a", "a"]


def test_what_is_over_takes_the_place_of_what_was_told() -> None:
    alerts = Alerts()
    for found in ((), (A,)):
        alerts.take(moment(*found))
    told = alerts.notice(0)
    alerts.take(at(100, moment()))
    over = alerts.notice(20)
    assert (over.number, over.text) == (told.number, "22:13:20 a: resolved after 0.1 s (1 partitions offline)")
    assert alerts.notice(NOTICES_APART_MS * 5) == over, "it is told once"


def test_what_was_over_before_it_could_be_told_is_told_as_over() -> None:
    alerts = Alerts()
    for found in ((), (A,)):
        alerts.take(moment(*found))
    alerts.notice(0)
    alerts.take(moment(A, B))
    alerts.take(at(42_000, moment(A)))
    assert alerts.notice(500).text.startswith("X"), "a is as it was told"
    assert alerts.notice(NOTICES_APART_MS).text == "22:14:02 b: resolved after 42 s (2 partitions offline)"


def test_what_is_wrong_is_told_before_what_is_over_which_is_told_next() -> None:
    alerts = Alerts()
    for found in ((), (A,)):
        alerts.take(moment(*found))
    alerts.notice(0)
    alerts.take(at(1_000, moment(B)))
    alerts.take(at(2_000, moment(B, C)))
    assert alerts.notice(10).text == "22:13:21 a: resolved after 1.0 s (1 partitions offline)"
    assert alerts.notice(NOTICES_APART_MS).text == "X 22:13:21 b: 2 partitions offline (and 1 more)"


def test_of_what_was_wrong_from_the_beginning_nobody_knows_how_long_it_lasted() -> None:
    alerts = Alerts()
    alerts.take(moment(A, msgspec.structs.replace(B, since_ms=IMAGE.provenance.time_ms - 60_000)))
    alerts.take(moment())
    assert alerts.notice(0).text == "22:13:20 a: resolved (1 partitions offline) (and 1 more)"
    late = Alerts()
    late.take(moment(msgspec.structs.replace(B, since_ms=moment().image.provenance.time_ms - 180_000)))
    late.take(moment())
    assert late.notice(0).text == "22:13:20 b: resolved after 3 min (2 partitions offline)"


def at(after_ms: int, seen: Moment) -> Moment:
    """The same, so much later."""
    provenance = msgspec.structs.replace(IMAGE.provenance, time_ms=IMAGE.provenance.time_ms + after_ms)
    return replace(seen, image=msgspec.structs.replace(IMAGE, provenance=provenance))


def test_in_a_storm_one_notice_tells_of_all_within_its_time() -> None:
    alerts = Alerts()
    alerts.take(moment())
    for step in range(1_000):
        alerts.take(moment(A, B) if step % 2 else moment(C))
        alerts.notice(step * 100)
    assert alerts.notice(100_000).number <= 11, "a hundred seconds"
    assert "more)" in alerts.notice(100_000).text
    assert len(alerts.raised) == MOST_RAISED, "all can be read, within a bound"


def test_an_error_that_comes_up_with_the_end_of_what_was_asked_for_does_not_take_its_place() -> None:
    alerts = Alerts()
    alerts.take(moment())
    alerts.tell("2 partitions: all as planned", 500)
    alerts.take(moment(A))
    assert alerts.notice(600).text == "2 partitions: all as planned"
    assert alerts.due_ms() == 500 + NOTICES_APART_MS
    assert alerts.notice(500 + NOTICES_APART_MS).text == "X 22:13:20 a: 1 partitions offline"


def test_what_is_acknowledged_stays_listed_quieter_and_uncounted_until_it_changes() -> None:
    alerts, memory = Alerts(), AnswerMemo()
    now = moment(A, B, WARNING)
    alerts.take(now)
    assert alerts.acknowledge("offline/b", now.findings.found).startswith("b: acknowledged until it changes")
    assert alerts.counts == (1, 0)
    query = FindingList(width=100)
    rows = findings_window(now, query, NOW_MS, memory, alerts.known).rows
    assert [(row.key, row.mark) for row in rows] == [
        ("offline/a", "X"),
        ("offline/b", "a"),
        ("under-replicated/w", "!"),
    ]
    alerts.take(moment(A, msgspec.structs.replace(B, what="2 of 9 partitions offline"), WARNING))
    assert alerts.counts == (1, 0), "the sentence alone is no change"
    alerts.take(moment(A, finding("b", 0, 1, 2), WARNING))
    assert alerts.counts == (0, 0)
    alerts.take(now)
    assert alerts.counts == (0, 0), "it is not known again by itself"


def test_a_second_time_takes_it_back_and_what_is_gone_cannot_be_acknowledged() -> None:
    alerts, now = Alerts(), moment(A)
    alerts.take(now)
    alerts.acknowledge("offline/a", now.findings.found)
    assert alerts.counts == (1, 0)
    assert alerts.acknowledge("offline/a", now.findings.found) == "a: no longer acknowledged"
    assert alerts.counts == (0, 0)
    assert alerts.acknowledge("offline/x", now.findings.found) == "this is resolved"
