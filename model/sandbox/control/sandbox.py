"""A whole sandbox in this process: the cluster, its load, what is done to them, and what is reported of it.

`kdrill sandbox --headless` and the control process are both one of these. The control process takes orders from one
client over a pair of pipes.
"""

import asyncio
import contextlib
import re
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from model.hosts.child_process import Garbled, ParentProcess
from model.hosts.process import crash_line, raise_file_limit
from model.sandbox.broker_process import LIVE_BROKER
from model.sandbox.fault_injector import FaultInjector
from model.sandbox.faults import Deed
from model.sandbox.faults_carried_out import Site
from model.sandbox.load.load import Load
from model.sandbox.messages import (
    Audit,
    AuditReport,
    ControlNews,
    Done,
    EventFeed,
    OnEvent,
    Order,
    SandboxReady,
    SandboxState,
    SessionScenario,
    now_ms,
)
from model.sandbox.options import SandboxOptions
from model.sandbox.processes import SandboxError
from model.sandbox.sandbox_cluster import SandboxCluster
from model.sandbox.scenario import SandboxOutcome, SandboxScenario, read_scenario, session_text

LOOK_EVERY_S = 0.1
LAST_LINES = 8
_LAGGARD = re.compile(r"(\S+-\d+): (broker \d+ .*, it leaves the ISR)\.")
"""As `model.broker.isr` tells it."""
_FAILURE = re.compile(r" E (\S+ v\d+) of \S+ failed here: (.*)")
"""As `model.hosts.wire.server` tells it."""

_BY_MESSAGES = " by replica.lag.max.messages: a burst is enough, it need not be slow"

OnState = Callable[[SandboxState], None]


class RunningSandbox:
    """From `start` to `close`, in one event loop."""

    def __init__(
        self,
        options: SandboxOptions,
        on_event: OnEvent,
        on_state: OnState,
        broker_command: Sequence[str] = LIVE_BROKER,
    ) -> None:
        """Takes the folder. Raises SandboxError: the options or the folder are of no use."""
        self.events = EventFeed(on_event)
        self.cluster = SandboxCluster(options, self.events, broker_command)
        self._options = options
        self._on_state = on_state
        self._load: Load | None = None
        self._faults = FaultInjector(Site(self.cluster, lambda: self._load), self.events)
        self._told = SandboxState()
        self._read = {broker: process.log.size() for broker, process in self.cluster.brokers.items()}
        """How far each broker's log was read."""
        self._laggards = 0
        self._failures: set[tuple[int, str]] = set()
        """Broker and request; each is told once, since whoever failed at a request fails at the next one."""
        self._ready_ms = 0
        self._watching: asyncio.Task[None] | None = None

    @property
    def state(self) -> SandboxState:
        """How everything stands now."""
        load = self._load
        return SandboxState(
            processes=(*self.cluster.views(), *(load.processes if load else ())),
            links=(*self.cluster.links.views(), *(load.links if load else ())),
            faults=self._faults.open_faults,
            laggards=self._laggards,
            load=load.view if load else None,
        )

    async def start(self) -> SandboxReady:
        """Wait until every broker serves, and the load flows. Raises SandboxError, with nothing left behind."""
        raise_file_limit()  # its links take two files for each client
        self._watching = asyncio.create_task(self._watch())
        try:
            await self.cluster.start()
            if self._options.load:
                self._load = Load(self.cluster, self.events, self._options.rate)
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
            return await self._faults.do(deed)
        finally:
            self._tell_state()

    async def audit(self) -> AuditReport:
        """Stop producing, and prove what became of the acknowledged records. Raises SandboxError."""
        if self._load is None:
            raise SandboxError("there is no load to audit: start the sandbox with --load")
        return await self._load.audit()

    async def play(self, scenario: SandboxScenario) -> SandboxOutcome:
        """Play a scenario on it. Raises SandboxError: its cluster can't be watched."""
        from model.sandbox.scenario_run import run_scenario  # noqa: PLC0415 - takes numpy

        return await run_scenario(scenario, self, self.cluster.ready())

    def scenario_text(self) -> str:
        """All that was done since it served, as a scenario file, which ends with what one hopes for."""
        return session_text(self._options, self._faults.history, self._ready_ms)

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
            self._notice_said()
            self._tell_state()
            await asyncio.sleep(LOOK_EVERY_S)

    def _notice_said(self) -> None:
        """What nobody but a broker knows, by its log."""
        for broker, process in self.cluster.brokers.items():
            text, self._read[broker] = process.log.new_text(self._read[broker])
            self._notice_laggards(broker, text)
            self._notice_failures(broker, text)

    def _notice_laggards(self, broker: int, text: str) -> None:
        """ZooKeeper has who is in an ISR; why one left it, only the leader says."""
        for partition, why in _LAGGARD.findall(text):
            self._laggards += 1
            rule = _BY_MESSAGES if "messages behind" in why else ""
            self.events.tell("isr", f"its leader b{broker} says: {why}{rule}", subject=partition)

    def _notice_failures(self, broker: int, text: str) -> None:
        """The client hears of nothing but UNKNOWN_SERVER_ERROR."""
        for request, why in _FAILURE.findall(text):
            if (broker, request) not in self._failures:
                self._failures.add((broker, request))
                told = f"broker {broker} failed at a {request} request, and answered UNKNOWN_SERVER_ERROR: {why}"
                path = self.cluster.brokers[broker].log.path
                self.events.tell("failure", f"{told}; see {path}", subject=f"broker {broker}")

    def _notice_ends(self) -> None:
        for broker, code in self.cluster.ended_brokers():
            if not self._faults.broker_ended(broker):
                log = self.cluster.brokers[broker].log
                text = f"broker {broker} ended unasked, exit code {code}; see {log.path}"
                self.events.tell("process", text, subject=f"broker {broker}", details=log.last_lines(LAST_LINES))
        for ended in self.cluster.control.notice_ends():
            self.events.tell("process", ended.text, subject=ended.subject, details=ended.details)

    def _tell_state(self) -> None:
        state = self.state
        if state != self._told:
            self._told = state
            self._on_state(state)


