"""A whole sandbox in this process: the cluster, its load, what is done to them, and what is told of it.

`kdrill sandbox --headless` and the control process are both one of these.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence

from model.hosts.file_limit import raise_file_limit
from model.sandbox.cluster.broker_process import LIVE_BROKER
from model.sandbox.cluster.chronicle import Chronicle, OnEvent, now_ms
from model.sandbox.cluster.options import SandboxOptions
from model.sandbox.cluster.sandbox_cluster import SandboxCluster
from model.sandbox.control.messages import Done
from model.sandbox.control.state import SandboxReady, SandboxState
from model.sandbox.errors import SandboxError
from model.sandbox.faults.bench import Bench
from model.sandbox.faults.faults import Deed
from model.sandbox.faults.outcome import Site
from model.sandbox.load.load import Load
from model.sandbox.load.report import AuditReport
from model.sandbox.scenarios.outcome import ScenarioOutcome
from model.sandbox.scenarios.saving import session_text
from model.sandbox.scenarios.scenario import Scenario

LOOK_EVERY_S = 0.1
LAST_LINES = 8

OnState = Callable[[SandboxState], None]


class Sandbox:
    """From `start` to `close`, in one event loop."""

    def __init__(
        self,
        options: SandboxOptions,
        on_event: OnEvent,
        on_state: OnState,
        broker_command: Sequence[str] = LIVE_BROKER,
    ) -> None:
        """Takes the folder. Raises SandboxError: the options or the folder are of no use."""
        self.chronicle = Chronicle(on_event)
        self.cluster = SandboxCluster(options, self.chronicle, broker_command)
        self._options = options
        self._on_state = on_state
        self._load: Load | None = None
        self._bench = Bench(Site(self.cluster, lambda: self._load), self.chronicle)
        self._told = SandboxState()
        self._ready_ms = 0
        self._watching: asyncio.Task[None] | None = None

    @property
    def state(self) -> SandboxState:
        """How everything stands now."""
        load = self._load
        return SandboxState(
            processes=(*self.cluster.views(), *(load.processes if load else ())),
            links=self.cluster.links.views(),
            faults=self._bench.open_faults,
            load=load.view if load else None,
        )

    async def start(self) -> SandboxReady:
        """Wait until every broker serves, and the load flows. Raises SandboxError, with nothing left behind."""
        raise_file_limit()  # its links take two files for each client
        self._watching = asyncio.create_task(self._watch())
        try:
            await self.cluster.start()
            if self._options.load:
                self._load = Load(self.cluster, self.chronicle, self._options.rate)
                await self._load.start()
        except BaseException:
            await self.close()
            raise
        self._ready_ms = now_ms()
        ready = self.cluster.ready()
        return ready if self._load is None else self._load.in_pids(ready)

    async def do(self, deed: Deed) -> Done:
        """Carry out a fault, a repair or an undo. Raises SandboxError: refused."""
        try:
            return await self._bench.do(deed)
        finally:
            self._tell_state()

    async def audit(self) -> AuditReport:
        """Stop producing, and prove what became of the acknowledged records. Raises SandboxError."""
        if self._load is None:
            raise SandboxError("there is no load to audit: start the sandbox with --load")
        return await self._load.audit()

    async def play(self, scenario: Scenario) -> ScenarioOutcome:
        """Play a scenario on it. Raises SandboxError: its cluster can't be watched."""
        from model.sandbox.scenarios.playing import play  # noqa: PLC0415 - takes numpy

        return await play(scenario, self, self.cluster.zookeeper)

    def scenario_text(self) -> str:
        """All that was done since it served, as a scenario file, which ends with what one hopes for."""
        return session_text(self._options, self._bench.history, self._ready_ms)

    async def close(self) -> None:
        """End everything."""
        if self._watching is not None:
            self._watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watching
        if self._load is not None:
            await self._load.close()
        await self.cluster.close()

    async def _watch(self) -> None:
        while True:
            self._notice_ends()
            self._tell_state()
            await asyncio.sleep(LOOK_EVERY_S)

    def _notice_ends(self) -> None:
        for broker, code in self.cluster.ended_brokers():
            if not self._bench.broker_ended(broker):
                log = self.cluster.brokers[broker].log
                text = f"broker {broker} ended unasked, exit code {code}; see {log.path}"
                self.chronicle.tell("process", text, subject=f"broker {broker}", details=log.last_lines(LAST_LINES))
        for member in self.cluster.ensemble.notice_ends():
            name = f"zookeeper {member.number}"
            self.chronicle.tell("process", f"ZooKeeper {member.number} ended unasked", subject=name)

    def _tell_state(self) -> None:
        state = self.state
        if state != self._told:
            self._told = state
            self._on_state(state)
