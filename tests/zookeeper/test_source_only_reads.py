"""Not one request that could write leaves a source or a browser, whatever happens to them."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from model.hosts.zookeeper.protocol import ReadsZnodes
from model.sources.addresses import parse_zookeeper_address
from model.sources.zookeeper.browser import ZnodeBrowser
from model.sources.zookeeper.watching import OneShotWatching, RecursiveWatching
from model.sources.zookeeper.zookeeper_source import FollowerTiming, ZooKeeperSource
from tests.zookeeper.counting_proxy import CountingProxy
from tests.zookeeper.followed import followed
from tests.zookeeper.kafka_life import KafkaLife


@pytest.mark.parametrize("way", [RecursiveWatching, OneShotWatching])
def test_loading_following_browsing_and_faults_write_nothing(
    way: type[Any], proxy: CountingProxy, zookeeper: str
) -> None:
    chroot = zookeeper[zookeeper.index("/") :]

    def choose(reader: ReadsZnodes, _state: object) -> Any:
        return way(reader)

    source = ZooKeeperSource(
        parse_zookeeper_address(f"zk://{proxy.address}{chroot}"),
        FollowerTiming(verify_s=0.1, resync_pause_s=0.1),
        choose_watching=choose,
    )
    with closing(KafkaLife(zookeeper, 3)) as life:
        life.found()
        with followed(source) as following:
            following.phase("live")
            assert source.reader is not None
            browser = ZnodeBrowser(source.reader)
            for number in range(3):
                life.go_on(30)
                for path in browser.children("/brokers/topics", number):
                    browser.znodes([f"/brokers/topics/{path}"], number)
                browser.broker_sessions(number)
                proxy.cut()
                following.phase("live", after=len(following.moments))
            life.settle()
            following.until_same_as(zookeeper)
    assert proxy.writes() == {}
    assert {"createSession", "getData", "sync"} <= proxy.asked.keys()
