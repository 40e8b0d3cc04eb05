"""How far behind a large cluster the image runs while states are rewritten, as at the death of a broker.

30,000 of 100,000 states are rewritten, 6,000 a second, each with the time of its writing as its leader epoch. Ours is a
whole image with findings and changes; the rival only re-reads with kazoo's one-shot watches, as scripts do. Each has
a server and a process of its own, whose memory is told.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from kazoo.client import KazooClient

from model.cluster.topic_image import TopicImage
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from model.sources.addresses import parse_zookeeper_address
from model.sources.feed import Feed, Moment
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource
from tests.benchmarks.figure import Figure
from tests.benchmarks.process_memory import own_mib
from tests.benchmarks.zookeeper_image import kafka_znodes, state_path, topic_name, write_image
from tests.harness.zookeeper_metrics import server_metrics

TOPICS, PARTITIONS = 1_000, 100
REWRITTEN, RATE = 30_000, 6_000
PATIENCE_S = 120.0
GOAL_MS = (30, 200)
STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state")


def measure(folder: Path) -> Iterator[Figure]:
    """Half of the writes are behind by `p50`, one in a hundred by `p99`."""
    (followed, ours), (naive, rival) = _alone(_ours, folder / "ours"), _alone(_one_shot, folder / "kazoo")
    for share, goal_ms in zip((0.50, 0.99), GOAL_MS, strict=True):
        what = f"{REWRITTEN:,} states at {RATE:,} a second, behind, p{share * 100:.0f}"
        ours_ms, rival_ms = (sorted(times)[int(share * (len(times) - 1))] for times in (followed, naive))
        seen = f"{len(followed):,} versions seen of {REWRITTEN:,}, the last of each"
        note = f"goal {goal_ms} ms; {seen}; memory: {ours}; kazoo's: {rival}"
        yield Figure(what, ours_ms / 1000, "kazoo, one-shot watches", rival_ms / 1000, note=note)


class _Held(NamedTuple):
    """What following holds after the burst: memory (MiB) more than before it began, and watches."""

    client_mib: float
    server_mib: float
    watches: int

    def __str__(self) -> str:
        return f"+{self.client_mib:.0f} MiB, server +{self.server_mib:.0f} MiB, {self.watches:,} watches"


_Behind = tuple[list[int], _Held]


def _alone(follow: Callable[[str, int], _Behind], folder: Path) -> _Behind:
    """Follows in a new process, with a new server of the same tree."""
    write_image(folder / "data", kafka_znodes(TOPICS, PARTITIONS))
    with (
        EmbeddedZooKeeper(folder, options=ServerOptions(heap_mb=2048)) as server,
        ProcessPoolExecutor(1, get_context("spawn")) as process,
    ):
        return process.submit(follow, server.address, server.pid).result()


class _Memory:
    """Of this process and of the server, from now on."""

    def __init__(self, address: str, server_pid: int) -> None:
        self._address = address
        self._pids = os.getpid(), server_pid
        self._before = [own_mib(pid) for pid in self._pids]

    def held(self) -> _Held:
        """By what is followed just now."""
        client, server = (own_mib(pid) - before for pid, before in zip(self._pids, self._before, strict=True))
        host, port = self._address.split(":")
        return _Held(client, server, int(server_metrics((host, int(port)))["zk_watch_count"]))


class _Followed:
    """Takes moments, and how old what they bring is."""

    def __init__(self) -> None:
        self.live = threading.Event()
        self.behind_ms: list[int] = []
        self.topics: dict[str, TopicImage] = {}

    def publish(self, moment: Moment) -> None:
        now_ms = _now_ms()
        if moment.status.phase == "live":
            self.live.set()
        before, self.topics = self.topics, dict(moment.image.topics)
        for path in moment.touched if before else ():
            found = STATE.fullmatch(path)
            if found:
                self._see(now_ms, found[1], int(found[2]))

    def _see(self, now_ms: int, topic: str, partition: int) -> None:
        image = self.topics[topic]
        written_ms = int(image.leader_epoch[image.row_of[partition]])
        if written_ms:
            self.behind_ms.append(now_ms - written_ms)

    def holds(self, written: Sequence[tuple[int, int]]) -> bool:
        """Whether each state has the epoch that was written last."""
        for number, epoch in written:
            topic, partition = divmod(number, PARTITIONS)
            image = self.topics[topic_name(topic)]
            if image.leader_epoch[image.row_of[partition]] != epoch:
                return False
        return True


def _ours(server: str, pid: int) -> _Behind:
    seen, memory = _Followed(), _Memory(server, pid)
    source = ZooKeeperSource(parse_zookeeper_address(f"zk://{server}"))
    with closing(source):
        source.open(Feed(source.name, seen.publish))
        assert seen.live.wait(PATIENCE_S)
        written = _storm(server)
        deadline_s = time.monotonic() + PATIENCE_S
        while not seen.holds(written):
            assert time.monotonic() < deadline_s, "a change was missed"
            time.sleep(0.05)
        return seen.behind_ms, memory.held()


def _one_shot(server: str, pid: int) -> _Behind:
    """A watch on each state that will change; each event is answered with a read that watches again."""
    behind_ms, memory = list[int](), _Memory(server, pid)
    client: Any = KazooClient(server)
    client.start(timeout=30)

    def take(answer: Any) -> None:
        written_ms = json.loads(answer.get()[0])["leader_epoch"]
        if written_ms:
            behind_ms.append(_now_ms() - written_ms)

    def look(path: str) -> Any:
        answer = client.get_async(path, watch=lambda event: look(event.path))
        answer.rawlink(take)
        return answer

    try:
        for first in range(0, REWRITTEN, PARTITIONS):
            asked = [look(state_path(*divmod(number, PARTITIONS))) for number in range(first, first + PARTITIONS)]
            for answer in asked:
                answer.get(timeout=60)
        behind_ms.clear()
        _storm(server)
        deadline_s = time.monotonic() + PATIENCE_S
        while len(behind_ms) < REWRITTEN and time.monotonic() < deadline_s:
            time.sleep(0.05)
        return behind_ms, memory.held()
    finally:
        client.stop()
        client.close()


def _storm(server: str) -> list[tuple[int, int]]:
    """Rewrites the states from a process of its own; (number, epoch) of each."""
    command = [sys.executable, "-m", "tests.benchmarks.state_rewriter", server, str(REWRITTEN), str(RATE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    return [(number, epoch) for number, epoch in json.loads(done.stdout)]


def _now_ms() -> int:
    return int(time.time() * 1000) % (1 << 31)
