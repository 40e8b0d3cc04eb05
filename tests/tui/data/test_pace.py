"""When panes are told to ask again: what is news, how often ages are drawn, and how long the process rests."""

from dataclasses import replace

import msgspec

from model.cluster.cluster_image import EMPTY
from model.sources.feed import Moment
from model.sources.source import SourceStatus
from tui.engine.service import LONGEST_S, MINUTES_MS, PULSE_S, SECONDS_MS, PulsePace, is_news

BEGUN_MS = 1_700_000_000_000


def steadiness(pace: PulsePace, *times_ms: int) -> list[bool]:
    return [pace.is_steady(BEGUN_MS + time_ms) for time_ms in times_ms]


def test_what_changed_is_told_once_and_at_once() -> None:
    pace = PulsePace()
    assert steadiness(pace, 0, 100) == [False, True]
    pace.hear()
    pace.hear()
    assert steadiness(pace, 200, 300, 400) == [False, True, True]


def test_ages_in_seconds_are_drawn_every_second_and_ages_in_minutes_every_thirty() -> None:
    pace = PulsePace()
    assert steadiness(pace, 0, SECONDS_MS - 1, SECONDS_MS, 2 * SECONDS_MS - 1, 2 * SECONDS_MS) == [
        *(False, True, False, True, False)
    ]
    assert steadiness(pace, 60_000, 60_000 + MINUTES_MS - 1, 60_000 + MINUTES_MS) == [False, True, False]


def test_that_a_source_was_heard_of_again_or_reads_on_is_no_news() -> None:
    status = SourceStatus(phase="live", verified_ms=1)
    before = Moment(status=status)
    for also in ({"verified_ms": 2}, {"done": 1}):
        assert not is_news(before, replace(before, seq=2, status=msgspec.structs.replace(status, **also)))
    for changed in (
        replace(before, image=msgspec.structs.replace(EMPTY)),
        replace(before, touched=("/a",)),
        replace(before, relisted=True),
        *(
            replace(before, status=msgspec.structs.replace(status, **{name: value}))
            for name, value in (("phase", "stale"), ("reason", "lost"), ("warning", "!"), ("server", "b"))
        ),
    ):
        assert is_news(before, changed)


def test_the_process_rests_longer_than_it_works_but_not_for_ever() -> None:
    assert PulsePace.pause_s(0.001) == PULSE_S
    assert PulsePace.pause_s(0.1) == 0.4
    assert PulsePace.pause_s(10) == LONGEST_S
