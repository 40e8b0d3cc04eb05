"""A finding: one thing about a cluster that its operator must know, of a kind that says how serious it is.

Holds the values only; what leads to a finding is decided by the checks beside it.
"""

from typing import Literal, NamedTuple

import msgspec

Severity = Literal["error", "warn", "info"]

SEVERITIES: tuple[Severity, ...] = ("error", "warn", "info")
"""Worst first."""


class Kind(NamedTuple):
    """What a finding is of, as `no-controller`, and how serious that is."""

    name: str
    severity: Severity


class Finding(msgspec.Struct, frozen=True):
    """What is wrong with `subject` (`orders`, `broker 3`, `group billing`, a znode path), why it matters, what to do.

    `partitions` are the partition ids of a finding about a topic; `since_ms` is when it began, 0 where unknown.
    """

    severity: Severity
    kind: str
    subject: str
    what: str
    why: str
    action: str
    partitions: tuple[int, ...] = ()
    since_ms: int = 0


def finding(
    kind: Kind, subject: str, what: str, why: str, action: str, *, partitions: tuple[int, ...] = (), since_ms: int = 0
) -> Finding:
    """A finding of this kind."""
    return Finding(kind.severity, kind.name, subject, what, why, action, partitions, since_ms)
