"""Snapshots go both ways between a voter of ours and real nodes, and Kafka's own tool reads ours."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.kafka.client import Client
from tests.conformance.kafka.releases import install_or_skip
from tests.conformance.test_voter_beside_kafka import (
    OURS,
    REAL,
    TRIES,
    dumped,
    real_majority_dies,
)
from tests.harness.complaints import complaints
from tests.harness.kraft import KraftCluster
from tests.harness.quorum_voters import Reader
from tests.harness.waiting import eventually

pytestmark = pytest.mark.conformance
OFTEN = ("--snapshot-bytes", "3000", "--segment-bytes", "20000", "--retention-bytes", "30000")
SMALL = ("--snapshot-bytes", "3000", "--segment-bytes", "5000", "--retention-bytes", "8000")
"""Where no real voter makes batches, which may be larger than such a segment."""
BOOTSTRAP = f"{0:020d}-{0:010d}.checkpoint"
releases = pytest.mark.parametrize("release", ["3.9.1", "4.4.0"])


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("snapshots-")
    yield made
    shutil.rmtree(made)


def snapshots(cluster: KraftCluster, node: int) -> list[str]:
    """Those that were made or loaded, the newest last."""
    names = (path.name for path in cluster.metadata_folder(node).glob("*.checkpoint"))
    return sorted(name for name in names if name != BOOTSTRAP)


def begins(cluster: KraftCluster, node: int) -> int:
    """Where its log does."""
    return min((int(path.stem) for path in cluster.metadata_folder(node).glob("*.log")), default=0)


def emptied(cluster: KraftCluster, node: int) -> None:
    """It loses its metadata log, and is as it was formatted."""
    cluster.kill(node)
    kept = {path.name: path.read_bytes() for path in cluster.metadata_folder(node).glob(BOOTSTRAP)}
    shutil.rmtree(cluster.metadata_folder(node))
    cluster.metadata_folder(node).mkdir()
    for name, data in kept.items():
        (cluster.metadata_folder(node) / name).write_bytes(data)


def make_topics(cluster: KraftCluster, brokers: tuple[int, ...], count: int = 12) -> set[str]:
    made = {f"topic-{number}" for number in range(count)}
    for name in sorted(made - Client(cluster.bootstrap).topics()):
        Client(cluster.bootstrap).create(name, dict.fromkeys(range(8), brokers))
    return made


@releases
def test_real_brokers_begin_with_snapshots_of_our_controller(release: str, folder: Path) -> None:
    kafka = install_or_skip(release)
    with KraftCluster(kafka, folder, size=3, voters=1, ours=1, our_options=SMALL) as cluster:
        made = make_topics(cluster, (2, 3))
        eventually(lambda: begins(cluster, 1) > 0, "our log to be cut", standing=lambda: cluster.log(1)[-500:])
        emptied(cluster, 3)
        cluster.restore()
        assert made <= Client(cluster.address(3)).topics()
        assert begins(cluster, 3) > 0
        loaded = snapshots(cluster, 3)[0]
        newest = cluster.metadata_folder(1) / snapshots(cluster, 1)[-1]
        copied = folder / newest.name  # the next one may take its place
        copied.write_bytes(newest.read_bytes())
        text = dumped(kafka, copied)
        assert "isvalid: true" in text and "isvalid: false" not in text
        words = ("SnapshotHeader", "KRaftVoters", '"name":"topic-0"', "PARTITION_RECORD", "SnapshotFooter")
        assert [word for word in words if word not in text] == []
        assert (cluster.metadata_folder(3) / loaded).read_bytes()
        cluster.kill(1)
        cluster.restore()
        assert made <= Client(cluster.bootstrap).topics()
        assert "ERROR" not in cluster.log(1)
        assert complaints(cluster, (2, 3)) == []


@releases
async def test_real_voters_give_and_take_snapshots(release: str, folder: Path) -> None:
    with KraftCluster(install_or_skip(release), folder, size=3, voters=3, ours=OURS, our_options=OFTEN) as cluster:
        reader = Reader(cluster.ways)
        made = make_topics(cluster, (1, 2), 40)
        await reader.read_more(2)
        leader = reader.leader
        eventually(
            lambda: snapshots(cluster, leader) != [], "a real snapshot", standing=lambda: snapshots(cluster, leader)
        )
        emptied(cluster, OURS)
        cluster.start(OURS)
        eventually(lambda: begins(cluster, OURS) > 0, "its snapshot to be taken over")
        real = cluster.metadata_folder(leader) / snapshots(cluster, OURS)[0]
        assert (cluster.metadata_folder(OURS) / real.name).read_bytes() == real.read_bytes()
        for _ in range(TRIES):
            await real_majority_dies(cluster, reader)
            if reader.leader == OURS:
                break
        assert reader.leader == OURS
        eventually(lambda: cluster.living() == {1, 2}, "real brokers under our controller")
        eventually(lambda: snapshots(cluster, OURS)[-1] != real.name, "a snapshot of ours")
        emptied(cluster, 2)
        cluster.start(2)
        eventually(lambda: cluster.living() == {1, 2}, "the real node to be back", 150)
        await reader.read()
        assert begins(cluster, 2) > 0, f"it began with a log that is whole; voter {reader.leader} leads"
        assert made <= Client(cluster.address(2)).topics()
        await reader.read_more(2)
        assert complaints(cluster, REAL) == []
