"""All traffic of a sandbox: the load's process, and the members of ZooKeeper groups, each a process of its own.

The load's process is started, ordered about and heard here. Of what members say (`members`), the feed is told here.
"""

import asyncio
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from model.hosts.child_process import AskedChild
from model.sandbox.link_proxy import Valve
from model.sandbox.load.members import GroupMember, GroupWatch, MemberReport, OldMember, OwnMember
from model.sandbox.messages import (
    AuditReport,
    ConsumerStatus,
    EventFeed,
    GroupView,
    LinkView,
    LoadFacts,
    LoadOrder,
    LoadSetup,
    LoadView,
    ProcessStatus,
    ProcessView,
    SandboxReady,
)
from model.sandbox.options import MOST_MEMBERS
from model.sandbox.processes import SandboxError
from model.sandbox.sandbox_cluster import SandboxCluster
from model.sandbox.server_process import ProcessLog

T = TypeVar("T")


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
KRAFT_CONSUMERS = ((ZOOKEEPER_GROUP, "r1"), (ZOOKEEPER_GROUP, "r2"))
"""Where there is no ZooKeeper, the second group is one of a coordinator, too."""
OLD_GROUP = "legacy"
KINDS: Mapping[str, type[GroupMember]] = {ZOOKEEPER_GROUP: OwnMember, OLD_GROUP: OldMember}
"""ZooKeeper group → what its members are."""
_NAME = re.compile(r"\w{1,20}", re.ASCII)
RATE_OVER_S = 3.0
LOOK_EVERY_S = 0.5
SETTLED_MS = 250
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
        self._topics: list[str] = []
        self._members: dict[tuple[str, str], GroupMember] = {}
        self._said: list[tuple[MemberReport, GroupMember]] = []
        """What was read of members' logs, and not heard yet."""
        self._kinds: Mapping[str, type[GroupMember]] = {} if cluster.options.is_kraft else KINDS
        self._watches = {group: GroupWatch(group) for group in self._kinds}
        self._looking: asyncio.Task[None] | None = None
        self._statuses: dict[str, tuple[ProcessStatus, int]] = {}

    async def start(self) -> None:
        """Start it all; records flow as soon as they can. Raises SandboxError."""
        partitions = await self._cluster.partitions_to_load()
        if not partitions:
            raise SandboxError("--load needs topics to write to; give --topics 1 or more")
        self._topics = sorted({topic for topic, _ in partitions})
        old = [f"o{number + 1}" for number in range(self._cluster.options.old_consumers)]
        if old:
            await OldMember.fetch()
        setup = LoadSetup(
            bootstrap=tuple(self._cluster.bootstrap.split(",")),
            partitions=tuple(partitions),
            rate=self._facts.rate,
            is_idempotent=not self._cluster.options.speaks_as_before((0, 11)),
            consumers=CONSUMERS if self._kinds else CONSUMERS + KRAFT_CONSUMERS,
        )
        await self._process.start(setup)
        members = {ZOOKEEPER_GROUP: ZOOKEEPER_CONSUMERS, OLD_GROUP: old}
        for group in self._kinds:
            for name in members[group]:
                await (await self._member(group, name)).start()
                self._watches[group].changed(name, "", reached=True)
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
            groups=tuple(
                GroupView(
                    name=group,
                    rebalanced=watch.rebalanced,
                    all_rebalanced=watch.is_rebalanced,
                    owned_twice=watch.owned_twice,
                    read_on=watch.read_on,
                    given_up=watch.given_up,
                    joining=tuple(name for name, each in self._of(group) if each.status == "joining"),
                )
                for group, watch in self._watches.items()
            ),
        )

    def _of(self, group: str) -> list[tuple[str, GroupMember]]:
        return [(name, member) for (each, name), member in self._members.items() if each == group]

    @property
    def links(self) -> tuple[LinkView, ...]:
        """Of members of ZooKeeper groups with ZooKeeper."""
        return tuple(member.link.view(f"{group}/{name}") for (group, name), member in self._members.items())

    def valve(self, place: str) -> Valve:
        """What shuts a member's link with ZooKeeper; the member as in `reports/z1`. Raises SandboxError."""
        member = self._members.get((place.partition("/")[0], place.partition("/")[2]))
        if member is None:
            raise SandboxError(f"there is no member {place} of a ZooKeeper group")
        return member.link.valve

    def link_changed(self, place: str) -> None:
        """That link was cut or is whole again."""
        group, _, member = place.partition("/")
        is_cut = self.valve(place).is_cut
        cause = f"{member} was cut off from ZooKeeper" if is_cut else f"{member} reaches ZooKeeper again"
        self._watches[group].changed(member, cause, reached=not is_cut)

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
        if group not in self._kinds:
            return await self._process.ask(LoadOrder(stop=(group, member)), str)
        own = self._members.get((group, member))
        if own is None or own.pid is None:
            raise SandboxError(f"consumer {group}/{member} does not run")
        pid = own.pid
        await own.cut_off()
        self._said = [each for each in self._said if each[1] is not own]
        self._watches[group].killed(member)
        return f"consumer {group}/{member} was killed (SIGKILL, pid {pid})"

    async def start_consumer(self, group: str, member: str) -> str:
        """Bring it back; to a ZooKeeper group, a new member may come, too. Raises SandboxError."""
        if group not in self._kinds:
            return await self._process.ask(LoadOrder(start=(group, member)), str)
        is_new = (group, member) not in self._members
        own = await self._member(group, member)
        if own.pid is not None:
            raise SandboxError(f"consumer {group}/{member} runs")
        await own.start()
        self._watches[group].changed(member, f"{member} {'joined' if is_new else 'came back'}", reached=True)
        return f"consumer {group}/{member} {'joins' if is_new else 'is back'}"

    async def set_rate(self, rate: float) -> str:
        """More or fewer records. Raises SandboxError."""
        if not 0 <= rate <= 1_000_000:
            raise SandboxError(f"a rate of {rate:g}: 0 to 1,000,000 records a second are possible")
        return await self._process.ask(LoadOrder(rate=rate), str)

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(*(member.close() for member in self._members.values()))
        await self._process.close()

    async def _member(self, group: str, name: str) -> GroupMember:
        """Which may be new. Raises SandboxError."""
        if (group, name) not in self._members:
            if not _NAME.fullmatch(name):
                raise SandboxError(f"{name!r} is no name of a member: letters, digits and underscores")
            if len(self._of(group)) >= MOST_MEMBERS:
                raise SandboxError(f"group {group} has {MOST_MEMBERS} members; more are not run")
            if self._kinds[group] is OldMember:
                await OldMember.fetch()
            cluster = self._cluster
            folder = Path(cluster.folder.path)
            member = self._kinds[group](group, name, self._topics, folder, cluster.options.session_ms)
            await member.open(cluster.zookeeper)
            self._members[group, name] = member
        return self._members[group, name]

    def _hear(self, facts: LoadFacts) -> None:
        self._facts = facts

    def _ended(self) -> None:
        log = ProcessLog(self._cluster.folder.load)
        text = f"the load's process ended unasked; see {log.path}"
        self._events.tell("load", text, subject="producer", details=log.last_lines(LAST_LINES))

    async def _look(self) -> None:
        while True:
            self._listen()
            consumed = sum(each.consumed for each in (*self._facts.consumers, *self._members.values()))
            self._past.append((time.monotonic(), self._facts.acknowledged, consumed))
            while self._past[-1][0] - self._past[0][0] > RATE_OVER_S:
                self._past.popleft()
            await asyncio.sleep(LOOK_EVERY_S)

    def _listen(self) -> None:
        """In the order of what happened: what was said just now waits until all have been read."""
        until_ms = time.time_ns() // 1_000_000 - SETTLED_MS
        for member in self._members.values():
            self._said += [(one, member) for one in member.look()]
        self._said.sort(key=lambda each: (each[0].at_ms, each[0].kind == "owns"))
        while self._said and self._said[0][0].at_ms <= until_ms:
            said, member = self._said.pop(0)
            for text in self._watches[member.group].hear(member.member, said):
                self._events.tell("group", text, subject=f"group {member.group}")

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
