"""One Spark process, from its start to its end: its pipes, the jobs asked of it, and how it was lost."""

import asyncio
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from model.hosts.child_process import ChildProcess
from model.sandbox.guarded_folder import temporary_folder
from spark_tasks.client.array_files import ArrayFiles
from spark_tasks.errors import JobCancelled, JobFailed, SparkLost
from spark_tasks.options import SparkOptions
from spark_tasks.service.messages import Begin, Order, Run, Told
from spark_tasks.status import SparkStatus

COMMAND = (sys.executable, "-P", "-m", "spark_tasks")
"""-P: whatever lies in the current folder is not ours."""
LONGEST_LINE_BYTES = 16 << 20
FAREWELL_S = 15.0


@dataclass(frozen=True)
class _Asked:
    tag: str
    answer: "asyncio.Future[Told]"


class SparkProcess:
    """Starts with the object. For one event loop."""

    def __init__(
        self,
        options: SparkOptions,
        on_status: Callable[[SparkStatus], None],
        command: Sequence[str],
        without: Collection[str],
    ) -> None:
        self._folder = temporary_folder("kdrill-spark-")
        self.files = ArrayFiles(self.folder)
        self._on_status = on_status
        self._status = SparkStatus(state="starting", master=options.master)
        self._asked: dict[int, _Asked] = {}
        self._last_id = 0
        self._lost: SparkLost | None = None
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._process = ChildProcess(command, without)
        self._opening = asyncio.create_task(self._open(options))
        self._listening = asyncio.create_task(self._listen())
        on_status(self._status)

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self._folder.path

    @property
    def is_lost(self) -> bool:
        """Whether it is of no more use."""
        return self._lost is not None

    async def ready(self) -> None:
        """Returns once Spark serves. Raises SparkLost."""
        await asyncio.shield(self._ready)

    async def run(self, tag: str, analysis: str, arrays: Path, parameters: bytes) -> bytes | Path:
        """The result's JSON, or a file of it. Raises JobCancelled, JobFailed, SparkLost."""
        writer = await asyncio.shield(self._opening)
        if self._lost is not None:
            raise self._lost
        self._last_id += 1
        number = self._last_id
        answer: asyncio.Future[Told] = asyncio.get_running_loop().create_future()
        self._asked[number] = _Asked(tag, answer)
        run = Run(tag=tag, analysis=analysis, arrays=str(arrays), parameters=msgspec.Raw(parameters))
        _send(writer, Order(id=number, run=run))
        try:
            told = await answer
        except asyncio.CancelledError:
            _send(writer, Order(cancel=tag))
            raise
        finally:
            del self._asked[number]
        if told.cancelled:
            raise JobCancelled(tag)
        if told.failed is not None:
            raise JobFailed(told.failed)
        return Path(told.result_file) if told.result_file is not None else bytes(told.result)

    def has(self, tag: str) -> bool:
        """Whether a job of this tag was asked for and not answered."""
        return any(asked.tag == tag for asked in self._asked.values())

    async def cancel(self, tag: str) -> bool:
        """End the job. Whether there is one."""
        if not self.has(tag):
            return False
        _send(await asyncio.shield(self._opening), Order(cancel=tag))
        return True

    async def close(self) -> None:
        """End it, and remove its files. Jobs raise SparkLost."""
        self._listening.cancel()
        with suppress(asyncio.CancelledError):
            await self._listening
        self._lose(SparkLost("Spark was closed"), quietly=True)
        with suppress(OSError):
            (await self._opening).close()
        await asyncio.to_thread(self._end)

    async def _open(self, options: SparkOptions) -> asyncio.StreamWriter:
        writer = await self._process.open_input()
        _send(writer, Begin(options, str(self.folder)))
        return writer

    async def _listen(self) -> None:
        reader = await self._process.open_output(LONGEST_LINE_BYTES)
        decoder = msgspec.json.Decoder(Told)
        try:
            while line := await reader.readline():
                self._hear(decoder.decode(line))
        except (ValueError, msgspec.MsgspecError) as error:
            self._process.kill()
            self._lose(SparkLost(f"the Spark process sent what is no message: {error}"))
        (await self._opening).close()
        await asyncio.to_thread(self._end)
        self._lose(SparkLost(f"the Spark process ended ({await self._process.why_it_ended()})"))

    def _hear(self, told: Told) -> None:
        if told.status is not None:
            self._status = told.status
            if told.status.state == "failed":
                self._lose(SparkLost(told.status.reason))
                return
            self._on_status(told.status)
            if told.status.state in ("ready", "busy") and not self._ready.done():
                self._ready.set_result(None)
        elif told.id is not None and (asked := self._asked.get(told.id)) and not asked.answer.done():
            asked.answer.set_result(told)

    def _lose(self, lost: SparkLost, *, quietly: bool = False) -> None:
        if self._lost is not None:
            return
        self._lost = lost
        for waiting in (self._ready, *(asked.answer for asked in self._asked.values())):
            if not waiting.done():
                waiting.set_exception(lost)
                waiting.exception()  # looked at, or asyncio complains where nobody waits any more
        if not quietly:
            self._on_status(msgspec.structs.replace(self._status, state="failed", reason=str(lost), jobs=()))

    def _end(self) -> None:
        """Wait for its end, which comes with the end of its input; and for its files', which it removes itself."""
        self._process.wait_or_kill(FAREWELL_S)
        self._folder.remove()


def _send(writer: asyncio.StreamWriter, message: Begin | Order) -> None:
    if not writer.is_closing():
        writer.write(msgspec.json.encode(message) + b"\n")
