"""A consumer as the clients of Kafka are: joins, syncs, says that it lives, commits, and does as it is told by errors.

Source: `ConsumerCoordinator`, `AbstractCoordinator` of Kafka's Java client (3.9). It decides nothing about the group,
but for the assignment where it leads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator import events_and_commands
from model.consumers.group_coordinator.group import CommittedOffset, SupportedProtocol
from tests.simulation.groups.connection import Connection, DisconnectedError
from tests.simulation.groups.protocol import COOPERATIVE, owned_in, shares, subscription

if TYPE_CHECKING:
    from tests.simulation.groups.cluster import Cluster
    from tests.simulation.groups.scenario import GroupPlan

HEARTBEAT_S = 3.0
REQUEST_S = 5.0
BACKOFF_S = 0.3
_ELSEWHERE = ("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE")


class FencedError(Exception):
    """Another process has this member's `group.instance.id` now: this one ends."""


class Member:
    """One process. `owned` is what it takes for its own; `generation` -1: it is no part of any."""

    def __init__(self, cluster: Cluster, plan: GroupPlan, name: str, instance_id: str | None) -> None:
        self.plan = plan
        self.name = name
        self.instance_id = instance_id
        self.alive = True
        self.id = ""
        self.generation = -1
        self.owned: frozenset[TopicPartition] = frozenset()
        self.positions: dict[TopicPartition, int] = {}
        self.restarted: set[TopicPartition] = set()
        """Where it began anew, or where an old coordinator said, or what it has had since before a generation that it
        missed, as only static members can: it may commit less than others did."""
        self.is_to_leave = False
        self.was_spared = False
        """It leads by coming back, and was told not to assign: what changed before is not noticed (KIP-814)."""
        self._cluster = cluster
        self._dice = cluster.dice
        self._connection: Connection | None = None
        self._running = asyncio.Event()
        self._running.set()
        self._counted = 0
        """Partitions that the topic had when it assigned; 0: it does not lead."""
        self._is_to_rejoin = False
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._task.add_done_callback(cluster.ended)

    def __str__(self) -> str:
        return f"{self.plan.group_id}/{self.name}"

    # From outside

    def kill(self) -> None:
        """kill -9."""
        self.alive = False
        self._task.cancel()

    def pause(self) -> None:
        """SIGSTOP."""
        self._running.clear()

    def resume(self) -> None:
        """SIGCONT."""
        self._running.set()

    @property
    def is_paused(self) -> bool:
        """Whether it stands still."""
        return not self._running.is_set()

    @property
    def watches_its_topic(self) -> bool:
        """Whether it leads, and has every partition shared out."""
        return self._counted > 0 and not self.was_spared

    # Life

    async def _run(self) -> None:
        try:
            while self.alive:
                await self._join()
                await self._consume()
        except FencedError:
            self._cluster.say("{} is fenced, and ends", self)
        finally:
            self.alive = False
            self.owned = frozenset()

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds * (0.8 + 0.4 * self._dice.random()))
        await self._running.wait()

    async def _find(self) -> Connection:
        while self._connection is None or not self._connection.is_open:
            await self._sleep(BACKOFF_S)
            broker = self._cluster.find_coordinator(self.plan.group_id)
            self._connection = None if broker is None else Connection(broker, self._cluster.network)
        return self._connection

    async def _ask(self, kind: Any, answer: Any, timeout_s: float = REQUEST_S, **facts: Any) -> Any:
        connection = await self._find()
        if kind is not events_and_commands.LeaveRequested:
            facts |= {"member_id": self.id, "instance_id": self.instance_id}
        try:
            return await connection.ask(
                lambda broker: self._cluster.serve(self, broker, kind, answer, facts), timeout_s
            )
        finally:
            await self._running.wait()

    # Joining

    async def _join(self) -> None:
        """Until it has a share."""
        self._is_to_rejoin = False
        if self.plan.strategy != COOPERATIVE:
            await self._give_up(self.owned)
        is_committed = False
        while True:
            try:
                if not is_committed:
                    await self._commit(self.owned)
                    is_committed = True
                if await self._try_to_join():
                    return
            except DisconnectedError:
                self._connection = None
            await self._sleep(BACKOFF_S)

    async def _try_to_join(self) -> bool:
        joined = await self._ask_to_join()
        if joined.error == "MEMBER_ID_REQUIRED":
            self.id = joined.member_id
            joined = await self._ask_to_join()
        if joined.error != "NONE":
            self._heed(joined.error)
            return False
        if self.instance_id and self.generation + 1 < joined.generation:
            self.restarted |= self.owned
        self.id, self.generation, self._counted = joined.member_id, joined.generation, 0
        self.was_spared = joined.skip_assignment
        self._cluster.say("{} joined {} as {}, led by {}", self, self.generation, self.id, joined.leader)
        synced = await self._ask_for_share(joined)
        if synced.error != "NONE":
            self._heed(synced.error)
            return False
        await self._take(owned_in(synced.assignment))
        return True

    async def _ask_to_join(self) -> events_and_commands.AnswerJoin:
        plan = self.plan
        metadata = subscription(plan.topic, self.owned, self.generation)
        return await self._ask(
            events_and_commands.JoinRequested,
            events_and_commands.AnswerJoin,
            plan.patience_s,
            client_id=self.name,
            session_timeout_ms=plan.session_ms,
            rebalance_timeout_ms=plan.rebalance_ms,
            protocol_type="consumer",
            protocols=(SupportedProtocol(plan.strategy, metadata),),
            new_id=f"{self.name}.{self._dice.randrange(10**6)}",
            needs_known_id=self.instance_id is None,
            can_skip_assignment=plan.can_skip_assignment,
        )

    async def _ask_for_share(self, joined: events_and_commands.AnswerJoin) -> events_and_commands.AnswerSync:
        plan, assignment = self.plan, dict[str, bytes]()
        if joined.leader == self.id:
            self._counted = self._cluster.partitions(plan.topic)
            if not joined.skip_assignment:
                assignment = dict(shares(plan.strategy, joined.members, plan.topic, self._counted))
        return await self._ask(
            events_and_commands.SyncRequested,
            events_and_commands.AnswerSync,
            plan.patience_s,
            generation=self.generation,
            protocol_type="consumer",
            protocol=plan.strategy,
            assignment=assignment,
        )

    async def _take(self, share: frozenset[TopicPartition]) -> None:
        kept = self.owned & share
        if kept != self.owned:
            self._is_to_rejoin = True
            await self._give_up(self.owned - share)
            if self.generation < 0:
                return  # it learnt that it is no member any more
        self.owned = share
        self._cluster.promises.took(self, share - kept)

    async def _give_up(self, partitions: Collection[TopicPartition]) -> None:
        if partitions:
            try:
                await self._commit(partitions)
            except DisconnectedError:
                self._connection = None
            self.owned -= frozenset(partitions)
            self._forget(partitions)

    def _forget(self, partitions: Collection[TopicPartition]) -> None:
        for each in partitions:
            self.positions.pop(each, None)
            self.restarted.discard(each)

    def _lose(self) -> None:
        self.generation = -1
        self._forget(self.owned)
        self.owned = frozenset()

    def _heed(self, error: str) -> bool:
        """What an error means to a member; whether it has to join again. Raises DisconnectedError, FencedError."""
        self._cluster.say("{} ({}, generation {}) is told {}", self, self.id, self.generation, error)
        if error == "FENCED_INSTANCE_ID":
            raise FencedError
        if error in _ELSEWHERE:
            raise DisconnectedError
        if error in ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"):
            self._lose()
            if error == "UNKNOWN_MEMBER_ID":
                self.id = ""
        return error != "COORDINATOR_LOAD_IN_PROGRESS"

    # Consuming

    async def _consume(self) -> None:
        """Until it has to join again."""
        while self.alive and not self._is_to_rejoin:
            try:
                if await self._go_on():
                    return
            except DisconnectedError:
                self._connection = None

    async def _go_on(self) -> bool:
        """A round of the poll loop; whether it has to join again."""
        await self._sleep(HEARTBEAT_S)
        if self.is_to_leave:
            await self._leave()
            return True
        await self._find_positions()
        for each in self.positions:
            self.positions[each] += self._dice.randrange(4)
        if self._dice.random() < 0.5 and await self._commit(self.owned):
            return True
        if self.generation < 0:
            return True
        beat = await self._ask(
            events_and_commands.HeartbeatReceived, events_and_commands.AnswerHeartbeat, generation=self.generation
        )
        if beat.error not in ("NONE", "COORDINATOR_LOAD_IN_PROGRESS"):
            if beat.error == "REBALANCE_IN_PROGRESS" and self._dice.random() < self._cluster.slowness:
                await self._sleep(self.plan.rebalance_ms / 1000 * 1.2)  # it is busy with what it has read
            return self._heed(beat.error)
        return self._counted not in (0, self._cluster.partitions(self.plan.topic))

    async def _find_positions(self) -> None:
        missing = self.owned - self.positions.keys()
        if not missing:
            return
        connection = await self._find()
        found = await connection.ask(lambda broker: self._cluster.fetch(self, broker, missing), REQUEST_S)
        await self._running.wait()
        for each, is_current in found:
            if each.partition in self.owned:
                self.positions[each.partition] = max(each.offset, 0)
                if each.offset < 0 or not is_current:
                    self.restarted.add(each.partition)

    async def _commit(self, partitions: Collection[TopicPartition]) -> bool:
        """What it has read; whether it has to join again."""
        offsets = {each: self.positions[each] for each in sorted(partitions) if each in self.positions}
        if not offsets or self.generation < 0:
            return False
        number = self._cluster.promises.committing(self, offsets)
        told = await self._ask(
            events_and_commands.CommitRequested,
            events_and_commands.AnswerCommit,
            generation=self.generation,
            offsets={
                each: CommittedOffset(offset=at, metadata=str(number), commit_ms=self._cluster.now_ms)
                for each, at in offsets.items()
            },
        )
        errors = {error for _, error in told.partitions} - {"NONE", "REQUEST_TIMED_OUT"}
        return any(self._heed(error) for error in sorted(errors))

    async def _leave(self) -> None:
        await self._give_up(self.owned)
        if self.id and self.instance_id is None:
            leaving = (events_and_commands.LeavingMember(self.id),)
            await self._ask(events_and_commands.LeaveRequested, events_and_commands.AnswerLeave, members=leaving)
        self.alive = False
