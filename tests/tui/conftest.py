"""Clusters to look at: one that stands still, shared by all who only look, and one for each who changes it."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from model.sandbox.demo.demo import DemoCluster
from model.sandbox.embedded_zookeeper import ZnodeSession, start_zookeeper
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.zookeeper import Write
from tests.harness.small_demo import SMALL
from tests.tui.dashboard import BEGAN_MS


@dataclass(frozen=True)
class Cluster:
    """A demo cluster of one's own. `address` is `host:port/root`."""

    address: str
    demo: DemoCluster
    session: ZnodeSession

    def write(self, *writes: Write) -> None:
        """Changes znodes, paths being relative to the root."""
        self.session.apply(writes)


@pytest.fixture(scope="session")
def still_server() -> Iterator[EmbeddedZooKeeper]:
    """A server on which the demo cluster is the first thing written, so that its zxids are always the same."""
    with start_zookeeper() as server, DemoCluster(SMALL, server.address, clock_ms=lambda: BEGAN_MS):
        yield server


@pytest.fixture
def still(still_server: EmbeddedZooKeeper) -> str:
    """The demo cluster standing still. Look, don't touch."""
    return f"{still_server.address}/kafka"


@pytest.fixture
def cluster(still_server: EmbeddedZooKeeper) -> Iterator[Cluster]:
    """A demo cluster for one test, to be changed."""
    root = f"/own-{uuid.uuid4().hex[:12]}"
    with DemoCluster(SMALL, still_server.address, root, clock_ms=lambda: BEGAN_MS) as demo:
        session = ZnodeSession(still_server.address, root)
        yield Cluster(f"{still_server.address}{root}", demo, session)
        session.close()
