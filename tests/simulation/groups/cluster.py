"""Brokers, a controller that elects coordinators, and groups of members, in virtual time."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.consumers.group_coordinator.coordinate import FetchedOffset
from model.consumers.group_coordinator.events_and_commands import AnswerCommit, CommitRequested
from model.consumers.group_coordinator.stored_formats import partition_of
from tests.simulation.groups.broker import Broker, settings
from tests.simulation.groups.member import Member
from tests.simulation.groups.network import Network
from tests.simulation.groups.offsets_partition import Batch, OffsetsPartition
from tests.simulation.groups.promises import Promises
from tests.simulation.groups.scenario import GroupPlan, Scenario
from tests.simulation.groups.virtual_loop import VirtualLoop

NOTICED_S = 6.0
"""Until a controller notices that a broker is gone."""


class Cluster:
    """Made within its loop. `failure` is the first thing that went wrong in the background."""

    def __init__(self, loop: VirtualLoop, scenario: Scenario, dice: Random) -> None:
        self.loop = loop
        self.dice = dice
        self.scenario = scenario
        self.network = Network(dice)
        self.promises = Promises(loop.now_ms, scenario.retention_minutes * 60_000)
        self.partitions_led = {
            number: OffsetsPartition(number, scenario.brokers, self.network, self._durable)
            for number in range(scenario.offsets_partitions)
        }
        self.brokers: dict[int, Broker] = {}
        self.members: list[Member] = []
        self.sizes = {plan.topic: plan.partitions for plan in scenario.groups}
        self.slowness = scenario.slowness
        self.failure: BaseException | None = None
        self.told: list[tuple[int, str, tuple[object, ...]]] = []
        self.requests = 0

    @property
    def now_ms(self) -> int:
        """Virtual time."""
        return self.loop.now_ms()

    def say(self, text: str, *values: object) -> None:
        """For the trace, which is written only if somebody wants to read it."""
        self.told.append((self.now_ms, text, values))

    def ended(self, task: asyncio.Task[None]) -> None:
        """A member's process has ended."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failure = self.failure or error

    # Groups

    def partitions(self, topic: str) -> int:
        """How many a topic has."""
        return self.sizes[topic]

    def start_member(self, plan: GroupPlan, instance_id: str | None) -> Member:
        """A new process."""
        member = Member(self, plan, f"m{len(self.members)}", instance_id)
        self.members.append(member)
        return member

    def home(self, group_id: str) -> OffsetsPartition:
        """The partition whose leader coordinates a group."""
        return self.partitions_led[partition_of(group_id, len(self.partitions_led))]

    def find_coordinator(self, group_id: str) -> Broker | None:
        """As some broker believes: now and then one that is so no more."""
        home = self.home(group_id)
        known = [home.leader, *home.believed] if self.dice.random() < 0.3 else [home.leader]
        broker = self.brokers.get(self.dice.choice(known))
        return broker if broker is not None and broker.alive else None

    async def serve(self, member: Member | None, broker: Broker, kind: Any, answer: Any, facts: dict[str, Any]) -> Any:
        """A request has reached a broker."""
        self.requests += 1
        group_id = facts["group_id"] if member is None else member.plan.group_id
        request = broker.coordinator.next_request()
        event = kind(**{**facts, "group_id": group_id, "at_ms": self.now_ms, "request": request})
        self.say("{} asks {}: {}", member, broker.id, event)
        given = await broker.ask(event, answer)
        if isinstance(event, CommitRequested):
            assert isinstance(given, AnswerCommit)
            number = int(next(iter(event.offsets.values())).metadata)
            self._check(lambda: self.promises.acknowledged(group_id, number, given))
        return given

    async def fetch(
        self, member: Member, broker: Broker, partitions: frozenset[TopicPartition]
    ) -> list[tuple[FetchedOffset, bool]]:
        """OffsetFetch, and whether its answer is that of the coordinator in truth."""
        group_id = member.plan.group_id
        error, found = broker.fetch(group_id, sorted(partitions))
        home = self.home(group_id)
        is_current = broker.alive and home.is_led_by(broker.id) and self.brokers.get(broker.id) is broker
        self.say("{} is told by {} (in truth: {}) {} {}", member, broker.id, is_current, error, found)
        if error != "NONE":
            return []
        if is_current:
            self._check(lambda: self.promises.fetched(group_id, found, home))
        return [(each, is_current) for each in found]

    # Brokers

    async def boot(self, broker: int) -> None:
        """It comes, also where its last process has just ended."""
        given = settings(self.scenario.initial_delay_ms, self.scenario.retention_minutes)
        self.brokers[broker] = process = Broker(broker, self.partitions_led, given, self.loop.now_ms)
        await process.coordinator.start()
        for partition in self.partitions_led.values():
            if partition.leader == broker:
                partition.elect(broker)
                self._tell(partition, broker)
            else:
                self._elect_if_leaderless(partition)
            partition.replicate()

    def crash(self, broker: int) -> None:
        """kill -9; the controller notices after a while."""
        process = self.brokers[broker]
        process.alive = False
        for partition in self.partitions_led.values():
            partition.believed.pop(broker, None)
            partition.changed()
        self.loop.create_task(process.coordinator.close())
        self.loop.call_later(NOTICED_S * self.dice.random(), self._notice, process)

    def cut(self, broker: int) -> None:
        """Other brokers and the controller cannot reach it; members can."""
        self.network.away.add(broker)
        self.loop.call_later(NOTICED_S, self._notice, self.brokers[broker])

    def mend(self, broker: int) -> None:
        """It hears what has been said meanwhile."""
        self.network.away.discard(broker)
        for partition in self.partitions_led.values():
            self._elect_if_leaderless(partition)
            self._tell(partition, broker)
            partition.replicate()

    def move(self, partition: OffsetsPartition) -> None:
        """Another one in sync leads; the old leader is told when it is told."""
        others = [each for each in sorted(partition.isr) if each != partition.leader and self._is_reachable(each)]
        if others:
            self._elect(partition, self.dice.choice(others))

    def _is_reachable(self, broker: int) -> bool:
        process = self.brokers.get(broker)
        return process is not None and process.alive and broker not in self.network.away

    def _notice(self, process: Broker) -> None:
        if self._is_reachable(process.id):
            return
        for partition in self.partitions_led.values():
            if partition.leader == process.id:
                self.move(partition)
            if partition.leader != process.id:
                partition.drop(process.id)

    def _elect_if_leaderless(self, partition: OffsetsPartition) -> None:
        if not self._is_reachable(partition.leader):
            self.move(partition)

    def _elect(self, partition: OffsetsPartition, broker: int) -> None:
        before = partition.leader
        partition.elect(broker)
        self.say(
            "{} leads {}-{} in epoch {}, after {}", broker, OFFSETS_TOPIC, partition.number, partition.epoch, before
        )
        self.loop.call_later(self.network.delay_s(), self._tell, partition, broker)
        late_s = self.dice.choice((0.0, 0.5, 5.0, 15.0))
        self.loop.call_later(late_s, self._tell, partition, before)

    def _tell(self, partition: OffsetsPartition, broker: int) -> None:
        """LeaderAndIsr: whether it leads, as it is now."""
        if not self._is_reachable(broker):
            return
        leads = partition.leader == broker
        if leads:
            partition.believed[broker] = partition.epoch
        else:
            partition.believed.pop(broker, None)
        partition.changed()
        name = TopicPartition(OFFSETS_TOPIC, partition.number)
        self.brokers[broker].coordinator.on_leadership(name, leads, partition.epoch)
        partition.replicate()

    def _durable(self, batch: Batch) -> None:
        for record in batch.records():
            self.say("durable at {}: {}", batch.base_offset, record)
        self._check(lambda: self.promises.durable(batch))

    def _check(self, check: Any) -> None:
        """A promise that is not kept ends the history, wherever it is found."""
        try:
            check()
        except AssertionError as error:
            self.failure = self.failure or error
