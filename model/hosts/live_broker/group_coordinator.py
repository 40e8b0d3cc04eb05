"""The groups that this broker coordinates: what `coordinate` decides is done here, nothing else.

Answers find their request by its number; a request for a group of another coordinator is refused at once. Each group
has one timer, for when time alone changes it. The clock gives the time of day and goes on evenly when somebody sets
that. For one event loop.
"""

import asyncio
import itertools
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from model.broker.settings import keys
from model.broker.settings.settings import Settings
from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.consumers.group_coordinator.coordinate import coordinate, refuse
from model.consumers.group_coordinator.events_and_commands import (
    AnswerMember,
    AppendCompleted,
    AppendRecords,
    CoordinatorResigned,
    GroupEvent,
    GroupLoaded,
    GroupRequest,
    OffsetsChecked,
    PartitionsDeleted,
    TimePassed,
)
from model.consumers.group_coordinator.group import DEAD, Group, GroupSettings
from model.consumers.group_coordinator.stored_formats import CoordinatorRole, partition_of, role_error
from model.hosts.background import BackgroundTasks
from model.hosts.live_broker.offsets_log import LedPartitions, OffsetsLog, OffsetsReplicas

_NS_PER_MS = 1_000_000


def steady_clock() -> Callable[[], int]:
    """Ms since the epoch, as the machine's clock says now, and evenly from then on."""
    offset_ns = time.time_ns() - time.monotonic_ns()
    return lambda: (offset_ns + time.monotonic_ns()) // _NS_PER_MS


_LOGGER = logging.getLogger(__name__)


