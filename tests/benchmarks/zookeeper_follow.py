"""How far behind a large cluster the image runs while states are rewritten, as at the death of a broker.

30,000 of 100,000 states are rewritten, 6,000 a second, each with the time of its writing as its leader epoch. Ours is a
whole image with findings and changes; the rival only re-reads with kazoo's one-shot watches, as scripts do.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from kazoo.client import KazooClient

from model.cluster.topic_image import TopicImage
from model.sandbox.zookeeper_options import ServerOptions
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.sources.feed import Feed, Moment
from model.sources.zookeeper.address import parse_address
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource
from tests.benchmarks.figure import Figure
from tests.benchmarks.zookeeper_image import kafka_znodes, state_path, topic_name, write_image

TOPICS, PARTITIONS = 1_000, 100
REWRITTEN, RATE = 30_000, 6_000
PATIENCE_S = 120.0
GOAL_MS = (30, 200)
STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state")


def measure(folder: Path) -> Iterator[Figure]:
    """Half of the writes are behind by `p50`, one in a hundred by `p99`."""
    write_image(folder / "data", kafka_znodes(TOPICS, PARTITIONS))
    with EmbeddedZooKeeper(folder, options=ServerOptions(heap_mb=2048)) as server:
        followed = _ours(server.address)
        naive = _one_shot(server.address)
    for share, goal_ms in zip((0.50, 0.99), GOAL_MS, strict=True):
        what = f"{REWRITTEN:,} states at {RATE:,} a second, behind, p{share * 100:.0f}"
        ours_ms, rival_ms = (sorted(times)[int(share * (len(times) - 1))] for times in (followed, naive))
        note = f"goal {goal_ms} ms; {len(followed):,} versions seen of {REWRITTEN:,}, the last of each"
        yield Figure(what, ours_ms / 1000, "kazoo, one-shot watches", rival_ms / 1000, note=note)


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


def _ours(server: str) -> list[int]:
    seen = _Followed()
    source = ZooKeeperSource(parse_address(f"zk://{server}"))
    with closing(source):
        source.open(Feed(source.name, seen.publish))
        assert seen.live.wait(PATIENCE_S)
        written = _storm(server)
        deadline_s = time.monotonic() + PATIENCE_S
        while not seen.holds(written):
            assert time.monotonic() < deadline_s, "a change was missed"
            time.sleep(0.05)
    return seen.behind_ms


def _one_shot(server: str) -> list[int]:
    """A watch on each state that will change; each event is answered with a read that watches again."""
    behind_ms: list[int] = []
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
        seen = -1
        while len(behind_ms) != seen:
            seen = len(behind_ms)
            time.sleep(3)
        return behind_ms
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
