"""A history of a consumer group by its seed: every fifth is one of a ZooKeeper group, all others are coordinated."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from tests.simulation.groups.coordinated import History
from tests.simulation.groups.zookeeper_group import ZooKeeperHistory
from tests.simulation.violation import ViolationError

ZOOKEEPER_EVERY = 5


def play(seed: int) -> int:
    """Play one history; its number of requests, or steps. Raises ViolationError."""
    history = _history(seed)
    try:
        with _quiet():
            history.run()
    except Exception as error:
        said = str(error) if isinstance(error, ViolationError) else repr(error)
        raise ViolationError(f"seed {seed}, at {_at(history)}: {said}") from error
    return history.steps


def tell(seed: int) -> Iterator[str]:
    """The same history in lines; the last one says what was broken, if anything was."""
    history, failure = _history(seed), ""
    try:
        with _quiet():
            history.run()
    except Exception as error:
        failure = f"seed {seed}, at {_at(history)}: {error!r}"
    yield from history.lines()
    if failure:
        yield failure


def _history(seed: int) -> History | ZooKeeperHistory:
    return ZooKeeperHistory(seed) if seed % ZOOKEEPER_EVERY == 0 else History(seed)


def _at(history: History | ZooKeeperHistory) -> str:
    return f"{history.loop.now_ms()} ms" if isinstance(history, History) else f"step {history.steps}"


@contextmanager
def _quiet() -> Iterator[None]:
    """Brokers warn of what goes wrong here on purpose: not on the terminal."""
    logger, silence = logging.getLogger("model.hosts.live_broker"), logging.NullHandler()
    logger.addHandler(silence)
    try:
        yield
    finally:
        logger.removeHandler(silence)
