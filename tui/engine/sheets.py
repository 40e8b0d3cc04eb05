"""A text about one thing, built line by line; and how ages, times and severities are written in lists and texts.

Names are in the first column, wrapped sentences in the second. A severity is a letter first, a colour second. The time
of day comes from whoever asks; no clock is read here.
"""

import textwrap
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Protocol

from model.cluster.findings.check import SEVERITIES, Severity
from tui.engine.messages import ActionRequest, Answer, ListQuery, TextAnswer, TextQuery
from tui.engine.rows import Line, Window, line, span
from tui.engine.text import plain

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


def duration_text(duration_ms: int) -> str:
    """`0.1 s`, `42 s`, `12 min`, `3 h`: how long something lasted."""
    seconds = max(duration_ms, 0) / 1000
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds // 60:.0f} min" if seconds < 7_200 else f"{seconds // 3_600:,.0f} h"


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


SEVERITY_MARKS: dict[Severity, str] = {"error": "X", "warn": "!", "info": ""}
"""What stands before the row."""

SEVERITY_WORDS: dict[Severity, str] = {"error": "CRIT", "warn": "WARN", "info": "info"}

SEVERITY_STYLES: dict[Severity, str] = {"error": "error", "warn": "warn", "info": "info"}
"""Severity → style name."""

SEVERITY_RANKS = {severity: rank for rank, severity in enumerate(SEVERITIES)}
"""Worst first."""


NAMES = 10
"""Cells of the first column."""


def shortened(text: str, most: int) -> str:
    """The text, or its first characters and how many more there are."""
    rest = len(text) - most
    return text if rest <= 0 else f"{text[:most]} ({rest:,} characters more)"


class Kept(Protocol):
    """Those of some settings that the brokers keep and do not obey, as a sandbox's do."""

    def __call__(self, names: Iterable[str], /, *, of_topic: bool) -> tuple[str, ...]: ...


def nothing_kept(_: Iterable[str], /, *, of_topic: bool) -> tuple[str, ...]:
    """Kafka's own brokers obey what they take."""
    return ()


class Sheet:
    """Collects lines; every method but `answer` returns the sheet, for chaining."""

    def __init__(self, title: str, width: int) -> None:
        self._title = title
        self._width = max(width, 24)
        self._lines: list[Line] = []
        self._wants = 0

    def fact(self, name: str, text: str, style: str = "") -> "Sheet":
        """A name and what there is to say; a name too long for its column is written all the same."""
        self._wants = max(self._wants, max(NAMES, len(name) + 1) + len(text))
        for number, part in enumerate(self._wrapped(text, self._width - max(NAMES, len(name) + 1))):
            self._lines.append(
                line(span((name if number == 0 else "").ljust(NAMES - 1) + " ", "dim"), span(part, style))
            )
        return self

    def say(self, text: str, style: str = "") -> "Sheet":
        """Adds sentences, wrapped to the whole width."""
        self._wants = max(self._wants, len(text))
        self._lines += [line(span(part, style)) for part in self._wrapped(text, self._width)]
        return self

    def draw(self, *parts: tuple[str, str] | str) -> "Sheet":
        """Adds a line as it is."""
        self._lines.append(line(*parts))
        return self

    def gap(self) -> "Sheet":
        self._lines.append(())
        return self

    def answer(self) -> TextAnswer:
        """The lines, and their text for the clipboard without control sequences."""
        text = "\n".join("".join(plain(piece) for piece, _ in each).rstrip() for each in self._lines)
        drawn = max(map(len, text.split("\n")))
        return TextAnswer(self._title, tuple(self._lines), text, wants=max(self._wants, drawn))

    @staticmethod
    def _wrapped(text: str, width: int) -> list[str]:
        return textwrap.wrap(text, max(width, 8), break_on_hyphens=False) or [""]


def refusal(query: ListQuery | TextQuery | ActionRequest, reason: str, style: str = "") -> Answer:
    """One line instead of what was asked for."""
    if isinstance(query, ListQuery):
        return Window(0, 0, (), note=reason)
    return Sheet("", query.width).say(reason, style).answer() if isinstance(query, TextQuery) else TextAnswer(reason)
