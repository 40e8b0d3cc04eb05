"""Rounds of faults on a quorum while topics come and go; after each, quiet, and the image against who knows.

A round is one or two faults, each over after some seconds, with changes before, meanwhile and afterwards. Then every
node runs, every link is whole, and three must say the same: the image that was followed all the time, Kafka's own
tool, and a source that has just been opened. All the while what was acknowledged must be in the image soon wherever
that is said to be LIVE.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaException

from model.cluster.cluster_image import ClusterImage
from model.cluster.partition_columns import states_of
from model.interchange.topics_text import partition_line
from model.sources.addresses import ControllersAddress, parse_source
from model.sources.feed import Feed
from model.sources.quorum.quorum_source import QuorumSource
from tests.conformance.kafka.client import Client
from tests.conformance.kafka.commands import Commands
from tests.harness.kraft import KraftCluster
from tests.harness.waiting import eventually_async
from tests.progress import Tell
from tests.quorum_faults.acknowledged import Acknowledged
from tests.quorum_faults.unclean_tail import has_written, leave_tail

LOOK_S = 0.05
QUIET_S = 60.0
PATIENCE = 5
UPGRADES = ("4.1", "4.2", "4.3", "4.4")


@dataclass
class Report:
    seed: int
    kinds: Counter[str] = field(default_factory=Counter[str])
    changes: int = 0
    comparisons: int = 0
    acknowledged: Acknowledged = field(default_factory=Acknowledged)
    to_truth_s: list[float] = field(default_factory=list[float])
    looks: Counter[str] = field(default_factory=Counter[str])
    """By phase."""
    violations: list[str] = field(default_factory=list[str])
    history: list[str] = field(default_factory=list[str])
    tails: int = 0
    """Deposed leaders that had written what nobody else had."""
    truncated: int = 0
    """Of these, how many did not have it any more once all was quiet."""

    @property
    def faults(self) -> int:
        return self.kinds.total()


def comparable(image: ClusterImage) -> Mapping[str, Any]:
    """All that a snapshot of the log has, too: not when and by whom partitions were written."""
    states = {
        f"{name}-{state.partition}": (
            state.leader,
            state.leader_epoch,
            state.version,
            sorted(state.isr),
            sorted(state.elr or ()),
            state.recovering,
        )
        for name, topic in image.topics.items()
        for state in states_of(topic)
    }
    # A snapshot has endpoints in the order of a hash table.
    nodes = {each.id: (each.epoch, sorted(each.endpoints), each.rack) for each in image.brokers.values()}
    return {
        "partitions": states,
        "brokers": nodes,
        "fenced": sorted(image.fenced),
        "settings": {name: config for name, config in image.configs.items() if config and "/" in name},
        "metadata": image.metadata,
        "controller": (image.controller.broker, image.controller.epoch),
    }


def opened(cluster: KraftCluster) -> tuple[QuorumSource, Feed]:
    address = parse_source(f"controllers://{cluster.controllers_counted or cluster.controllers}")
    assert isinstance(address, ControllersAddress)
    source = QuorumSource(address, asks_brokers=False)
    feed = Feed(source.name, lambda _: None)
    source.open(feed)
    return source, feed


class QuorumFaults:
    """On a cluster whose voters' links are counted, and so can be spoilt."""

    def __init__(
        self, cluster: KraftCluster, seed: int, tell: Tell, *, upgrades: Sequence[str] = (), only: Sequence[str] = ()
    ) -> None:
        """`only`: kinds of faults, all of them where empty."""
        self._cluster, self._tell, self._random = cluster, tell, random.Random(seed)
        self._upgrades, self._only = list(upgrades), only
        self.report = Report(seed)
        self._client = Client(cluster.bootstrap)
        self._topics: list[str] = []
        self._tails: dict[str, int] = {}
        """Topics that nobody may ever see, and the leaders that alone had them."""
        self._feed: Feed | None = None

    async def play(self, faults: int, until_s: float = float("inf")) -> Report:
        """So many, or those that have begun by this time of the monotonic clock."""
        source, self._feed = opened(self._cluster)
        watching = asyncio.create_task(self._watch())
        try:
            await self._is_live()
            while self.report.faults < faults and time.monotonic() < until_s:
                await self._round()
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching
            source.close()
        return self.report

    async def _is_live(self) -> None:
        feed = self._feed
        assert feed is not None
        await eventually_async(
            lambda: feed.moment.status.phase == "live", "LIVE", QUIET_S, standing=lambda: feed.moment.status
        )

    async def _round(self) -> None:
        await self._change()
        known = [kind for kind in self._faults if not self._only or kind in self._only]
        kinds = self._random.sample(known, min(self._random.choice((1, 1, 2)), len(known)))
        self._say(f"round: {', '.join(kinds)}")
        async with asyncio.TaskGroup() as group:
            for kind in kinds:
                self.report.kinds[kind] += 1
                group.create_task(self._fault(kind))
            for _ in range(self._random.randint(1, 3)):
                await asyncio.sleep(self._random.uniform(0, 2))
                await self._change()
        await self._restore()
        await self._change()
        await self._compare()

    async def _restore(self) -> None:
        """Until every node serves. One that never gets there is started anew, once: that is the cluster's failure."""
        try:
            await asyncio.to_thread(self._cluster.restore)
        except AssertionError:
            absent = sorted({*self._cluster.nodes} - await asyncio.to_thread(self._cluster.living))
            self._say(f"nodes {absent} did not come back: they are started anew")
            await asyncio.to_thread(self._cluster.kill, *absent)
            await asyncio.to_thread(self._cluster.restore)

    def _say(self, line: str) -> None:
        self._tell(line)
        self.report.history.append(line)

    # Changes

    async def _change(self) -> None:
        """What is not acknowledged may have happened or not: nobody waits for it."""
        try:
            await asyncio.to_thread(self._changed)
            self.report.changes += 1
        except (KafkaException, RuntimeError, AssertionError, TimeoutError) as error:
            self._say(f"not acknowledged: {str(error).splitlines()[0][:100] if str(error) else type(error).__name__}")

    def _changed(self) -> None:
        acknowledged = self.report.acknowledged
        if len(self._topics) > 6:
            name = self._topics.pop(self._random.randrange(len(self._topics)))
            acknowledged.asked_to_go(name)
            if self._client.delete([name]):  # a deposed controller may not have heard of it
                acknowledged.gone(name, time.monotonic())
            return
        name = f"faults-{self.report.changes}-{self._random.randrange(10_000)}"
        brokers = self._random.sample(sorted(self._cluster.nodes), 2)
        self._client.create(name, dict.fromkeys(range(self._random.choice((1, 3, 20))), brokers))
        self._topics.append(name)
        acknowledged.came(name, time.monotonic())

    async def _watch(self) -> None:
        """Whether LIVE is ever said of an image that lacks what was acknowledged."""
        assert self._feed is not None
        while True:
            await asyncio.sleep(LOOK_S)
            moment = self._feed.moment
            topics, status = moment.image.topics.keys(), moment.status
            self.report.looks[status.phase] += 1
            for name in self._tails.keys() & topics:
                self.report.violations.append(f"{name} is shown, which was never committed")
                del self._tails[name]
            said = self.report.acknowledged.look(status.phase, status.reason, topics, time.monotonic())
            for violation in said:
                self._say(violation)
            self.report.violations += said

    # Faults; each is over when it returns, but for nodes that stay down

    @property
    def _leader(self) -> int:
        assert self._feed is not None
        broker = self._feed.moment.image.controller.broker
        return broker if broker in (1, 2, 3) else 1

    def _node(self) -> int:
        return self._random.choice([number for number, runs in self._cluster.nodes.items() if runs])

    async def _fault(self, kind: str) -> None:
        await self._faults[kind]()

    async def _kill(self) -> None:
        await asyncio.to_thread(self._cluster.kill, self._node())

    async def _kill_leader(self) -> None:
        await asyncio.to_thread(self._cluster.kill, self._leader)

    async def _stop(self) -> None:
        await asyncio.to_thread(self._cluster.stop, self._node())

    async def _stop_leader(self) -> None:
        await asyncio.to_thread(self._cluster.stop, self._leader)

    async def _pause(self) -> None:
        await self._paused(self._node())

    async def _pause_leader(self) -> None:
        """Long enough for another one to be elected, of whom it hears afterwards."""
        await self._paused(self._leader, 6.0)

    async def _paused(self, number: int, least_s: float = 1.0) -> None:
        with contextlib.suppress(ProcessLookupError, RuntimeError), self._cluster.paused(number):
            await asyncio.sleep(self._random.uniform(least_s, least_s + 3))

    async def _cut(self) -> None:
        self._cluster.link(self._random.choice((1, 2, 3))).cut()

    async def _swallow(self) -> None:
        """Nothing reaches a voter, while it may reach others."""
        link = self._cluster.link(self._random.choice((1, 2, 3, self._leader)))
        link.swallow()
        await asyncio.sleep(self._random.uniform(1, 6))
        link.flow()

    async def _slow(self) -> None:
        link = self._cluster.link(self._random.choice((1, 2, 3)))
        link.delay_s = self._random.choice((0.05, 0.3))
        await asyncio.sleep(self._random.uniform(1, 5))
        link.delay_s = 0.0

    async def _tail(self) -> None:
        """A leader that only kdrill hears goes on appending, and is deposed."""
        leader, name = self._leader, f"tail-{self.report.kinds['unclean tail']}-{self._random.randrange(10_000)}"
        if await leave_tail(self._cluster, leader, name, lambda: self._leader != leader):
            self._tails[name] = leader
            self.report.tails += 1

    async def _upgrade(self) -> None:
        """To the next release's feature levels."""
        release = self._upgrades[0]
        try:
            await asyncio.to_thread(Commands(self._cluster).upgrade, release)
            self._upgrades.pop(0)
        except RuntimeError as error:  # such as where the controller is away: it is drawn again
            self._say(f"not upgraded to {release}: {str(error).splitlines()[-1][:200]}")

    @property
    def _faults(self) -> Mapping[str, Callable[[], Awaitable[None]]]:
        return {
            "kill": self._kill,
            "kill the leader": self._kill_leader,
            "stop": self._stop,
            "stop the leader": self._stop_leader,
            "pause": self._pause,
            "pause the leader": self._pause_leader,
            "cut": self._cut,
            "swallow": self._swallow,
            "slow": self._slow,
            "unclean tail": self._tail,
            **({"upgrade": self._upgrade} if self._upgrades else {}),
        }

    # Quiet

    async def _compare(self) -> None:
        began_s = time.monotonic()
        await self._is_live()
        difference = "nothing was compared"
        while difference and time.monotonic() - began_s < QUIET_S:
            difference = await self._difference()
        self.report.comparisons += 1
        for name, leader in [*self._tails.items()]:
            self.report.truncated += not await asyncio.to_thread(has_written, self._cluster, leader, name)
        self._tails.clear()
        self.report.to_truth_s.append(time.monotonic() - began_s)
        if difference:
            self.report.violations.append(difference)
            self._say(difference)

    async def _difference(self) -> str:
        """Between the image, what Kafka's tool prints, and a source that is opened now; empty where there is none."""
        assert self._feed is not None
        text = await self._described()
        printed = {line for line in text.splitlines() if line.startswith("\t")}
        async with self._fresh() as fresh:
            image = self._feed.moment.image
            ours, theirs = comparable(image), comparable(fresh)
        for name, said in ours.items():
            if said != theirs[name]:
                return f"{name}: followed {said}, fresh {theirs[name]}"[:2_000]
        lines = {
            partition_line(topic, row).replace("N/A", "")
            for topic in image.topics.values()
            for row in range(len(topic))
        }
        differing = sorted(lines ^ printed)
        return f"Kafka's tool: {differing}"[:2_000] if differing else ""

    async def _described(self) -> str:
        """By Kafka's own tool, which takes a minute and more on a machine that is busy with other things."""
        for _ in range(PATIENCE):
            try:
                return await asyncio.to_thread(Commands(self._cluster).describe_text)
            except subprocess.TimeoutExpired as expired:
                self._say(f"Kafka's tool did not answer within {expired.timeout:g} s: it is asked once more")
            except RuntimeError as error:  # a broker that does not know a topic yet, or no more
                self._say(f"Kafka's tool failed, and is asked once more: {str(error).splitlines()[-1]}")
                await asyncio.sleep(1)
        raise AssertionError(f"Kafka's tool did not answer {PATIENCE} times")

    @contextlib.asynccontextmanager
    async def _fresh(self) -> AsyncIterator[ClusterImage]:
        source, feed = opened(self._cluster)
        try:
            await eventually_async(
                lambda: feed.moment.status.phase == "live", "a fresh load", QUIET_S, standing=lambda: feed.moment.status
            )
            yield feed.moment.image
        finally:
            source.close()
