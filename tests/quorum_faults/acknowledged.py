"""What a cluster has acknowledged, and whether a picture that is said to be LIVE has it."""

from __future__ import annotations

from collections import deque
from collections.abc import Set
from dataclasses import dataclass, field
from typing import NamedTuple

from model.observer.state import COMMITTED_MS, HEARD_MS

MOST_BEHIND_S = (HEARD_MS + COMMITTED_MS) / 1000
"""So long may LIVE be said without what was acknowledged: see the promise in `model.observer.state`."""
TOLD_S = 15.0
"""Before a violation: so far back it is told how the source stood."""


class _Change(NamedTuple):
    is_there: bool
    """The topic was made, not deleted."""
    at_s: float


@dataclass
class Acknowledged:
    """Times in s of one clock."""

    most_behind_s: float = 0.0
    """While LIVE was said, since something was acknowledged that was not in the picture."""
    _awaited: dict[str, _Change] = field(default_factory=dict[str, _Change])
    """By topic, what was not seen yet."""
    _stood: deque[tuple[float, str]] = field(default_factory=lambda: deque([(0.0, "")], 200))
    """Since when the source has stood how."""

    def came(self, topic: str, at_s: float) -> None:
        """It was acknowledged that the topic is there."""
        self._awaited[topic] = _Change(True, at_s)

    def asked_to_go(self, topic: str) -> None:
        """It may be there or not, from now on: between two looks it can come and go without ever being seen."""
        self._awaited.pop(topic, None)

    def gone(self, topic: str, at_s: float) -> None:
        """It was acknowledged that the topic is not there any more."""
        self._awaited[topic] = _Change(False, at_s)

    def look(self, phase: str, reason: str, topics: Set[str], now_s: float) -> list[str]:
        """What is wrong with a picture that has these topics, a line each; each is told once."""
        stands = f"{phase} ({reason})" if reason else phase
        if stands != self._stood[-1][1]:
            self._stood.append((now_s, stands))
        violations: list[str] = []
        for topic, (is_there, at_s) in [*self._awaited.items()]:
            if (topic in topics) == is_there:
                self._awaited.pop(topic, None)
            elif phase == "live":
                behind_s = now_s - at_s
                self.most_behind_s = max(self.most_behind_s, behind_s)
                if behind_s > MOST_BEHIND_S:
                    self._awaited.pop(topic, None)
                    violations.append(self._told(topic, is_there, behind_s, now_s))
        return violations

    def _told(self, topic: str, is_there: bool, behind_s: float, now_s: float) -> str:
        stood = "; ".join(f"{at_s - now_s:.2f} s {how}" for at_s, how in self._stood if now_s - at_s < TOLD_S)
        lacks = "without" if is_there else "still with"
        return f"LIVE {lacks} {topic}, which was {'made' if is_there else 'deleted'} {behind_s:.1f} s ago; {stood}"
