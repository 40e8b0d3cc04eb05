"""All traffic of a sandbox: the load's process, and the consumers of a ZooKeeper group, each a process of its own.

The load's process is started, ordered about and heard here; a ZooKeeper consumer is killed when it is stopped, and
the lines it prints are read here.
"""

import asyncio
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from model.hosts.child_process import AskedChild
from model.sandbox.cluster.broker_process import LogFile, started
from model.sandbox.cluster.sandbox_cluster import SandboxCluster
from model.sandbox.control.messages import EventFeed, LoadView, ProcessStatus, ProcessView, SandboxReady
from model.sandbox.load.messages import AuditReport, ConsumerStatus, LoadFacts, LoadOrder, LoadSetup
from model.sandbox.processes import GuardedProcess, SandboxError
from model.sandbox.switchboard import CLIENT

T = TypeVar("T")

ZOOKEEPER_CONSUMER = (sys.executable, "-P", "-m", "model.hosts.zookeeper_consumer")
"""-P: whatever lies in the current folder is not ours."""
COMMIT_EVERY_MS = 5_000


class _Line(msgspec.Struct, frozen=True):
    happening: str
    total: int = 0
    partitions: tuple[tuple[str | int, ...], ...] = ()


class ZooKeeperMember:
    """Not started by the constructor."""

    def __init__(self, zookeeper: str, group: str, member: str, topics: Sequence[str], folder: Path) -> None:
        """`zookeeper` is a connect string with its chroot, `folder` where its log goes."""
        self.group = group
        self.member = member
        self.status: ConsumerStatus = "stopped"
        self.partitions: tuple[str, ...] = ()
        self.log = folder / f"consumer-{group}-{member}.log"
        self._command = (
            *ZOOKEEPER_CONSUMER,
            *("--zookeeper", zookeeper, "--group", group, "--listener", CLIENT),
            *("--auto-commit-interval-ms", str(COMMIT_EVERY_MS)),
            *(word for topic in topics for word in ("--topic", topic)),
        )
        self._process: GuardedProcess | None = None
        self._read = 0
        self._before = 0
        self._total = 0

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        return self._process.pid if self._process and self._process.exit_code() is None else None

    @property
    def consumed(self) -> int:
        return self._before + self._total

    async def start(self) -> None:
        """Start it; it joins when it can. Raises SandboxError."""
        self.status, self._before, self._total = "joining", self.consumed, 0
        start = partial(GuardedProcess, self._command, folder=self.log.parent, log=self.log)
        self._process = await started(start, GuardedProcess.close)

    async def cut_off(self) -> None:
        """SIGKILL: its znodes stay until its session times out."""
        self.status, self.partitions = "stopped", ()
        if self._process is not None:
            await asyncio.to_thread(self._process.close)

    def look(self) -> None:
        """Read what it said since the last time."""
        try:
            with self.log.open("rb") as file:
                file.seek(self._read)
                text = file.read()
        except OSError:
            return
        text = text[: text.rfind(b"\n") + 1]
        self._read += len(text)
        for line in text.splitlines():
            if line.startswith(b"{") and self.status != "stopped":
                self._hear(line)

    def _hear(self, text: bytes) -> None:
        try:
            line = msgspec.json.decode(text, type=_Line)
        except msgspec.MsgspecError:
            return
        match line.happening:
            case "consumed":
                self._total = line.total
            case "claimed":
                self.status = "consuming"
                self.partitions = tuple(f"{each[0]}-{each[1]}" for each in line.partitions)
            case "rebalance-began" | "released" | "session-expired":
                self.status, self.partitions = "joining", ()
            case "gave-up" | "left":
                self.status, self.partitions = "stopped", ()
            case _:
                pass


LOAD = (sys.executable, "-P", "-m", "model.sandbox.load")
"""-P: whatever lies in the current folder is not ours."""


