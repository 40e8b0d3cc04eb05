"""A child process that is asked over its pipes, and the child's own end of them.

A frame is a length and a message in MessagePack. The owner's first frame says what the child is to do; then it asks
questions, each with a number, which are answered in whatever order; news comes at any time. What questions, answers
and news are is known to those who use this; it loads nothing of what children do. A child is to end when its input
does, which the kernel sees to, however its owner ends. Why a child ended is one line: the last of its complaints, or
the signal, or the exit code.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, Generic, TypeVar

import msgspec

LENGTH_BYTES = 4
MAX_BYTES = 64 << 20
"""No message is near this long; a longer one means that the pipe carries something else."""
LAST_WORDS_BYTES = 4096
FAREWELL_S = 15.0
"""How long a child may take to end what must be ended in order."""

T = TypeVar("T")
News = TypeVar("News")


class Garbled(Exception):  # noqa: N818 - reads as a fact
    """What came is no message; the pipe cannot be used any more."""


NIL = msgspec.Raw(b"\xc0")
"""MessagePack's nil; an empty `Raw` would leave a hole in the message."""


class QuestionAsked(msgspec.Struct, frozen=True, tag=True):
    """Owner → child: a question, as MessagePack of its own type. Nobody waits for the answer to number 0."""

    id: int
    question: msgspec.Raw


class QuestionAnswered(msgspec.Struct, frozen=True, tag=True):
    """Child → owner: the answer to question `id`, as MessagePack of its own type, or why there is none."""

    id: int
    answer: msgspec.Raw = NIL
    failure: str = ""


class NewsMessage(msgspec.Struct, frozen=True, tag=True):
    """Child → owner: news, as MessagePack of its own type."""

    news: msgspec.Raw


encode = msgspec.msgpack.Encoder().encode


def frame(message: object) -> bytes:
    """One message, as it travels."""
    data = encode(message)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


def raw(message: object) -> msgspec.Raw:
    """One message, as it travels within another."""
    return msgspec.Raw(encode(message))


async def read_message(reader: asyncio.StreamReader, decoder: "msgspec.msgpack.Decoder[T]") -> T | None:
    """The next message, or None at the end of the pipe. Raises Garbled for what is none."""
    try:
        length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
        if length > MAX_BYTES:
            raise Garbled(f"a message of {length:,} bytes")
        return decoder.decode(await reader.readexactly(length))
    except msgspec.DecodeError as error:
        raise Garbled(f"no message: {error}") from None
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


async def reader_of(pipe: IO[bytes]) -> asyncio.StreamReader:
    """The reading end of a pipe, on this event loop."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader


async def writer_of(pipe: IO[bytes]) -> asyncio.StreamWriter:
    """The writing end of a pipe, on this event loop."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)


