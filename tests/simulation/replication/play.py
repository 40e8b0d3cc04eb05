"""One history of records, to run or to read."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation import trace
from tests.simulation.replication.history import ReplicationHistory, run
from tests.simulation.replication.scenario import replication_scenario_of


def play(seed: int) -> int:
    """The steps that it took, those of brokers and clients included. Raises ViolationError."""
    history = run(seed)
    return history.steps + history.doings


def tell(seed: int) -> Iterator[str]:
    """What happens in it, up to where a promise breaks."""
    history = ReplicationHistory(replication_scenario_of(seed))
    history.is_traced = True
    yield str(history.replication.settings)
    yield from trace.tell(history, "replication")
