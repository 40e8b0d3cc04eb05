"""A broker's life on a real machine: what `model.broker.life` decides is carried out here, and nothing else.

Source: `kafka.server.KafkaServer` (3.9). For one event loop.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from model.broker.life import commands, events
from model.broker.life.commands import LifeCommand
from model.broker.life.life import BrokerLife, live
from model.broker.settings.parts import shutdown_settings
from model.broker.settings.settings import Settings
from model.hosts.background_tasks import BackgroundTasks
from model.hosts.live_broker.assembly import Assembly, Ready, assemble, zookeeper_settings
from model.hosts.live_broker.identity import IdentityError
from model.hosts.live_broker.parts import Furnish
from model.hosts.zookeeper.protocol import ZooKeeperError
from model.log.errors import DamagedFileError, FolderInUseError, LogError

START_ERRORS = (OSError, ZooKeeperError, IdentityError, DamagedFileError, FolderInUseError, LogError)
OnListening = Callable[[Mapping[str, str]], None]
OnReady = Callable[[Ready], None]
_LOGGER = logging.getLogger(__name__)


class StartFailedError(Exception):
    """One line for the user."""


class LiveBroker:
    """One life. `on_listening` is told addresses by listener before the broker registers, `on_ready` once it serves."""

    def __init__(self, settings: Settings, furnish: Furnish, on_listening: OnListening, on_ready: OnReady) -> None:
        self._settings = settings
        self._furnish = furnish
        self._on_listening = on_listening
        self._on_ready = on_ready
        self._events: asyncio.Queue[events.LifeEvent | None] = asyncio.Queue()
        """None: something failed, and there is no going on."""
        self._assembling: asyncio.Task[Assembly] | None = None
        self._tasks = BackgroundTasks(self._failed_at)
        self._why_not_started = ""
        self._serving = False

    def terminate(self) -> None:
        """SIGTERM, or an operator."""
        if self._assembling is not None and not self._assembling.done():
            self._assembling.cancel()
        self._events.put_nowait(events.TerminationRequested())

    async def run(self) -> int:
        """From the start to the end: 0 after `terminate`, 1 after a failure that the log tells.

        Raises StartFailedError where nothing could come of it.
        """
        try:
            zookeeper = zookeeper_settings(self._settings)
        except ValueError as error:
            raise StartFailedError(f"zookeeper.connect: {error}") from None
        self._assembling = asyncio.create_task(assemble(self._settings, zookeeper, self._furnish, self._registered))
        try:
            assembly = await self._assembling
        except START_ERRORS as error:
            raise StartFailedError(str(error)) from None
        except asyncio.CancelledError:
            return 0  # told to stop before there was anything to stop
        try:
            return await self._live(assembly)
        finally:
            await self._tasks.close()
            await assembly.close()

    async def _live(self, assembly: Assembly) -> int:
        for failed in (assembly.controller.failed, assembly.disks_failed):
            self._tasks.spawn(self._watch(failed))
        self._events.put_nowait(events.ProcessStarted(assembly.was_clean))
        life, ended = BrokerLife(shutdown_settings(self._settings)), False
        while not ended:
            event = await self._events.get()
            if event is None:
                await assembly.abandon()
                return 1
            decision = live(life, event)
            life = decision.life
            if decision.why:
                _LOGGER.info("%s: %s", type(event).__name__, decision.why)
            if isinstance(event, events.BrokerRegistered) and not self._serving:
                self._serving = True
                self._on_ready(assembly.ready)
            for command in decision.commands:
                self._carry_out(command, assembly)
                ended = isinstance(command, commands.CloseSession)
        if self._why_not_started:
            raise StartFailedError(self._why_not_started)
        return 0

    def _carry_out(self, command: LifeCommand, assembly: Assembly) -> None:
        match command:
            case commands.LoadLogs():
                self._tasks.spawn(self._load(assembly, recover=command.recover))
            case commands.RegisterBroker():
                self._tasks.spawn(self._start(assembly.register(self._on_listening)))
            case commands.AskToShutDown():
                self._tasks.spawn(self._tell(assembly.ask_to_shut_down()))
            case commands.WaitBeforeRetry():
                later = asyncio.get_running_loop().call_later
                later(command.after_ms / 1000, self._events.put_nowait, events.BackoffOver())
            case commands.StopServing():
                self._tasks.spawn(self._stop_serving(assembly))
            case commands.MarkCleanShutdown():
                assembly.mark_clean_shutdown()
            case _:  # CloseSession: `run` does
                pass

    async def _load(self, assembly: Assembly, *, recover: bool) -> None:
        if await self._start(assembly.load(recover=recover)):
            self._events.put_nowait(events.LogsLoaded())

    async def _start(self, step: Awaitable[None]) -> bool:
        try:
            await step
        except START_ERRORS as error:
            self._refuse(str(error))
            return False
        return True

    async def _stop_serving(self, assembly: Assembly) -> None:
        await assembly.stop_serving()
        self._events.put_nowait(events.ServingStopped())

    async def _tell(self, answer: Awaitable[events.LifeEvent]) -> None:
        self._events.put_nowait(await answer)

    def _registered(self, broker_epoch: int | None) -> None:
        assert self._assembling is not None
        assembly = self._assembling.result()
        if broker_epoch is not None:
            self._tasks.spawn(self._settle(assembly, broker_epoch))
        else:
            self._refuse(f"another broker is registered under id {assembly.broker}: set another broker.id")

    async def _settle(self, assembly: Assembly, broker_epoch: int) -> None:
        if await self._start(assembly.settle(broker_epoch)):
            self._events.put_nowait(events.BrokerRegistered(broker_epoch))

    def _refuse(self, why: str) -> None:
        if self._serving:  # a later session could not be used
            _LOGGER.error("the broker cannot go on: %s", why)
            self._events.put_nowait(None)
            return
        self._why_not_started = why
        self._events.put_nowait(events.StartFailed(why))

    async def _watch(self, failed: asyncio.Event) -> None:
        await failed.wait()
        self._events.put_nowait(None)

    def _failed_at(self, error: BaseException) -> None:
        _LOGGER.error("this must not happen", exc_info=error)
        self._events.put_nowait(None)
