"""A source that asks brokers again and again, from a thread of its own. What it asks is its survey's."""

import asyncio
import contextlib
import logging
import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Protocol

from model.cluster.records import ClusterRecord
from model.hosts.kafka_client import ReadingClient
from model.hosts.process import crash_line
from model.hosts.wire.connection import security_of
from model.hosts.wire.names import DeniedError, MalformedError, WireError
from model.sources.addresses import parse_kafka_address
from model.sources.source import FactBatch, Phase, Progress, Sink, SourceError, SourceStatus

CLIENT_ID = "kdrill"
ANSWER_S = 5.0
FAREWELL_S = 1.0
AT_FIRST_S = 0.5
"""Between two looks while nobody has answered yet."""
TRIALS = 3
"""So often in a row a look may end in garbage before it is plain that the next one will."""
REST = 4
"""So many times as long as a look took of the processor, nothing is asked."""

_LOGGER = logging.getLogger(__name__)


class Survey(Protocol):
    """What is asked at each look."""

    def look(self) -> AsyncIterator[tuple[ClusterRecord, ...]]:
        """Facts that are new, as they come in; the first ones are a listing where `lists` says so.

        Raises WireError where no broker answers at all.
        """
        ...

    @property
    def lists(self) -> bool:
        """Whether the records that come first are all there is."""
        ...

    @property
    def troubles(self) -> tuple[str, ...]:
        """What could not be had at the last look, a line each."""
        ...


class PollingSource:
    """Looks every `interval_s`, never at two things at once, and longer apart where looking is work. Used once."""

    def __init__(
        self,
        bootstrap: str,
        survey: Callable[[ReadingClient], Survey],
        interval_s: float,
        answer_s: float = ANSWER_S,
        security: Mapping[str, Any] | None = None,
        connect_s: float = math.inf,
    ) -> None:
        """`bootstrap` is `host:port[,…]`; an answer may take `answer_s`; `security` as kafka-python's options.

        Where nobody ever answered for `connect_s`, it closes.
        Raises SourceError for what is no such list, or no way to log in.
        """
        try:
            client_security = security_of(security or {})
        except ValueError as error:
            raise SourceError(f"kafka://{bootstrap}: {error}") from None
        addresses = parse_kafka_address(bootstrap).brokers
        self._bootstrap = bootstrap
        self.interval_s = interval_s
        self._make = lambda: ReadingClient(addresses, CLIENT_ID, answer_s, client_security)
        self._survey = survey
        self._connect_s = connect_s
        self._loop = asyncio.new_event_loop()
        self._following: asyncio.Task[None] | None = None
        self._thread: threading.Thread | None = None
        self._status = SourceStatus()
        self._hurry = asyncio.Event()
        self._client: ReadingClient | None = None
        self._before, self._best = 0, 0
        """Answers before the look under way, and those of the look that brought most."""
        self._garbled = 0

    @property
    def name(self) -> str:
        return f"kafka://{self._bootstrap}"

    def open(self, sink: Sink) -> None:
        self._following = self._loop.create_task(self._follow(sink))
        self._thread = threading.Thread(target=self._run, name="kafka-polling", daemon=True)
        self._thread.start()

    def close(self) -> None:
        if self._following is None or self._thread is None:
            return
        self._soon(self._following.cancel)
        if self._thread is not threading.current_thread():
            self._thread.join(FAREWELL_S)

    def progress(self) -> Progress:
        client = self._client
        if client is None:
            return Progress()
        self._best = max(self._best, client.answers - self._before)
        return Progress(self._best, connections=client.connections)

    def look_now(self) -> None:
        """Does not wait for the interval to end; from any thread."""
        self._soon(self._hurry.set)

    def _soon(self, do: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # it has ended already
            self._loop.call_soon_threadsafe(do)

    def _run(self) -> None:
        assert self._following is not None
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._following)
        end(self._loop)

    async def _follow(self, sink: Sink) -> None:
        client, opened_s = self._make(), time.monotonic()
        self._client = client
        survey = self._survey(client)
        try:
            while True:
                self._hurry.clear()
                begun_s = time.thread_time()
                phase, reason = await self._look(survey, sink)
                is_new = not self._status.verified_ms
                if self._garbled >= TRIALS:
                    reason = f"{reason} ({self._garbled} times the same)"
                if phase == "stale" and is_new and time.monotonic() - opened_s >= self._connect_s:
                    phase, reason = "closed", f"{self.name}: {reason}"
                self._tell(sink, phase, reason)
                if phase in ("denied", "closed"):
                    return
                interval_s = min(self.interval_s, AT_FIRST_S) if is_new and phase == "stale" else self.interval_s
                pause_s = max(interval_s, REST * (time.thread_time() - begun_s))
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause_s):  # wait_for goes on where it is hurried and closed at once
                        await self._hurry.wait()
        finally:
            await client.close()

    async def _look(self, survey: Survey, sink: Sink) -> tuple[Phase, str]:
        self.progress()
        self._before = 0 if self._client is None else self._client.answers
        garbled, self._garbled = self._garbled, 0
        try:
            async for records in survey.look():
                if records:
                    is_late = not survey.lists and not self._status.verified_ms
                    sink.take(FactBatch(records, -1, _now_ms(), listing=survey.lists, is_known_late=is_late))
        except DeniedError as error:
            return "denied", f"{self.name}: {error}"
        except WireError as error:
            if isinstance(error, MalformedError) or isinstance(error.__cause__, MalformedError):
                self._garbled = garbled + 1
            return "stale", str(error)
        except Exception as error:
            _LOGGER.debug("looking at %s failed", self.name, exc_info=True)
            return "stale", crash_line(error)
        return "live", "; ".join(survey.troubles)

    def _tell(self, sink: Sink, phase: Phase, said: str) -> None:
        """How it fares, at every look: when it was proved last is news, too."""
        last, now_ms = self._status, _now_ms()
        self._status = SourceStatus(
            phase,
            since_ms=last.since_ms if phase == last.phase else now_ms,
            reason="" if phase == "live" else said,
            warning=said if phase == "live" else "",
            verified_ms=now_ms if phase == "live" else last.verified_ms,
            poll_ms=round(self.interval_s * 1000),
            is_hopeless=self._garbled >= TRIALS,
        )
        sink.report(self._status)


def end(loop: asyncio.AbstractEventLoop) -> None:
    """Closes a loop, and ends what was left in it: a connection that outlives its loop raises when it is collected."""

    async def end_the_rest() -> None:
        rest = asyncio.all_tasks(loop) - {asyncio.current_task(loop)}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        await loop.shutdown_asyncgens()

    loop.run_until_complete(end_the_rest())
    loop.close()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
