"""Plays a scenario on a sandbox that serves: does and expects, step by step, and tells what came of each."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from model.sandbox.cluster.chronicle import Chronicle
from model.sandbox.control.messages import Done
from model.sandbox.control.state import SandboxState
from model.sandbox.errors import SandboxError
from model.sandbox.faults.faults import Deed
from model.sandbox.load.report import AuditReport
from model.sandbox.scenarios.expectations import Before, Seen, before_in, unmet
from model.sandbox.scenarios.outcome import ScenarioOutcome, StepOutcome
from model.sandbox.scenarios.scenario import Expectation, Scenario, Step
from model.sandbox.scenarios.watched_cluster import WatchedCluster

LOOK_EVERY_S = 0.05


class Stage(Protocol):
    """The sandbox, as far as a scenario needs it."""

    chronicle: Chronicle

    @property
    def state(self) -> SandboxState: ...

    async def do(self, deed: Deed) -> Done: ...

    async def audit(self) -> AuditReport: ...


class Playing:
    """One scenario, played once."""

    def __init__(self, scenario: Scenario, stage: Stage, cluster: WatchedCluster) -> None:
        self._scenario = scenario
        self._stage = stage
        self._cluster = cluster
        self._before = Before()
        self._audit: AuditReport | None = None

    async def play(self) -> ScenarioOutcome:
        """From now on. A step that fails is told of, and the next ones are played all the same."""
        began_s = time.monotonic()
        outcomes: list[StepOutcome] = []
        for number, step in enumerate(self._scenario.steps, 1):
            await asyncio.sleep(began_s + step.at_s - time.monotonic())
            at_s = time.monotonic() - began_s
            passed, text = await self._take(step)
            took_s = time.monotonic() - began_s - at_s
            outcomes.append(
                StepOutcome(step=number, at_s=round(at_s, 2), took_s=round(took_s, 2), passed=passed, text=text)
            )
            kind = "expectation" if isinstance(step.what, Expectation) else "step"
            self._stage.chronicle.tell(kind, f"step {number}, {took_s:.1f} s: {text}")
        failed = sum(not each.passed for each in outcomes)
        verdict = f"{failed} of {len(outcomes)} steps failed" if failed else f"all {len(outcomes)} steps passed"
        self._stage.chronicle.tell("expectation", f"scenario {self._scenario.name!r}: {verdict}")
        return ScenarioOutcome(name=self._scenario.name, passed=not failed, steps=tuple(outcomes), audit=self._audit)

    async def _take(self, step: Step) -> tuple[bool, str]:
        try:
            if isinstance(step.what, Expectation):
                reason = await self._expect(step.what)
                return not reason, f"{step.what}: {reason or 'as expected'}"
            self._before = before_in(self._cluster.image)
            return True, (await self._stage.do(step.what)).text
        except SandboxError as error:
            return False, str(error)

    async def _expect(self, expectation: Expectation) -> str:
        """Why it did not become true in time; empty if it did."""
        if expectation.expect in ("none-lost", "some-lost"):
            return await self._lost(expectation)
        check = self._flowing() if expectation.expect == "flowing" else self._image_check(expectation)
        deadline = time.monotonic() + expectation.within_s
        while (reason := await check()) and time.monotonic() < deadline:
            await asyncio.sleep(LOOK_EVERY_S)
        return f"not within {expectation.within_s:g} s: {reason}" if reason else ""

    def _image_check(self, expectation: Expectation) -> Callable[[], Awaitable[str]]:
        async def check() -> str:
            running = frozenset(
                int(each.name.rpartition(" ")[2])
                for each in self._stage.state.processes
                if each.kind == "broker" and each.status == "running"
            )
            return unmet(expectation, Seen(self._cluster.image, running), self._before)

        return check

    def _flowing(self) -> Callable[[], Awaitable[str]]:
        def acknowledged() -> int:
            load = self._stage.state.load
            if load is None:
                raise SandboxError("there is no load: put load = true into [sandbox]")
            return load.acknowledged

        before = acknowledged()

        async def check() -> str:
            return "" if acknowledged() > before else "no record was acknowledged"

        return check

    async def _lost(self, expectation: Expectation) -> str:
        self._audit = report = await self._stage.audit()
        if expectation.expect == "none-lost":
            return "" if report.is_clean else str(report)
        return "" if report.lost else str(report)


async def play(scenario: Scenario, stage: Stage, zookeeper: str) -> ScenarioOutcome:
    """Play it on a cluster that serves. Raises SandboxError: the cluster can't be watched."""
    async with WatchedCluster(zookeeper) as cluster:
        return await Playing(scenario, stage, cluster).play()
