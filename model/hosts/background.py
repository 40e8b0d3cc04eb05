"""Work beside an event loop: child processes at the end of three pipes, and tasks that nobody waits for.

A child's messages are not known here, only its input, its output and why it ended. A task is kept alive while it
runs; its failure is always reported.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import IO, Any

LAST_WORDS_BYTES = 4096
LINE_BYTES = 1 << 16


class ChildProcess:
    """Starts with the object; the rest is for one event loop. It is expected to end when its input does."""

    def __init__(self, command: Sequence[str], without: Collection[str] = ()) -> None:
        """`without`: environment variables that it does not get."""
        self._process = subprocess.Popen(
            command,
            env={name: value for name, value in os.environ.items() if name not in without},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # keys meant for the terminal, ctrl+c above all, are not for it
        )
        self._last_words: asyncio.Task[str] | None = None

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def input(self) -> IO[bytes]:
        """The pipe itself: for what is said before there is an event loop, and to end what was never opened."""
        return _pipe(self._process.stdin)

    async def open_input(self) -> asyncio.StreamWriter:
        """Where to say something to it; to close this ends it."""
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, self.input)
        return asyncio.StreamWriter(transport, protocol, None, loop)

    async def open_output(self, longest_line_bytes: int = LINE_BYTES) -> asyncio.StreamReader:
        """What it says. From now on its complaints are read as well, and forgotten but for the last."""
        reader, complaints = asyncio.StreamReader(longest_line_bytes), asyncio.StreamReader()
        for stream, pipe in ((reader, self._process.stdout), (complaints, self._process.stderr)):
            await asyncio.get_running_loop().connect_read_pipe(
                lambda stream=stream: asyncio.StreamReaderProtocol(stream), _pipe(pipe)
            )
        self._last_words = asyncio.create_task(_last_line(complaints))
        return reader

    async def why_it_ended(self) -> str:
        """The last line of its complaints, or the signal or exit code. Waits for its end."""
        words = await self._last_words if self._last_words else ""
        return words or await asyncio.to_thread(self._how_it_ended)

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()

    def wait_or_kill(self, patience_s: float) -> None:
        """Blocks until it has ended, which its closed input should bring about, or is killed after so many seconds."""
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _how_it_ended(self) -> str:
        code = self._process.wait()
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


async def _last_line(reader: asyncio.StreamReader) -> str:
    tail = b""
    while chunk := await reader.read(LAST_WORDS_BYTES):
        tail = (tail + chunk)[-LAST_WORDS_BYTES:]
    return tail.decode(errors="replace").strip().rpartition("\n")[2]


class BackgroundTasks:
    """For one event loop. `failed` is told of each error that ended a task; a cancelled one is no failure."""

    def __init__(self, failed: Callable[[BaseException], object]) -> None:
        self._failed = failed
        self._running: set[asyncio.Task[object]] = set()

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        """Begin it."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._done)

    async def close(self) -> None:
        """Cancel all, and wait until they have ended."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _done(self, task: asyncio.Task[object]) -> None:
        self._running.discard(task)
        tell_failure(task, self._failed)


def tell_failure(task: "asyncio.Task[Any]", failed: Callable[[BaseException], object]) -> None:
    """Tells what ended a task that is done, if that was an error."""
    if not task.cancelled() and (error := task.exception()) is not None:
        failed(error)
