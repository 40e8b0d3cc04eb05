"""How often panes ask again: at once when something changed, seldom while only time passes, and never so often that
answering is all the process does. Has no clock.
"""

from model.sources.feed import Moment

PULSE_S = 0.1
"""Pulses are at least this far apart."""

REST, LONGEST_S = 4, 0.5
"""So many times as long as answering took, nothing more is told; but not longer than this."""

COUNTED_MS = 60_000
"""An age below a minute counts in seconds."""

SECONDS_MS, MINUTES_MS = 1_000, 30_000
"""How often panes ask again at most, for ages that count in seconds and for others."""

PROVED_MS, QUIET_MS = 2_000, 6_000
"""How often is told that a source still lives, while ages count in seconds and later."""

LATE_MS, RESTS_MS = 4_000, 8_000
"""A live source that has not proved itself for so long is late, which is told at once; see HeaderFacts.rests_ms."""


class Pace:
    """For one event loop."""

    def __init__(self) -> None:
        self._has_news = True
        self._news_ms = self._told_ms = self._pulsed_ms = 0

    def hear(self) -> None:
        """Something changed that panes may show."""
        self._has_news = True

    def is_steady(self, now_ms: int) -> bool:
        """Whether panes have nothing to ask for. Where they have, they are taken to be told so now."""
        self._pulsed_ms = now_ms
        if self._has_news:
            self._news_ms = now_ms
        every_ms = SECONDS_MS if now_ms - self._news_ms < COUNTED_MS else MINUTES_MS
        steady = not self._has_news and now_ms - self._told_ms < every_ms
        if not steady:
            self._has_news, self._told_ms = False, now_ms
        return steady

    @property
    def due_ms(self) -> int:
        """When it is to be told again that a live source lives, though nothing changed."""
        return self._pulsed_ms + (PROVED_MS if self._pulsed_ms - self._news_ms < COUNTED_MS else QUIET_MS)

    @staticmethod
    def pause_s(spent_s: float) -> float:
        """Until the next pulse, after processor time spent on the one before."""
        return min(max(PULSE_S, REST * spent_s), LONGEST_S)


def is_news(before: Moment, after: Moment) -> bool:
    """Whether anything differs that panes show: not when the source was last heard of, nor how far it has read."""
    return (
        after.relisted
        or bool(after.touched)
        or after.image is not before.image
        or after.findings is not before.findings
        or after.feed is not before.feed
        or _without_time(after) != _without_time(before)
    )


def _without_time(moment: Moment) -> object:
    status = moment.status
    return status.phase, status.reason, status.warning, status.server
