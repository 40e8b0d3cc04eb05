"""One history of controllers, to run or to read."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation import trace
from tests.simulation.history import History, run
from tests.simulation.scenario import scenario_of


def play(seed: int) -> int:
    """The steps that it took. Raises ViolationError."""
    return run(seed).steps


def tell(seed: int) -> Iterator[str]:
    """What happens in it, up to where a promise breaks."""
    return trace.tell(History(scenario_of(seed)), "controller")
