"""Events over time: every event in its column, the worst of it in colour and as a letter, and where one looks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.cluster.change import Change
from tests.tui.data.small_cluster import WRITTEN_MS, moment_of, small_image, text_of
from tui.engine.cluster.queries import COMMITTED
from tui.engine.history.past_pages import More, event_strip, strip_of
from tui.engine.history.past_service import PastService
from tui.engine.history.queries import EventStrip
from tui.engine.listing import AnswerMemo

IMAGE = small_image()


def change(after_ms: int, severity: str = "info", kind: str = "leader-moved", count: int = 1) -> Change:
    return Change(kind, "orders-2", "so", severity, WRITTEN_MS + after_ms, count=count)  # pyright: ignore[reportArgumentType]


changes = st.lists(
    st.builds(
        change,
        st.integers(-5_000, 400_000_000),
        st.sampled_from(["info", "warn", "error"]),
        st.sampled_from(["leader-moved", COMMITTED]),
        st.integers(1, 50),
    ),
    max_size=20,
)


@given(changes, st.integers(0, 400_000_000), st.integers(1, 200))
def test_no_event_is_lost_whatever_the_time_and_the_width(feed: list[Change], span_ms: int, width: int) -> None:
    strip = strip_of(feed, WRITTEN_MS, WRITTEN_MS + span_ms, width)
    assert 1 <= len(strip.counts) <= width
    assert strip.counts.sum() == sum(one.count for one in feed if one.kind != COMMITTED)
    assert strip.commits.sum() == sum(one.count for one in feed if one.kind == COMMITTED)
    for one in feed:
        if one.kind != COMMITTED:
            assert strip.worst[strip.column(one.time_ms)] <= ("error", "warn", "info").index(one.severity)
    assert strip.step_ms == 1_000 or len(strip.counts) > width / 2, "the width is used"


async def drawn(*feed: Change, key: str = "", at: int = 0, width: int = 60, height: int = 4) -> list[str]:
    past, moment = PastService(), moment_of(IMAGE)
    past.take(moment)
    live = moment_of(IMAGE, *feed)
    past.take(live)
    query = EventStrip(key=key, at=at, width=width, height=height)
    answer = await event_strip(past, More(live, ()), query, WRITTEN_MS + 40_000, AnswerMemo())
    return [text_of(each) for each in answer.lines]


async def test_errors_and_warnings_are_letters_and_commits_a_thick_line() -> None:
    feed = (
        change(0),
        change(3_000, "warn"),
        change(3_100, "info"),
        change(9_000, "error"),
        change(20_000, kind=COMMITTED),
    )
    high, low, axis, times = await drawn(*feed)
    assert axis == "───!─────X──────────━────────────────────"
    assert [place for place, sign in enumerate(low) if sign != " "] == [0, 3, 9]
    assert [place for place, sign in enumerate(high) if sign == "█"] == [3], "two events"
    assert times == "22:13:20" + "a column is 1s".center(25) + "22:14:00", "what has room"


async def test_the_legend_stands_where_more_of_it_fits() -> None:
    *_, times = await drawn(change(0), width=100)
    assert times == "22:13:20" + " " * 25 + "22:14:00   a column is 1s, 1 event"


async def test_the_event_under_the_cursor_is_marked() -> None:
    *_, axis, _ = await drawn(change(0), change(5_000), key=f"{WRITTEN_MS + 5_000}/-1/leader-moved/orders-2/so")
    assert axis.index("▲") == 5
    *_, axis, _ = await drawn(change(0), key="folded/group billing")
    assert "▲" not in axis


async def test_the_moment_looked_at_is_marked() -> None:
    *_, axis, _ = await drawn(change(5_000), at=1)
    assert axis.index("◆") == 0


async def test_before_anything_happened_it_says_so() -> None:
    assert await drawn() == ["nothing changed yet"]
