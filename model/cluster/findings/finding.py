"""A finding: one thing about a cluster that its operator must know, and how serious each kind is.

Holds the values and the severity table only; what leads to a finding is decided by the checks beside it.
"""

from typing import Literal

import msgspec

Severity = Literal["error", "warn", "info"]

SEVERITIES: tuple[Severity, ...] = ("error", "warn", "info")
"""Worst first."""

SEVERITY: dict[str, Severity] = {
    # Data cannot be read or written now, or the cluster contradicts itself about who leads.
    "no-brokers": "error",
    "no-controller": "error",
    "controller-not-live": "error",
    "offline": "error",
    "under-min-isr": "error",
    "leader-not-in-isr": "error",
    "leader-not-replica": "error",
    # One more failure hurts, or work that was asked for does not happen.
    "no-controller-epoch": "warn",
    "no-state": "warn",
    "orphaned": "warn",
    "isr-not-replica": "warn",
    "unclean-leader": "warn",
    "under-replicated": "warn",
    "at-min-isr": "warn",
    "dead-broker": "warn",
    "single-rack": "warn",
    "reassignment-stuck": "warn",
    "deletion-stuck": "warn",
    "unowned-partition": "warn",
    "dead-owner": "warn",
    "owner-of-nothing": "warn",
    "lagging": "warn",
    "offset-out-of-range": "warn",
    "unreadable": "warn",
    # Good to know.
    "single-replica": "info",
    "no-spare-replica": "info",
    "non-preferred-leader": "info",
    "leader-skew": "info",
    "replica-skew": "info",
    "rack-skew": "info",
    "reassignment-running": "info",
    "deletion-pending": "info",
    "preferred-election-pending": "info",
    "idle-thread": "info",
}
"""Kind → severity, the only place where it is decided."""


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
    kind: str, subject: str, what: str, why: str, action: str, *, partitions: tuple[int, ...] = (), since_ms: int = 0
) -> Finding:
    """A finding with the severity of its kind."""
    return Finding(SEVERITY[kind], kind, subject, what, why, action, partitions, since_ms)