class LoadProcess:
    """From `start` to `close`. It ends with its standard input, and so with this process."""

    def __init__(self, log: Path, on_facts: Callable[[LoadFacts], None], on_end: Callable[[], None]) -> None:
        """`on_end` is called when it ends unasked."""
        self._log = log
        self._on_facts = on_facts
        self._on_end = on_end
        self._child: AskedChild[LoadFacts] | None = None

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        return None if self._child is None or self._child.is_lost else self._child.pid

    async def start(self, setup: LoadSetup) -> None:
        """Start it; the load begins as soon as it can."""
        self._child = AskedChild[LoadFacts]("the load's process", LOAD, LoadFacts, SandboxError, log=self._log)
        self._child.last_word = f"the load's process has ended; see {self._log}"
        await self._child.open(self._on_facts, self._ended)
        self._child.begin(setup)

    async def ask(self, order: LoadOrder, answer: type[T]) -> T:
        """What was done, or found. Raises SandboxError: refused, or the process is gone."""
        if self._child is None:
            raise SandboxError(f"the load's process has ended; see {self._log}")
        return await self._child.ask(order, answer)

    async def close(self) -> None:
        """End it; nobody waits for its goodbye."""
        if self._child is not None:
            await self._child.close(self._child.last_word, patience_s=0)

    async def _ended(self, _why: str) -> None:
        self._on_end()


COORDINATOR_GROUP = "billing"
ZOOKEEPER_GROUP = "reports"
CONSUMERS = tuple((COORDINATOR_GROUP, f"c{number}") for number in (1, 2, 3))
ZOOKEEPER_CONSUMERS = ("z1", "z2")
RATE_OVER_S = 3.0
LOOK_EVERY_S = 0.5
LAST_LINES = 8
_STATUS: dict[ConsumerStatus, ProcessStatus] = {"joining": "starting", "consuming": "running", "stopped": "killed"}


