"""A history that broke a promise: says what, when, and how to see it again."""

from __future__ import annotations


class ViolationError(AssertionError):
    """A promise that was not kept."""


def promise(kept: bool, otherwise: str) -> None:
    """Raise ViolationError unless it was kept; a real check, also where assertions are switched off."""
    if not kept:
        raise ViolationError(otherwise)
