"""What a benchmark measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """Seconds for the same work, ours and the rival's, measured in the same run; `rival_s` None: there is no rival.

    `goal` is how many times faster than the rival ours is meant to be.
    """

    what: str
    ours_s: float
    rival: str = ""
    rival_s: float | None = None
    goal: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times faster than the rival ours is."""
        return None if self.rival_s is None else self.rival_s / self.ours_s
