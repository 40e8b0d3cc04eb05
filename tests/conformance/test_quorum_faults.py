"""The short form of `python -m tests.quorum_faults`: a few random faults, and the image against who knows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.conformance.kafka.releases import QUORUMS, install_or_skip
from tests.harness.kraft import KraftCluster
from tests.quorum_faults.playing import QuorumFaults

pytestmark = pytest.mark.conformance


@pytest.fixture(params=QUORUMS)
def spoilt(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KraftCluster]:
    """Three voters that are brokers as well, whose links can be cut, and broker 4."""
    folder = tmp_path_factory.mktemp("spoilt-")
    kafka = install_or_skip(request.param.removeprefix("KRaft "))
    with KraftCluster(kafka, folder, size=4, voters=3, counts_controllers=True) as cluster:
        yield cluster
    shutil.rmtree(folder)


async def test_after_faults_the_image_is_the_cluster(spoilt: KraftCluster) -> None:
    report = await QuorumFaults(spoilt, 3, print).play(2)
    assert not report.violations, report.history
    assert report.comparisons
    assert report.changes
