"""What is typed for a moment → the moment: `12:03:58`, `-5m`, `e118`, `zxid:0x1f`. Times are UTC, as on the screens."""

import re
from datetime import UTC, datetime, timedelta

from model.recordings.times import parse_time, said
from model.sources.timeline.instant import Instant
from model.sources.timeline.timeline import Timeline
from model.sources.timeline.window import Window, recorded_ms
from tui.data.pages.ages import clock_text

UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
FORMS = "12:03:58, -5m, e118 (a controller epoch) or zxid:0x1f"

_DISTANCE = re.compile(r"([+-])(\d{1,9}(?:\.\d{1,3})?)([smhd])")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?")
_EPOCH = re.compile(r"e(\d{1,10})")
_ZXID = re.compile(r"zxid:(0x[0-9a-f]{1,16}|\d{1,19})")


class NoSuchMoment(Exception):  # noqa: N818 - reads as a fact
    """There is none; the message is one line that says why. `near_ms`: near this time, more was recorded than is known
    here, and it may be there; None: it is nowhere."""

    def __init__(self, why: str, near_ms: int | None = None) -> None:
        super().__init__(why)
        self.near_ms = near_ms


def sought(text: str, window: Window, now: Instant) -> Instant:
    """The moment that is meant, seen from `now`. Raises NoSuchMoment."""
    text, timeline = text.strip().lower(), window.timeline
    if found := _EPOCH.fullmatch(text):
        epoch = int(found[1])
        epochs = [each.frame.controller.epoch for each in timeline.instants if each.frame.controller.epoch is not None]
        seen = f"{min(epochs)} to {max(epochs)} were" if epochs else "no controller was"
        why = f"controller epoch {epoch} was not seen: {seen}"
        return _there(timeline.with_epoch(epoch), why, window, is_back=bool(epochs) and epoch < min(epochs))
    if found := _ZXID.fullmatch(text):
        zxid = int(found[1], 16 if found[1].startswith("0x") else 10)
        why = f"no moment knows of zxid {found[1]}: {_zxids(timeline)}"
        is_back = zxid < timeline.instants[0].frame.provenance.zxid
        return _there(timeline.with_zxid(zxid), why, window, is_back=is_back)
    at_ms = _time(text, now.at_ms)
    began_ms, ended_ms = timeline.instants[0].at_ms, timeline.instants[-1].at_ms
    if at_ms < began_ms:
        why = f"the timeline begins at {clock_text(began_ms)} ({said(began_ms)})"
        raise NoSuchMoment(why, None if window.is_first else at_ms)
    if at_ms > ended_ms and not window.is_last:
        raise NoSuchMoment(f"played until {clock_text(ended_ms)} ({said(ended_ms)})", at_ms)
    instant = timeline.at_time(at_ms)
    assert instant is not None
    return instant


def _there(instant: Instant | None, why_not: str, window: Window, *, is_back: bool) -> Instant:
    if instant is None:
        is_end, edge = (window.is_first, 0) if is_back else (window.is_last, -1)
        raise NoSuchMoment(why_not, None if is_end else recorded_ms(window.timeline.instants[edge].seq))
    return instant


def _time(text: str, now_ms: int) -> int:
    if found := _DISTANCE.fullmatch(text):
        distance_ms = round(float(found[2]) * UNITS_MS[found[3]])
        return now_ms + (distance_ms if found[1] == "+" else -distance_ms)
    try:
        if found := _CLOCK.fullmatch(text):
            return _last_time_of_day(*(found[part] or "0" for part in range(1, 5)), now_ms=now_ms)
        return parse_time(text.upper())
    except (ValueError, OverflowError):
        raise NoSuchMoment(f"no time {text!r}: write {FORMS}") from None


def _last_time_of_day(hour: str, minute: str, second: str, fraction: str, *, now_ms: int) -> int:
    """The time of day that is nearest: shortly after midnight, 23:59 was yesterday."""
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    micros = int(fraction.ljust(3, "0")) * 1000
    then = now.replace(hour=int(hour), minute=int(minute), second=int(second), microsecond=micros)
    if then > now + timedelta(hours=12):
        then -= timedelta(days=1)
    elif then < now - timedelta(hours=12):
        then += timedelta(days=1)
    return round(then.timestamp() * 1000)


def _zxids(timeline: Timeline) -> str:
    first, last = timeline.instants[0].frame.provenance.zxid, timeline.instants[-1].frame.provenance.zxid
    return f"known are {first:#x} to {last:#x}" if first >= 0 else "the source has none"
