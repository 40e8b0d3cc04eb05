"""A broker's standing with KRaft's controllers: it registers, sends heartbeats, is unfenced, and asks to shut down.

Source: `kafka.server.BrokerLifecycleManager` (3.9); KIP-631 (registration and heartbeats), KIP-858 (ids of log dirs).
"""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from model.broker.life import ControllerAnswered, ControllerMissing, LifeEvent
from model.broker.settings.settings import Listener
from model.hosts.background import BackgroundTasks
from model.hosts.live_broker.identity import IdentityError
from model.hosts.live_broker.parts import AskController
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import SECURITY_PROTOCOLS, ApiKey, WireError, error_name

REGISTER_PAUSE_S, BEAT_PAUSE_S = 0.5, 0.2
"""After a failure, before it is tried again."""
SHUTDOWN_PATIENCE_S = 15.0
"""So long may the controllers take until nobody needs this broker: others report by heartbeat how far they are."""
HEARTBEAT_VERSION = 1
FOR_GOOD = frozenset({"INCONSISTENT_CLUSTER_ID", "INVALID_REGISTRATION", "UNSUPPORTED_VERSION"})
"""Asking again changes nothing."""
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class Registrant:
    """Who registers. `directories`: the ids of the log dirs; `previous_epoch`: of a life that ended in order, or -1."""

    broker: int
    cluster_id: str
    listeners: Sequence[tuple[Listener, str]]
    """Each with the name of its protocol."""
    features: Mapping[str, tuple[int, int]]
    rack: str | None
    directories: Sequence[uuid.UUID]
    previous_epoch: int