class GroupCoordinator:
    """Open from `start` to `close`. `on_leadership` and `on_forgotten` are for the replica manager to call.

    `now_ms`: ms since the epoch, as evenly as the loop's time.
    """

    def __init__(self, settings: Settings, replicas: OffsetsReplicas, now_ms: Callable[[], int] | None = None) -> None:
        self.now_ms = now_ms or steady_clock()
        self._replicas = replicas
        self._settings = group_settings(settings)
        self._partition_count = settings[keys.OFFSETS_TOPIC_NUM_PARTITIONS]
        self._check_interval_s = settings[keys.OFFSETS_RETENTION_CHECK_INTERVAL_MS] / 1000
        self._log = OffsetsLog(replicas, settings, self.now_ms)
        self._led = LedPartitions(self._log, self._take_over, self._resign)
        self._groups: dict[str, Group] = {}
        self._answers: dict[int, asyncio.Future[AnswerMember]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._numbers = itertools.count()
        self._tasks = BackgroundTasks(self._failed_at)
        self._is_open = False

    @property
    def groups(self) -> Mapping[str, Group]:
        """All groups that this broker coordinates."""
        return self._groups

    @property
    def is_loading(self) -> bool:
        return self._led.is_loading

    @property
    def is_open(self) -> bool:
        """Whether it has started, and is not closed."""
        return self._is_open

    async def start(self) -> None:
        """Look after groups. Offsets are checked for their age now and then."""
        self._is_open = True
        self._tasks.spawn(self._check_offsets())

    async def close(self) -> None:
        """Answer all that wait, and stop."""
        self._is_open = False
        await asyncio.gather(self._tasks.close(), self._led.close(), return_exceptions=True)
        for group_id in list(self._groups):
            self._happen(CoordinatorResigned(group_id=group_id, at_ms=self.now_ms()))

    def on_leadership(self, partition: TopicPartition, leads: bool, leader_epoch: int) -> None:
        """This broker leads a partition from now on, or does not."""
        if partition.topic == OFFSETS_TOPIC:
            self._led.change(partition.partition, leader_epoch, leads=leads)

    def on_forgotten(self, partition: TopicPartition) -> None:
        """A topic is being deleted: offsets committed in it are no more."""
        if partition.topic == OFFSETS_TOPIC:
            self._led.give_up(partition.partition)
        for group in list(self._groups.values()):
            if partition in group.offsets or partition in group.pending_offsets:
                now_ms = self.now_ms()
                self._happen(PartitionsDeleted(group_id=group.group_id, at_ms=now_ms, partitions=(partition,)))

    def partition_of(self, group_id: str) -> int:
        """The partition of `__consumer_offsets` that a group belongs to."""
        known = self._replicas.metadata.image.topics.get(OFFSETS_TOPIC)
        if known:
            self._partition_count = len(known)
        return partition_of(group_id, self._partition_count)

    def role(self, group_id: str) -> CoordinatorRole:
        """What this broker is to a group."""
        return self._led.role(self.partition_of(group_id)) if self._is_open else CoordinatorRole.CLOSED

    def next_request(self) -> int:
        return next(self._numbers)

    async def ask(self, event: GroupRequest) -> AnswerMember:
        """Wait for the answer. Only for groups that this broker is the coordinator of."""
        answer: asyncio.Future[AnswerMember] = asyncio.get_running_loop().create_future()
        self._answers[event.request] = answer
        try:
            self._happen(event)
            return await answer
        finally:
            self._answers.pop(event.request, None)

    def _happen(self, event: GroupEvent) -> None:
        decision = coordinate(self._groups.get(event.group_id), event, self._settings)
        for reason in decision.reasons:
            _LOGGER.info("%s", reason)
        if decision.group.state is DEAD:
            self._groups.pop(event.group_id, None)
        else:
            self._groups[event.group_id] = decision.group
        self._set_timer(decision.group)
        for command in decision.commands:
            match command:
                case AnswerMember():
                    self._answer(command)
                case AppendRecords():
                    self._tasks.spawn(self._append(event.group_id, command))
                case _:
                    raise TypeError(f"no such command: {command}")

    def _answer(self, answer: AnswerMember) -> None:
        waiting = self._answers.get(answer.request)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    async def _append(self, group_id: str, command: AppendRecords) -> None:
        partition = TopicPartition(OFFSETS_TOPIC, self.partition_of(group_id))
        wait = command.request is not None
        outcome = await self._log.append(partition, command.records, wait=wait)
        if outcome.error != "NONE":
            _LOGGER.warning("Group %a: its records are not written to %s: %s", group_id, partition, outcome.error)
        if command.request is not None and group_id in self._groups:
            self._happen(
                AppendCompleted(
                    group_id=group_id,
                    at_ms=self.now_ms(),
                    request=command.request,
                    error=outcome.error,
                    base_offset=outcome.base_offset,
                )
            )

    def _set_timer(self, group: Group) -> None:
        """A timer that is early does no harm: it is set again then. So heartbeats leave it alone."""
        deadline_ms = None if group.state is DEAD else group.next_deadline_ms()
        loop = asyncio.get_running_loop()
        timer = self._timers.get(group.group_id)
        if deadline_ms is None:
            if timer is not None:
                timer.cancel()
                del self._timers[group.group_id]
            return
        due = loop.time() + max(deadline_ms - self.now_ms(), 0) / 1000
        if timer is None or due < timer.when():
            if timer is not None:
                timer.cancel()
            self._timers[group.group_id] = loop.call_at(due, self._wake, group.group_id)

    def _wake(self, group_id: str) -> None:
        del self._timers[group_id]
        if group_id in self._groups:
            self._happen(TimePassed(group_id=group_id, at_ms=self.now_ms()))

    def _take_over(self, partition: int, groups: Iterable[Group]) -> None:
        loaded = list(groups)
        _LOGGER.info("%s-%d is loaded: this broker coordinates its %d groups", OFFSETS_TOPIC, partition, len(loaded))
        for group in loaded:
            self._groups[group.group_id] = group
            self._happen(GroupLoaded(group_id=group.group_id, at_ms=self.now_ms()))

    def _resign(self, partition: int) -> None:
        going = [group_id for group_id in self._groups if self.partition_of(group_id) == partition]
        _LOGGER.info("%s-%d is led elsewhere: %d groups have another coordinator", OFFSETS_TOPIC, partition, len(going))
        for group_id in going:
            self._happen(CoordinatorResigned(group_id=group_id, at_ms=self.now_ms()))

    async def _check_offsets(self) -> None:
        while True:
            for group_id in list(self._groups):
                if group_id in self._groups:
                    self._happen(OffsetsChecked(group_id=group_id, at_ms=self.now_ms()))
            await asyncio.sleep(self._check_interval_s)

    def _failed_at(self, error: BaseException) -> None:
        _LOGGER.error("the group coordinator has failed at something", exc_info=error)


def group_settings(settings: Settings) -> GroupSettings:
    """The coordinator's part of a broker's settings."""
    return GroupSettings(
        group_min_session_timeout_ms=settings[keys.GROUP_MIN_SESSION_TIMEOUT_MS],
        group_max_session_timeout_ms=settings[keys.GROUP_MAX_SESSION_TIMEOUT_MS],
        group_initial_rebalance_delay_ms=settings[keys.GROUP_INITIAL_REBALANCE_DELAY_MS],
        group_max_size=settings[keys.GROUP_MAX_SIZE],
        offset_metadata_max_bytes=settings[keys.OFFSET_METADATA_MAX_BYTES],
        offsets_retention_ms=settings[keys.OFFSETS_RETENTION_MINUTES] * 60_000,
    )


A = TypeVar("A", bound=AnswerMember)


async def ask_coordinator(
    coordinator: GroupCoordinator, event: GroupRequest, answer: type[A], *, needs_name: bool = True
) -> A:
    """The answer, of the kind that belongs to the event."""
    error = role_error(event.group_id, coordinator.role(event.group_id), needs_name=needs_name)
    given = refuse(event, error) if error is not None else await coordinator.ask(event)
    assert isinstance(given, answer)
    return given
