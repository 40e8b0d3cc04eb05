"""The pipe between the two processes, and the UI's end of it, which asks and hears pulses.

Messages are length-prefixed MessagePack. This loads nothing of what the data process does.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import IO, Protocol, TypeVar

import msgspec

from model.hosts.background import ChildProcess
from tui.engine.messages import HeaderFacts, ListQuery, Pulse, Query, TextAnswer, TextQuery, TimeAnswer, TimeQuery, Wish
from tui.engine.opening import NOBODY, Opening
from tui.engine.rows import Window

LENGTH_BYTES = 4
MAX_BYTES = 64 << 20
"""No answer is near this long; a longer one means that the pipe carries something else."""

T = TypeVar("T")


class Garbled(Exception):  # noqa: N818 - reads as a fact
    """What came is no message; the pipe cannot be used any more."""


NIL = msgspec.Raw(b"\xc0")
"""MessagePack's nil; an empty `Raw` would leave a hole in the message."""


class Asked(msgspec.Struct, frozen=True, tag=True):
    """UI → data: a question, numbered."""

    id: int
    query: Query | TimeQuery


class Answered(msgspec.Struct, frozen=True, tag=True):
    """Data → UI: the answer to question `id`, as MessagePack of its own type, or why there is none."""

    id: int
    answer: msgspec.Raw = NIL
    failure: str = ""


DataMessage = Answered | Pulse

encode = msgspec.msgpack.Encoder().encode


def frame(message: object) -> bytes:
    """One message, as it travels."""
    data = encode(message)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


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


DATA_PROCESS = (sys.executable, "-P", "-m", "tui.engine")
"""-P: whatever lies in the current folder is not ours."""

OnPulse = Callable[[Pulse], None]

FAREWELL_S = 3.0
"""How long the data process may take to end what must be ended in order."""
HURRIED_S = 0.4
"""As long, where nothing is lost if it is killed: a session that only reads expires by itself."""


class DataLost(Exception):  # noqa: N818 - reads as a fact
    """There is no answer: the data process is gone, or it failed at this question. The message is one line."""


class DataLink(Protocol):
    """Where screens get what they show."""

    async def open(self, on_pulse: OnPulse) -> None:
        """Begins; `on_pulse` is called on the event loop."""
        ...

    async def rows(self, query: ListQuery) -> Window:
        """Rows of a list. Raises DataLost."""
        ...

    async def text(self, query: TextQuery) -> TextAnswer:
        """Lines about a thing. Raises DataLost."""
        ...

    async def wish(self, wish: Wish) -> str:
        """Breaks or mends something in the sandbox; the sentence that says what was done. Raises DataLost."""
        ...

    async def moment(self, query: TimeQuery) -> TimeAnswer:
        """Where in time the question leads. Raises DataLost."""
        ...

    async def close(self) -> None:
        """Ends everything behind the link; returns within three seconds."""
        ...


class ProcessLink:
    """The data process: a child that ends when this end of the pipe closes, however this process ends."""

    def __init__(self, opening: Opening, command: Sequence[str] = DATA_PROCESS) -> None:
        """Starts the process: it loads while this one goes on loading what draws."""
        self._opening = opening
        self._process = ChildProcess(command, without=opening.login.variables)
        with suppress(BrokenPipeError):  # it is gone already, which is noticed where its messages end
            self._process.input.write(frame(opening))
        self._writer: asyncio.StreamWriter | None = None
        self._asked: dict[int, asyncio.Future[msgspec.Raw]] = {}
        self._last_id = 0
        self._wishes: set[int] = set()
        """Those under way, whether or not somebody still waits for the answer."""
        self._is_heard = False
        self._lost: DataLost | None = None
        self._is_open = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """The data process's id."""
        return self._process.pid

    async def open(self, on_pulse: OnPulse) -> None:
        self._writer = await self._process.open_input()
        self._is_open.set()
        self._listening = asyncio.create_task(self._listen(on_pulse))

    async def rows(self, query: ListQuery) -> Window:
        return msgspec.msgpack.decode(await self._ask(query), type=Window)

    async def text(self, query: TextQuery) -> TextAnswer:
        return msgspec.msgpack.decode(await self._ask(query), type=TextAnswer)

    async def wish(self, wish: Wish) -> str:
        return msgspec.msgpack.decode(await self._ask(wish), type=TextAnswer).title

    async def moment(self, query: TimeQuery) -> TimeAnswer:
        return msgspec.msgpack.decode(await self._ask(query), type=TimeAnswer)

    async def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()  # that it ends now is no news
        patience_s = FAREWELL_S if self._has_to_lose() else HURRIED_S
        self._lose(DataLost("the link is closed"))
        (self._writer or self._process.input).close()
        await asyncio.to_thread(self._process.wait_or_kill, patience_s)

    def _has_to_lose(self) -> bool:
        """Whether the process may have servers to end, something to write, or keys to take off the disk again."""
        opening = self._opening
        opens_with_keys = not self._is_heard and opening.login != NOBODY
        return not opening.source or opening.is_demo or opening.allow_writes or opens_with_keys or bool(self._wishes)

    async def _ask(self, query: Query | TimeQuery) -> msgspec.Raw:
        await self._is_open.wait()  # a screen may be there before the link is
        if self._lost is not None or self._writer is None:
            raise self._lost or DataLost("the link was never opened")
        self._last_id += 1
        answer = self._asked[self._last_id] = asyncio.get_running_loop().create_future()
        if isinstance(query, Wish):
            self._wishes.add(self._last_id)
        self._writer.write(frame(Asked(self._last_id, query)))
        return await answer

    async def _listen(self, on_pulse: OnPulse) -> None:
        reader = await self._process.open_output()
        fatal = ""
        try:
            async for pulse in self._pulses(reader):
                self._is_heard = True
                fatal = fatal or pulse.fatal
                on_pulse(pulse)
        except Garbled as error:
            self._process.kill()
            fatal = f"the data process sent {error}"
        reason = fatal or f"the data process ended ({await self._process.why_it_ended()})"
        self._lose(DataLost(reason))
        on_pulse(Pulse(-1, HeaderFacts(), fatal=reason))

    async def _pulses(self, reader: asyncio.StreamReader) -> AsyncIterator[Pulse]:
        """Hands answers to who asked, and pulses on, until the process ends."""
        decoder = msgspec.msgpack.Decoder(DataMessage)
        while (message := await read_message(reader, decoder)) is not None:
            if isinstance(message, Pulse):
                yield message
                continue
            self._wishes.discard(message.id)
            if not (answer := self._asked.pop(message.id)).done():
                if message.failure:
                    answer.set_exception(DataLost(message.failure))
                else:
                    answer.set_result(message.answer)

    def _lose(self, lost: DataLost) -> None:
        self._lost = lost
        self._is_open.set()
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(lost)
        self._asked.clear()
