"""What `kdrill` without a source opens: an embedded ZooKeeper with the demo cluster on it, alive; and it as a source.

A tree with sessions behind it, and no broker: ending a broker's session makes its znode vanish, but no controller
elects new leaders. What only brokers know, such as groups in `__consumer_offsets` and the ends of logs, is told by
the script that moves the tree, and the status says so. What was before it opened is played once the present is known,
so that nobody waits for it. The source writes nothing.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.records import ClusterRecord
from model.hosts.memory_zookeeper.state import session_password
from model.sandbox.demo.script import LARGE, ROOT, STEP_MS, Script
from model.sandbox.demo.state import DemoPlan, opening_state
from model.sandbox.demo.tree import (
    CLUSTER,
    DemoCommand,
    EndSession,
    InSession,
    broker_session,
    next_change,
    opening_commands,
)
from model.sandbox.embedded_zookeeper import ZnodeSession, start_zookeeper
from model.sandbox.processes import SandboxError
from model.sources.addresses import ZooKeeperAddress
from model.sources.combined_source import CombinedSource
from model.sources.feed import Feed
from model.sources.source import FactBatch, Progress, Sink, SourceStatus
from model.sources.timeline import Timeline
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource, now_ms


def system_clock_ms() -> int:
    """Wall-clock time, ms since the epoch."""
    return time.time_ns() // 1_000_000


class DemoCluster:
    """The demo cluster's tree and its sessions: one per live broker and consumer. For one thread at a time."""

    def __init__(
        self, plan: DemoPlan, address: str, root: str = ROOT, *, clock_ms: Callable[[], int] = system_clock_ms
    ) -> None:
        """Touches nothing yet. `address` is a server's `host:port`; the tree goes under `root`, which must be new."""
        self._address = address
        self._root = root
        self._clock_ms = clock_ms
        self._sessions: dict[str, ZnodeSession] = {}
        self._state = opening_state(plan, clock_ms())

    @classmethod
    def resumed(cls, script: Script, address: str) -> Self:
        """The cluster of a server that began with the script's tree, in the sessions that it has."""
        cluster = cls(script.state.plan, address)
        cluster._state = script.state
        cluster._begin({name: (number, session_password(number)) for name, number in script.sessions.items()})
        return cluster

    def open(self) -> Self:
        """Write the tree. Raises SandboxError, with no session left open."""
        commands = opening_commands(self._state, self._state.began_ms)
        self._begin(dict.fromkeys(command.session for command in commands))
        try:
            self._session(CLUSTER).make_path()
            self._carry_out(commands)
        except BaseException:
            self.close()
            raise
        return self

    def step(self, number: int, at_ms: int | None = None) -> None:
        """Make change `number` happen: the same numbers in the same order, the same history. Raises SandboxError.

        `at_ms`: when that is, as the script has it; None: now.
        """
        self._state, commands = next_change(self._state, number, self._clock_ms() if at_ms is None else at_ms)
        self._carry_out(commands)

    def lose_broker(self, broker: int) -> None:
        """End a broker's session: its registration vanishes, and `/controller` if it was the controller."""
        self._carry_out([EndSession(broker_session(broker))])

    def close(self) -> None:
        self._carry_out([EndSession(name) for name in self._sessions])

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *error: object) -> None:
        self.close()

    def _begin(self, sessions: Mapping[str, tuple[int, bytes] | None]) -> None:
        try:
            with ThreadPoolExecutor(len(sessions)) as pool:
                list(pool.map(self._session, sessions, sessions.values()))
        except BaseException:
            self.close()
            raise

    def _session(self, name: str, own: tuple[int, bytes] | None = None) -> ZnodeSession:
        if name not in self._sessions:
            self._sessions[name] = ZnodeSession(self._address, self._root, own)
        return self._sessions[name]

    def _carry_out(self, commands: Iterable[DemoCommand]) -> None:
        for command in commands:
            match command:
                case InSession(name, writes):
                    self._session(name).apply(writes)
                case EndSession(name):
                    if session := self._sessions.pop(name, None):
                        session.close()


PERIOD_S = STEP_MS / 1000


class DemoSandbox:
    """A server, the demo cluster and the thread that moves it. Ends with this process, however that ends."""

    def __init__(
        self, plan: DemoPlan = LARGE, *, period_s: float | None = PERIOD_S, archives: Path | None = None
    ) -> None:
        """Touches nothing yet. `period_s` is the time between two changes, None for a cluster that stands still;
        `archives` is where class archives are cached, the user's cache folder if None."""
        self.source = ""
        """`zk://127.0.0.1:PORT/kafka`, once open."""
        self.began_ms = 0
        """When its script began, once open: there is a past."""
        self._plan = plan
        self._period_s = period_s
        self._archives = archives
        self._open = ExitStack()
        self._closing = threading.Event()

    def open(self) -> Self:
        """Start everything. Raises SandboxError, with nothing left behind."""
        with ExitStack() as opening:
            past = self._plan.past
            self.began_ms = system_clock_ms() - past * STEP_MS
            script = Script(self._plan, self.began_ms).play(past)
            server = opening.enter_context(start_zookeeper(archives=self._archives, begins_with=script.server))
            cluster = DemoCluster.resumed(script, server.address)
            opening.callback(cluster.close)
            if self._period_s is not None:
                ticker = threading.Thread(target=self._animate, args=(cluster, past, self._period_s), daemon=True)
                ticker.start()
                opening.callback(ticker.join)
            opening.callback(self._closing.set)
            self.source = f"zk://{server.address}{ROOT}"
            self._open = opening.pop_all()
        return self

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *error: object) -> None:
        self.close()

    def _animate(self, cluster: DemoCluster, number: int, period_s: float) -> None:
        """Steps are as far apart as the script has them, whatever each takes."""
        due_s = time.monotonic()
        while not self._closing.wait(max((due_s := due_s + period_s) - time.monotonic(), 0)):
            # A step that failed is missed, not retried: most of the next ones do not depend on it.
            with suppress(SandboxError):
                cluster.step(number, self.began_ms + (number + 1) * STEP_MS)
            number += 1


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
        sink.take(FactBatch(script.brokers_tell(everything=True), -1, script.now_ms))
        self._report(sink, script)
        self.has_told.set()
        if self._stands_still:
            return
        while not self._ended.wait(max(script.now_ms + STEP_MS - now_ms(), 0) / 1000):
            script.step()
            if records := script.brokers_tell():
                sink.take(FactBatch(records, -1, script.now_ms))
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


def _with(batch: FactBatch, records: tuple[ClusterRecord, ...]) -> FactBatch:
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

    def take(self, batch: FactBatch) -> None:
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
