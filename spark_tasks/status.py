"""How Spark and its jobs stand. Values only, for whoever draws them."""

from typing import Literal

import msgspec

State = Literal["off", "starting", "ready", "busy", "failed"]


class JobStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One job that was asked for and has not ended."""

    tag: str
    analysis: str
    seconds: float = 0.0
    """Since it was asked for."""
    stages: tuple[int, int] = (0, 0)
    """Done, and all that are known so far."""
    tasks: tuple[int, int] = (0, 0)
    """Done, and all that are known so far; (0, 0) while the work is still being divided."""


class SparkStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The session, and what it does now."""

    state: State = "off"
    """failed: `reason` says why; starting it again is possible."""
    master: str = ""
    reason: str = ""
    """One line."""
    seconds: float = 0.0
    """How long the start took, or takes so far."""
    jobs: tuple[JobStatus, ...] = ()
    pids: tuple[int, ...] = ()
    """Of the Spark process and its Java."""
