"""A broker's life in a process of its own: what `model.broker.life` decides is carried out here, and nothing else.

Source: `kafka.server.KafkaServer` (3.9). For one event loop, with the process's signals, its output and its exit
code.
"""

import asyncio
import logging
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from model.broker.life import (
    AskToShutDown,
    BackoffOver,
    BrokerLife,
    BrokerRegistered,
    CloseSession,
    LifeCommand,
    LifeEvent,
    LoadLogs,
    LogsLoaded,
    MarkCleanShutdown,
    ProcessStarted,
    RegisterBroker,
    ServingStopped,
    StartFailed,
    StopServing,
    TerminationRequested,
    WaitBeforeRetry,
    live,
)
from model.broker.settings.keys import PROCESS_ROLES
from model.broker.settings.settings import Settings, shutdown_settings
from model.hosts.background import BackgroundTasks
from model.hosts.live_broker.assembly import assemble, zookeeper_settings
from model.hosts.live_broker.identity import IdentityError
from model.hosts.live_broker.parts import BrokerAssembly, BrokerKind, Ready
from model.hosts.process import raise_file_limit
from model.hosts.zookeeper.protocol import ZooKeeperError
from model.log.names import DamagedFileError, FolderInUseError, LogError

START_ERRORS = (OSError, ZooKeeperError, IdentityError, DamagedFileError, FolderInUseError, LogError)
OnListening = Callable[[Mapping[str, str]], None]
OnReady = Callable[[Ready], None]
_LOGGER = logging.getLogger(__name__)


class StartFailedError(Exception):
    """One line for the user."""


class LiveBroker:
    """One life. `on_listening` is told addresses by listener before the broker registers, `on_ready` once it serves."""

    def __init__(self, settings: Settings, furnish: BrokerKind, on_listening: OnListening, on_ready: OnReady) -> None:
        self._settings = settings
        self._furnish = furnish
        self._on_listening = on_listening
        self._on_ready = on_ready
        self._events: asyncio.Queue[LifeEvent | None] = asyncio.Queue()
        """None: something failed, and there is no going on."""
        self._assembling: asyncio.Task[BrokerAssembly] | None = None
        self._tasks = BackgroundTasks(self._failed_at)
        self._why_not_started = ""
        self._serving = False

    def terminate(self) -> None:
        if self._assembling is not None and not self._assembling.done():
            self._assembling.cancel()
        self._events.put_nowait(TerminationRequested())

    async def run(self) -> int:
        """From the start to the end: 0 after `terminate`, 1 after a failure that the log tells.

        Raises StartFailedError where nothing could come of it.
        """
        self._assembling = asyncio.create_task(self._assemble())
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

    async def _assemble(self) -> BrokerAssembly:
        if self._settings[PROCESS_ROLES]:
            # Reads metadata logs by numpy, which a broker with ZooKeeper has no use for.
            from model.hosts.live_broker.kraft_assembly import assemble_in_kraft  # noqa: PLC0415

            return assemble_in_kraft(self._settings, self._furnish, self._registered)
        try:
            zookeeper = zookeeper_settings(self._settings)
        except ValueError as error:
            raise StartFailedError(f"zookeeper.connect: {error}") from None
        return await assemble(self._settings, zookeeper, self._furnish, self._registered)

    async def _live(self, assembly: BrokerAssembly) -> int:
        for failed in assembly.failures:
            self._tasks.spawn(self._watch(failed))
        self._events.put_nowait(ProcessStarted(assembly.was_clean))
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
            if isinstance(event, BrokerRegistered) and not self._serving:
                self._serving = True
                self._on_ready(assembly.ready)
            for command in decision.commands:
                self._carry_out(command, assembly)
                ended = isinstance(command, CloseSession)
        if self._why_not_started:
            raise StartFailedError(self._why_not_started)
        return 0

    def _carry_out(self, command: LifeCommand, assembly: BrokerAssembly) -> None:
        match command:
            case LoadLogs():
                self._tasks.spawn(self._load(assembly, recover=command.recover))
            case RegisterBroker():
                self._tasks.spawn(self._start(assembly.register(self._on_listening)))
            case AskToShutDown():
                self._tasks.spawn(self._tell(assembly.ask_to_shut_down()))
            case WaitBeforeRetry():
                later = asyncio.get_running_loop().call_later
                later(command.after_ms / 1000, self._events.put_nowait, BackoffOver())
            case StopServing():
                self._tasks.spawn(self._stop_serving(assembly))
            case MarkCleanShutdown():
                assembly.mark_clean_shutdown()
            case _:  # CloseSession: `run` does
                pass

    async def _load(self, assembly: BrokerAssembly, *, recover: bool) -> None:
        if await self._start(assembly.load(recover=recover)):
            self._events.put_nowait(LogsLoaded())

    async def _start(self, step: Awaitable[None]) -> bool:
        try:
            await step
        except START_ERRORS as error:
            self._refuse(str(error))
            return False
        return True

    async def _stop_serving(self, assembly: BrokerAssembly) -> None:
        await assembly.stop_serving()
        self._events.put_nowait(ServingStopped())

    async def _tell(self, answer: Awaitable[LifeEvent]) -> None:
        self._events.put_nowait(await answer)

    def _registered(self, broker_epoch: int | None) -> None:
        assert self._assembling is not None
        assembly = self._assembling.result()
        if broker_epoch is not None:
            self._tasks.spawn(self._settle(assembly, broker_epoch))
        else:
            self._refuse(f"another broker is registered under id {assembly.broker}: set another broker.id")

    async def _settle(self, assembly: BrokerAssembly, broker_epoch: int) -> None:
        if await self._start(assembly.settle(broker_epoch)):
            self._events.put_nowait(BrokerRegistered(broker_epoch))

    def _refuse(self, why: str) -> None:
        if self._serving:  # a later session could not be used
            _LOGGER.error("the broker cannot go on: %s", why)
            self._events.put_nowait(None)
            return
        self._why_not_started = why
        self._events.put_nowait(StartFailed(why))

    async def _watch(self, failed: asyncio.Event) -> None:
        await failed.wait()
        self._events.put_nowait(None)

    def _failed_at(self, error: BaseException) -> None:
        _LOGGER.error("this must not happen", exc_info=error)
        self._events.put_nowait(None)


def print_listening(addresses: Mapping[str, str]) -> None:
    """`{"listening":{"PLAINTEXT":"127.0.0.1:41234"}}` on standard output."""
    print(msgspec.json.encode({"listening": addresses}).decode(), flush=True)


def print_ready(ready: Ready) -> None:
    """`{"broker_id":1,"broker_epoch":25,"listeners":{"PLAINTEXT":"127.0.0.1:41234"}}` on standard output."""
    print(msgspec.json.encode(ready).decode(), flush=True)


def run_process(settings: Settings, furnish: BrokerKind, on_listening: OnListening, on_ready: OnReady) -> int:
    """Run a broker until SIGTERM or SIGINT. Exit code 0 then, 1 when it could not start or go on."""
    raise_file_limit()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname).1s %(message)s", stream=sys.stderr)
    try:
        return asyncio.run(_run(settings, furnish, on_listening, on_ready))
    except StartFailedError as error:
        print(f"kdrill broker: {error}", file=sys.stderr)
        return 1


async def _run(settings: Settings, furnish: BrokerKind, on_listening: OnListening, on_ready: OnReady) -> int:
    broker = LiveBroker(settings, furnish, on_listening, on_ready)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, broker.terminate)
    return await broker.run()
