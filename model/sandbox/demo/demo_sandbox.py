"""What `kdrill` without a source opens: an embedded ZooKeeper with the demo cluster on it, alive.

A tree with sessions behind it, and no broker: ending a broker's session makes its znode vanish, but no controller
elects new leaders. It is watched like any other cluster, through its `source`.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from model.hosts.memory_zookeeper.snapshot import session_password
from model.sandbox.demo.large_plan import LARGE
from model.sandbox.demo.plan import DemoPlan
from model.sandbox.demo.script import ROOT, STEP_MS, Script
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
        self._state = opening_state(plan, clock_ms())

    @classmethod
    def resumed(cls, script: Script, address: str) -> Self:
        """The cluster of a server that began with the script's tree, in the sessions that it has."""
        cluster = cls(script.state.plan, address)
        cluster._state = script.state
        cluster._begin({name: (number, session_password(number)) for name, number in script.sessions.items()})
        return cluster

    def open(self) -> Self:
        """Write the tree. Raises SandboxError, with no session left open."""
        commands = opening_commands(self._state, self._state.began_ms)
        self._begin(dict.fromkeys(command.session for command in commands))
        try:
            self._session(CLUSTER).make_path()
            self._carry_out(commands)
        except BaseException:
            self.close()
            raise
        return self

    def step(self, number: int, at_ms: int | None = None) -> None:
        """Make change `number` happen: the same numbers in the same order, the same history. Raises SandboxError.

        `at_ms`: when that is, as the script has it; None: now.
        """
        self._state, commands = next_change(self._state, number, self._clock_ms() if at_ms is None else at_ms)
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

    def _begin(self, sessions: Mapping[str, tuple[int, bytes] | None]) -> None:
        try:
            with ThreadPoolExecutor(len(sessions)) as pool:
                list(pool.map(self._session, sessions, sessions.values()))
        except BaseException:
            self.close()
            raise

    def _session(self, name: str, own: tuple[int, bytes] | None = None) -> ZnodeSession:
        if name not in self._sessions:
            self._sessions[name] = ZnodeSession(self._address, self._root, own)
        return self._sessions[name]

    def _carry_out(self, commands: Iterable[DemoCommand]) -> None:
        for command in commands:
            match command:
                case InSession(name, writes):
                    self._session(name).apply(writes)
                case EndSession(name):
                    if session := self._sessions.pop(name, None):
                        session.close()


PERIOD_S = STEP_MS / 1000


class DemoSandbox:
    """A server, the demo cluster and the thread that moves it. Ends with this process, however that ends."""

    def __init__(
        self, plan: DemoPlan = LARGE, *, period_s: float | None = PERIOD_S, archives: Path | None = None
    ) -> None:
        """Touches nothing yet. `period_s` is the time between two changes, None for a cluster that stands still;
        `archives` is where class archives are cached, the user's cache folder if None."""
        self.source = ""
        """`zk://127.0.0.1:PORT/kafka`, once open."""
        self.began_ms = 0
        """When its script began, once open: there is a past."""
        self._plan = plan
        self._period_s = period_s
        self._archives = archives
        self._open = ExitStack()
        self._closing = threading.Event()

    def open(self) -> Self:
        """Start everything. Raises SandboxError, with nothing left behind."""
        with ExitStack() as opening:
            past = self._plan.past
            self.began_ms = system_clock_ms() - past * STEP_MS
            script = Script(self._plan, self.began_ms).play(past)
            server = opening.enter_context(start_zookeeper(archives=self._archives, begins_with=script.server))
            cluster = DemoCluster.resumed(script, server.address)
            opening.callback(cluster.close)
            if self._period_s is not None:
                ticker = threading.Thread(target=self._animate, args=(cluster, past, self._period_s), daemon=True)
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

    def _animate(self, cluster: DemoCluster, number: int, period_s: float) -> None:
        """Steps are as far apart as the script has them, whatever each takes."""
        due_s = time.monotonic()
        while not self._closing.wait(max((due_s := due_s + period_s) - time.monotonic(), 0)):
            # A step that failed is missed, not retried: most of the next ones do not depend on it.
            with suppress(SandboxError):
                cluster.step(number, self.began_ms + (number + 1) * STEP_MS)
            number += 1
