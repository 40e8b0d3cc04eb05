"""The demo as a source: its real ZooKeeper, what brokers would tell, and the minutes before it opened.

The demo has no brokers. What only they know, such as groups in `__consumer_offsets` and the ends of logs, is told by
the script that moves the tree, and the status says so. What was before is played once the present is known, so that
nobody waits for it. Nothing is written.
"""

import threading
from collections.abc import Callable, Iterable

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.records import Record
from model.sandbox.demo.large_plan import LARGE
from model.sandbox.demo.plan import DemoPlan
from model.sandbox.demo.script import STEP_MS, Script
from model.sources.addresses import ZooKeeperAddress
from model.sources.combined_source import CombinedSource
from model.sources.feed import Feed
from model.sources.source import Batch, Progress, Sink, SourceStatus
from model.sources.timeline import Timeline
from model.sources.zookeeper.follower import now_ms
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource

INVENTED = "told by the demo's script, it has no brokers"
ENDS_S = 1.0
BREATH_S = 0.005
"""Between two moments of the past: whoever asks something meanwhile is answered."""


class InventedBrokers:
    """In place of brokers that are asked: tells what they would, at each step of the script. Used once."""

    def __init__(self, plan: DemoPlan, began_ms: int, *, stands_still: bool) -> None:
        self.image: Callable[[], ClusterImage | None] = lambda: None
        self.is_forgotten = False
        self.then: Callable[[Timeline], None] = lambda _: None
        """Hears of the past, once."""
        self.has_told = threading.Event()
        """Set once what brokers would tell at first was told."""
        self.is_live = threading.Event()
        """To be set once the present is known."""
        self._plan, self._began_ms, self._stands_still = plan, began_ms, stands_still
        self._opened = plan.past
        """Steps that lay behind the cluster when this was opened."""
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []

    @property
    def name(self) -> str:
        return "the demo's script"

    def also_measure(self, partitions: Iterable[TopicPartition]) -> None:
        """All that is read is told anyway."""

    def progress(self) -> Progress:
        return Progress()

    def open(self, sink: Sink) -> None:
        if not self._stands_still:
            self._opened = max((now_ms() - self._began_ms) // STEP_MS, self._opened)
        self._threads = [
            threading.Thread(target=self._tell, args=(sink,), name="demo-script", daemon=True),
            threading.Thread(target=self._recall, name="demo-past", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        for event in (self._ended, self.has_told, self.is_live):
            event.set()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(ENDS_S)

    def _tell(self, sink: Sink) -> None:
        script = Script(self._plan, self._began_ms, has_tree=False).play(self._opened)
        sink.take(Batch(script.brokers_tell(everything=True), -1, script.now_ms))
        self._report(sink, script)
        self.has_told.set()
        if self._stands_still:
            return
        while not self._ended.wait(max(script.now_ms + STEP_MS - now_ms(), 0) / 1000):
            script.step()
            if records := script.brokers_tell():
                sink.take(Batch(records, -1, script.now_ms))
            self._report(sink, script)

    def _report(self, sink: Sink, script: Script) -> None:
        sink.report(SourceStatus("live", verified_ms=script.now_ms, warning=INVENTED))

    def _recall(self) -> None:
        """What was until the source was opened, once what is has been told."""
        self.is_live.wait()
        begun = Script(self._plan, self._began_ms).play(self._opened - self._plan.past)
        past = past_of(begun, self._opened, self._ended.wait)
        if not self._ended.is_set():
            self.then(past)


def past_of(script: Script, steps: int, wait: Callable[[float], bool]) -> Timeline:
    """The moments from where the script is to this step, as somebody saw them who followed the cluster."""
    moments = [Timeline()]
    feed = Feed("", lambda moment: moments.append(moments.pop().then(moment)))
    feed.take(_with(script.listing(), script.brokers_tell(everything=True)))
    while script.number < steps and not wait(BREATH_S):
        script.step()
        feed.take(_with(script.news(), script.brokers_tell()))
    return moments[0]


def _with(batch: Batch, records: tuple[Record, ...]) -> Batch:
    return msgspec.structs.replace(batch, records=(*records, *batch.records)) if records else batch


class _LaterZooKeeper(ZooKeeperSource):
    """Tells nothing before what brokers would tell, so that the first picture is whole."""

    def __init__(self, address: ZooKeeperAddress, brokers: InventedBrokers) -> None:
        super().__init__(address)
        self._brokers = brokers

    def open(self, sink: Sink) -> None:
        super().open(_After(self._brokers, sink))


class _After:
    """A sink that lets nothing through before the brokers have told, and says when the source is live."""

    def __init__(self, brokers: InventedBrokers, sink: Sink) -> None:
        self._brokers, self._sink = brokers, sink

    def take(self, batch: Batch) -> None:
        self._brokers.has_told.wait()
        self._sink.take(batch)

    def report(self, status: SourceStatus) -> None:
        self._brokers.has_told.wait()
        self._sink.report(status)
        if status.phase == "live":
            self._brokers.is_live.set()


class DemoSource(CombinedSource):
    """Fares as its ZooKeeper does. Used once."""

    def __init__(
        self, address: ZooKeeperAddress, began_ms: int, plan: DemoPlan = LARGE, *, stands_still: bool = False
    ) -> None:
        """`began_ms`: when the script began, which is before the demo opened; `stands_still`: it ends there."""
        self._brokers = InventedBrokers(plan, began_ms, stands_still=stands_still)
        super().__init__(_LaterZooKeeper(address, self._brokers), self._brokers)

    def recall(self, then: Callable[[Timeline], None]) -> None:
        """As Recalling has it."""

        def tell(past: Timeline) -> None:
            with self._lock:  # nothing else is told meanwhile
                then(past)

        self._brokers.then = tell
