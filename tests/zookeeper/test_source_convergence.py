"""Whatever happens while a source loads and follows, it ends with the image that a source opened afterwards has."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import pytest

from model.hosts.zookeeper.protocol import ReadsZnodes
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.sources.zookeeper.watching import ChooseWatching, OneShotWatching, RecursiveWatching, Watching, watching_for
from model.sources.zookeeper.zookeeper_source import FollowerTiming
from model.zookeeper import Children, Unread, Znode
from tests.harness.zookeeper import jars_of
from tests.thorough import the_rest_when_asked
from tests.zookeeper.counting_proxy import CountingProxy
from tests.zookeeper.followed import followed
from tests.zookeeper.kafka_life import KafkaLife

STEPS = 150


class Slow:
    """Takes its time over every step of a load, as a large cluster's load does."""

    def __init__(self, watching: Watching) -> None:
        self._watching = watching
        self._is_loading = True

    def arm(self) -> None:
        self._watching.arm()

    def children(self, paths: Sequence[str]) -> Sequence[Children | Unread]:
        time.sleep(0.1)
        return self._watching.children(paths)

    def read(self, paths: Sequence[str]) -> Sequence[Znode | Unread]:
        answers = self._watching.read(paths)
        time.sleep(0.1 if self._is_loading else 0)
        return answers

    def expand(self, changed: Sequence[str], relist: Sequence[str]) -> Sequence[str]:
        self._is_loading = False
        return self._watching.expand(changed, relist)

    def due(self) -> Sequence[str]:
        return self._watching.due()

    @property
    def watches(self) -> int:
        return self._watching.watches


WAYS: dict[str, Callable[[ReadsZnodes], Watching]] = {
    "recursive": RecursiveWatching,
    "one-shot": OneShotWatching,
    "few watches": partial(OneShotWatching, budget=10, sweep_per_s=5_000),
}
QUICK = FollowerTiming(verify_s=0.2, resync_pause_s=0.1)


def busy(lives: list[KafkaLife]) -> list[threading.Thread]:
    def live(life: KafkaLife) -> None:
        life.go_on(STEPS)
        life.settle()

    writing = [threading.Thread(target=live, args=(life,)) for life in lives]
    for thread in writing:
        thread.start()
    return writing


def check(address: str, seed: int, choose_watching: ChooseWatching) -> None:
    with closing(KafkaLife(address, seed)) as one, closing(KafkaLife(address, seed + 1000, "b")) as other:
        one.found()
        writing = busy([one, other])
        with followed(address, timing=QUICK, choose_watching=choose_watching) as source:
            for thread in writing:
                thread.join()
            source.until_same_as(address)
            zxids = [moment.image.provenance.zxid for moment in source.moments]
            assert zxids == sorted(zxids)
            assert source.loads == 1


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("seed", the_rest_when_asked(range(3)))
def test_what_changes_during_the_load_is_not_missed(
    seed: int, way: Callable[[ReadsZnodes], Watching], zookeeper: str
) -> None:
    check(zookeeper, seed, lambda reader, _: Slow(way(reader)))


@pytest.fixture(scope="module", params=["3.4.14", "3.5.10"])
def old_server(request: pytest.FixtureRequest) -> Iterator[EmbeddedZooKeeper]:
    with EmbeddedZooKeeper(jars=jars_of(request.param)) as server:
        yield server


@pytest.mark.conformance
def test_nor_is_it_on_old_servers(old_server: EmbeddedZooKeeper) -> None:
    """Which have only one way."""
    with closing(KafkaLife(old_server.address, 0)) as maker:
        chroot = maker.client.create("/test-", sequence=True)
    check(old_server.address + chroot, 5, lambda reader, state: Slow(watching_for(reader, state)))


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_nor_where_the_link_breaks_again_and_again(
    way: Callable[[ReadsZnodes], Watching], proxy: CountingProxy, zookeeper: str
) -> None:
    dice = random.Random(7)
    chroot = zookeeper[zookeeper.index("/") :]
    with closing(KafkaLife(zookeeper, 9)) as one, closing(KafkaLife(zookeeper, 10, "b")) as other:
        one.found()
        writing = busy([one, other])
        with followed(proxy.address + chroot, timing=QUICK, choose_watching=lambda reader, _: way(reader)) as source:
            while any(thread.is_alive() for thread in writing):
                time.sleep(dice.uniform(0.02, 0.3))  # the faults' own rhythm, nothing is awaited
                fault: Any = dice.choice((proxy.cut, lambda: proxy.cut_in_mid_frame(dice.randrange(4, 400))))
                fault()
            source.until_same_as(zookeeper)
            assert proxy.connections > 1
    assert proxy.writes() == {}
