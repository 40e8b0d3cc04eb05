"""A history that broke a promise: says what, when, and how to see it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable


class ViolationError(AssertionError):
    """A promise that was not kept."""


def promise(kept: bool, otherwise: str) -> None:
    """Raise ViolationError unless it was kept; a real check, also where assertions are switched off."""
    if not kept:
        raise ViolationError(otherwise)


def play_all(play: Callable[[int], object], seeds: Iterable[int]) -> None:
    """One history after the other, as far as they go: the first that breaks a promise raises ViolationError."""
    for seed in seeds:
        play(seed)