class Load:
    """From `start` to `close`. For one event loop."""

    def __init__(self, cluster: SandboxCluster, events: EventFeed, rate: float) -> None:
        self._cluster = cluster
        self._events = events
        self._facts = LoadFacts(rate=rate, acknowledged=0, overwritten=0, waiting=0, error="", consumers=())
        self._past: deque[tuple[float, int, int]] = deque()
        """Monotonic time, acknowledged and consumed, of the last seconds."""
        self._process = LoadProcess(cluster.folder.load, self._hear, self._ended)
        self._members: dict[tuple[str, str], ZooKeeperMember] = {}
        self._looking: asyncio.Task[None] | None = None
        self._statuses: dict[str, tuple[ProcessStatus, int]] = {}

    async def start(self) -> None:
        """Start it all; records flow as soon as they can. Raises SandboxError."""
        partitions = await self._cluster.partitions_to_load()
        if not partitions:
            raise SandboxError("--load needs topics to write to; give --topics 1 or more")
        topics = sorted({topic for topic, _ in partitions})
        setup = LoadSetup(
            bootstrap=tuple(self._cluster.bootstrap.split(",")),
            partitions=tuple(partitions),
            rate=self._facts.rate,
            consumers=CONSUMERS,
        )
        await self._process.start(setup)
        folder = Path(self._cluster.folder.path)
        for name in ZOOKEEPER_CONSUMERS:
            member = ZooKeeperMember(self._cluster.zookeeper, ZOOKEEPER_GROUP, name, topics, folder)
            self._members[ZOOKEEPER_GROUP, name] = member
            await member.start()
        self._looking = asyncio.create_task(self._look())

    @property
    def view(self) -> LoadView:
        facts = self._facts
        first, last = (self._past[0], self._past[-1]) if self._past else ((0.0, 0, 0),) * 2
        seconds = max(last[0] - first[0], LOOK_EVERY_S)
        return LoadView(
            rate=facts.rate,
            acknowledged_per_s=round((last[1] - first[1]) / seconds, 1),
            acknowledged=facts.acknowledged,
            waiting=facts.waiting,
            consumed_per_s=round((last[2] - first[2]) / seconds, 1),
            consumed=last[2],
            lost=facts.overwritten,
            error=facts.error,
        )

    @property
    def processes(self) -> tuple[ProcessView, ...]:
        pid = self._process.pid
        log = str(self._cluster.folder.load)
        producer = ProcessView(
            name="producer",
            kind="producer",
            status="crashed" if pid is None else "running",
            pid=pid,
            detail=self._facts.error,
            log=log,
        )
        consumers = [
            self._consumer(each.group, each.member, each.status, each.partitions, pid, log)
            for each in self._facts.consumers
        ]
        members = [
            self._consumer(each.group, each.member, each.status, each.partitions, each.pid, str(each.log))
            for each in self._members.values()
        ]
        return (producer, *consumers, *members)

    def in_pids(self, ready: SandboxReady) -> SandboxReady:
        pids = {f"consumer-{each.group}-{each.member}": each.pid for each in self._members.values() if each.pid}
        if self._process.pid is not None:
            pids["load"] = self._process.pid
        return msgspec.structs.replace(ready, pids={**ready.pids, **pids})

    async def audit(self) -> AuditReport:
        """Stop producing, and prove what became of the records. Raises SandboxError."""
        self._events.tell("audit", "the load stops producing; every partition is read")
        report = await self._process.ask(LoadOrder(audit=True), AuditReport)
        self._events.tell("audit", str(report))
        return report

    async def stop_consumer(self, group: str, member: str) -> str:
        """Cut a consumer off. Raises SandboxError."""
        own = self._members.get((group, member))
        if own is None:
            return await self._process.ask(LoadOrder(stop=(group, member)), str)
        if own.pid is None:
            raise SandboxError(f"consumer {group}/{member} does not run")
        pid = own.pid
        await own.cut_off()
        return f"consumer {group}/{member} was killed (SIGKILL, pid {pid})"

    async def start_consumer(self, group: str, member: str) -> str:
        """Bring it back. Raises SandboxError."""
        own = self._members.get((group, member))
        if own is None:
            return await self._process.ask(LoadOrder(start=(group, member)), str)
        if own.pid is not None:
            raise SandboxError(f"consumer {group}/{member} runs")
        await own.start()
        return f"consumer {group}/{member} is back"

    async def set_rate(self, rate: float) -> str:
        """More or fewer records. Raises SandboxError."""
        if not 0 <= rate <= 1_000_000:
            raise SandboxError(f"a rate of {rate:g}: 0 to 1,000,000 records a second are possible")
        return await self._process.ask(LoadOrder(rate=rate), str)

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(*(member.cut_off() for member in self._members.values()))
        await self._process.close()

    def _hear(self, facts: LoadFacts) -> None:
        self._facts = facts

    def _ended(self) -> None:
        log = LogFile(self._cluster.folder.load)
        text = f"the load's process ended unasked; see {log.path}"
        self._events.tell("load", text, subject="producer", details=log.last_lines(LAST_LINES))

    async def _look(self) -> None:
        while True:
            for member in self._members.values():
                member.look()
            consumed = sum(each.consumed for each in (*self._facts.consumers, *self._members.values()))
            self._past.append((time.monotonic(), self._facts.acknowledged, consumed))
            while self._past[-1][0] - self._past[0][0] > RATE_OVER_S:
                self._past.popleft()
            await asyncio.sleep(LOOK_EVERY_S)

    def _consumer(
        self, group: str, member: str, status: ConsumerStatus, partitions: tuple[str, ...], pid: int | None, log: str
    ) -> ProcessView:
        kind = "ZooKeeper" if (group, member) in self._members else "coordinator"
        name = f"consumer {group}/{member}"
        now, since_ms = self._statuses.get(name, (None, 0))
        if now != _STATUS[status]:
            since_ms = time.time_ns() // 1_000_000
            self._statuses[name] = _STATUS[status], since_ms
        return ProcessView(
            name=name,
            kind="consumer",
            status=_STATUS[status],
            pid=pid if status != "stopped" else None,
            since_ms=since_ms,
            detail=f"{kind} group, owns {', '.join(partitions) or 'nothing'}",
            log=log,
        )
