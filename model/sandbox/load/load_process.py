"""The sandbox's end of the load's process: starts it, orders it about, hears how it stands."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from model.sandbox.errors import SandboxError
from model.sandbox.load.messages import LoadFacts, LoadOrder, LoadSetup, LoadTold
from model.sandbox.load.report import AuditReport

LOAD = (sys.executable, "-P", "-m", "model.sandbox.load")
"""-P: whatever lies in the current folder is not ours."""
LONGEST_LINE_BYTES = 64 << 20


class LoadProcess:
    """From `start` to `close`. It ends with its standard input, and so with this process."""

    def __init__(self, log: Path, on_facts: Callable[[LoadFacts], None], on_end: Callable[[], None]) -> None:
        """`on_end` is called when it ends unasked."""
        self._log = log
        self._on_facts = on_facts
        self._on_end = on_end
        self._process: asyncio.subprocess.Process | None = None
        self._asked: dict[int, asyncio.Future[LoadTold]] = {}
        self._last_id = 0
        self._listening: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    async def start(self, setup: LoadSetup) -> None:
        """Start it; the load begins as soon as it can."""
        with self._log.open("ab") as errors:
            self._process = await asyncio.create_subprocess_exec(
                *LOAD,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                limit=LONGEST_LINE_BYTES,
                start_new_session=True,
            )
        self._listening = asyncio.create_task(self._listen())
        self._send(setup)

    async def ask(self, **order: Any) -> str:
        """What was done. Raises SandboxError: refused, or the process is gone."""
        return (await self._ask(**order)).done or ""

    async def audit(self) -> AuditReport:
        """Raises SandboxError."""
        told = await self._ask(audit=True)
        assert told.report is not None
        return told.report

    async def close(self) -> None:
        """End it."""
        process = self._process
        if process is None or self._listening is None:
            return
        self._on_end = _ignore
        if process.returncode is None:
            process.kill()  # nobody waits for its goodbye
        await process.wait()
        await self._listening

    async def _ask(self, **values: Any) -> LoadTold:
        if self.pid is None:
            raise SandboxError(f"the load's process has ended; see {self._log}")
        self._last_id += 1
        answer = self._asked[self._last_id] = asyncio.get_running_loop().create_future()
        self._send(LoadOrder(self._last_id, **values))
        told = await answer
        if told.refused is not None:
            raise SandboxError(told.refused)
        return told

    def _send(self, message: LoadSetup | LoadOrder) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(message) + b"\n")

    async def _listen(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        decoder = msgspec.json.Decoder(LoadTold)
        while line := await self._process.stdout.readline():
            told = decoder.decode(line)
            if told.facts is not None:
                self._on_facts(told.facts)
            elif told.id is not None and not (answer := self._asked.pop(told.id)).done():
                answer.set_result(told)
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(SandboxError(f"the load's process has ended; see {self._log}"))
        self._asked.clear()
        self._on_end()


def _ignore() -> None:
    """It was to end."""
