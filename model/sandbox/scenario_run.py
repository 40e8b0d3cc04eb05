"""A scenario played on a sandbox that serves: step by step, what is done, what is expected and what came of each.

What is expected is looked up in the cluster's newest image, which comes through the same source as a live cluster's.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, Self

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.consumers.ownership import group_counts
from model.sandbox.faults import Deed
from model.sandbox.messages import AuditReport, Done, EventFeed, GroupView, LoadView, SandboxReady, SandboxState
from model.sandbox.options import node_in_words
from model.sandbox.processes import SandboxError
from model.sandbox.scenario import Expectation, SandboxOutcome, SandboxScenario, ScenarioStep, ScenarioStepOutcome
from model.sources.addresses import parse_controllers_address, parse_zookeeper_address
from model.sources.feed import Feed, Moment
from model.sources.source import Source
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource

NOBODY = -1
MOST_NAMED = 3


class SeenCluster(msgspec.Struct, frozen=True):
    """The cluster as who has its metadata tells it, and the nodes whose processes run: the dead are missed later."""

    image: ClusterImage
    running: frozenset[int]


class BeforeFault(msgspec.Struct, frozen=True):
    """Who had what before the last fault."""

    controller: int | None = None
    leaders: Mapping[TopicPartition, int] = {}


def leaders_in(image: ClusterImage) -> dict[TopicPartition, int]:
    """Every partition's leader, NOBODY for none."""
    return {
        TopicPartition(topic.name, number): leader
        for topic in image.topics.values()
        for number, _, leader, _ in topic.rows()
    }


def before_in(image: ClusterImage) -> BeforeFault:
    """What a fault may change."""
    return BeforeFault(controller_in(image), leaders_in(image))


def controller_in(image: ClusterImage) -> int | None:
    """The controller's id; None while there is none."""
    return image.controller.broker


def unmet(expectation: Expectation, seen: SeenCluster, before: BeforeFault) -> str:
    """Why it is not so; empty if it is. Raises KeyError for what the cluster's image does not tell."""
    return _CHECKS[expectation.expect](expectation, seen, before)


def _led(_expectation: Expectation, seen: SeenCluster, _before: BeforeFault) -> str:
    leaderless = [each for each, leader in leaders_in(seen.image).items() if leader not in seen.running]
    return _named(leaderless, "without a leader that runs")


def _in_sync(_expectation: Expectation, seen: SeenCluster, _before: BeforeFault) -> str:
    behind = [
        TopicPartition(topic.name, number)
        for topic in seen.image.topics.values()
        for number, replicas, leader, isr in topic.rows()
        if leader not in seen.running or set(replicas) != set(isr) or not seen.running.issuperset(replicas)
    ]
    return _named(behind, "with replicas out of sync")


def _controller(expectation: Expectation, seen: SeenCluster, before: BeforeFault) -> str:
    controller = controller_in(seen.image)
    if controller not in seen.running:
        return "there is no controller that runs"
    if expectation.moved and controller == before.controller:
        return f"{node_in_words(str(controller))} is the controller still"
    if expectation.broker not in (None, controller):
        return f"{node_in_words(str(controller))} is the controller"
    return ""


def _offline(expectation: Expectation, seen: SeenCluster, _before: BeforeFault) -> str:
    leader = _leader_of(expectation, seen.image)
    return "" if leader == NOBODY else f"{expectation.partition} is led by broker {leader}"


def _leader(expectation: Expectation, seen: SeenCluster, before: BeforeFault) -> str:
    leader = _leader_of(expectation, seen.image)
    if leader not in seen.running:
        return f"{expectation.partition} has no leader that runs"
    earlier = next((each for name, each in before.leaders.items() if str(name) == expectation.partition), None)
    if (expectation.moved and leader == earlier) or expectation.broker not in (None, leader):
        return f"{expectation.partition} is led by broker {leader}"
    return ""


def _leader_of(expectation: Expectation, image: ClusterImage) -> int | None:
    return next((each for name, each in leaders_in(image).items() if str(name) == expectation.partition), None)


def _named(partitions: list[TopicPartition], what: str) -> str:
    if not partitions:
        return ""
    names = ", ".join(map(str, sorted(partitions)[:MOST_NAMED]))
    more = f" and {len(partitions) - MOST_NAMED} more" if len(partitions) > MOST_NAMED else ""
    return f"{what}: {names}{more}"


