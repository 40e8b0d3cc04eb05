"""One history of coordinated groups: members come, things happen to them and to brokers, all is healed."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from random import Random

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator import events_and_commands
from model.consumers.group_coordinator.group import STABLE, CommittedOffset, Group
from tests.simulation.groups.cluster import Cluster
from tests.simulation.groups.connection import Connection, DisconnectedError
from tests.simulation.groups.member import Member
from tests.simulation.groups.scenario import GroupPlan, scenario_of
from tests.simulation.groups.virtual_loop import VirtualLoop
from tests.simulation.violation import promise

HEALED_S = 900.0
"""The longest that a group may take to be balanced when nothing goes wrong any more: newcomers that gave up are waited
for five minutes."""


class History:
    """Runs in its loop. Raises ViolationError."""

    def __init__(self, seed: int) -> None:
        self.loop = VirtualLoop()
        self.scenario = scenario_of(seed)
        self.dice = Random(seed + 1)
        self.cluster = Cluster(self.loop, self.scenario, self.dice)

    @property
    def steps(self) -> int:
        """Requests that brokers have got."""
        return self.cluster.requests

    def run(self) -> None:
        """All of it."""
        self.loop.play(self._run())

    def lines(self) -> Iterator[str]:
        """What happened, in order of time (ms)."""
        yield str(self.scenario)
        for at_ms, text, values in self.cluster.told:
            yield f"{at_ms:>10} {text.format(*values)}"

    async def _run(self) -> None:
        for broker in self.scenario.brokers:
            await self.cluster.boot(broker)
        for plan in self.scenario.groups:
            for number in range(plan.members):
                self.cluster.start_member(plan, f"{plan.group_id}-s{number}" if number < plan.statics else None)
        await self._pass(self.dice.choice((0.0, 5.0, 15.0)))
        self.cluster.network.loss = self.scenario.loss
        self.cluster.network.lateness_s = self.scenario.lateness_s
        for _ in range(self.scenario.acts):
            act = self.dice.choice(_WEIGHTED)
            self.cluster.say("---- {}", act)
            await _ACTS[act](self)
            await self._pass(self.dice.choice((0.0, 0.05, 0.5, 3.0, 8.0, 20.0)))
        await self._heal()

    async def _pass(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        if self.cluster.failure is not None:
            raise self.cluster.failure

    # Members

    def _one(self, choices: list[Member]) -> Member | None:
        return self.dice.choice(choices) if choices else None

    def _living(self) -> list[Member]:
        return [member for member in self.cluster.members if member.alive]

    async def kill(self) -> None:
        if member := self._one(self._living()):
            member.kill()

    async def pause(self) -> None:
        if member := self._one(self._living()):
            member.pause()

    async def resume(self) -> None:
        if member := self._one([each for each in self._living() if each.is_paused]):
            member.resume()

    async def leave(self) -> None:
        if member := self._one(self._living()):
            member.is_to_leave = True

    async def join(self) -> None:
        plan = self.dice.choice(self.scenario.groups)
        if sum(each.plan is plan for each in self._living()) < 8:
            self.cluster.start_member(plan, None)

    async def replace(self) -> None:
        """A static member comes back, perhaps while its old process lives."""
        if member := self._one([each for each in self.cluster.members if each.instance_id]):
            if self.dice.random() < 0.7:
                member.kill()
            self.cluster.start_member(member.plan, member.instance_id)

    async def grow(self) -> None:
        topic = self.dice.choice(sorted(self.cluster.sizes))
        self.cluster.sizes[topic] += self.dice.randrange(1, 3)

    # Brokers

    async def move(self) -> None:
        self.cluster.move(self.dice.choice(list(self.cluster.partitions_led.values())))

    async def crash(self) -> None:
        living = [each.id for each in self.cluster.brokers.values() if each.alive]
        if living:
            self.cluster.crash(self.dice.choice(living))

    async def boot(self) -> None:
        for broker in [each.id for each in self.cluster.brokers.values() if not each.alive][:1]:
            await self.cluster.boot(broker)

    async def cut(self) -> None:
        self.cluster.cut(self.dice.choice(self.scenario.brokers))

    async def mend(self) -> None:
        for broker in sorted(self.cluster.network.away)[:1]:
            self.cluster.mend(broker)

    # Operators

    async def reset(self) -> None:
        """Offsets are set to 0 where the group has no members."""
        plan = self.dice.choice(self.scenario.groups)
        name = TopicPartition(plan.topic, 0)
        number = self.cluster.promises.committing(None, {name: 0})
        offset = CommittedOffset(offset=0, metadata=str(number), commit_ms=self.cluster.now_ms)
        await self._operate(
            plan, events_and_commands.CommitRequested, events_and_commands.AnswerCommit, offsets={name: offset}
        )

    async def delete(self) -> None:
        """The group, where it has no members."""
        plan = self.dice.choice(self.scenario.groups)
        self.cluster.promises.deleted.add(plan.group_id)
        await self._operate(plan, events_and_commands.GroupDeletionRequested, events_and_commands.AnswerGroupDeletion)

    async def _operate(self, plan: GroupPlan, kind: type, answer: type, **facts: object) -> None:
        broker = self.cluster.find_coordinator(plan.group_id)
        if broker is None:
            return
        connection, facts = Connection(broker, self.cluster.network), {"group_id": plan.group_id, **facts}
        with contextlib.suppress(DisconnectedError):
            await connection.ask(lambda found: self.cluster.serve(None, found, kind, answer, facts), 5.0)

    # The end

    async def _heal(self) -> None:
        self.cluster.say("---- heal")
        self.cluster.network.heal()
        self.cluster.slowness = 0.0
        for broker in self.scenario.brokers:
            if self.cluster.brokers[broker].alive:
                self.cluster.mend(broker)
            else:
                await self.cluster.boot(broker)
        for member in self._living():
            member.resume()
        until_s = self.loop.time() + HEALED_S
        while wrong := self._wrong():
            promise(self.loop.time() < until_s, f"it is never balanced: {wrong}")
            self._help_blind_leaders()
            await self._pass(2.0)

    def _help_blind_leaders(self) -> None:
        """Somebody joins where nobody is going to notice that the topic has grown: a static leader that came back does
        not know that it leads (before KIP-814), or what it led before. Who takes itself for the leader does not count:
        it may be a process of before, or have lost its membership.
        """
        for plan in self.scenario.groups:
            group = self._group(plan)
            leaders = [each for each in self._living() if group is not None and each.id == group.leader]
            is_stable = group is not None and group.state is STABLE
            if is_stable and any(each.instance_id and not each.watches_its_topic for each in leaders):
                self.cluster.start_member(plan, None)

    def _wrong(self) -> str:
        """What is not as it should be at last; nothing if all is well."""
        for broker in self.cluster.brokers.values():
            for came, event in broker.waiting.values():
                if self.loop.time() - came > 1:
                    return f"broker {broker.id} has not answered {event}"
        return next(filter(None, (self._wrong_in(plan) for plan in self.scenario.groups)), "")

    def _wrong_in(self, plan: GroupPlan) -> str:
        living = [member for member in self._living() if member.plan is plan]
        if not living:
            return ""
        group = self._group(plan)
        if group is None or group.state is not STABLE:
            return f"{plan.group_id} is {group and group.state}"
        if set(group.members) != {member.id for member in living}:
            return f"{plan.group_id} has members {set(group.members)}, not {[member.id for member in living]}"
        if any(member.generation != group.generation for member in living):
            return f"{plan.group_id}: generations are {[member.generation for member in living]}"
        owned = Counter(each for member in living for each in member.owned)
        there = Counter(TopicPartition(plan.topic, number) for number in range(self.cluster.sizes[plan.topic]))
        if owned != there:
            return f"{plan.group_id} owns {owned}, not {there}"
        read = [member for member in living if member.owned - member.positions.keys()]
        return f"{read[0]} has no offsets" if read else ""

    def _group(self, plan: GroupPlan) -> Group | None:
        """As its coordinator has it."""
        home = self.cluster.home(plan.group_id)
        return self.cluster.brokers[home.leader].coordinator.groups.get(plan.group_id)


_ACTS: Mapping[str, Callable[[History], Awaitable[None]]] = {
    "kill": History.kill,
    "pause": History.pause,
    "resume": History.resume,
    "leave": History.leave,
    "join": History.join,
    "replace": History.replace,
    "grow": History.grow,
    "move": History.move,
    "crash": History.crash,
    "boot": History.boot,
    "cut": History.cut,
    "mend": History.mend,
    "reset": History.reset,
    "delete": History.delete,
}
_OFTEN = {"pause": 2, "resume": 3, "join": 2, "move": 3, "boot": 2, "mend": 2}
_WEIGHTED = [name for name in _ACTS for _ in range(_OFTEN.get(name, 1))]