class BrokerLifecycle:
    """For one event loop, and one life of the broker: from `register` to `close`.

    `offset` is that of the last record of the metadata log that was obeyed.
    """

    def __init__(self, ask: AskController, offset: Callable[[], int], interval_ms: int, dir_timeout_ms: int) -> None:
        """`dir_timeout_ms`: so long may a log dir's failure be unknown to all controllers."""
        self.epoch = -1
        self.unfenced = asyncio.Event()
        self.caught_up = asyncio.Event()
        """The controller says that what was read of the metadata log is up to date, with this registration."""
        self.failed = asyncio.Event()
        self._ask = ask
        self._offset = offset
        self._interval_s = interval_ms / 1000
        self._dir_timeout_s = dir_timeout_ms / 1000
        self._failed_dirs: tuple[uuid.UUID, ...] = ()
        self._untold: dict[uuid.UUID, asyncio.TimerHandle] = {}
        """Those that no controller has taken in."""
        self._incarnation = uuid.uuid4()
        self._broker = -1
        self._wants_fence = True
        self._wants_shutdown = False
        self._may_stop = asyncio.Event()
        self._is_heard = False
        self._news = asyncio.Event()
        self._complaint = ""
        self._tasks = BackgroundTasks(self._failed_at)

    async def register(self, registrant: Registrant, patience_ms: int) -> int:
        """The broker epoch. A broker that was killed is registered until its session ends: that is waited for.

        Raises IdentityError where nothing comes of it.
        """
        self._broker = registrant.broker
        deadline_s = time.monotonic() + patience_ms / 1000
        while True:
            error = await self._register_once(registrant)
            if not error:
                _LOGGER.info("registered with broker epoch %d", self.epoch)
                return self.epoch
            if error in FOR_GOOD or time.monotonic() >= deadline_s:
                raise IdentityError(f"the controller does not register broker {registrant.broker}: {error}")
            self._complain(f"the controller does not register this broker yet: {error}")
            await asyncio.sleep(REGISTER_PAUSE_S)

    async def _register_once(self, registrant: Registrant) -> str:
        """Empty where it is done."""

        def build(connection: Connection) -> Entity:
            module = connection.request_shapes(ApiKey.BROKER_REGISTRATION)
            lowest = 0 if module.BrokerRegistrationRequest.__version__ >= 4 else 1
            return shaped(
                module.BrokerRegistrationRequest,
                broker_id=registrant.broker,
                cluster_id=registrant.cluster_id,
                incarnation_id=self._incarnation,
                listeners=tuple(
                    module.Listener(
                        name=each.name, host=each.host, port=each.port, security_protocol=SECURITY_PROTOCOLS[protocol]
                    )
                    for each, protocol in registrant.listeners
                ),
                features=tuple(
                    module.Feature(name=name, min_supported_version=max(low, lowest), max_supported_version=high)
                    for name, (low, high) in registrant.features.items()
                ),
                rack=registrant.rack,
                log_dirs=tuple(registrant.directories),
                previous_broker_epoch=registrant.previous_epoch,
            )

        try:
            answer = await self._ask(build)
        except WireError as error:
            return str(error)
        error = error_name(answer.error_code)
        if error == "NONE":
            self.epoch = int(answer.broker_epoch)
            return ""
        return error

    def start(self) -> None:
        """Send heartbeats from now on."""
        self._tasks.spawn(self._beat())

    def log_dir_failed(self, directory: uuid.UUID) -> None:
        """Say so at once, and from now on: others are to lead what lies there. Where nobody hears it in time this
        broker ends, since it would pass for having replicas that it lost."""
        self._failed_dirs += (directory,)
        loop = asyncio.get_running_loop()
        self._untold[directory] = loop.call_later(self._dir_timeout_s, self._end_unheard, directory)
        self._news.set()

    def _end_unheard(self, directory: uuid.UUID) -> None:
        _LOGGER.error("no controller hears that log dir %s has failed", directory)
        self.failed.set()

    def serve(self) -> None:
        """Ask to be unfenced: all that the metadata log says is obeyed."""
        self._wants_fence = False
        self._news.set()

    async def shut_down(self) -> LifeEvent:
        """Ask that others lead what this broker leads, and wait until the controller lets it go."""
        self._wants_shutdown, self._is_heard = True, False
        self._news.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SHUTDOWN_PATIENCE_S):
                await self._may_stop.wait()
        if self._may_stop.is_set():
            return ControllerAnswered()
        if self._is_heard:
            return ControllerAnswered(remaining=1)
        return ControllerMissing(self._complaint or "no controller answers")

    async def close(self) -> None:
        self._heard_of(self._failed_dirs)
        await self._tasks.close()

    def _heard_of(self, directories: Sequence[uuid.UUID]) -> None:
        for directory in directories:
            if (timer := self._untold.pop(directory, None)) is not None:
                timer.cancel()

    async def _beat(self) -> None:
        while not self._may_stop.is_set():
            self._news.clear()
            is_settled = await self._beat_once() and self.unfenced.is_set()
            wait_s = self._interval_s if is_settled else BEAT_PAUSE_S
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._news.wait()

    async def _beat_once(self) -> bool:
        """Whether it was answered."""
        failed_dirs = self._failed_dirs

        def build(connection: Connection) -> Entity:
            shape = connection.request_shapes(ApiKey.BROKER_HEARTBEAT, HEARTBEAT_VERSION).BrokerHeartbeatRequest
            return shaped(
                shape,
                broker_id=self._broker,
                broker_epoch=self.epoch,
                current_metadata_offset=self._offset(),
                want_fence=self._wants_fence,
                want_shut_down=self._wants_shutdown,
                offline_log_dirs=failed_dirs,
            )

        try:
            answer = await self._ask(build)
        except WireError as error:
            self._complain(f"a heartbeat is not answered: {error}")
            return False
        error = error_name(answer.error_code)
        if error != "NONE":
            self._complain(f"a heartbeat is refused with {error}")
            return False
        self._complaint, self._is_heard = "", True
        self._heard_of(failed_dirs)
        if answer.is_caught_up:
            self.caught_up.set()
        if not answer.is_fenced and not self._wants_fence:
            self.unfenced.set()
        if self._wants_shutdown and answer.should_shut_down:
            self._may_stop.set()
        return True

    def _complain(self, why: str) -> None:
        if why != self._complaint:
            _LOGGER.warning("%s", why)
        self._complaint = why

    def _failed_at(self, error: BaseException) -> None:
        _LOGGER.error("no more heartbeats are sent", exc_info=error)
        self.failed.set()
