"""What may be typed for a time, and what is said of anything else."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from model.cluster.records import (
    BrokerRegistered,
    ClusterRecord,
    ControllerElected,
    ControllerEpochChanged,
    GenerationRecognised,
)
from model.sources.feed import Feed
from model.sources.source import FactBatch
from model.sources.timeline import Timeline
from model.sources.timeline_window import TimelineWindow
from tui.engine.history.moments import NoSuchMoment, sought

NOON_MS = 1_700_049_600_000 - 1_700_049_600_000 % 86_400_000 + 12 * 3_600_000
MINUTE_MS = 60_000


def timeline() -> Timeline:
    """Five moments from noon on, a minute apart, the third under a new controller."""
    line = [Timeline()]
    feed = Feed("here", lambda moment: line.append(line[-1].then(moment)))
    steps: list[tuple[ClusterRecord, ...]] = [
        (BrokerRegistered(broker=1), ControllerElected(broker=1), ControllerEpochChanged(epoch=7)),
        (BrokerRegistered(broker=2),),
        (ControllerElected(broker=2), ControllerEpochChanged(epoch=8)),
        (BrokerRegistered(broker=3),),
        (BrokerRegistered(broker=4),),
    ]
    for number, records in enumerate(steps):
        feed.take(FactBatch(records, 0x10 + number, NOON_MS + number * MINUTE_MS, listing=number == 0))
    return line[-1]


LINE = timeline()
WINDOW = TimelineWindow(LINE, is_first=True, is_last=True)


def found(text: str) -> int:
    return sought(text, WINDOW, LINE.instants[-1]).seq


@pytest.mark.parametrize(
    ("text", "seq"),
    [
        ("12:00:00", 1),
        ("12:00", 1),
        ("12:01:59.999", 2),
        (" 12:02 ", 3),
        ("23:00", 5),
        ("-1m", 4),
        ("-90s", 3),
        ("-0.5m", 4),
        ("+1h", 5),
        ("-0s", 5),
        ("e8", 3),
        ("E7", 1),
        ("zxid:0x11", 2),
        ("zxid:0X12", 3),
        ("zxid:17", 2),
        ("zxid:0x14", 5),
    ],
)
def test_a_time_is_found(text: str, seq: int) -> None:
    assert found(text) == seq


def test_a_whole_date_is_a_time_too() -> None:
    assert found("2023-11-15T12:03:30Z") == 4


def test_the_time_of_day_that_is_nearest_is_meant() -> None:
    early = LINE.instants[0]
    with pytest.raises(NoSuchMoment, match="the timeline begins at 12:00:00"):
        sought("11:59:59", WINDOW, early)
    assert sought("23:30", WINDOW, early).seq == 5
    with pytest.raises(NoSuchMoment, match="begins"):
        sought("00:30", WINDOW, early)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-1h", r"the timeline begins at 12:00:00\.000"),
        ("e9", "controller epoch 9 was not seen: 7 to 8 were"),
        ("zxid:0x99", "no moment knows of zxid 0x99: known are 0x10 to 0x14"),
        ("zxid:0x1", "no moment knows of zxid 0x1: known"),
        ("25:00", "no time '25:00': write 12:03:58, -5m, e118"),
        ("soon", "no time 'soon'"),
        ("-999999999d", "the timeline begins"),
        ("9999-99-99", "no time"),
    ],
)
def test_what_is_no_moment_is_one_line(text: str, why: str) -> None:
    with pytest.raises(NoSuchMoment, match=why) as refused:
        found(text)
    assert "\n" not in str(refused.value)


@example("zxid:01")
@given(st.text(max_size=20) | st.from_regex(r"[+-]?[0-9:.]{1,9}[smhd]?|e[0-9]+|zxid:(0x)?[0-9a-f]+", fullmatch=True))
def test_anything_typed_is_a_moment_or_one_line(text: str) -> None:
    found, said = None, ""
    try:
        found = sought(text, WINDOW, LINE.instants[2])
    except NoSuchMoment as none:
        said = str(none)
    assert found in LINE.instants or len(said.splitlines()) == 1


def test_of_kraft_it_is_offsets_of_the_metadata_log() -> None:
    line = [Timeline()]
    feed = Feed("here", lambda moment: line.append(line[-1].then(moment)))
    for number, records in enumerate([(GenerationRecognised(generation="kraft"),), (BrokerRegistered(broker=2),)]):
        feed.take(FactBatch(records, 4711 + number, NOON_MS + number * MINUTE_MS, listing=number == 0))
    window, here = TimelineWindow(line[-1], is_first=True, is_last=True), line[-1].instants[-1]
    assert sought("offset:4711", window, here) is line[-1].instants[0]
    with pytest.raises(NoSuchMoment, match="no moment knows of offset 9000: known are 4,711 to 4,712"):
        sought("offset:9000", window, here)
    with pytest.raises(NoSuchMoment, match="or offset:4711"):
        sought("never", window, here)
