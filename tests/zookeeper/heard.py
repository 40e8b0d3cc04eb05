"""What a reader reported, to be waited for. Asserts nothing itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from model.hosts.zookeeper.protocol import Connected, ConnectionState
from model.zookeeper import ZnodeChanged

PATIENCE_S = 60.0

S = TypeVar("S", bound=ConnectionState)


class Heard:
    """States and events in the order of arrival."""

    def __init__(self) -> None:
        self.states: list[ConnectionState] = []
        self.events: list[ZnodeChanged] = []
        self._news = threading.Condition()

    def on_state(self, state: ConnectionState) -> None:
        with self._news:
            self.states.append(state)
            self._news.notify_all()

    def on_events(self, events: Sequence[ZnodeChanged]) -> None:
        with self._news:
            self.events.extend(events)
            self._news.notify_all()

    def epoch(self, number: int) -> Connected:
        """Wait for the connection with this number, or a later one."""
        return self.state(Connected, lambda state: state.epoch >= number)

    def state(self, kind: type[S], matches: Callable[[S], bool] = lambda _: True) -> S:
        """Wait for a state, which may have been reported already."""
        with self._news:
            assert self._news.wait_for(lambda: self._find(kind, matches) is not None, PATIENCE_S), self.states
            found = self._find(kind, matches)
            assert found is not None
            return found

    def paths(self, *wanted: str) -> set[str]:
        """Wait until an event was reported for each of these paths; all the paths reported."""
        with self._news:
            seen = lambda: {event.path for event in self.events}  # noqa: E731
            assert self._news.wait_for(lambda: seen() >= set(wanted), PATIENCE_S), self.events
            return seen()

    def _find(self, kind: type[S], matches: Callable[[S], bool]) -> S | None:
        return next((state for state in self.states if isinstance(state, kind) and matches(state)), None)
