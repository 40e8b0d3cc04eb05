"""A server of ours as a process: how it is started, awaited and signalled, and its log.

Many are started at once, and none is left behind: a thread that starts one can't be called back. The log file has all
that the process said, also before earlier ends; only its newest part is read.
"""

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from model.sandbox.messages import ProcessStatus
from model.sandbox.processes import GuardedProcess, SandboxError, ServerDiedError

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


START_TIMEOUT_S = 120.0
POLL_S = 0.02


class ServerProcess:
    """A broker or a controller. Not started by the constructor. For one task at a time."""

    def __init__(self, name: str, folder: Path, log: Path) -> None:
        """`name` as it is told to people: `broker 1`."""
        self.name = name
        self.folder = folder
        self.log = ProcessLog(log)
        self.status: ProcessStatus = "stopped"
        self.since_ms = 0
        self._process: GuardedProcess | None = None

    @property
    def pid(self) -> int | None:
        """None while there is no process."""
        return self._process.pid if self._process and self._process.exit_code() is None else None

    async def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self._enter("killed")
        await self._let_go()

    async def terminate(self, patience_s: float) -> bool:
        """SIGTERM; SIGKILL for one that does not end in time. Whether it ended by itself."""
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

    async def _run(self, command: Sequence[str], serves: Callable[[str], bool]) -> None:
        """Start it and wait until a line that it says `serves`.

        Raises ServerDiedError with its last words, SandboxError if it hangs.
        """
        self._enter("starting")
        heard = self.log.size()
        start = partial(GuardedProcess, command, folder=self.folder, log=self.log.path)
        self._process = await started(start, GuardedProcess.close)
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            text, heard = self.log.new_text(heard)
            if any(map(serves, text.splitlines())):
                if self.status == "starting":
                    self._enter("running")
                return
            if self._process.exit_code() is not None:
                if self.status == "starting":
                    self._enter("crashed")
                words = self.log.last_lines(1) or ("no reason given",)
                raise ServerDiedError(f"{self.name} ended as it started: {words[-1]}")
            await asyncio.sleep(POLL_S)
        await self.kill()
        raise SandboxError(f"{self.name} did not serve within {START_TIMEOUT_S:.0f} s. See {self.log.path}.")

    async def _let_go(self) -> None:
        if self._process is not None:
            await asyncio.to_thread(self._process.close)

    def _enter(self, status: ProcessStatus) -> None:
        self.status = status
        self.since_ms = time.time_ns() // 1_000_000
