"""Fetchers: a connection to a leader each, over which this broker replicates what it follows there.

Made when a leader is first followed. Kafka 3.9 `ReplicaFetcherManager`, `AbstractFetcherThread`,
`ReplicaFetcherThread`. What answers mean is decided in `model.broker.replication`.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from kio.schema.errors import ErrorCode

from model.broker import replication
from model.broker.commands import Command, FetchState
from model.broker.partition import LogPositions, ReplicationRules, follow_high_watermark
from model.broker.serving import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from model.broker.settings.keys import NUM_REPLICA_FETCHERS, REPLICA_FETCH_BACKOFF_MS, REPLICA_SOCKET_TIMEOUT_MS
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.fetcher_requests import (
    FetchedPartition,
    FetchingFollower,
    FetchQuestion,
    FollowedPartitions,
    WantedPartition,
    epoch_ends,
    epochs_request,
    fetch_request,
    fetched_partitions,
    found_offset,
    offset_request,
)
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas
from model.hosts.wire.connection import Channel
from model.hosts.wire.names import WireError, error_name
from model.log.names import DamagedFileError, LogError

PARTITIONS_AT_ONCE = 50
"""After so many the event loop gets a chance to do something else."""
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class FetcherParts:
    """What all fetchers share. `address`: where a broker listens for brokers, None while it is not known."""

    held: HeldReplicas
    address: Callable[[int], tuple[str, int] | None]
    run: Callable[[Command], None]
    failed: Callable[[TopicPartition, OSError], None]


class Fetcher:
    """Fetches from its start until `close`, while there is something to fetch."""

    def __init__(self, fetcher_id: replication.FetcherId, parts: FetcherParts) -> None:
        self.id = fetcher_id
        self._parts = parts
        self._held = parts.held
        self._followed = FollowedPartitions()
        self._woken = asyncio.Event()
        self._channel: Channel | None = None
        self._place: tuple[str, int] | None = None
        self._complaint = ""
        self._running = asyncio.create_task(self._run())

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to fetch."""
        return not self._followed

    def start(self, state: FetchState) -> None:
        """Fetch a partition from this state on."""
        self._followed.remove(state.partition)
        self._followed.set(state)
        self._woken.set()

    def stop(self, name: TopicPartition) -> FetchState | None:
        """Returns where it was."""
        state = self._followed.states.get(name)
        self._followed.remove(name)
        return state

    async def close(self) -> None:
        """Fetch nothing more, and end the connection."""
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)
        if self._channel is not None:
            await self._channel.close()

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            if not self._followed:
                await self._woken.wait()
                continue
            try:
                idle_until_ms = await self._round()
            except WireError as error:
                self._complain(str(error))
                self._followed.forget_session()
                idle_until_ms = self._held.now_ms() + self._held.settings.broker[REPLICA_FETCH_BACKOFF_MS]
            except Exception:
                _LOGGER.exception("%s: a round failed", self._name)
                self._followed.forget_session()
                idle_until_ms = self._held.now_ms() + self._held.settings.broker[REPLICA_FETCH_BACKOFF_MS]
            if idle_until_ms is not None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout((idle_until_ms - self._held.now_ms()) / 1000):
                        await self._woken.wait()

    async def _round(self) -> int | None:
        """Returns until when there is nothing to do; None: the next round is due."""
        rules = self._rules
        held_back = self._held_back()
        plan = replication.plan_round(self._followed.due_states(), self._positions, self._held.now_ms(), rules)
        if held_back:
            fetches = tuple(state for state in plan.fetches if state.partition not in held_back)
            plan = msgspec.structs.replace(plan, fetches=fetches)
        for state in plan.cuts:
            positions = self._held.positions(state.partition)
            if positions is not None:
                self._truncate(replication.truncate_unasked(state, positions))
        if plan.questions:
            await self._ask_epochs(plan)
        if plan.cuts or plan.questions:
            return None
        if not plan.fetches and not self._followed.fetches_something_but(held_back):
            backoff_ms = self._held.settings.broker[REPLICA_FETCH_BACKOFF_MS] if held_back else 1_000
            return plan.wake_at_ms or self._held.now_ms() + backoff_ms
        await self._fetch(plan)
        return None

    def _held_back(self) -> frozenset[TopicPartition]:
        """What the throttle leaves out of the next fetch: who lags (`ReplicaFetcherThread.shouldFollowerThrottle`)."""
        throttle = self._held.fetching
        lagging = [name for name in self._followed.lagging if throttle.covers(name)]
        if not lagging or not throttle.is_exceeded:
            return frozenset()
        for name in lagging:
            self._followed.ask_again(name)  # so that the leader's session forgets it
        return frozenset(lagging)

    @property
    def _name(self) -> str:
        return f"broker-{self._held.broker}-fetcher-{self.id.number} of broker {self.id.leader}"

    @property
    def _follower(self) -> FetchingFollower:
        held = self._held
        image = held.metadata.image
        if not image.is_logged:
            return FetchingFollower(held.broker)
        return FetchingFollower(held.broker, held.epochs.broker_epoch, image.topic_ids)

    @property
    def _rules(self) -> ReplicationRules:
        return self._held.settings.of("").replication.rules

    def _positions(self, name: TopicPartition) -> LogPositions:
        return self._held.positions(name) or LogPositions()

    def _connected(self) -> Channel:
        place = self._parts.address(self.id.leader)
        if place is None:
            raise WireError(f"no listener of broker {self.id.leader} is known")
        if self._channel is None or place != self._place:
            settings = self._held.settings.broker
            client_id = f"broker-{self._held.broker}-fetcher-{self.id.number}"
            self._channel = Channel(*place, client_id, settings[REPLICA_SOCKET_TIMEOUT_MS] / 1000)
            self._place = place
        return self._channel

    def _complain(self, why: str) -> None:
        if why != self._complaint:  # once, not with every attempt
            _LOGGER.warning("%s: %s", self._name, why)
        self._complaint = why

    # Fetching.

    async def _fetch(self, plan: replication.FetchRound) -> None:
        followed = self._followed
        forgotten = followed.begin_request(plan.fetches)
        checked = self._rules.leader_epochs_are_checked
        wanted = [
            WantedPartition(state if checked else _without_epoch(state), self._positions(state.partition).start)
            for state in plan.fetches
        ]
        question = FetchQuestion(wanted, forgotten, followed.session_id, followed.session_epoch)
        settings, follower = self._held.settings.broker, self._follower
        response = await self._connected().ask(
            lambda connection: fetch_request(connection, follower, question, settings)
        )
        error = error_name(getattr(response, "error_code", ErrorCode.none))
        if error != "NONE":
            self._complain(f"a fetch is refused with {error}")
            followed.forget_session()
            if not error.startswith(("FETCH_SESSION", "INVALID_FETCH_SESSION")):
                raise WireError(error)
            return
        followed.end_request(getattr(response, "session_id", 0))
        self._complaint = ""
        for number, (name, fetched) in enumerate(fetched_partitions(response, follower), 1):
            await self._take(name, fetched)
            if number % PARTITIONS_AT_ONCE == 0:
                await asyncio.sleep(0)

    async def _take(self, name: TopicPartition, fetched: FetchedPartition) -> None:
        asked = self._followed.asked(name)
        positions = self._held.positions(name)
        if asked is None or positions is None:
            return
        judgement = replication.judge_fetch(self._followed.states.get(name), asked, fetched.answer, positions)
        if judgement.verdict is replication.Verdict.APPEND:
            self._append(asked, fetched)
        elif judgement.verdict is replication.Verdict.ASK_OFFSETS:
            self._held.tell_reasons((judgement.why,))
            await self._ask_offsets(asked)
        else:
            self._follow(asked, judgement)

    def _append(self, asked: FetchState, fetched: FetchedPartition) -> None:
        held, name = self._held, asked.partition
        log, partition = held.log(name), held.partitions.get(name)
        if log is None or partition is None:
            return
        try:
            if fetched.records:
                if held.fetching.covers(name):
                    held.fetching.record(len(fetched.records))
                held.space.take(len(fetched.records))
                log.append_as_follower(fetched.records, now_ms=held.now_ms())
            self._followed.note_lag(name, fetched.answer.high_watermark - log.end_offset)
            leader_start = min(fetched.answer.log_start, log.end_offset)
            positions = self._positions(name)
            held.put(follow_high_watermark(partition, fetched.answer.high_watermark, positions))
            if leader_start > log.start_offset and leader_start <= log.high_watermark:
                log.advance_start(leader_start)
                self._followed.ask_again(name)
        except OSError as error:
            self._parts.failed(name, error)
            return
        except (LogError, DamagedFileError) as error:
            _LOGGER.warning("%s: what broker %d sent is not appended: %s", name, self.id.leader, error)
            self._back_off(asked)
            return
        self._followed.set(replication.settle(self._followed.states[name], self._positions(name), self._rules))

    def _follow(self, asked: FetchState, judgement: replication.FetchJudgement) -> None:
        if judgement.verdict is replication.Verdict.TRUNCATE and judgement.truncation is not None:
            self._truncate(judgement.truncation)
        if judgement.verdict is replication.Verdict.BACK_OFF:
            self._back_off(asked)
        if judgement.verdict is replication.Verdict.GIVE_UP:
            self._followed.remove(asked.partition)
        if judgement.why:
            self._held.tell_reasons((judgement.why,))

    def _back_off(self, asked: FetchState) -> None:
        state = self._followed.states.get(asked.partition)
        if state is not None:
            wait_ms = self._held.settings.broker[REPLICA_FETCH_BACKOFF_MS]
            self._followed.set(state.wait_until(self._held.now_ms() + wait_ms))

    # Where logs part.

    def _truncate(self, decision: replication.TruncationDecision) -> None:
        for command in decision.commands:
            self._parts.run(command)
        self._held.tell_reasons(decision.reasons)
        positions = self._held.positions(decision.state.partition)
        if positions is not None and decision.state.partition in self._followed.states:
            self._followed.set(replication.settle(decision.state, positions, self._rules))

    async def _ask_epochs(self, plan: replication.FetchRound) -> None:
        broker = self._held.broker
        asked = {state.partition: state for state, _ in plan.questions}
        checked = self._rules.leader_epochs_are_checked
        questions = [(state if checked else _without_epoch(state), epoch) for state, epoch in plan.questions]
        response = await self._connected().ask(lambda connection: epochs_request(connection, broker, questions))
        for name, error, end in epoch_ends(response):
            positions = self._held.positions(name)
            if positions is not None and name in asked:
                state = self._followed.states.get(name)
                self._follow(asked[name], replication.judge_epoch_end(state, asked[name], error, end, positions))

    async def _ask_offsets(self, asked: FetchState) -> None:
        broker, name = self._held.broker, asked.partition
        question = asked if self._rules.leader_epochs_are_checked else _without_epoch(asked)
        ends: list[int] = []
        for timestamp in (EARLIEST_TIMESTAMP, LATEST_TIMESTAMP):
            response = await self._connected().ask(
                lambda connection, timestamp=timestamp: offset_request(connection, broker, question, timestamp)
            )
            error, offset = found_offset(response)
            if error != "NONE":
                self._complain(f"{name}: a question for offsets is answered with {error}")
                self._back_off(asked)
                return
            ends.append(offset)
        state, positions = self._followed.states.get(name), self._held.positions(name)
        if state is not None and state == asked and positions is not None:
            self._truncate(replication.out_of_range(state, ends[0], ends[1], positions))
            if self._followed.states.get(name) == asked:  # the same question again at once would not help
                self._back_off(asked)