_CHECKS: Mapping[str, Callable[[Expectation, SeenCluster, BeforeFault], str]] = {
    "led": _led,
    "in-sync": _in_sync,
    "controller": _controller,
    "offline": _offline,
    "leader": _leader,
}


def _all_rebalanced(view: GroupView, _image: ClusterImage) -> str:
    return "" if view.all_rebalanced else f"only {', '.join(view.rebalanced) or 'nobody'} claimed anew"


def _owned_twice(view: GroupView, _image: ClusterImage) -> str:
    return "" if view.owned_twice else "no partition is read by two"


def _owned_once(view: GroupView, image: ClusterImage) -> str:
    if view.owned_twice:
        return f"read by two: {', '.join(view.owned_twice[:MOST_NAMED])}"
    if view.given_up:
        return f"{', '.join(view.given_up)} gave up"
    if view.joining:
        return f"{', '.join(view.joining)} reads nothing yet"
    group = image.groups.get(view.name)
    free = group_counts(group, image).unowned if group is not None and group.members else None
    return "" if free == 0 else "the group has no members" if free is None else f"{free:,} partitions without an owner"


def _gave_up(view: GroupView, _image: ClusterImage) -> str:
    return "" if view.given_up else "nobody gave up"


GROUP_CHECKS: Mapping[str, Callable[[GroupView, ClusterImage], str]] = {
    "all-rebalanced": _all_rebalanced,
    "owned-twice": _owned_twice,
    "owned-once": _owned_once,
    "gave-up": _gave_up,
}


FIRST_IMAGE_TIMEOUT_S = 60.0


class WatchedCluster:
    """Within an `async with` block."""

    def __init__(self, ready: SandboxReady) -> None:
        self._source = _source_of(ready)
        self._loaded = asyncio.Event()
        self._image: ClusterImage | None = None

    @property
    def image(self) -> ClusterImage:
        assert self._image is not None
        return self._image

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()

        def publish(moment: Moment) -> None:
            loop.call_soon_threadsafe(self._see, moment)

        self._source.open(Feed(self._source.name, publish))
        try:
            await asyncio.wait_for(self._loaded.wait(), FIRST_IMAGE_TIMEOUT_S)
        except TimeoutError:
            raise SandboxError(f"the cluster could not be read at {self._source.name}") from None
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self._source.close)

    def _see(self, moment: Moment) -> None:
        self._image = moment.image
        if moment.image.provenance.complete:
            self._loaded.set()


def _source_of(ready: SandboxReady) -> Source:
    """As a live cluster of either mode is followed."""
    if ready.zookeeper:
        return ZooKeeperSource(parse_zookeeper_address(ready.source))
    from model.sources.quorum.quorum_source import QuorumSource  # noqa: PLC0415 - takes Kafka's protocol

    return QuorumSource(parse_controllers_address(ready.source), ready.bootstrap)


LOOK_EVERY_S = 0.05
HOLDS_S = 1.0
"""So long all replicas are to be in sync: ISRs are seen in the metadata, a moment after their leaders tell of them."""


class ScenarioTarget(Protocol):
    """The sandbox, as far as a scenario needs it."""

    events: EventFeed

    @property
    def state(self) -> SandboxState: ...

    async def do(self, deed: Deed) -> Done: ...

    async def audit(self) -> AuditReport: ...


