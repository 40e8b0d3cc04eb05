"""Whoever watches, reads everything on each connection and reads again what events name, ends up with the truth."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest

from model.hosts.zookeeper.protocol import Connected, ConnectionState, ZooKeeperUnavailable
from model.hosts.zookeeper.reader import ZooKeeperReader
from model.hosts.zookeeper.settings import ZooKeeperSettings
from model.zookeeper import Children, Znode, ZnodeChanged
from tests.harness.waiting import eventually
from tests.zookeeper.counting_proxy import CountingProxy

FAULTS = 12


class Follower:
    """The smallest source: a copy of the children of the root, kept by a thread of its own."""

    def __init__(self, settings: ZooKeeperSettings) -> None:
        self.copy: dict[str, bytes] = {}
        self._news: queue.SimpleQueue[ConnectionState | Sequence[ZnodeChanged] | None] = queue.SimpleQueue()
        self._reader = ZooKeeperReader.open(settings, on_events=self._news.put, on_state=self._news.put)
        threading.Thread(target=self._follow, daemon=True).start()

    def close(self) -> None:
        self._news.put(None)
        self._reader.close()

    def _follow(self) -> None:
        is_complete = False
        while (news := self._news.get()) is not None:
            try:
                if isinstance(news, Connected):
                    self._reader.watch_recursive("/")
                    root = self._reader.children("/")
                    assert isinstance(root, Children)
                    self.copy.clear()
                    self._read([f"/{name}" for name in root.names])
                    is_complete = True
                elif isinstance(news, Sequence) and is_complete:
                    self._read(list({event.path for event in news} - {"/"}))
            except ZooKeeperUnavailable:
                is_complete = False
                # Without an answer in time on a connection that lives, no new one tells us to start again.
                if isinstance(state := self._reader.state, Connected):
                    self._news.put(state)

    def _read(self, paths: list[str]) -> None:
        for answer in self._reader.read_many(paths):
            if isinstance(answer, Znode):
                self.copy[answer.path] = answer.data
            else:
                self.copy.pop(answer.path, None)


def spoil(proxy: CountingProxy, dice: random.Random) -> None:
    match dice.randrange(5):
        case 0:
            proxy.cut()
        case 1:
            proxy.cut_in_mid_frame(after_bytes=dice.randrange(4, 60))
        case 2:
            proxy.swallow()
            time.sleep(dice.uniform(0, 1.5))  # a black hole, sometimes longer than the session lives
            proxy.flow()
        case 3:
            garbage = dice.randbytes(40)
            proxy.rewrite_next_reply(lambda _: garbage)
        case _:
            proxy.delay_s = dice.choice([0, 0.05])


def write(client: Any, chroot: str, dice: random.Random) -> None:
    path, data = f"{chroot}/n{dice.randrange(40)}", dice.randbytes(20)
    if not client.exists(path):
        client.create(path, data)
    elif dice.random() < 0.3:
        client.delete(path)
    else:
        client.set(path, data)


@pytest.mark.parametrize("seed", range(3))
def test_a_follower_ends_up_with_the_truth(seed: int, proxy: CountingProxy, writer: Any, chroot: str) -> None:
    dice = random.Random(seed)
    settings = ZooKeeperSettings(proxy.address, chroot, session_timeout_ms=1000, request_timeout_ms=3000)
    with closing(Follower(settings)) as follower:
        for _ in range(FAULTS):
            for _ in range(dice.randrange(60)):
                write(writer, chroot, dice)
            spoil(proxy, dice)
        proxy.delay_s = 0
        for _ in range(20):
            write(writer, chroot, dice)
        truth = {f"/{name}": writer.get(f"{chroot}/{name}")[0] for name in writer.get_children(chroot)}
        eventually(lambda: follower.copy == truth)
    assert proxy.writes() == {}
