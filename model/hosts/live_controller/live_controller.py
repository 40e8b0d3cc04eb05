"""The controller in a broker: its part of the ZooKeeper session, its channels to brokers, the clock; and one state.

It carries out commands and feeds facts back as events, one at a time and in order. It decides nothing. Every sentence
that the controller gives for a decision goes to the log, one line each.

A drill may have the process killed at a step of a failover, so that the next controller finds it half done: a file in
the folder of faults names the step (`fault_keys`). The file is deleted first, so that it happens once.
"""

import asyncio
import logging
import os
import secrets
import signal
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from model.broker.settings.keys import CONTROLLER_STOP_FILE, FAILOVER_STEPS
from model.cluster.whole_file import read_text
from model.controller import events_and_commands
from model.controller.context import Activity, ControllerContext, Step
from model.controller.decide import ControllerState, decide, new_controller
from model.controller.events_and_commands import (
    AnswerRequest,
    BrokerAnswer,
    BrokerRequest,
    Command,
    Event,
    RequestAnswered,
    event_for,
)
from model.controller.generations import ControllerSettings
from model.controller.steps.partitions import WriteElected
from model.controller.steps.topics import ReadStates
from model.hosts.background import BackgroundTasks
from model.hosts.live_controller.broker_channels import BrokerChannels
from model.hosts.wire.names import topic_id_text
from model.hosts.writing_session import SuccessiveSessions
from model.zookeeper import ZnodeChanged, ZooKeeperRequest


class ControllerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`registration`: the payload of the broker's znode, from the time in ms; it is asked for with each new session.

    `listener` is the name of the listener through which brokers talk to each other. `faults`: see `fault_stops`.
    """

    settings: ControllerSettings
    registration: Callable[[int], bytes]
    listener: str = "PLAINTEXT"
    faults: Path | None = None

    @property
    def client_id(self) -> str:
        """How brokers' logs, and proxies between them, name the requests of this controller."""
        return f"broker-{self.settings.broker_id}-controller"


_LOGGER = logging.getLogger(__name__)
Reached = Callable[[Event, ControllerState, ControllerState], bool]


def _elected(_event: Event, before: ControllerState, after: ControllerState) -> bool:
    """`/controller` is created, the epoch written."""
    return _taking_over(after) and not _taking_over(before)


def _past(step: type[Step]) -> Reached:
    def reached(_event: Event, before: ControllerState, after: ControllerState) -> bool:
        return _taking_over(before) and _ahead(before, step) and not _ahead(after, step)

    return reached


def _first_answer(event: Event, before: ControllerState, _after: ControllerState) -> bool:
    """The first broker has answered who leads. What else it was sent before, it may answer at any time."""
    is_answer = isinstance(event, RequestAnswered) and isinstance(event.sent, events_and_commands.LeaderAndIsrRequest)
    return before.context.active and is_answer


def _taking_over(state: ControllerState) -> bool:
    return state.context.activity is Activity.TAKING_OVER


def _ahead(state: ControllerState, step: type[Step]) -> bool:
    waits = state.waiting is not None and isinstance(state.waiting.step, step)
    return waits or any(isinstance(each, step) for each in state.agenda)


_REACHED: Mapping[str, Reached] = dict(
    zip(FAILOVER_STEPS, (_elected, _past(ReadStates), _past(WriteElected), _first_answer), strict=True)
)


class FailoverStop:
    """Looks into `folder`, if there is one, and only when a step is reached."""

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / CONTROLLER_STOP_FILE

    def look(self, event: Event, before: ControllerState, after: ControllerState) -> None:
        """Kill this process if the decision has reached the step that the file names."""
        if self._file is None:
            return
        for name, reached in _REACHED.items():
            if reached(event, before, after) and self._names(name):
                self._file.unlink(missing_ok=True)
                _LOGGER.warning("the controller is %s: killed, as %s says", name, self._file)
                os.kill(os.getpid(), signal.SIGKILL)

    def _names(self, step: str) -> bool:
        try:
            return self._file is not None and read_text(self._file, only_file=True).strip() == step
        except OSError:
            return False


OnRegistered = Callable[[int | None], None]
"""Gets the broker epoch, or None: another broker is registered under this id."""


