"""One history of a ZooKeeper group: all requests, answers and watches in any order, and members that freeze."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups.events_and_commands import CommitRequested, LeaveRequested
from model.consumers.zookeeper_groups.member_state import MemberStage
from tests.model.consumers.zookeeper_groups.virtual_group import Host, VirtualGroup
from tests.simulation.violation import promise

PATIENT = 1_000_000
"""Retries: timers may fire before the others have done anything."""
_WEIGHTS = {
    "go on": 200.0,
    "read": 12.0,
    "timer": 2.0,
    "join": 3.0,
    "pause": 0.6,
    "resume": 0.6,
    "commit": 1.0,
    "kill": 0.5,
    "expire": 1.0,
    "leave": 0.4,
    "grow": 0.5,
}


class ZooKeeperHistory:
    """Raises AssertionError (ViolationError is one)."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.group = VirtualGroup({"t": 4, "u": 2}, records=20)
        self.told: list[str] = []
        self.steps = 0
        self._paused: set[Host] = set()
        self._offsets: dict[TopicPartition, int] = {}
        self._strategy = self.dice.choice(("zk-range", "zk-roundrobin-1.0"))
        self._waiting = self.dice.randrange(1, 6)

    def run(self) -> None:
        """All of it; at last everybody goes on, and all is owned and consumed."""
        self._join()
        for _ in range(self.dice.randrange(600)):
            (what,) = self.dice.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
            self._act(what)
            self.group.check()
            self._check_offsets()
            self.steps += 1
        self._heal()

    def lines(self) -> Iterator[str]:
        """What happened, in order of steps; what members did between is their own."""
        yield from self.told
        for host in self.group.hosts:
            for happening in host.told:
                yield f"{host.id}: {happening}"

    def _act(self, what: str) -> None:
        living = [host for host in self.group.hosts if host.alive]
        if what == "go on":
            self._go_on()
        elif what == "join" and self._waiting:
            self._join()
        elif what == "grow":
            self.group.put_topic("t", max(self.dice.randint(4, 6), self.group.partitions("t")), 20)
        elif living:
            self._harm(what, self.dice.choice(living))

    def _go_on(self) -> None:
        """One thing of those that can go on at once, of whoever does not stand still."""
        awake = [host for host in self.group.hosts if host.alive and host not in self._paused]
        doing: list[Callable[[], None]] = [host.take for host in awake if host.inbox]
        doing += [host.send for host in self.group.hosts if host.alive and host.outbox]
        if doing:
            self.dice.choice(doing)()

    def _harm(self, what: str, host: Host) -> None:
        if what != "read":
            self.told.append(f"{self.steps}: {what} {host.id} ({host.member.stage})")
        if what == "timer" and host.timers:
            host.fire(self.dice.choice(sorted(host.timers)))
        elif what == "read" and host not in self._paused:
            host.read(self.dice.randint(1, 4))
        elif what == "pause":
            self._paused.add(host)
        elif what == "resume":
            self._paused.discard(host)
        elif what == "commit":
            host.put(CommitRequested)
        elif what == "kill":
            host.kill()
        elif what == "expire":
            self._expire(host)
        elif what == "leave":
            host.put(LeaveRequested)

    def _expire(self, host: Host) -> None:
        if host.member.stage is MemberStage.AWAITING_SESSION:
            host.reconnect()
        elif host.member.stage is not MemberStage.NEW and host.session.id in dict(
            self.group.zookeeper.state.sessions.items()
        ):
            host.expire()

    def _join(self) -> None:
        self._waiting -= 1
        threads = self.dice.randint(1, 3)
        name = f"m{len(self.group.hosts)}"
        self.told.append(f"{self.steps}: {name} joins with {threads} threads")
        self.group.join(
            name,
            subscription={"t": threads, "u": threads},
            strategy=self._strategy,
            rebalance_max_retries=PATIENT,
        )

    def _check_offsets(self) -> None:
        for read in self.group.log_end:
            offset = self.group.offset(read)
            before = self._offsets.get(read, 0)
            promise(offset >= before, f"the offset of {read} goes back from {before} to {offset}")
            self._offsets[read] = offset

    def _heal(self) -> None:
        self.told.append(f"{self.steps}: heal")
        self._paused.clear()
        self._settle()
        if not any(host.alive for host in self.group.hosts):
            self._join()
            self._settle()
        self.group.check_at_rest()
        for host in self.group.hosts:
            host.read(most=100)
        self.group.check_consumed()

    def _settle(self) -> None:
        """Whoever waits for a session gets one, until nobody does."""
        self.group.settle(self.dice)
        for host in self.group.hosts:
            if host.alive and host.member.stage is MemberStage.AWAITING_SESSION:
                host.reconnect()
        self.group.settle(self.dice)
        self._check_offsets()
