"""A group in memory: members on one ZooKeeper, their requests and events taken one at a time in any order wanted.

It holds what a host and an application would, and checks at every step what must never be broken.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from random import Random
from typing import Any

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups import events_and_commands
from model.consumers.zookeeper_groups.consume import consume
from model.consumers.zookeeper_groups.events_and_commands import AUTO_COMMIT, AskZooKeeper, Happening
from model.consumers.zookeeper_groups.member_state import MemberSettings, MemberStage, MemberState, new_member
from model.znodes.topics import TopicAssignment
from model.zookeeper import (
    Answer,
    Create,
    Delete,
    EventKind,
    GetChildren,
    GetData,
    SetData,
    ZnodeChanged,
    ZooKeeperRequest,
)
from tests.zookeeper.memory_zookeeper import MemorySession, MemoryZooKeeper

GROUP = "g"


def settings(name: str, **more: Any) -> MemberSettings:
    subscription = more.pop("subscription", {"t": 1})
    return MemberSettings(group_id=GROUP, consumer_id=f"{GROUP}_{name}", subscription=subscription, **more)


class Host:
    """One member's process."""

    def __init__(self, group: VirtualGroup, given: MemberSettings) -> None:
        self.group = group
        self.member: MemberState = new_member(given)
        self.session: MemorySession = group.zookeeper.open()
        self.inbox: deque[Callable[[], events_and_commands.Event]] = deque()
        self.outbox: deque[tuple[AskZooKeeper, deque[ZooKeeperRequest], list[Answer]]] = deque()
        self.fetching_in = 0
        """The session in which it began to fetch."""
        self.timers: dict[str, int] = {}
        self.positions: dict[TopicPartition, int] = {}
        self.taken: dict[TopicPartition, int] = {}
        """How far the application came, also in what was given up since."""
        self.told: list[Happening] = []
        self.done: list[events_and_commands.Command] = []
        self.alive = True
        self.hold_callbacks = False
        self.put(events_and_commands.MemberStarted)

    @property
    def id(self) -> str:
        return self.member.settings.consumer_id

    def put(self, kind: type[events_and_commands.Event], **facts: Any) -> None:
        self.inbox.append(lambda: kind(at_ms=self.group.now_ms, **facts))

    def take(self) -> None:
        """Let the member decide about the next event."""
        decision = consume(self.member, self.inbox.popleft()())
        self.member = decision.member
        self.told += decision.happenings
        for command in decision.commands:
            self.done.append(command)
            self._carry_out(command)

    def send(self) -> None:
        """Let the server take the next request."""
        asked, left, answers = self.outbox[0]
        if left:
            request = left.popleft()
            answers.append(self.group.ask(self.session, request))
        if not left:
            self.outbox.popleft()
            self.put(events_and_commands.ZooKeeperAnswered, asked=asked, answers=tuple(answers))

    def fire(self, timer: str) -> None:
        self.timers.pop(timer)
        self.put(events_and_commands.TimerFired, timer=timer)

    def read(self, most: int = 1) -> None:
        """The application takes records of each partition that is fetched."""
        for read, at in list(self.positions.items()):
            end = min(at + most, self.group.log_end[read])
            if end > at:
                self.group.note_consumed(self, read, at, end)
                self.positions[read] = self.taken[read] = end
                self.put(events_and_commands.RecordsConsumed, offsets={read: end})

    def kill(self) -> None:
        """kill -9, and its session ends."""
        self.alive = False
        self.group.excuse(self)
        self.group.zookeeper.expire(self.session.id)
        self.group.deliver()

    def expire(self) -> None:
        """Its session ends, and it lives on."""
        self.group.excuse(self)
        self.group.zookeeper.expire(self.session.id)
        self.outbox.clear()
        self.put(events_and_commands.SessionExpired)
        self.group.deliver()

    def reconnect(self) -> None:
        self.session = self.group.zookeeper.open()
        self.put(events_and_commands.SessionEstablished)

    def _carry_out(self, command: events_and_commands.Command) -> None:
        match command:
            case AskZooKeeper():
                self.outbox.append((command, deque(command.requests), []))
            case events_and_commands.StopFetching():
                self.positions.clear()
                self.put(events_and_commands.FetchingStopped)
            case events_and_commands.StartFetching():
                self.positions = {read: max(at.offset, 0) for read, at in command.positions.items()}
                self.fetching_in = self.session.id
            case events_and_commands.StartTimer():
                self.timers[command.timer] = command.after_ms
            case events_and_commands.CallBack():
                if not self.hold_callbacks:
                    self.put(events_and_commands.CallbackReturned)
            case _:  # CloseSession, GiveUp: the process ends
                self.alive = False
                self.session.close()
                self.group.deliver()