class LiveController:
    """From `start` to `close`, on sessions that are the broker's. For one event loop."""

    def __init__(self, options: ControllerOptions, sessions: SuccessiveSessions, on_registered: OnRegistered) -> None:
        self._registration = options.registration
        self._state = new_controller(options.settings)
        self._inbox: deque[events_and_commands.Event] = deque()
        self._wakeup = asyncio.Event()
        self._sessions = sessions
        sessions.on_expired = self._expired
        self._on_registered = on_registered
        self._registering = False
        self.failed = asyncio.Event()
        """Something that must not happen did: the log says what, and this controller is of no use any more."""
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._asked: dict[int, asyncio.Future[AnswerRequest]] = {}
        self._tasks = BackgroundTasks(self._failed_at)
        self._channels = BrokerChannels(options.listener, options.client_id, self._answered)
        self._stop = FailoverStop(options.faults)
        self._carry_out: Mapping[type[Command], Callable[[Any], None]] = {
            events_and_commands.AskZooKeeper: self._ask_zookeeper,
            events_and_commands.SendRequest: self._channels.send,
            events_and_commands.DropRequests: lambda command: self._channels.drop(command.broker),
            events_and_commands.StartTimer: self._start_timer,
            events_and_commands.CancelTimer: self._cancel_timer,
            events_and_commands.AnswerRequest: self._answer,
        }

    @property
    def context(self) -> ControllerContext:
        """What it knows at this moment."""
        return self._state.context

    def start(self) -> None:
        """Register the broker with the session that is open, and take part in the controller election."""
        proposed = topic_id_text(uuid.uuid4())
        assert proposed is not None
        session = self._sessions.newest_id
        registration = self._registration(_now_ms())
        self._register(
            events_and_commands.BrokerStarted(registration=registration, proposed_cluster_id=proposed, session=session)
        )
        self._tasks.spawn(self._decide_all())

    async def ask(self, event: Callable[[int], events_and_commands.RequestReceived]) -> AnswerRequest:
        """Hand the controller an event that is given a number, and wait for its answer."""
        number = secrets.randbits(62)
        answer: asyncio.Future[AnswerRequest] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        try:
            self._put(event(number))
            return await answer
        finally:
            self._asked.pop(number, None)

    async def close(self) -> None:
        """Stop deciding, and end the channels. The session stays."""
        for timer in self._timers.values():
            timer.cancel()
        await self._tasks.close()
        await self._channels.close()

    # Events

    def watched(self, changed: ZnodeChanged) -> None:
        """A watch fired; what does not concern a controller is left alone."""
        event = event_for(changed.path, changed.kind, _now_ms())
        if event is not None:
            self._put(event)

    def _expired(self) -> None:
        _LOGGER.warning("the ZooKeeper session expired")
        self._registering = False
        self._put(events_and_commands.SessionExpired())

    def allow_unclean(self, topic: str) -> None:
        """unclean.leader.election.enable is true for a topic."""
        self._put(events_and_commands.UncleanElectionAllowed(topic=topic))

    def set_unclean_default(self, *, allowed: bool) -> None:
        """unclean.leader.election.enable of the broker is another one from now on."""
        context = self._state.context
        settings = msgspec.structs.replace(context.settings, unclean_leader_election_enable=allowed)
        self._state = msgspec.structs.replace(self._state, context=context.replace(settings=settings))
        if allowed:
            self._put(events_and_commands.UncleanElectionAllowed())

    def _register(self, event: events_and_commands.BrokerStarted | events_and_commands.SessionEstablished) -> None:
        self._registering = True
        self._put(event)

    def _put(self, event: events_and_commands.Event) -> None:
        self._inbox.append(event)
        self._wakeup.set()

    async def _decide_all(self) -> None:
        while True:
            while self._inbox:
                self._decide(self._inbox.popleft())
                await asyncio.sleep(0)  # let the network have its turn
            self._wakeup.clear()
            await self._wakeup.wait()

    def _decide(self, event: events_and_commands.Event) -> None:
        if isinstance(event, events_and_commands.SessionEstablished):
            self._sessions.use_next()
        before = self._state
        decision = decide(before, msgspec.structs.replace(event, at_ms=_now_ms()))
        self._state = decision.state
        for reason in decision.reasons:
            _LOGGER.info("%s: %s", type(event).__name__, reason)
        self._stop.look(event, before, self._state)
        self._channels.note(self._state.context.live)
        for command in decision.commands:
            self._carry_out[type(command)](command)
        if before.context.active and not self._state.context.active:
            self._channels.drop_all()
        if isinstance(event, events_and_commands.SessionExpired):
            self._tasks.spawn(self._renew_session())
        self._look_at_registration(before.context.broker_epoch)

    def _look_at_registration(self, before: int) -> None:
        now = self._state.context.broker_epoch
        if now != before:
            self._registering = False
            self._on_registered(now)
        elif self._registering and self._state.idle and not self._inbox:
            self._registering = False
            self._on_registered(None)

    # Commands

    def _ask_zookeeper(self, command: events_and_commands.AskZooKeeper) -> None:
        self._tasks.spawn(self._question(command.question, command.requests))

    def _start_timer(self, command: events_and_commands.StartTimer) -> None:
        self._cancel_timer(command)
        fire = asyncio.get_running_loop().call_later
        self._timers[command.timer] = fire(command.after_ms / 1000, self._fired, command.timer)

    def _cancel_timer(self, command: events_and_commands.StartTimer | events_and_commands.CancelTimer) -> None:
        timer = self._timers.pop(command.timer, None)
        if timer is not None:
            timer.cancel()

    def _answer(self, command: AnswerRequest) -> None:
        waiting = self._asked.pop(command.request, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(command)

    # Facts

    def _fired(self, timer: str) -> None:
        self._timers.pop(timer, None)
        self._put(events_and_commands.TimerFired(timer=timer))

    def _answered(self, broker: int, sent: BrokerRequest, answer: BrokerAnswer) -> None:
        if answer.error != "NONE":
            _LOGGER.warning("broker %d answered %s with %s", broker, type(sent).__name__, answer.error)
        self._put(events_and_commands.RequestAnswered(broker=broker, sent=sent, answer=answer))

    async def _question(self, number: int, requests: tuple[ZooKeeperRequest, ...]) -> None:
        self._put(events_and_commands.ZooKeeperAnswered(question=number, answers=await self._sessions.ask(requests)))

    async def _renew_session(self) -> None:
        previous = await self._sessions.renew()
        session = self._sessions.newest_id
        registration = self._registration(_now_ms())
        self._register(
            events_and_commands.SessionEstablished(
                registration=registration, previous_session=previous, session=session
            )
        )

    def _failed_at(self, error: BaseException) -> None:
        _LOGGER.error("this must not happen", exc_info=error)
        self.failed.set()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
