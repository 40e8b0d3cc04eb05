"""How far behind a KRaft cluster the image runs while its partitions change, as at the death of a broker.

30,000 of 100,000 partitions change, 6,000 a second, as a controller in a process of its own writes them: topic after
topic, as Kafka's does at a death (`BrokersToIsrs`), and in any order, which changes many topics in each image. The time
that its log has for each is compared with the time at which an image that has it is published, with its findings and
events. On a busy machine both wait for a core: the note has the processor time from one image to the next, which is
what following takes by itself.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from model.cluster.cluster_image import EMPTY, ClusterImage, differing_keys
from model.hosts.process import keep
from model.sources.addresses import ControllersAddress
from model.sources.feed import Feed, Moment
from model.sources.quorum.quorum_source import QuorumSource
from tests.benchmarks.figure import Figure
from tests.benchmarks.stub_controller import START, chosen

TOPICS, PARTITIONS = 1_000, 100
CHANGED, RATE = 30_000, 6_000
LARGE = 10_000, 100
"""Topics, and partitions of each, of a cluster that is only loaded."""
GOALS_S = 0.030, 0.200
PATIENCE_S = 120.0


def measure(folder: Path) -> Iterator[Figure]:
    """Half of the changes are behind by `p50`, one in a hundred by `p99`."""
    for order, is_by_topic in (("by topic", True), ("in any order", False)):
        with ProcessPoolExecutor(1, get_context("spawn")) as process:
            behind_s, steps_s = process.submit(followed, is_by_topic).result()
        for share, goal_s in zip((0.50, 0.99), GOALS_S, strict=True):
            what = f"{CHANGED:,} changes at {RATE:,} a second {order}, p{share * 100:.0f}"
            step = f"{len(steps_s)} images, CPU of one {1000 * _at(share, steps_s):.1f} ms, of all {sum(steps_s):.2f} s"
            yield Figure(what, _at(share, behind_s), note=f"goal {1000 * goal_s:g} ms; {step}")
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        first_s, live_s, cpu_s = process.submit(loaded).result()
    what = f"{LARGE[0] * LARGE[1]:,} partitions"
    yield Figure(f"{what}, first rows", first_s, note="goal 1 s")
    yield Figure(f"{what}, until it is live", live_s, note=f"CPU {cpu_s:.2f} s")


def _at(share: float, times_s: list[float]) -> float:
    return times_s[int(share * (len(times_s) - 1))]


class _Followed:
    """Takes moments, and how old what they bring is."""

    def __init__(self) -> None:
        self.live = threading.Event()
        self.first_s = 0.0
        """When partitions were seen first, by the monotonic clock."""
        self.behind_s: list[float] = []
        self.steps_s: list[float] = []
        """Processor time of the thread that follows, from one image to the next."""
        self._cpu_s = 0.0
        self.image = EMPTY

    def publish(self, moment: Moment) -> None:
        now_s = time.time()
        before, self.image = self.image, moment.image
        if self.image.topics and not self.first_s:
            self.first_s = time.monotonic()
        if self.live.is_set() and before is not self.image:
            self.steps_s.append(time.thread_time() - self._cpu_s)
            for name in differing_keys(before.topics, self.image.topics):
                rows = self.image.topics[name].rows_since(before.topics[name])
                self.behind_s += (now_s - self.image.topics[name].time_ms[rows] / 1000).tolist()
            self._cpu_s = time.thread_time()
        if moment.status.phase == "live" and not self.live.is_set():
            self._cpu_s = time.thread_time()
            self.live.set()


@contextmanager
def _stub(
    topics: int, partitions: int, is_by_topic: bool = True
) -> Iterator[tuple[subprocess.Popen[str], QuorumSource]]:
    arguments = map(str, (topics, partitions, CHANGED, RATE, int(is_by_topic)))
    command = [sys.executable, "-m", "tests.benchmarks.stub_controller", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stub:
        assert stub.stdin is not None
        assert stub.stdout is not None
        with closing(stub.stdin):
            port = int(stub.stdout.readline())
            yield stub, QuorumSource(ControllersAddress((("127.0.0.1", port),)))


def followed(is_by_topic: bool) -> tuple[list[float], list[float]]:
    """How far behind each change was, and processor time from one image to the next; ascending."""
    seen = _Followed()
    with _stub(TOPICS, PARTITIONS, is_by_topic) as (stub, source), closing(source):
        assert stub.stdin is not None
        assert stub.stdout is not None
        source.open(Feed(source.name, seen.publish))
        assert seen.live.wait(PATIENCE_S)
        keep()  # as the data process does
        print(file=stub.stdin, flush=True)
        assert int(stub.stdout.readline()) == CHANGED
        deadline_s = time.monotonic() + PATIENCE_S
        while seen.image.provenance.zxid < START + CHANGED - 1:
            assert time.monotonic() < deadline_s, "a change was missed"
            time.sleep(0.02)
        _check(seen.image)
    assert len(seen.behind_s) == CHANGED
    return sorted(seen.behind_s), sorted(seen.steps_s)


def _check(image: ClusterImage) -> None:
    """Each change is there once, and nothing else is."""
    changed = np.zeros((TOPICS, PARTITIONS), np.int64)
    for number in chosen(TOPICS, PARTITIONS, CHANGED, True):
        changed[divmod(number, PARTITIONS)] = 1
    for topic, expected in zip(sorted(image.topics), changed, strict=True):
        assert np.array_equal(image.topics[topic].leader_epoch, expected), topic


def loaded() -> tuple[float, float, float]:
    """Seconds until the first partitions are seen, until the cluster is whole and live, and of processor time."""
    seen = _Followed()
    with _stub(*LARGE) as (_, source), closing(source):
        began_s, began_cpu_s = time.monotonic(), time.process_time()
        source.open(Feed(source.name, seen.publish))
        assert seen.live.wait(PATIENCE_S)
        assert seen.image.partition_count == LARGE[0] * LARGE[1]
        now_s = time.monotonic()
        return seen.first_s - began_s, now_s - began_s, time.process_time() - began_cpu_s
