"""A whole chaos test: an ensemble of three, a writer, faults in rounds, and after each round a fresh load to equal."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos.faults import Round, rounds
from tests.chaos.links import Link
from tests.chaos.onlooker import Onlooker
from tests.chaos.site import Site
from tests.chaos.writer import Canary, TenaciousChurn
from tests.harness.zookeeper import three_servers
from tests.progress import Tell
from tests.soak.samples import Held, held_by
from tests.soak.shape import Shape
from tests.soak.truth import differences, load
from tui.engine.link import DATA_PROCESS

SHAPE = Shape(brokers=5, topics=40, partitions=10, groups=2)
BEHIND_S = 20.0
"""So long may a screen say LIVE and be wrong: 15 s until row one disbelieves a source that does not prove itself, and
5 s for which a server goes on that has lost its leader (syncLimit)."""
UNSAID_S = 5.0
"""So much older than it is said to be may the image be: what had arrived when it was proved, and was not yet read."""
PATIENCE_S = 90.0
AGAIN_S = 0.1
MORE = 2
"""So many threads or sockets more, at the end than after the first load, may be chance."""


@dataclass(frozen=True)
class Course:
    """How long it goes on, and how hard it is."""

    faults: int
    seed: int
    longest_s: float = 60.0
    """Of a fault."""
    changes_per_s: int = 200
    patience_s: float = PATIENCE_S
    """For what may take its time and must come."""


@dataclass
class Report:
    """What came of it, figures and sentences that say what was wrong."""

    seed: int
    faults: int = 0
    history: list[str] = field(default_factory=list[str])
    """The rounds so far."""
    violations: list[str] = field(default_factory=list[str])
    kinds: dict[str, int] = field(default_factory=dict[str, int])
    changes: int = 0
    marks: int = 0
    """Changes made as a watch was asked for: a moment earlier, and only what is read afterwards tells of them."""
    comparisons: int = 0
    to_live_s: list[float] = field(default_factory=list[float])
    """After each round, until LIVE was shown again."""
    to_truth_s: list[float] = field(default_factory=list[float])
    """After each round, until the image was what a fresh load said."""
    most_behind_s: float = 0.0
    """While LIVE was shown, however old it was said to be."""
    most_unsaid_s: float = 0.0
    """The same, beyond the age that was shown beside it."""
    looks: tuple[int, int] = (0, 0)
    """How often LIVE was seen, and how often something else."""
    connections: int = 0
    sessions: int = 0
    written: dict[str, int] = field(default_factory=dict[str, int])
    held: list[Held] = field(default_factory=list[Held])
    """By the data process, after the first load and at the end."""


class Chaos:
    """One of them, in `folder`, which is empty. Use it once."""

    def __init__(self, course: Course, folder: Path, tell: Tell, command: Sequence[str] = DATA_PROCESS) -> None:
        """`command` starts the data process."""
        self._course, self._folder, self._tell, self._command = course, folder, tell, command
        self.report = Report(course.seed)

    async def run(self) -> Report:
        """Stops at the first difference. Raises SandboxError, DataLost where it could not go on."""
        async with AsyncExitStack() as stack:
            ensemble = await stack.enter_async_context(three_servers())
            self._direct = ensemble.addresses
            self._links = [stack.enter_context(Link(address)) for address in self._direct.split(",")]
            self._site = Site(ensemble, self._links)
            self._churn = churn = TenaciousChurn(self._direct, SHAPE, self._course.seed)
            await stack.enter_async_context(churn)
            await churn.found()
            self._tell("founded")
            canary = Canary(churn)
            through = ",".join(link.address for link in self._links)
            self._onlooker = Onlooker(f"zk://{through}", self._course.seed, canary, self._command)
            async with self._onlooker as onlooker:
                await self._beside(
                    self._play(), churn.go_on(self._course.changes_per_s), canary.sing(), onlooker.look()
                )
            self._sum_up()
        return self.report

    async def _beside(self, main: Coroutine[Any, Any, None], *others: Coroutine[Any, Any, None]) -> None:
        """Until `main` has ended, or something failed."""
        first, *rest = tasks = [asyncio.create_task(each) for each in (main, *others)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in (first, *rest):
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _play(self) -> None:
        report = self.report
        await self._settle()
        report.held.append(held_by(self._onlooker.pid))
        for one in rounds(self._course.seed, self._course.faults, self._course.longest_s):
            await self._round(one)
            if report.violations:
                return
        await self._check_leaks()

    async def _round(self, faults: Round) -> None:
        report = self.report
        report.history.append(" & ".join(map(str, faults)))
        async with asyncio.TaskGroup() as group:
            for fault in faults:
                group.create_task(self._site.do(fault))
        report.faults += len(faults)
        for fault in faults:
            report.kinds[fault.kind] = report.kinds.get(fault.kind, 0) + 1
        await self._settle()
        self._tell(
            f"{report.faults} faults, {self._churn.changes:,} changes, LIVE after {report.to_live_s[-1]:.1f} s, "
            f"the truth after {report.to_truth_s[-1]:.1f} s: {report.history[-1]}"
        )

    async def _settle(self) -> None:
        """Until LIVE is shown, and until it is the truth; what differs in the end is a violation."""
        report, onlooker, patience_s = self.report, self._onlooker, self._course.patience_s
        loop = asyncio.get_running_loop()
        whole_s = loop.time()
        while not onlooker.is_live and loop.time() < whole_s + patience_s:
            await asyncio.sleep(AGAIN_S / 2)
        report.to_live_s.append(loop.time() - whole_s)
        if not onlooker.is_live:
            report.violations.append(f"not LIVE within {patience_s:.0f} s: {onlooker.pulse}")
        async with self._churn.paused():
            quiet_s = loop.time()
            differs = await self._differences()
            while differs and loop.time() < quiet_s + patience_s:
                await asyncio.sleep(AGAIN_S)
                differs = await self._differences()
            report.to_truth_s.append(loop.time() - quiet_s)
        report.comparisons += 1
        report.violations += differs
        if onlooker.most_behind_s > BEHIND_S:
            report.violations.append(f"LIVE was shown while the newest was missing for {onlooker.most_behind_s:.1f} s")
        if onlooker.most_unsaid_s > UNSAID_S:
            report.violations.append(f"the image was {onlooker.most_unsaid_s:.1f} s older than its age said")

    async def _differences(self) -> list[str]:
        """Between the image that is followed and what a client of its own, that is opened now, says."""
        fresh, followed = self._folder / "fresh.json", self._folder / "followed.json"
        await asyncio.to_thread(load, f"zk://{self._direct}", fresh)
        await self._onlooker.save(followed)
        differs = await asyncio.to_thread(differences, followed, fresh)
        for path in (fresh, followed):
            path.unlink()
        return differs

    async def _check_leaks(self) -> None:
        """Clients that were given up take a while to say farewell."""
        loop, (before, *_) = asyncio.get_running_loop(), self.report.held
        ends_s = loop.time() + self._course.patience_s
        while _leaked(before, now := held_by(self._onlooker.pid)) and loop.time() < ends_s:
            await asyncio.sleep(AGAIN_S)
        self.report.held.append(now)
        self.report.violations += _leaked(before, now)

    def _sum_up(self) -> None:
        report, onlooker, links = self.report, self._onlooker, self._links
        report.changes, report.marks = self._churn.changes, sum(link.marks.made for link in links)
        report.most_behind_s, report.most_unsaid_s = onlooker.most_behind_s, onlooker.most_unsaid_s
        report.looks = onlooker.shown_live, onlooker.shown_stale
        report.connections = sum(link.connections for link in links)
        report.sessions = len(set[int]().union(*(link.sessions for link in links)))
        report.written = dict(sum((link.writes() for link in links), Counter[str]()))
        if report.written:
            report.violations.append(f"kdrill sent what is no read: {report.written}")


def _leaked(before: Held, now: Held) -> list[str]:
    counts = {"threads": (before.threads, now.threads), "sockets": (before.sockets, now.sockets)}
    return [f"{what}: {few} before, {many} at the end" for what, (few, many) in counts.items() if many > few + MORE]
