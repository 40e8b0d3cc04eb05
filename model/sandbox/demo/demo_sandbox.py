"""What `kdrill` without a source opens: an embedded ZooKeeper with the demo cluster on it, alive.

A tree with sessions behind it, and no broker: ending a broker's session makes its znode vanish, but no controller
elects new leaders. It is watched like any other cluster, through its `source`.
"""

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from model.sandbox.demo.large_plan import LARGE
from model.sandbox.demo.plan import DemoPlan
from model.sandbox.demo.state import opening_state
from model.sandbox.demo.tree import (
    CLUSTER,
    DemoCommand,
    EndSession,
    InSession,
    broker_session,
    next_change,
    opening_commands,
)
from model.sandbox.embedded_zookeeper import ZnodeSession, start_zookeeper
from model.sandbox.processes import SandboxError

ROOT = "/kafka"


def system_clock_ms() -> int:
    """Wall-clock time, ms since the epoch."""
    return time.time_ns() // 1_000_000


class DemoCluster:
    """The demo cluster's tree and its sessions: one per live broker and consumer. For one thread at a time."""

    def __init__(
        self, plan: DemoPlan, address: str, root: str = ROOT, *, clock_ms: Callable[[], int] = system_clock_ms
    ) -> None:
        """Touches nothing yet. `address` is a server's `host:port`; the tree goes under `root`, which must be new."""
        self._address = address
        self._root = root
        self._clock_ms = clock_ms
        self._sessions: dict[str, ZnodeSession] = {}
        now_ms = clock_ms()
        self._state = opening_state(plan, now_ms)
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


PERIOD_S = 2.0


class DemoSandbox:
    """A server, the demo cluster and the thread that moves it. Ends with this process, however that ends."""

    def __init__(
        self, plan: DemoPlan = LARGE, *, period_s: float | None = PERIOD_S, archives: Path | None = None
    ) -> None:
        """Touches nothing yet. `period_s` is the time between two changes, None for a cluster that stands still;
        `archives` is where class archives are cached, the user's cache folder if None."""
        self.source = ""
        """`zk://127.0.0.1:PORT/kafka`, once open."""
        self._plan = plan
        self._period_s = period_s
        self._archives = archives
        self._open = ExitStack()
        self._closing = threading.Event()

    def open(self) -> Self:
        """Start everything. Raises SandboxError, with nothing left behind."""
        with ExitStack() as opening:
            server = opening.enter_context(start_zookeeper(archives=self._archives))
            cluster = opening.enter_context(DemoCluster(self._plan, server.address))
            if self._period_s is not None:
                ticker = threading.Thread(target=self._animate, args=(cluster, self._period_s), daemon=True)
                ticker.start()
                opening.callback(ticker.join)
            opening.callback(self._closing.set)
            self.source = f"zk://{server.address}{ROOT}"
            self._open = opening.pop_all()
        return self

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *error: object) -> None:
        self.close()

    def _animate(self, cluster: DemoCluster, period_s: float) -> None:
        number = 0
        while not self._closing.wait(period_s):
            # A step that failed is missed, not retried: most of the next ones do not depend on it.
            with suppress(SandboxError):
                cluster.step(number)
            number += 1
