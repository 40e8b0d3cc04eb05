"""`CoordinatorGroupsSource`: looks at the groups of a cluster's brokers every second, from a thread of its own."""

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Iterable

from model.cluster.ids import TopicPartition
from model.hosts.kafka_client.kafka_client import KafkaClient, address_of
from model.hosts.wire.errors import WireError
from model.sources.coordinator_groups.survey import GroupSurvey
from model.sources.source import Batch, Phase, Sink, SourceError, SourceStatus

CLIENT_ID = "kdrill-groups"
INTERVAL_S = 1.0
ANSWER_S = 5.0
FAREWELL_S = 1.0

_LOGGER = logging.getLogger(__name__)


class CoordinatorGroupsSource:
    """Tells of classic groups and of log ends, of nothing else, and never lists. Used once."""

    def __init__(self, bootstrap: str, interval_s: float = INTERVAL_S, answer_s: float = ANSWER_S) -> None:
        """`bootstrap` is `host:port[,…]`; `interval_s` passes between two looks, an answer may take `answer_s`.

        Raises SourceError for what is no such list.
        """
        try:
            self._addresses = [address_of(each.strip()) for each in bootstrap.split(",")]
        except ValueError:
            raise SourceError(f"{bootstrap!r}: write host:port[,host:port…]") from None
        self._bootstrap = bootstrap
        self._interval_s = interval_s
        self._answer_s = answer_s
        self._others: frozenset[TopicPartition] = frozenset()
        self._loop = asyncio.new_event_loop()
        self._following: asyncio.Task[None] | None = None
        self._thread: threading.Thread | None = None
        self._status = SourceStatus()

    @property
    def name(self) -> str:
        return f"kafka://{self._bootstrap}"

    def also_measure(self, partitions: Iterable[TopicPartition]) -> None:
        """Of these partitions the log ends are wanted, too; from any thread."""
        self._others = frozenset(partitions)

    def open(self, sink: Sink) -> None:
        self._following = self._loop.create_task(self._follow(sink))
        self._thread = threading.Thread(target=self._run, name="coordinator-groups", daemon=True)
        self._thread.start()

    def close(self) -> None:
        if self._following is None or self._thread is None:
            return
        with contextlib.suppress(RuntimeError):  # it has ended already
            self._loop.call_soon_threadsafe(self._following.cancel)
        if self._thread is not threading.current_thread():
            self._thread.join(FAREWELL_S)

    def _run(self) -> None:
        assert self._following is not None
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._following)
        self._loop.close()

    async def _follow(self, sink: Sink) -> None:
        client = KafkaClient(self._addresses, CLIENT_ID, self._answer_s)
        survey = GroupSurvey(client)
        try:
            while True:
                self._tell(sink, *await self._look(survey, sink))
                await asyncio.sleep(self._interval_s)
        finally:
            await client.close()

    async def _look(self, survey: GroupSurvey, sink: Sink) -> tuple[Phase, str]:
        try:
            records = await survey.look(self._others)
        except WireError as error:
            return "stale", str(error)
        except Exception as error:
            _LOGGER.debug("looking at the groups of %s failed", self._bootstrap, exc_info=True)
            return "stale", f"a defect in kdrill: {error!r}"
        sink.take(Batch(records, -1, _now_ms()))
        return ("stale", survey.silent[0]) if survey.silent else ("live", "")

    def _tell(self, sink: Sink, phase: Phase, reason: str) -> None:
        """Only what is new: whoever is told draws anew."""
        last, now_ms = self._status, _now_ms()
        if (phase, reason) != (last.phase, last.reason):
            since_ms = last.since_ms if phase == last.phase else now_ms
            self._status = SourceStatus(phase, since_ms, reason, now_ms)
            sink.report(self._status)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
