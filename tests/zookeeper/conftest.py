"""Readers under test, a writer beside them, and a proxy between them and the session's ZooKeeper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from model.hosts.zookeeper.reader import ZooKeeperReader
from model.hosts.zookeeper.settings import ZooKeeperSettings
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.harness.zookeeper import kazoo
from tests.zookeeper.counting_proxy import CountingProxy
from tests.zookeeper.heard import Heard

OpenReader = Callable[..., tuple[ZooKeeperReader, Heard]]


@pytest.fixture
def chroot(writer: Any) -> str:
    """An empty root on the session's server."""
    return writer.create("/test-", sequence=True)


@pytest.fixture
def writer(zookeeper_server: EmbeddedZooKeeper) -> Iterator[Any]:
    """An ordinary kazoo client: somebody else's writes."""
    with kazoo(zookeeper_server.address) as client:
        yield client


@pytest.fixture
def proxy(zookeeper_server: EmbeddedZooKeeper) -> Iterator[CountingProxy]:
    with CountingProxy(zookeeper_server.address) as proxy:
        yield proxy


@pytest.fixture
def open_reader() -> Iterator[OpenReader]:
    """Opens readers, `open_reader(address, chroot="", **settings)`, and closes them after the test."""
    with ExitStack() as readers:

        def open_reader(address: str, chroot: str = "", **settings: Any) -> tuple[ZooKeeperReader, Heard]:
            heard = Heard()
            settings.setdefault("session_timeout_ms", 4000)
            reader = ZooKeeperReader.open(
                ZooKeeperSettings(address, chroot, **settings), on_events=heard.on_events, on_state=heard.on_state
            )
            readers.callback(reader.close)
            return reader, heard

        yield open_reader
