"""The demo as a source: first the minutes before it opened, then its real ZooKeeper, and what brokers would tell.

The demo has no brokers. What only they know, such as groups in `__consumer_offsets` and the ends of logs, is told by
the script that moves the tree, and the status says so. Nothing is written.
"""

import threading
from collections.abc import Callable, Iterable

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.sandbox.demo.large_plan import LARGE
from model.sandbox.demo.plan import DemoPlan
from model.sandbox.demo.script import STEP_MS, Script
from model.sources.addresses import ZooKeeperAddress
from model.sources.combined_source import CombinedSource
from model.sources.source import Batch, Progress, Sink, SourceStatus
from model.sources.zookeeper.follower import now_ms
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource

INVENTED = "there are no brokers: the demo's script tells of groups, log ends and folders in their place"
ENDS_S = 1.0


class InventedBrokers:
    """In place of brokers that are asked: tells what they would, at each step of the script. Used once."""

    def __init__(self, plan: DemoPlan, began_ms: int, *, stands_still: bool) -> None:
        self.image: Callable[[], ClusterImage | None] = lambda: None
        self.is_forgotten = False
        self._plan, self._began_ms, self._stands_still = plan, began_ms, stands_still
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.are_past_told = threading.Event()
        """Set once the time before the demo opened was told."""

    @property
    def name(self) -> str:
        return "the demo's script"

    def also_measure(self, partitions: Iterable[TopicPartition]) -> None:
        """All that is read is told anyway."""

    def progress(self) -> Progress:
        return Progress()

    def open(self, sink: Sink) -> None:
        self._thread = threading.Thread(target=self._tell, args=(sink,), name="demo-script", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self.are_past_told.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(ENDS_S)

    def _tell(self, sink: Sink) -> None:
        script = self._past(sink)
        self.are_past_told.set()
        if self._stands_still:
            return
        while not self._ended.wait(max(script.now_ms + STEP_MS - now_ms(), 0) / 1000):
            script.step()
            sink.take(script.brokers_tell())
            sink.report(SourceStatus("live", verified_ms=script.now_ms, warning=INVENTED))

    def _past(self, sink: Sink) -> Script:
        """Tells the time before the demo opened, and before now where it opened a while ago."""
        script = Script(self._plan, self._began_ms)
        steps = self._plan.past
        if not self._stands_still:
            steps = max((now_ms() - self._began_ms) // STEP_MS, steps)
        script.play(steps - self._plan.past)
        sink.take(script.listing())
        sink.take(script.brokers_tell())
        for _ in range(self._plan.past):
            if self._ended.is_set():
                break
            script.step()
            for batch in (script.brokers_tell(), script.news()):
                sink.take(batch)
        sink.report(SourceStatus("live", verified_ms=script.now_ms, warning=INVENTED))
        return script


class _LaterZooKeeper(ZooKeeperSource):
    """Tells nothing before what is told first."""

    def __init__(self, address: ZooKeeperAddress, first: threading.Event) -> None:
        super().__init__(address)
        self._first = first

    def open(self, sink: Sink) -> None:
        super().open(_After(self._first, sink))


class _After:
    """A sink that lets nothing through before something else is done."""

    def __init__(self, first: threading.Event, sink: Sink) -> None:
        self._first, self._sink = first, sink

    def take(self, batch: Batch) -> None:
        self._first.wait()
        self._sink.take(batch)

    def report(self, status: SourceStatus) -> None:
        self._first.wait()
        self._sink.report(status)


class DemoSource(CombinedSource):
    """Fares as its ZooKeeper does. Used once."""

    def __init__(
        self, address: ZooKeeperAddress, began_ms: int, plan: DemoPlan = LARGE, *, stands_still: bool = False
    ) -> None:
        """`began_ms`: when the script began, which is before the demo opened; `stands_still`: it ends there."""
        brokers = InventedBrokers(plan, began_ms, stands_still=stands_still)
        super().__init__(_LaterZooKeeper(address, brokers.are_past_told), brokers)