class ScenarioRun:
    """One scenario, played once."""

    def __init__(self, scenario: SandboxScenario, target: ScenarioTarget, cluster: WatchedCluster) -> None:
        self._scenario = scenario
        self._target = target
        self._cluster = cluster
        self._before = BeforeFault()
        self._laggards = 0
        self._audit: AuditReport | None = None

    async def play(self) -> SandboxOutcome:
        """From now on. A step that fails is told of, and the next ones are played all the same."""
        began_s = time.monotonic()
        outcomes: list[ScenarioStepOutcome] = []
        for number, step in enumerate(self._scenario.steps, 1):
            await asyncio.sleep(began_s + step.at_s - time.monotonic())
            at_s = time.monotonic() - began_s
            passed, text = await self._take(step)
            took_s = time.monotonic() - began_s - at_s
            outcomes.append(
                ScenarioStepOutcome(step=number, at_s=round(at_s, 2), took_s=round(took_s, 2), passed=passed, text=text)
            )
            kind = "expectation" if isinstance(step.what, Expectation) else "step"
            self._target.events.tell(kind, f"step {number}, {took_s:.1f} s: {text}")
        failed = sum(not each.passed for each in outcomes)
        verdict = f"{failed} of {len(outcomes)} steps failed" if failed else f"all {len(outcomes)} steps passed"
        self._target.events.tell("expectation", f"scenario {self._scenario.name!r}: {verdict}")
        return SandboxOutcome(name=self._scenario.name, passed=not failed, steps=tuple(outcomes), audit=self._audit)

    async def _take(self, step: ScenarioStep) -> tuple[bool, str]:
        try:
            if isinstance(step.what, Expectation):
                reason = await self._expect(step.what)
                return not reason, f"{step.what}: {reason or 'as expected'}"
            self._before = before_in(self._cluster.image)
            self._laggards = self._target.state.laggards
            return True, (await self._target.do(step.what)).text
        except SandboxError as error:
            return False, str(error)

    async def _expect(self, expectation: Expectation) -> str:
        """Why it did not become true in time; empty if it did."""
        if expectation.expect in ("none-lost", "some-lost"):
            return await self._lost(expectation)
        deadline = time.monotonic() + expectation.within_s
        if expectation.expect == "isr-kept":
            return await self._kept(deadline)
        check, since = self._check(expectation), math.inf
        holds_s = HOLDS_S if expectation.expect == "in-sync" else 0.0
        while True:
            reason, now = await check(), time.monotonic()
            since = math.inf if reason else min(since, now)
            if now - since >= holds_s:
                return ""
            if reason and now >= deadline:
                return f"not within {expectation.within_s:g} s: {reason}"
            await asyncio.sleep(LOOK_EVERY_S)

    def _check(self, expectation: Expectation) -> Callable[[], Awaitable[str]]:
        if expectation.expect == "flowing":
            return self._flowing()
        if expectation.expect == "isr-shrunk":
            return self._shrunk
        if expectation.expect in GROUP_CHECKS:
            return self._group_check(expectation)
        return self._image_check(expectation)

    async def _shrunk(self) -> str:
        return "" if self._target.state.laggards > self._laggards else "no leader let a follower leave its ISR"

    async def _kept(self, deadline: float) -> str:
        while time.monotonic() < deadline:
            if not await self._shrunk():
                return "a leader let a follower leave its ISR"
            await asyncio.sleep(LOOK_EVERY_S)
        return ""

    def _group_check(self, expectation: Expectation) -> Callable[[], Awaitable[str]]:
        name, check = expectation.group, GROUP_CHECKS[expectation.expect]

        async def look() -> str:
            load = self._target.state.load
            view = next((each for each in load.groups if each.name == name), None) if load else None
            if view is None:
                raise SandboxError(f"{name!r} is no ZooKeeper group of the load")
            return check(view, self._cluster.image)

        return look

    def _image_check(self, expectation: Expectation) -> Callable[[], Awaitable[str]]:
        async def check() -> str:
            running = frozenset(
                int(each.name.rpartition(" ")[2])
                for each in self._target.state.processes
                if each.kind in ("broker", "controller") and each.status == "running"
            )
            return unmet(expectation, SeenCluster(self._cluster.image, running), self._before)

        return check

    def _flowing(self) -> Callable[[], Awaitable[str]]:
        def load() -> LoadView:
            seen = self._target.state.load
            if seen is None:
                raise SandboxError("there is no load: put load = true into [sandbox]")
            return seen

        before = load().acknowledged

        async def check() -> str:
            seen = load()
            if seen.acknowledged > before:
                return ""
            why = f"; the producer was told last: {seen.error}" if seen.error else ""
            return f"no record was acknowledged; {seen.waiting:,} wait{why}"

        return check

    async def _lost(self, expectation: Expectation) -> str:
        self._audit = report = await self._target.audit()
        if expectation.expect == "none-lost":
            return "" if report.is_clean else str(report)
        return "" if report.lost else str(report)


async def run_scenario(scenario: SandboxScenario, target: ScenarioTarget, ready: SandboxReady) -> SandboxOutcome:
    """Play it on a cluster that serves. Raises SandboxError: the cluster can't be watched."""
    async with WatchedCluster(ready) as cluster:
        return await ScenarioRun(scenario, target, cluster).play()