MOST_UNREAD_BYTES = 1 << 18


async def serve(output: BinaryIO) -> None:
    """One sandbox, from the first message to the end of the input, or SIGTERM."""
    service = SandboxControl(await ParentProcess.of(output))
    work = asyncio.create_task(service.run())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, work.cancel)
    try:
        await work
    except asyncio.CancelledError:
        pass
    finally:
        await service.close()


class SandboxControl:
    """Between the pipes and the sandbox."""

    def __init__(self, owner: ParentProcess) -> None:
        self._owner = owner
        self._sandbox: RunningSandbox | None = None

    async def run(self) -> None:
        """Take orders until they end."""
        try:
            options = await self._owner.first(SandboxOptions)
        except Garbled as error:
            self._owner.tell(ControlNews(failed=f"these are no options: {error}"))
            return
        if options is not None:
            self._owner.spawn(self._open(options))
            await self._owner.answer_all(Order, self._answer, _why_not)

    async def close(self) -> None:
        """End the sandbox."""
        await self._owner.cancel()
        if self._sandbox is not None:
            await self._sandbox.close()

    async def _open(self, options: SandboxOptions) -> None:
        try:
            self._sandbox = RunningSandbox(
                options, lambda event: self._owner.tell(ControlNews(event=event)), self._tell_state
            )
            self._owner.tell(ControlNews(ready=await self._sandbox.start()))
            if options.scenario is not None:
                await self._sandbox.play(read_scenario(Path(options.scenario)))
        except SandboxError as error:
            self._owner.tell(ControlNews(failed=str(error)))

    async def _answer(self, order: Order) -> Done | AuditReport | str:
        sandbox = self._sandbox
        if sandbox is None:
            raise SandboxError("the sandbox does not serve yet")
        if order.do is not None:
            return await sandbox.do(order.do)
        match order.ask:
            case Audit():
                return await sandbox.audit()
            case SessionScenario():
                return sandbox.scenario_text()
            case None:
                raise SandboxError("an order needs `do` or `ask`")

    def _tell_state(self, state: SandboxState) -> None:
        """Never waits: while a client is suspended, the links must go on. It misses states then, and no events."""
        if self._owner.unread_bytes <= MOST_UNREAD_BYTES:
            self._owner.tell(ControlNews(state=state))


def _why_not(error: Exception) -> str:
    if isinstance(error, msgspec.DecodeError):
        return f"this is no order: {error}"
    return str(error) if isinstance(error, SandboxError) else crash_line(error)
