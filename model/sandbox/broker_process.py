"""One broker's process: what it is told in its server.properties, how it is started, awaited and signalled, its log.

Many are started at once, and none is left behind: a thread that starts one can't be called back. The log file has all
that the process said, also before earlier ends; only its newest part is read.
"""

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from model.broker.settings.keys import KDRILL_FAULT_FOLDER
from model.sandbox.messages import SESSION_KEY, SESSION_MS, ProcessStatus, SandboxOptions
from model.sandbox.processes import LOOPBACK, GuardedProcess, SandboxError, ServerDiedError

T = TypeVar("T")


async def started(start: Callable[[], T], end: Callable[[T], object]) -> T:
    """What `start` returns, called in a thread; whoever is cancelled meanwhile waits for it, and `end` is called on it.

    Raises what `start` raises.
    """
    starting = asyncio.ensure_future(asyncio.to_thread(start))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(SandboxError):
            end(await starting)
        raise


async def all_or_first_error(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Their results, once all have ended; raises what the first one raised, when the others have ended too."""
    ended = await asyncio.gather(*works, return_exceptions=True)
    results: list[T] = []
    for each in ended:
        if isinstance(each, BaseException):
            raise each
        results.append(each)
    return results


LONGEST_LINE = 300
TAIL_BYTES = 8192


class ProcessLog:
    """May not be there yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def size(self) -> int:
        """In bytes."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def lines_from(self, begin: int) -> list[str]:
        """Whole lines from this byte on."""
        return self.new_text(begin)[0].splitlines()

    def new_text(self, begin: int) -> tuple[str, int]:
        """Whole lines from this byte on, and where they end."""
        try:
            with self.path.open("rb") as file:
                file.seek(begin)
                text = file.read()
        except OSError:
            return "", begin
        whole = text[: text.rfind(b"\n") + 1]
        return whole.decode(errors="replace"), begin + len(whole)

    def last_lines(self, count: int) -> tuple[str, ...]:
        """The last ones that say something, cut to a bearable length, without control characters."""
        lines = self.lines_from(max(0, self.size() - TAIL_BYTES))
        said = ["".join(filter(str.isprintable, line)).strip()[:LONGEST_LINE] for line in lines]
        return tuple(list(filter(None, said))[-count:])


def broker_properties(
    options: SandboxOptions, broker: int, *, folder: str, zookeeper: str, advertised: Mapping[str, str]
) -> Mapping[str, str]:
    """The keys and values; a broker listens where the system lets it, and tells others the proxies' addresses.

    `advertised` is the address of each listener, the brokers' own last; `zookeeper` a connect string with its chroot.
    """
    replicas = str(min(3, options.brokers))
    rack = options.rack_of(broker)
    listeners = tuple(advertised)
    return {
        "broker.id": str(broker),
        **({"broker.rack": rack} if rack else {}),
        "listeners": ",".join(f"{name}://{LOOPBACK}:0" for name in listeners),
        "advertised.listeners": ",".join(f"{name}://{advertised[name]}" for name in listeners),
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in listeners),
        "inter.broker.listener.name": listeners[-1],
        "log.dirs": f"{folder}/logs",
        "zookeeper.connect": zookeeper,
        SESSION_KEY: str(SESSION_MS),
        "default.replication.factor": replicas,
        "num.partitions": "6",
        "min.insync.replicas": "2" if options.brokers > 2 else "1",
        "replica.lag.time.max.ms": "10000",
        "offsets.topic.replication.factor": replicas,
        "offsets.topic.num.partitions": "10",
        "group.initial.rebalance.delay.ms": "500",
        "controlled.shutdown.retry.backoff.ms": "500",
        KDRILL_FAULT_FOLDER.name: f"{folder}/faults",
        **options.settings,
    }


def properties_text(properties: Mapping[str, str]) -> str:
    """As java.util.Properties reads it; backslashes begin an escape there."""
    return "".join(f"{name}={value}\n".replace("\\", "\\\\") for name, value in properties.items())


LIVE_BROKER = (sys.executable, "-P", "-m", "model.hosts.live_broker")
"""-P: whatever lies in the current folder is not ours."""
START_TIMEOUT_S = 120.0
POLL_S = 0.02


Listeners = Mapping[str, str]
"""Name → where a broker really listens, `127.0.0.1:40011`."""


class BrokerLine(msgspec.Struct, frozen=True):
    """A line that a broker prints: first where it listens, then, once it is registered and serves, who it is."""

    listening: Listeners | None = None
    broker_id: int | None = None


class BrokerProcess:
    """Not started by the constructor. For one task at a time."""

    def __init__(self, broker: int, folder: Path, command: Sequence[str] = LIVE_BROKER) -> None:
        self.broker = broker
        self.folder = folder
        self.log = ProcessLog(folder / "broker.log")
        self.status: ProcessStatus = "stopped"
        self.since_ms = 0
        self._command = command
        self._process: GuardedProcess | None = None

    @property
    def properties(self) -> Path:
        return self.folder / "server.properties"

    @property
    def faults(self) -> Path:
        """Where orders to fail are left for it."""
        return self.folder / "faults"

    @property
    def pid(self) -> int | None:
        """None while there is no process."""
        return self._process.pid if self._process and self._process.exit_code() is None else None

    def write_properties(self, text: str) -> None:
        """What the next start obeys. Raises SandboxError."""
        try:
            self.faults.mkdir(parents=True, exist_ok=True)
            self.properties.write_text(text, encoding="utf-8")
        except OSError as error:
            raise SandboxError(f"can't write {error.filename}: {error.strerror}") from error

    async def start(self, on_listening: Callable[[Listeners], None]) -> None:
        """Start it and wait until it serves. Raises ServerDiedError with its last words, SandboxError if it hangs.

        `on_listening` is told where it listens as soon as it does: it can't serve before the controller reaches it.
        """
        self._enter("starting")
        begin = self.log.size()
        command = [*self._command, str(self.properties)]
        start = partial(GuardedProcess, command, folder=self.folder, log=self.log.path)
        self._process = await started(start, GuardedProcess.close)
        deadline = time.monotonic() + START_TIMEOUT_S
        heard = 0
        while time.monotonic() < deadline:
            said = [line for line in self.log.lines_from(begin) if line.startswith("{")]
            for each in (msgspec.json.decode(line, type=BrokerLine) for line in said[heard:]):
                if each.listening is not None:
                    on_listening(each.listening)
                elif each.broker_id is not None:
                    if self.status == "starting":
                        self._enter("running")
                    return
            heard = len(said)
            if self._process.exit_code() is not None:
                if self.status == "starting":
                    self._enter("crashed")
                words = self.log.last_lines(1) or ("no reason given",)
                raise ServerDiedError(f"broker {self.broker} ended as it started: {words[-1]}")
            await asyncio.sleep(POLL_S)
        await self.kill()
        raise SandboxError(f"broker {self.broker} did not serve within {START_TIMEOUT_S:.0f} s. See {self.log.path}.")

    async def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self._enter("killed")
        await self._let_go()

    async def terminate(self, patience_s: float) -> bool:
        """SIGTERM; SIGKILL for a broker that does not end in time. Whether it ended by itself."""
        self._enter("stopped")
        if self._process is None:
            return True
        self._process.send(signal.SIGTERM)
        self._process.send(signal.SIGCONT)
        deadline = time.monotonic() + patience_s
        while (ended := self._process.exit_code() is None) and time.monotonic() < deadline:
            await asyncio.sleep(POLL_S)
        await self._let_go()
        return not ended

    async def pause(self) -> None:
        """SIGSTOP, and wait until it has worked."""
        assert self._process is not None
        self._enter("paused")
        await asyncio.to_thread(self._process.pause)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send(signal.SIGCONT)
        self._enter("running")

    def notice_end(self) -> int | None:
        """Its exit code if it has ended and nobody had asked for it; then it counts as crashed."""
        if self.status not in ("running", "paused") or self._process is None:
            return None
        code = self._process.exit_code()
        if code is not None:
            self._enter("crashed")
        return code

    async def close(self) -> None:
        await self._let_go()

    async def _let_go(self) -> None:
        if self._process is not None:
            await asyncio.to_thread(self._process.close)

    def _enter(self, status: ProcessStatus) -> None:
        self.status = status
        self.since_ms = time.time_ns() // 1_000_000
