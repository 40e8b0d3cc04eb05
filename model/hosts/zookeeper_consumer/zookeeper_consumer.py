"""The host: a real session, real fetchers, the clock; and one member's state. It carries out and feeds facts back."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from confluent_kafka import Message

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups import events_and_commands
from model.consumers.zookeeper_groups.consume import consume
from model.consumers.zookeeper_groups.events_and_commands import Command
from model.consumers.zookeeper_groups.member_state import MemberState, new_member
from model.hosts.background import BackgroundTasks
from model.hosts.writing_zookeeper.session import SuccessiveSessions
from model.hosts.zookeeper_consumer.fetching import ConsumerOptions, Fetching
from model.zookeeper.znodes import EventKind, ZnodeChanged

CONNECTION_TIMEOUT_S = 30.0
LEAVE_TIMEOUT_S = 15.0
Line = Mapping[str, Any]
_LOGGER = logging.getLogger(__name__)


class ZooKeeperConsumer:
    """One member, from `start` to `close`. For one event loop. `tell` gets what happens, each as one JSON object."""

    def __init__(self, options: ConsumerOptions, tell: Callable[[Line], None]) -> None:
        self._options = options
        self._tell = tell
        self._state = new_member(options.member)
        self._total = 0
        self._inbox: deque[events_and_commands.Event] = deque()
        self._wakeup = asyncio.Event()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks = BackgroundTasks(self._failed_at)
        self._sessions = SuccessiveSessions(options.zookeeper)
        self._sessions.on_watch = self._watched
        self._sessions.on_expired = self._expired
        self._fetching = Fetching(self._sessions.ask, options, self._took, self._failed_at)
        self.ended = asyncio.Event()
        """It has left the group, or given up."""
        self.failure: str | None = None
        """Why it gave up."""
        self._carry_out: Mapping[type[Command], Callable[[Any], None]] = {
            events_and_commands.AskZooKeeper: lambda command: self._tasks.spawn(self._ask(command)),
            events_and_commands.StopFetching: lambda command: self._tasks.spawn(self._stop_fetching()),
            events_and_commands.StartFetching: self._start_fetching,
            events_and_commands.StartTimer: self._start_timer,
            events_and_commands.CallBack: self._call_back,
            events_and_commands.CloseSession: lambda command: self.ended.set(),
            events_and_commands.GiveUp: lambda command: self._fail(command.why),
        }

    @property
    def state(self) -> MemberState:
        return self._state

    async def start(self) -> None:
        """Open the session and join. Raises ZooKeeperUnavailable."""
        await self._sessions.open(CONNECTION_TIMEOUT_S)
        self._put(events_and_commands.MemberStarted())
        self._tasks.spawn(self._decide_all())

    async def leave(self) -> None:
        """Stop, commit, leave; without ZooKeeper it does not wait for ever."""
        self._put(events_and_commands.LeaveRequested())
        try:
            async with asyncio.timeout(LEAVE_TIMEOUT_S):
                await self.ended.wait()
        except TimeoutError:
            _LOGGER.warning("left without a last commit: ZooKeeper does not answer")

    async def close(self) -> None:
        """End the session, whatever goes on."""
        for timer in self._timers.values():
            timer.cancel()
        await self._fetching.stop()
        await self._tasks.close()
        await self._sessions.close()

    def _put(self, event: events_and_commands.Event) -> None:
        self._inbox.append(event)
        self._wakeup.set()

    async def _decide_all(self) -> None:
        while True:
            while self._inbox:
                self._decide(self._inbox.popleft())
            self._wakeup.clear()
            await self._wakeup.wait()

    def _decide(self, event: events_and_commands.Event) -> None:
        decision = consume(self._state, msgspec.structs.replace(event, at_ms=_now_ms()))
        self._state = decision.member
        for happening in decision.happenings:
            self._say(**msgspec.to_builtins(happening), text=str(happening))
        for command in decision.commands:
            self._carry_out[type(command)](command)

    # Commands

    async def _ask(self, command: events_and_commands.AskZooKeeper) -> None:
        answers = await self._sessions.ask(command.requests)
        self._put(events_and_commands.ZooKeeperAnswered(asked=command, answers=answers))

    async def _stop_fetching(self) -> None:
        await self._fetching.stop()
        self._put(events_and_commands.FetchingStopped())

    def _start_fetching(self, command: events_and_commands.StartFetching) -> None:
        self._fetching.start({read: at.offset for read, at in command.positions.items()})

    def _start_timer(self, command: events_and_commands.StartTimer) -> None:
        running = self._timers.pop(command.timer, None)
        if running is not None:
            running.cancel()
        later = asyncio.get_running_loop().call_later
        fired = events_and_commands.TimerFired(timer=command.timer)
        self._timers[command.timer] = later(command.after_ms / 1000, self._put, fired)

    def _call_back(self, command: events_and_commands.CallBack) -> None:
        owners = [(*read, thread) for read, thread in sorted(command.owners.items())]
        self._say(happening="callback", before=command.before, owners=owners)
        self._put(events_and_commands.CallbackReturned())

    # Facts

    def _took(self, taken: Mapping[TopicPartition, tuple[int, int, Sequence[Message]]]) -> None:
        count = sum(len(records) for _, _, records in taken.values())
        self._total += count
        ranges = [(*read, start, end) for read, (start, end, _) in sorted(taken.items())]
        if count:
            values: dict[str, Any] = {}
            if self._options.tell_values:
                values["values"] = [
                    (*read, record.offset(), (record.value() or b"").decode(errors="replace"))
                    for read, (_, _, records) in sorted(taken.items())
                    for record in records
                ]
            self._say(happening="consumed", records=count, total=self._total, ranges=ranges, **values)
        self._put(events_and_commands.RecordsConsumed(offsets={read: end for read, (_, end, _) in taken.items()}))

    def _watched(self, changed: ZnodeChanged) -> None:
        self._put(events_and_commands.WatchFired(path=changed.path, deleted=changed.kind is EventKind.DELETED))

    def _expired(self) -> None:
        self._put(events_and_commands.SessionExpired())
        self._tasks.spawn(self._renew())

    async def _renew(self) -> None:
        await self._sessions.renew()
        self._sessions.use_next()
        self._put(events_and_commands.SessionEstablished())

    def _say(self, **facts: Any) -> None:
        self._tell({"at_ms": _now_ms(), "member": self._options.member.consumer_id, **facts})

    def _fail(self, why: str) -> None:
        if self.failure is None:
            self.failure = why
        self._say(happening="gave-up", why=why)
        self.ended.set()

    def _failed_at(self, error: BaseException) -> None:
        _LOGGER.error("this must not happen", exc_info=error)
        self._fail(f"this must not happen: {error}")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
