"""All traffic of a sandbox: the load's process, and the consumers of a ZooKeeper group, each a process of its own."""

import asyncio
import time
from collections import deque
from pathlib import Path

import msgspec

from model.sandbox.cluster.chronicle import Chronicle
from model.sandbox.cluster.log_file import LogFile
from model.sandbox.cluster.sandbox_cluster import SandboxCluster
from model.sandbox.control.state import LoadView, ProcessStatus, ProcessView, SandboxReady
from model.sandbox.errors import SandboxError
from model.sandbox.load.consumer_status import ConsumerStatus
from model.sandbox.load.load_process import LoadProcess
from model.sandbox.load.messages import LoadFacts, LoadSetup
from model.sandbox.load.report import AuditReport
from model.sandbox.load.zookeeper_member import ZooKeeperMember

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

    def __init__(self, cluster: SandboxCluster, chronicle: Chronicle, rate: float) -> None:
        self._cluster = cluster
        self._chronicle = chronicle
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
        """The traffic."""
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
        """The producer and every consumer."""
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
        """With the load's own."""
        pids = {f"consumer-{each.group}-{each.member}": each.pid for each in self._members.values() if each.pid}
        if self._process.pid is not None:
            pids["load"] = self._process.pid
        return msgspec.structs.replace(ready, pids={**ready.pids, **pids})

    async def audit(self) -> AuditReport:
        """Stop producing, and prove what became of the records. Raises SandboxError."""
        self._chronicle.tell("audit", "the load stops producing; every partition is read")
        report = await self._process.audit()
        self._chronicle.tell("audit", str(report))
        return report

    async def stop_consumer(self, group: str, member: str) -> str:
        """Cut a consumer off. Raises SandboxError."""
        own = self._members.get((group, member))
        if own is None:
            return await self._process.ask(stop=(group, member))
        if own.pid is None:
            raise SandboxError(f"consumer {group}/{member} does not run")
        pid = own.pid
        await own.cut_off()
        return f"consumer {group}/{member} was killed (SIGKILL, pid {pid})"

    async def start_consumer(self, group: str, member: str) -> str:
        """Bring it back. Raises SandboxError."""
        own = self._members.get((group, member))
        if own is None:
            return await self._process.ask(start=(group, member))
        if own.pid is not None:
            raise SandboxError(f"consumer {group}/{member} runs")
        await own.start()
        return f"consumer {group}/{member} is back"

    async def set_rate(self, rate: float) -> str:
        """More or fewer records. Raises SandboxError."""
        if not 0 <= rate <= 1_000_000:
            raise SandboxError(f"a rate of {rate:g}: 0 to 1,000,000 records a second are possible")
        return await self._process.ask(rate=rate)

    async def close(self) -> None:
        """End it all."""
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(*(member.cut_off() for member in self._members.values()))
        await self._process.close()

    def _hear(self, facts: LoadFacts) -> None:
        self._facts = facts

    def _ended(self) -> None:
        log = LogFile(self._cluster.folder.load)
        text = f"the load's process ended unasked; see {log.path}"
        self._chronicle.tell("load", text, subject="producer", details=log.last_lines(LAST_LINES))

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
