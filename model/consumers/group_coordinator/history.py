"""Rebalances: the one that is going on, and those of the past, for operators. Nothing is decided from the past."""

import msgspec

REBALANCES_KEPT = 50


class Rebalance(msgspec.Struct, frozen=True):
    """One that is going on. `deadline_ms`: when joins are collected no longer.

    `remaining_ms` is what the first delay of an empty group may still grow by; None for every other rebalance, which
    ends as soon as all have joined.
    """

    began_ms: int
    why: str
    deadline_ms: int
    delay_ms: int = 0
    remaining_ms: int | None = None
    has_newcomers: bool = False
    """Somebody joined while the first delay of a new group ran."""


class PastRebalance(msgspec.Struct, frozen=True):
    """A rebalance that is over; `took_ms` from its cause to the answers that carry the assignment.

    `members` by instance id, where they have one. `moved_partitions` had another owner before; it is 0 where the
    assignment is not a consumer's. Not `completed`: the next rebalance began before there was an assignment.
    """

    began_ms: int
    why: str
    took_ms: int
    generation: int
    members: tuple[str, ...]
    protocol: str | None
    moved_partitions: int = 0
    completed: bool = True


def remember(past: tuple[PastRebalance, ...], rebalance: PastRebalance) -> tuple[PastRebalance, ...]:
    """With one more, oldest first; the oldest are forgotten."""
    return (*past, rebalance)[-REBALANCES_KEPT:]
