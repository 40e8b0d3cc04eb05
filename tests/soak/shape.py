"""How large a soak is and how long it takes, as values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """The cluster that lives. Its size stays about the same; names are ever new ones."""

    brokers: int = 9
    racks: int = 3
    topics: int = 200
    partitions: int = 25
    """Of each topic, at first."""
    groups: int = 5
    consumers: int = 3
    """Of each group, about."""

    @property
    def total(self) -> int:
        """Partitions, about."""
        return self.topics * self.partitions


@dataclass(frozen=True)
class Course:
    """What is done to it, and how often somebody looks."""

    seconds: float
    changes_per_s: int = 500
    check_s: float = 60.0
    """Every so often churn pauses, and the followed image is compared with a fresh load."""
    sample_s: float = 5.0
    screen_s: float = 5.0
    """How long somebody stays on a screen."""
    fault_s: float | None = None
    """A fault every so often; None: none."""
    seed: int = 1
