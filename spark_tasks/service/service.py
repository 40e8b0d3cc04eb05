"""Between the pipes and the Spark session: takes orders, tells the status. It does not know what analyses mean."""

import asyncio
import contextlib
import signal
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from model.hosts.crash_reports import crash_line
from model.sandbox.guarded_folder import GuardedFolder
from spark_tasks.errors import JobCancelled, JobFailed, SparkLost
from spark_tasks.service.archive_building import ArchiveBuilding
from spark_tasks.service.jobs import Jobs
from spark_tasks.service.messages import Begin, Order, Run, Told
from spark_tasks.session.spark_session import SparkSession
from spark_tasks.status import SparkStatus

LONGEST_LINE_BYTES = 1 << 20
LONGEST_ANSWER_BYTES = 1 << 18
"""Longer results go by file."""
LOOK_EVERY_S = 0.2


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """One session, from the first line to the end of the input, SIGTERM, or the end of Spark.

    Threads that still wait for what was lost may go on: the process is to be ended without them.
    """
    asyncio.new_event_loop().run_until_complete(_serve(source, target))


async def _serve(source: BinaryIO, target: BinaryIO) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(LONGEST_LINE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, target)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    try:
        begin = msgspec.json.decode(await reader.readline(), type=Begin)
    except msgspec.MsgspecError as error:
        failed = SparkStatus(state="failed", reason=f"this is no beginning: {error}")
        writer.write(msgspec.json.encode(Told(status=failed)) + b"\n")
    else:
        service = Service(begin, writer)
        work = asyncio.create_task(service.run(reader))
        loop.add_signal_handler(signal.SIGTERM, work.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await work
        await service.close()
    transport.set_write_buffer_limits(0)
    with contextlib.suppress(OSError):  # nobody listens any more
        await writer.drain()


class Service:
    """One session and its jobs."""

    def __init__(self, begin: Begin, writer: asyncio.StreamWriter) -> None:
        self._options = begin.options
        self._folder = GuardedFolder(Path(begin.folder))
        self._writer = writer
        self._session = SparkSession(begin.options, self._folder)
        self._jobs = Jobs()
        self._status = SparkStatus()
        self._began_s = time.monotonic()
        self._lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[None]] = set()
        self._archive = ArchiveBuilding(begin.options)

    async def run(self, reader: asyncio.StreamReader) -> None:
        """Take orders until they end, or Spark does."""
        self._spawn(self._open())
        self._spawn(self._look())
        listening = asyncio.create_task(self._listen(reader))
        await asyncio.wait([listening, self._lost], return_when=asyncio.FIRST_COMPLETED)
        listening.cancel()
        if self._lost.done():
            self._tell_status(state="failed", reason=self._lost.result(), jobs=())

    async def close(self) -> None:
        """End Spark, and remove the files."""
        for task in self._tasks:
            task.cancel()
        self._archive.close()
        await asyncio.to_thread(self._session.stop)
        self._folder.remove()

    async def _open(self) -> None:
        self._tell_status(state="starting", master=self._options.master)
        try:
            spark = await asyncio.to_thread(self._session.start)
        except SparkLost as error:
            self._lose(str(error))
        except Exception as error:
            self._lose(crash_line(error))
        else:
            self._jobs.begin(spark)
            self._tell_status(state=self._busy(), seconds=self._age_s(), pids=self._session.pids())
            self._archive.begin_later()
            self._lose(await asyncio.to_thread(self._session.wait))

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            try:
                order = msgspec.json.decode(line, type=Order)
            except msgspec.MsgspecError as error:
                self._tell(Told(id=0, failed=f"this is no order: {error}"))
                continue
            if order.run is not None:
                self._spawn(self._answer(order.id, order.run))
            if order.cancel is not None:
                self._jobs.cancel(order.cancel)

    async def _answer(self, number: int, run: Run) -> None:
        try:
            self._tell(self._answered(number, await self._jobs.run(number, run)))
        except JobCancelled:
            self._tell(Told(id=number, cancelled=True))
        except JobFailed as error:
            self._tell(Told(id=number, failed=str(error)))
        except SparkLost as error:
            self._lose(str(error))

    def _answered(self, number: int, result: bytes) -> Told:
        if len(result) <= LONGEST_ANSWER_BYTES:
            return Told(id=number, result=msgspec.Raw(result))
        file = self._folder.path / f"result-{number}.json"
        file.write_bytes(result)
        return Told(id=number, result_file=str(file))

    async def _look(self) -> None:
        while True:
            if self._status.state == "starting":
                self._tell_status(seconds=self._age_s(), pids=self._session.pids(), jobs=await self._jobs.look())
            elif self._status.state != "failed":
                jobs = await self._jobs.look()
                self._tell_status(state=self._busy(), jobs=jobs)
            await asyncio.sleep(LOOK_EVERY_S)

    def _busy(self) -> str:
        return "busy" if self._jobs else "ready"

    def _age_s(self) -> float:
        return time.monotonic() - self._began_s

    def _lose(self, reason: str) -> None:
        if not self._lost.done():
            self._lost.set_result(reason)

    def _tell_status(self, **changes: Any) -> None:
        status = msgspec.structs.replace(self._status, **changes)
        if status != self._status:
            self._status = status
            self._tell(Told(status=status))

    def _tell(self, told: Told) -> None:
        if not self._writer.is_closing():
            self._writer.write(msgspec.json.encode(told) + b"\n")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