def _without_epoch(state: FetchState) -> FetchState:
    """For leaders from before 2.1, which do not check it."""
    return FetchState(state.partition, state.leader, -1, state.offset, state.last_fetched_epoch)


class Fetchers:
    """Open until `close`."""

    def __init__(self, parts: FetcherParts) -> None:
        self._parts = parts
        self._fetchers: dict[replication.FetcherId, Fetcher] = {}
        self._of: dict[TopicPartition, Fetcher] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    def start(self, state: FetchState) -> None:
        """Replicate a partition, from this state on."""
        if self._closed:
            return
        self.stop(state.partition)
        wanted = replication.fetcher_of(
            state.partition, state.leader, self._parts.held.settings.broker[NUM_REPLICA_FETCHERS]
        )
        fetcher = self._fetchers.get(wanted)
        if fetcher is None:
            fetcher = self._fetchers[wanted] = Fetcher(wanted, self._parts)
        self._of[state.partition] = fetcher
        fetcher.start(state)

    def stop(self, name: TopicPartition) -> None:
        fetcher = self._of.pop(name, None)
        if fetcher is not None:
            fetcher.stop(name)

    def spread(self) -> None:
        """Over as many fetchers for each leader as there are to be from now on (num.replica.fetchers)."""
        for name, fetcher in list(self._of.items()):
            state = fetcher.stop(name)
            if state is not None:
                self.start(state)

    def drop_idle(self) -> None:
        """End the connections to leaders of whom nothing is wanted any more."""
        for wanted, fetcher in list(self._fetchers.items()):
            if fetcher.is_idle:
                del self._fetchers[wanted]
                task = asyncio.create_task(fetcher.close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        self._closed = True
        closing = [fetcher.close() for fetcher in self._fetchers.values()]
        self._fetchers = {}
        self._of = {}
        await asyncio.gather(*closing, *self._closing, return_exceptions=True)
