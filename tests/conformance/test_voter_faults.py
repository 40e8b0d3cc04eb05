"""The short form of `python -m tests.voter_faults`: three voters of ours under faults, and nothing is lost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.conformance.kafka.releases import install_or_skip
from tests.harness.kraft import KraftCluster
from tests.voter_faults.playing import VoterFaults, three_and_three

pytestmark = pytest.mark.conformance


@pytest.fixture(params=["KRaft 3.9.1", "KRaft 4.4.0"])
def ruled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KraftCluster]:
    """Voters 1 to 3 are ours, brokers 4 to 6 real."""
    folder = tmp_path_factory.mktemp("faulty-")
    kafka = install_or_skip(request.param.removeprefix("KRaft "))
    with three_and_three(kafka, folder) as cluster:
        yield cluster
    shutil.rmtree(folder)


async def test_nothing_that_was_acknowledged_is_lost(ruled: KraftCluster) -> None:
    report = await VoterFaults(ruled, 11, print).play(3)
    assert report.losses == []
    assert report.complaints == []
    assert report.records > 100
    assert report.changes == 4
