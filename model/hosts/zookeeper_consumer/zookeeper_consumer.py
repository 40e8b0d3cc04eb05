"""The host: a real session, real fetchers, the clock; and one member's state. It carries out and feeds facts back.

librdkafka finds leaders and fetches, from brokers of 0.10 on. Of groups and offsets it knows nothing: ZooKeeper does.
Brokers are found where ZooKeeper has them, and again whenever none of those that are known can be reached.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, Message
from confluent_kafka import TopicPartition as Assigned

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups import events_and_commands
from model.consumers.zookeeper_groups.consume import consume
from model.consumers.zookeeper_groups.events_and_commands import Command
from model.consumers.zookeeper_groups.member_state import MemberSettings, MemberState, new_member
from model.hosts.background import BackgroundTasks, tell_failure
from model.hosts.writing_session import SuccessiveSessions
from model.hosts.zookeeper.settings import ZooKeeperSettings
from model.znodes.cluster import decode_broker
from model.znodes.paths import BROKER_IDS
from model.znodes.payload import UnusablePayloadError
from model.zookeeper import Answer, EventKind, GetChildren, GetData, ZnodeChanged, ZooKeeperRequest

RESETS = {"smallest": (OFFSET_BEGINNING, "earliest"), "largest": (OFFSET_END, "latest")}
"""Values of `auto.offset.reset`, and what librdkafka calls them: as an offset, and as a setting."""


class FetchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings by the names of their keys; `fetch_message_max_bytes` is for one partition."""

    auto_offset_reset: str = "smallest"
    fetch_message_max_bytes: int = 1 << 20
    fetch_min_bytes: int = 1
    fetch_wait_max_ms: int = 100
    refresh_leader_backoff_ms: int = 200


class ConsumerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`listener`: through which listener of the brokers; where one has none of that name, through its first."""

    zookeeper: ZooKeeperSettings
    member: MemberSettings
    fetch: FetchSettings = FetchSettings()
    listener: str = "PLAINTEXT"
    tell_values: bool = False


Ask = Callable[[Sequence[ZooKeeperRequest]], Awaitable[tuple[Answer, ...]]]


async def bootstrap(ask: Ask, listener: str) -> str:
    """`host:port,…` of the brokers that ZooKeeper has; empty while there are none."""
    (listed,) = await ask((GetChildren(BROKER_IDS),))
    answers = await ask([GetData(f"{BROKER_IDS}/{name}") for name in listed.names])
    return ",".join(filter(None, (_address(answer.data, listener) for answer in answers if answer.ok)))


def _address(data: bytes, listener: str) -> str:
    try:
        listeners = decode_broker(data).listeners
    except UnusablePayloadError:
        return ""
    named = [each for each in listeners if each.listener == listener]
    return next((f"{each.host}:{each.port}" for each in (*named, *listeners)), "")


UNKNOWN = -1
AT_ONCE = 500
WAIT_S = 0.1
OnRecords = Callable[[Mapping[TopicPartition, tuple[int, int, Sequence[Message]]]], None]
"""Of each partition: from which offset on, up to which (exclusive), and the records between."""
_LOGGER = logging.getLogger(__name__)


class Fetching:
    """Started and stopped any number of times. What `on_records` was told counts as consumed.

    `on_failure` is told what ended fetching, which must not happen.
    """

    def __init__(
        self, ask: Ask, options: ConsumerOptions, on_records: OnRecords, on_failure: Callable[[BaseException], object]
    ) -> None:
        self._ask = ask
        self._options = options
        self._on_records = on_records
        self._on_failure = on_failure
        self._offsets: dict[TopicPartition, int] = {}
        self._work: asyncio.Task[None] | None = None
        self._is_lost = False
        self._told = ""

    def start(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Fetch from these offsets on; -1: from where `auto.offset.reset` says."""
        self._offsets = dict(offsets)
        self._work = asyncio.create_task(self._run())
        self._work.add_done_callback(lambda work: tell_failure(work, self._on_failure))

    async def stop(self) -> None:
        """Nothing is handed over once this is done."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def _run(self) -> None:
        while self._offsets:
            if brokers := await bootstrap(self._ask, self._options.listener):
                self._is_lost = False
                consumer = self._assigned(brokers)
                while not self._is_lost:
                    self._take(await asyncio.to_thread(consumer.consume, AT_ONCE, WAIT_S))
            await asyncio.sleep(self._options.fetch.refresh_leader_backoff_ms / 1000)

    def _assigned(self, brokers: str) -> Consumer:
        settings = self._options.fetch
        start, reset = RESETS[settings.auto_offset_reset]
        consumer = Consumer(
            {
                "bootstrap.servers": brokers,
                "client.id": self._options.member.consumer_id,
                "group.id": self._options.member.group_id,  # of which nothing is asked
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": reset,
                "fetch.wait.max.ms": settings.fetch_wait_max_ms,
                "fetch.min.bytes": settings.fetch_min_bytes,
                "max.partition.fetch.bytes": settings.fetch_message_max_bytes,
                "topic.metadata.refresh.fast.interval.ms": settings.refresh_leader_backoff_ms,
                "reconnect.backoff.max.ms": 500,
                "log_level": 0,  # errors are told to the callback
                "error_cb": self._trouble,
            }
        )
        consumer.assign(
            [Assigned(*read, start if offset == UNKNOWN else offset) for read, offset in self._offsets.items()]
        )
        return consumer

    def _take(self, messages: Sequence[Message]) -> None:
        """Nothing waits here: what is taken is told. A partition's end says where a new one begins."""
        taken: dict[TopicPartition, list[Message]] = {}
        ends: dict[TopicPartition, int] = {}
        for message in messages:
            read, offset = TopicPartition(message.topic() or "", message.partition() or 0), message.offset() or 0
            error = message.error()
            if error is None:
                taken.setdefault(read, []).append(message)
                ends[read] = offset + 1
            elif error.code() == KafkaError._PARTITION_EOF:
                ends[read] = offset
            else:
                self._trouble(error)
        told: dict[TopicPartition, tuple[int, int, Sequence[Message]]] = {}
        for read, end in ends.items():
            records, start = taken.get(read, []), self._offsets[read]
            if start == UNKNOWN:
                start = records[0].offset() or 0 if records else end
            if records or self._offsets[read] != end:
                told[read] = start, end, records
        self._offsets |= ends
        if told:
            self._on_records(told)

    def _trouble(self, error: KafkaError) -> None:
        """Said once, not again and again."""
        self._is_lost = self._is_lost or error.code() == KafkaError._ALL_BROKERS_DOWN
        if error.str() != self._told:
            self._told = error.str()
            _LOGGER.warning("brokers cannot be fetched from: %s", self._told)


CONNECTION_TIMEOUT_S = 30.0
LEAVE_TIMEOUT_S = 15.0
Line = Mapping[str, Any]


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
