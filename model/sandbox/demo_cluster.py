"""Plays a Kafka cluster on the sandbox's ZooKeeper: a tree with sessions behind it, and no broker.

What it plays is decided in `demo`; here it is only carried out. Nothing reacts to it: ending a broker's session makes
its znode vanish, but no controller elects new leaders.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from model.sandbox.demo.scenery import opening_state
from model.sandbox.demo.steps import next_change
from model.sandbox.demo.tree import CLUSTER, DemoCommand, EndSession, InSession, broker_session, opening_commands
from model.sandbox.znode_session import ZnodeSession

ROOT = "/kafka"


def system_clock_ms() -> int:
    """Wall-clock time, ms since the epoch."""
    return time.time_ns() // 1_000_000


class DemoCluster:
    """The demo cluster's tree and its sessions: one per live broker and consumer. For one thread at a time."""

    def __init__(self, address: str, root: str = ROOT, *, clock_ms: Callable[[], int] = system_clock_ms) -> None:
        """Touches nothing yet. `address` is a server's `host:port`; the tree goes under `root`, which must be new."""
        self._address = address
        self._root = root
        self._clock_ms = clock_ms
        self._sessions: dict[str, ZnodeSession] = {}
        now_ms = clock_ms()
        self._state = opening_state(now_ms)
        self._opening = opening_commands(self._state, now_ms)

    def open(self) -> Self:
        """Write the tree. Raises SandboxError, with no session left open."""
        try:
            names = {command.session for command in self._opening}
            with ThreadPoolExecutor(len(names)) as pool:
                list(pool.map(self._session, names))
            self._session(CLUSTER).make_path()
            self._carry_out(self._opening)
        except BaseException:
            self.close()
            raise
        return self

    def step(self, number: int) -> None:
        """Make change `number` happen: the same numbers in the same order, the same history. Raises SandboxError."""
        self._state, commands = next_change(self._state, number, self._clock_ms())
        self._carry_out(commands)

    def lose_broker(self, broker: int) -> None:
        """End a broker's session: its registration vanishes, and `/controller` if it was the controller."""
        self._carry_out([EndSession(broker_session(broker))])

    def close(self) -> None:
        """End all sessions; what is not ephemeral stays."""
        self._carry_out([EndSession(name) for name in self._sessions])

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *error: object) -> None:
        self.close()

    def _session(self, name: str) -> ZnodeSession:
        if name not in self._sessions:
            self._sessions[name] = ZnodeSession(self._address, self._root)
        return self._sessions[name]

    def _carry_out(self, commands: Iterable[DemoCommand]) -> None:
        for command in commands:
            match command:
                case InSession(name, writes):
                    self._session(name).apply(writes)
                case EndSession(name):
                    if session := self._sessions.pop(name, None):
                        session.close()