class VirtualGroup:
    """Topics with records, and members."""

    def __init__(self, topics: dict[str, int], records: int = 0, brokers: int = 1) -> None:
        self.now_ms = 1_000
        self.zookeeper = MemoryZooKeeper(lambda: self.now_ms)
        self.admin = self.zookeeper.open()
        self.hosts: list[Host] = []
        self.log_end: dict[TopicPartition, int] = {}
        self.consumed: dict[TopicPartition, Counter[int]] = {}
        self.excused: set[tuple[TopicPartition, int]] = set()
        for path in ("/brokers", "/brokers/ids", "/brokers/topics") if brokers or topics else ():
            self.ask(self.admin, Create(path))
        for broker in range(brokers):
            self.ask(self.admin, Create(f"/brokers/ids/{broker}"))
        for topic, partitions in topics.items():
            self.put_topic(topic, partitions, records)

    def put_topic(self, topic: str, partitions: int, records: int = 0) -> None:
        """Make a topic, or give it more partitions."""
        path, data = f"/brokers/topics/{topic}", TopicAssignment(partitions=dict.fromkeys(range(partitions), (1,)))
        if not self.ask(self.admin, Create(path, data.to_bytes())).ok:
            self.ask(self.admin, SetData(path, data.to_bytes()))
        for number in range(partitions):
            read = TopicPartition(topic, number)
            self.log_end.setdefault(read, records)
            self.consumed.setdefault(read, Counter())

    def partitions(self, topic: str) -> int:
        return sum(read.topic == topic for read in self.log_end)

    def ask(self, session: MemorySession, request: ZooKeeperRequest) -> Answer:
        answer = session.ask(request).answer
        self.deliver()
        return answer

    def deliver(self) -> None:
        """Watches that have fired reach their members' inboxes."""
        for host in self.hosts:
            for message in host.session.take():
                if isinstance(message, ZnodeChanged):
                    host.put(
                        events_and_commands.WatchFired, path=message.path, deleted=message.kind is EventKind.DELETED
                    )

    def join(self, name: str, **more: Any) -> Host:
        host = Host(self, settings(name, **more))
        self.hosts.append(host)
        return host

    def text(self, path: str) -> str:
        return self.ask(self.admin, GetData(path)).data.decode()

    def names(self, path: str) -> tuple[str, ...]:
        return self.ask(self.admin, GetChildren(path)).names

    def delete(self, path: str) -> None:
        self.ask(self.admin, Delete(path))

    def owners(self) -> dict[str, str]:
        """`t-0` → the thread without the group's name, as ZooKeeper has it."""
        base = f"/consumers/{GROUP}/owners"
        return {
            f"{topic}-{number}": self.text(f"{base}/{topic}/{number}").removeprefix(f"{GROUP}_")
            for topic in self.names(base)
            for number in self.names(f"{base}/{topic}")
        }

    def offset(self, read: TopicPartition) -> int:
        return int(self.text(f"/consumers/{GROUP}/offsets/{read.topic}/{read.partition}") or 0)

    # What may happen next

    def busy(self) -> list[Callable[[], None]]:
        """Every single thing that can go on without time passing."""
        living = [host for host in self.hosts if host.alive]
        return [host.take for host in living if host.inbox] + [host.send for host in living if host.outbox]

    def timers(self) -> list[tuple[int, Host, str]]:
        """Those that a rebalance waits for, the next first."""
        found = [
            (after_ms, host, timer)
            for host in self.hosts
            if host.alive
            for timer, after_ms in host.timers.items()
            if timer != AUTO_COMMIT
        ]
        return sorted(found, key=lambda each: (each[0], each[1].id))

    def settle(self, dice: Random | None = None) -> None:
        """Until nothing goes on, in any order: time passes only while everybody waits."""
        dice = dice or Random(0)
        for _ in range(10_000):
            doing = self.busy()
            if doing:
                dice.choice(doing)()
            elif waiting := self.timers():
                after_ms, host, timer = waiting[0]
                self.now_ms += after_ms
                host.fire(timer)
            else:
                return
            self.check()
        raise AssertionError("this group never comes to rest")

    # What must hold

    def check(self) -> None:
        """Whoever fetches has the owner znode, unless its session has ended."""
        for host in self.hosts:
            if host.alive and host.fetching_in in dict(self.zookeeper.state.sessions.items()):
                for read in host.positions:
                    path = f"/consumers/{GROUP}/owners/{read.topic}/{read.partition}"
                    assert self.text(path) == host.member.owned.get(read), (host.id, read)

    def check_at_rest(self) -> None:
        """Nothing is unowned or owned twice, all members agree, and the owners are who consumes."""
        living = [host for host in self.hosts if host.alive]
        assert all(host.member.stage is MemberStage.IDLE for host in living)
        expected = {read for read in self.log_end if living}
        fetched = Counter(read for host in living for read in host.positions)
        assert fetched == Counter(expected)
        views = [dict(host.member.view.owners) for host in living if host.member.view]
        assert all(view == views[0] for view in views)
        assert len(self.owners()) == len(expected)

    def note_consumed(self, host: Host, read: TopicPartition, start: int, end: int) -> None:
        """Without its owner znode, which means without a session, a member cannot commit what it takes."""
        self.consumed[read].update(range(start, end))
        if self.text(f"/consumers/{GROUP}/owners/{read.topic}/{read.partition}") != host.member.fetching[read]:
            self.excused |= {(read, offset) for offset in range(start, end)}

    def excuse(self, host: Host) -> None:
        """What a member did not commit before it lost its session may be consumed again."""
        for read, at in host.taken.items():
            self.excused |= {(read, offset) for offset in range(self.offset(read), at)}

    def check_consumed(self) -> None:
        """Every record once; twice only those that somebody took and could not commit."""
        for read, end in self.log_end.items():
            assert sorted(self.consumed[read]) == list(range(end)), read
            twice = {(read, offset) for offset, times in self.consumed[read].items() if times > 1}
            assert twice <= self.excused
