"""Times and ages as lists write them. The time of day comes from whoever asks; no clock is read here."""

from datetime import UTC, datetime

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))
_LAST_MS = 253_402_300_799_999
"""The end of the year 9999, beyond which Python has no dates; a znode may hold any number."""


def age_text(then_ms: int, now_ms: int) -> str:
    """`33s`, `4d`: how long ago, in the largest unit that fits, cut off; `-` where the time is not known."""
    if then_ms <= 0:
        return "-"
    seconds = max(now_ms - then_ms, 0) // 1000
    return next((f"{seconds // size}{unit}" for size, unit in _UNITS if seconds >= size), "0s")


def age_ms(then_ms: int, now_ms: int) -> int:
    """Milliseconds since then, -1 where the time is not known."""
    return max(now_ms - then_ms, 0) if then_ms > 0 else -1


def clock_text(at_ms: int) -> str:
    """`12:03:58.412`, UTC; `-` where the time is not known."""
    return f"{_datetime(at_ms):%H:%M:%S}.{at_ms % 1000:03d}" if 0 < at_ms <= _LAST_MS else "-"


def date_text(at_ms: int) -> str:
    """`2026-03-01 12:03:58Z`; `-` where the time is not known."""
    return f"{_datetime(at_ms):%Y-%m-%d %H:%M:%SZ}" if 0 < at_ms <= _LAST_MS else "-"


def stamp_text(at_ms: int) -> str:
    """`2026-03-01 12:03:58.412Z`; `-` where the time is not known."""
    return f"{_datetime(at_ms):%Y-%m-%d} {clock_text(at_ms)}Z" if 0 < at_ms <= _LAST_MS else "-"


def _datetime(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms // 1000, UTC)
