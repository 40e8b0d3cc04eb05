"""One broker's process: started, awaited, signalled. What it is told is in its server.properties.

Its log file has all that it said, also before earlier ends.
"""

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from model.sandbox.cluster.log_file import LogFile
from model.sandbox.cluster.starting import started
from model.sandbox.control.state import ProcessStatus
from model.sandbox.errors import SandboxError, ServerDiedError
from model.sandbox.guarded_process import GuardedProcess

LIVE_BROKER = (sys.executable, "-P", "-m", "model.hosts.live_broker")
"""-P: whatever lies in the current folder is not ours."""
START_TIMEOUT_S = 120.0
POLL_S = 0.02


Listeners = Mapping[str, str]
"""Name → where a broker really listens, `127.0.0.1:40011`."""


class Said(msgspec.Struct, frozen=True):
    """A line that a broker prints: first where it listens, then, once it is registered and serves, who it is."""

    listening: Listeners | None = None
    broker_id: int | None = None


class BrokerProcess:
    """Not started by the constructor. For one task at a time."""

    def __init__(self, broker: int, folder: Path, command: Sequence[str] = LIVE_BROKER) -> None:
        self.broker = broker
        self.folder = folder
        self.log = LogFile(folder / "broker.log")
        self.status: ProcessStatus = "stopped"
        self.since_ms = 0
        self._command = command
        self._process: GuardedProcess | None = None

    @property
    def properties(self) -> Path:
        """Its server.properties."""
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
            for each in (msgspec.json.decode(line, type=Said) for line in said[heard:]):
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
        """SIGCONT."""
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
        """Kill it if it runs."""
        await self._let_go()

    async def _let_go(self) -> None:
        if self._process is not None:
            await asyncio.to_thread(self._process.close)

    def _enter(self, status: ProcessStatus) -> None:
        self.status = status
        self.since_ms = time.time_ns() // 1_000_000