class AskedChild(Generic[News]):
    """Starts with the object, and loads while its owner goes on; all but `begin` is for one event loop."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        news: Any,
        error: Callable[[str], Exception],
        *,
        without: Collection[str] = (),
        log: Path | None = None,
    ) -> None:
        """`name` is for sentences, `news` the type of its news, `error` what is raised where there is no answer.

        `without`: environment variables that it does not get. `log`: where its complaints go, which are kept here
        otherwise, but for the last forgotten. Raises OSError.
        """
        self.last_word = ""
        """What is said of its end, instead of why it ended; to be set by whoever knows better."""
        self._name = name
        self._news = msgspec.msgpack.Decoder[News](news)
        self._error = error
        self._process = _started(command, without, log)
        self._writer: asyncio.StreamWriter | None = None
        self._is_open = asyncio.Event()
        self._asked: dict[int, tuple[object, asyncio.Future[msgspec.Raw]]] = {}
        self._last_id = 0
        self._lost = ""
        self._listening: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def is_lost(self) -> bool:
        """Whether there are no more answers."""
        return bool(self._lost)

    @property
    def unanswered(self) -> list[object]:
        """Questions under way, whether or not somebody still waits for the answer."""
        return [question for question, _ in self._asked.values()]

    def begin(self, first: object) -> None:
        """Send the first message. Blocks while the pipe is full, so it is a short one where there is no event loop."""
        with suppress(BrokenPipeError):  # it is gone already, which is noticed where its messages end
            (self._writer or _pipe(self._process.stdin)).write(frame(first))

    async def open(self, on_news: Callable[[News], object], on_end: Callable[[str], Awaitable[object]]) -> None:
        """Hear it from now on. `on_end` gets the reason in one line, when it has ended unasked, or talked nonsense.

        It is told first, then those who wait for an answer.
        """
        self._writer = await writer_of(_pipe(self._process.stdin))
        self._listening = asyncio.create_task(self._listen(on_news, on_end))
        self._is_open.set()

    async def ask(self, question: object, answer: type[T]) -> T:
        """The answer, of the type `answer`; waits for `open`. Raises the error."""
        await self._is_open.wait()
        if self._lost or self._writer is None:
            raise self._error(self._lost)
        self._last_id += 1
        waiting: asyncio.Future[msgspec.Raw] = asyncio.get_running_loop().create_future()
        self._asked[self._last_id] = question, waiting
        self._writer.write(frame(QuestionAsked(self._last_id, raw(question))))
        return msgspec.msgpack.decode(await waiting, type=answer)

    def tell(self, question: object) -> None:
        """Ask without waiting for an answer; nothing happens where it is not open, or gone."""
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(frame(QuestionAsked(0, raw(question))))

    def lose(self, why: str) -> None:
        """There are no more answers, for this reason, unless there was one before."""
        self._lost = self._lost or why
        self._is_open.set()
        waiting = [each for _, each in self._asked.values() if not each.done()]
        self._asked.clear()
        for each in waiting:
            each.set_exception(self._error(self._lost))
            each.exception()  # looked at, or asyncio complains about those whom nobody waits for any more

    async def close(self, why: str, patience_s: float = FAREWELL_S) -> None:
        """End it: its input closes, and it is killed after so many seconds. Who waits for an answer gets `why`."""
        if self._listening is not None:
            self._listening.cancel()  # that it ends now is no news
        self.lose(why)
        with suppress(OSError):
            (self._writer or _pipe(self._process.stdin)).close()
        await asyncio.to_thread(self._wait_or_kill, patience_s)

    async def _listen(self, on_news: Callable[[News], object], on_end: Callable[[str], Awaitable[object]]) -> None:
        reader = await reader_of(_pipe(self._process.stdout))
        complaints = self._process.stderr and asyncio.create_task(_last_line(await reader_of(self._process.stderr)))
        decoder, nonsense = msgspec.msgpack.Decoder(QuestionAnswered | NewsMessage), ""
        try:
            while (message := await read_message(reader, decoder)) is not None:
                if isinstance(message, NewsMessage):
                    on_news(self._news.decode(message.news))
                else:
                    self._hear(message)
        except (Garbled, msgspec.DecodeError) as error:
            self._process.kill()
            nonsense = f"{self._name} sent {error}"
        if self._writer is not None:
            self._writer.close()
        await asyncio.to_thread(self._wait_or_kill, FAREWELL_S)
        why = (complaints and await complaints) or _how_it_ended(self._process)
        why = self.last_word or nonsense or f"{self._name} ended ({why})"
        await on_end(why)
        self.lose(why)

    def _hear(self, message: QuestionAnswered) -> None:
        _, waiting = self._asked.pop(message.id, (None, None))
        if waiting is None or waiting.done():
            return
        if message.failure:
            waiting.set_exception(self._error(message.failure))
        else:
            waiting.set_result(message.answer)

    def _wait_or_kill(self, patience_s: float) -> None:
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _started(command: Sequence[str], without: Collection[str], log: Path | None) -> "subprocess.Popen[bytes]":
    with ExitStack() as opened:
        return subprocess.Popen(
            command,
            env={name: value for name, value in os.environ.items() if name not in without},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if log is None else opened.enter_context(log.open("ab")),
            bufsize=0,
            start_new_session=True,  # keys meant for the terminal, ctrl+c above all, are not for it
        )


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _how_it_ended(process: "subprocess.Popen[bytes]") -> str:
    code = process.wait()
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


async def _last_line(reader: asyncio.StreamReader) -> str:
    tail = b""
    while chunk := await reader.read(LAST_WORDS_BYTES):
        tail = (tail + chunk)[-LAST_WORDS_BYTES:]
    return tail.decode(errors="replace").strip().rpartition("\n")[2]


# The child's end


def output_for_messages() -> BinaryIO:
    """Standard output, kept for messages: whatever prints goes to standard error from now on."""
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return output


class ParentProcess:
    """Who started this process, at the other end of its pipes. For one event loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """See `of`."""
        self._reader = reader
        self._writer = writer
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    async def of(cls, output: BinaryIO) -> "ParentProcess":
        """On standard input, and on the output that `output_for_messages` gave."""
        return cls(await reader_of(sys.stdin.buffer), await writer_of(output))

    async def first(self, kind: type[T]) -> T | None:
        """What this process is to do, or None if there is no owner any more. Raises Garbled."""
        return await read_message(self._reader, msgspec.msgpack.Decoder(kind))

    def tell(self, news: object) -> None:
        """Never waits; see `drain` and `unread_bytes`."""
        self._send(NewsMessage(raw(news)))

    @property
    def unread_bytes(self) -> int:
        """How much waits because the owner does not read: it may be suspended."""
        return self._writer.transport.get_write_buffer_size()

    async def drain(self) -> None:
        """Wait until little waits."""
        await self._writer.drain()

    async def flush(self) -> None:
        """Wait until nothing waits, or nobody reads any more."""
        self._writer.transport.set_write_buffer_limits(0)
        with suppress(OSError):
            await self._writer.drain()

    async def answer_all(
        self, kind: type[T], answer: Callable[[T], Awaitable[object]], why_not: Callable[[Exception], str]
    ) -> None:
        """Answer each question in a task of its own, until there are no more. Raises Garbled.

        An answer that fails is told as `why_not` says it; the others live on.
        """
        asked, question = msgspec.msgpack.Decoder(QuestionAsked), msgspec.msgpack.Decoder(kind)
        while (message := await read_message(self._reader, asked)) is not None:
            self.spawn(self._answer(message, question, answer, why_not))

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin what goes on until `cancel`."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def cancel(self) -> None:
        """Give up what is under way, and wait until it has ended."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer(
        self,
        asked: QuestionAsked,
        decoder: "msgspec.msgpack.Decoder[T]",
        answer: Callable[[T], Awaitable[object]],
        why_not: Callable[[Exception], str],
    ) -> None:
        try:
            said = QuestionAnswered(asked.id, raw(await answer(decoder.decode(asked.question))))
        except Exception as error:
            said = QuestionAnswered(asked.id, failure=why_not(error))
        self._send(said)

    def _send(self, message: QuestionAnswered | NewsMessage) -> None:
        if not self._writer.is_closing():
            self._writer.write(frame(message))
