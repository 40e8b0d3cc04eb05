"""A whole soak: the server, the churn, the data process, who looks at it, and what comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model.sandbox.processes import GONE, process_state
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from tests.progress import Tell
from tests.soak.churn import Churn
from tests.soak.faults import Faults
from tests.soak.samples import Sample, connections, held_by, watches
from tests.soak.shape import Course, Shape
from tests.soak.truth import differences, load
from tests.soak.verdict import Check, checks
from tests.soak.watched import WatchedProcess
from tests.zookeeper.counting_proxy import CountingProxy
from tui.engine.link import DATA_PROCESS

CATCH_UP_S = 120.0
"""So long may the image take to be the truth once nothing changes any more."""
AGAIN_S = 0.1
LEAST_COMPARISONS = 2
"""A slow machine makes a soak longer: it is compared no less often for that."""
GONE_S = 60.0
"""What has ended is gone from the server within this time."""
BASE_MIB, KIB_A_PARTITION = 300, 4
"""What the data process may take beside its timeline."""


@dataclass
class Report:
    """What came of it. `lags_s`: at each comparison, how much later than a fresh load the image was the truth."""

    checks: list[Check] = field(default_factory=list[Check])
    samples: list[Sample] = field(default_factory=list[Sample])
    lags_s: list[float] = field(default_factory=list[float])
    lost: list[str] = field(default_factory=list[str])
    faults: list[str] = field(default_factory=list[str])
    figures: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def passed(self) -> bool:
        """Whether every check did."""
        return all(check.passed for check in self.checks)


class Soak:
    """One of them, in `folder`, which is empty. Use it once."""

    def __init__(
        self, shape: Shape, course: Course, folder: Path, tell: Tell, command: Sequence[str] = DATA_PROCESS
    ) -> None:
        self._shape, self._course, self._folder, self._tell = shape, course, folder, tell
        self._command = command
        self._report = Report()
        self._began_s = 0.0

    async def run(self) -> Report:
        """Raises SandboxError, DataLost and AssertionError where it could not go on."""
        course, report = self._course, self._report
        async with AsyncExitStack() as stack:
            self._server = server = stack.enter_context(EmbeddedZooKeeper(options=ServerOptions(heap_mb=1024)))
            self._proxy = proxy = stack.enter_context(CountingProxy(server.address))
            self._churn = churn = await stack.enter_async_context(Churn(server.address, self._shape, course.seed))
            await churn.found()
            self._tell(f"founded: {self._shape.total:,} partitions")
            async with WatchedProcess(f"zk://{proxy.address}", course.seed, self._command) as watched:
                self._watched = watched
                await self._go_on()
            await self._end(watched.pid)
        return report

    async def _go_on(self) -> None:
        course, churn = self._course, self._churn
        self._began_s = asyncio.get_running_loop().time()
        await self._sample()
        beside: list[Coroutine[Any, Any, None]] = [
            churn.go_on(course.changes_per_s),
            self._watched.go_round(course.screen_s),
            self._sample_again_and_again(),
        ]
        if course.fault_s is not None:
            faults = Faults(self._server, self._proxy, churn, course.fault_s, course.seed)
            self._report.faults = faults.made
            beside.append(faults.go_on(self._tell))
        tasks = {asyncio.create_task(each) for each in beside}
        main = asyncio.create_task(self._check_again_and_again())
        try:
            done, _ = await asyncio.wait({main, *tasks}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            main.cancel()
            async with churn.paused():  # or a session that is just being opened would be nobody's, a server stay down
                for task in tasks:
                    task.cancel()
            await asyncio.gather(main, *tasks, return_exceptions=True)

    @property
    def _at_s(self) -> float:
        return asyncio.get_running_loop().time() - self._began_s

    async def _check_again_and_again(self) -> None:
        course = self._course
        while (left_s := course.seconds - self._at_s) > 0 or len(self._report.lags_s) < LEAST_COMPARISONS:
            await asyncio.sleep(min(course.check_s, left_s) if left_s > 0 else course.check_s)
            async with self._churn.paused():
                await self._compare()
            if self._report.lost:
                break
            self._tell(self._progress())

    async def _compare(self) -> None:
        """Until the image is what a fresh load says; what differs in the end is lost."""
        fresh, followed = self._folder / "fresh.json", self._folder / "followed.json"
        await asyncio.to_thread(load, f"zk://{self._server.address}", fresh)
        loaded_s = asked_s = self._at_s
        lost = ["never compared"]
        while lost and asked_s <= loaded_s + CATCH_UP_S:
            asked_s = self._at_s
            await self._watched.save(followed)
            lost = await asyncio.to_thread(differences, followed, fresh)
            followed.unlink()
            await asyncio.sleep(AGAIN_S if lost else 0)
        fresh.unlink()
        self._report.lost = lost
        self._report.lags_s.append(asked_s - loaded_s)

    async def _sample_again_and_again(self) -> None:
        while True:
            await asyncio.sleep(self._course.sample_s)
            await self._sample()

    async def _sample(self) -> None:
        async with self._churn.paused():  # a fault may have the server down meanwhile
            watched, there = await asyncio.to_thread(self._server_facts)
            server_mib = held_by(self._server.pid).rss_mib
        used_mib, self._report.figures["timeline_most_mib"] = await self._watched.timeline_mib()
        held = held_by(self._watched.pid)
        self._report.samples.append(
            Sample(
                self._at_s, held.rss_mib, used_mib, held.threads, held.files, held.sockets, held.cpu_s,
                server_mib, watched, there,
            )
        )  # fmt: skip

    def _server_facts(self) -> tuple[int, int]:
        return watches(self._server), connections(self._server)

    def _progress(self) -> str:
        last = self._report.samples[-1]
        return (
            f"{self._at_s:7.0f} s  {self._churn.changes:,} changes, {self._rate:.0f}/s  same as a fresh load  "
            f"rss {last.rss_mib:.0f} MiB, timeline {last.timeline_mib:.0f}  "
            f"threads {last.threads}, files {last.files}, "
            f"sockets {last.sockets}  ZooKeeper rss {last.server_rss_mib:.0f}, watches {last.watches}"
        )

    @property
    def _rate(self) -> float:
        return self._churn.changes / max(self._churn.busy_s, 0.001)

    async def _end(self, pid: int) -> None:
        report, samples = self._report, self._report.samples
        most_mib = report.figures["timeline_most_mib"]
        allowed_mib = BASE_MIB + most_mib + KIB_A_PARTITION * self._shape.total / 1024
        lags = f"{len(report.lags_s)} comparisons, the image at most {max(report.lags_s):.1f} s after a fresh load"
        report.checks.append(Check("nothing is lost", not report.lost, "; ".join(report.lost) or lags))
        report.checks += checks(samples, allowed_mib, most_mib)
        left = await self._left_behind()
        said = f"{left[0]} watches, {left[1]} connections after the end"
        report.checks.append(Check("no watch or connection is left behind", left == (0, 0), said))
        report.checks.append(Check("no process is left behind", process_state(pid) == GONE, f"process {pid}"))
        wrote = self._proxy.writes()
        report.checks.append(Check("nothing was written", not wrote, str(dict(wrote) or "only reads")))
        seconds = samples[-1].at_s - samples[0].at_s
        report.figures |= {
            "seconds": self._at_s,
            "changes": self._churn.changes,
            "changes_per_s": self._rate,
            "answers": self._watched.answers,
            "pulses": self._watched.pulses,
            "slowest_screen_s": self._watched.slowest_s,
            "cpu_share": (samples[-1].cpu_s - samples[0].cpu_s) / max(seconds, 0.001),
            "requests_per_s": sum(self._proxy.asked.values()) / self._at_s,
            "server_rss_mib": max(each.server_rss_mib for each in samples),
        }

    async def _left_behind(self) -> tuple[int, int]:
        """Watches and connections that are nobody's; it takes a moment until the proxy and the server know the end."""
        deadline_s = self._at_s + GONE_S
        while True:
            watched, there = await asyncio.to_thread(self._server_facts)
            left = watched, there - self._churn.sessions
            if left == (0, 0) or self._at_s > deadline_s:
                return left
            await asyncio.sleep(AGAIN_S)
