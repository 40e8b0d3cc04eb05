"""Real Kafka clusters for tests, one at a time, each started when its first test needs it.

Without Java, Maven or the network the tests are skipped; with KDRILL_REQUIRE_CONFORMANCE=1 they fail instead.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.quick_start import archive_classes, live_under_zookeeper
from tests.conformance.kafka.releases import QUORUMS, RELEASES, install_or_skip
from tests.harness.kafka import Cluster
from tests.harness.kraft import KraftCluster


@pytest.fixture(scope="package", params=list(RELEASES))
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three brokers of one release; pytest runs all tests of a release together, then ends them.

    A test uses topics of its own, and leaves all brokers running.
    """
    kafka = install_or_skip(request.param)
    zookeeper: EmbeddedZooKeeper = request.getfixturevalue("zookeeper_server")  # not before it is known to be of use
    chroot, training = f"{zookeeper.address}/training-{request.param}", tmp_path_factory.mktemp("training-")
    archive_classes(kafka, lambda learning: live_under_zookeeper(learning, chroot, training))
    folder = tmp_path_factory.mktemp(f"kafka-{request.param}-")
    with Cluster(kafka, f"{zookeeper.address}/kafka-{request.param}", folder) as cluster:
        yield cluster
    shutil.rmtree(folder)


@pytest.fixture(scope="package", params=["KRaft"])  # the name of a test tells what it runs on; see tests/parallel.py
def kraft(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KraftCluster]:
    """Two nodes of 3.9.1 without ZooKeeper, of which one votes, behind a proxy. A test uses topics of its own."""
    folder = tmp_path_factory.mktemp("kraft-")
    with KraftCluster(install_or_skip("3.9.1"), folder, counts_controllers=True) as cluster:
        yield cluster
    shutil.rmtree(folder)


@pytest.fixture(scope="package", params=QUORUMS)
def quorum(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KraftCluster]:
    """Three voters that are brokers as well, and broker 4. A test uses topics of its own, and leaves all running."""
    folder = tmp_path_factory.mktemp("quorum-")
    with KraftCluster(install_or_skip(request.param.removeprefix("KRaft ")), folder, size=4, voters=3) as cluster:
        yield cluster
    shutil.rmtree(folder)


@pytest.fixture(scope="package")
def commands(cluster: Cluster) -> Commands:
    """Kafka's own commands, speaking to `cluster`."""
    return Commands(cluster)
