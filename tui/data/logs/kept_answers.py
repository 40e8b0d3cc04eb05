"""Answers kept for a moment, so that a cluster in which much happens does not make the disk work for each change."""

import time
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

LEAST_S = 0.5
SHARE = 10.0
"""An answer holds so many times as long as it took to work out."""
MOST_KEPT = 32


class KeptAnswers:
    """Used by one thread at a time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` counts seconds."""
        self._clock = clock
        self._kept: dict[Hashable, tuple[float, Any]] = {}

    def answer(self, question: Hashable, work_out: Callable[[], T]) -> T:
        """The answer of a moment ago to the very same question, or a new one."""
        began = self._clock()
        until, answer = self._kept.pop(question, (began, None))
        if until <= began:
            answer = work_out()
            now = self._clock()
            until = now + max(LEAST_S, SHARE * (now - began))
        self._kept[question] = until, answer
        if len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return answer
