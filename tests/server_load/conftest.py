"""Brokers for the tests of this folder."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.harness.host_processes import BrokerProcess
from tests.server_load.brokers import started_broker


@pytest.fixture(scope="package")
def broker(zookeeper_server: EmbeddedZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """For all tests of this folder; it bears little memory for requests."""
    root = f"{zookeeper_server.address}/load-{uuid.uuid4().hex[:8]}"
    with started_broker(tmp_path_factory.mktemp("load"), root, "socket.request.max.bytes=8000000") as broker:
        yield broker
