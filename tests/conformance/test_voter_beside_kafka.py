"""A voter of ours in a quorum of real ones: it follows, is elected, leads and is deposed, and no record is lost."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.hosts.quorum.control_batches import data_batch
from model.hosts.quorum.voter_disk import FOLDER, VoterDisk, format_folder
from model.raft.raft_log import LeaderElected, RaftBatch, ReplicaKey, VoterSet, VotersWritten
from tests.conformance.kafka.client import Client
from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.releases import QUORUMS, Installation, install_or_skip
from tests.conformance.kafka.tool_server import run_tool
from tests.harness.complaints import complaints
from tests.harness.joining_controller import controller_properties, replica
from tests.harness.kraft import KraftCluster
from tests.harness.ledger import Ledger
from tests.harness.quorum_voters import CLUSTER_ID, Reader, directory_id, log_batches, voter_set
from tests.harness.waiting import eventually

pytestmark = pytest.mark.conformance
REAL, OURS = (1, 2), 3
PARTITIONS = 3
NO_OP = b"\1\x14\0\0"
LEVEL_25 = b"\1\x0c\0\x11metadata.version\0\x19\0"
MORE_THAN_A_FETCH_TIMEOUT_S = 5.0
TRIES = 8
"""To be elected: who asks first of two is a race."""


@pytest.fixture(params=QUORUMS)
def mixed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KraftCluster]:
    """Two real nodes, voters and brokers, and a voter of ours."""
    folder = tmp_path_factory.mktemp("mixed-")
    kafka = install_or_skip(request.param.removeprefix("KRaft "))
    with KraftCluster(kafka, folder, size=3, voters=3, ours=OURS) as cluster:
        yield cluster
    shutil.rmtree(folder)


def make_topic(cluster: KraftCluster, name: str) -> None:
    Client(cluster.bootstrap).create(name, dict.fromkeys(range(PARTITIONS), REAL))


async def real_majority_dies(cluster: KraftCluster, reader: Reader) -> None:
    """Long enough for ours to miss its leader. Who followed it comes back first, as it is no further than ours is, and
    waits longer until it asks for votes itself; the other one once somebody leads."""
    leader, epoch = reader.leader, reader.epoch
    cluster.kill(1, 2)
    await asyncio.sleep(MORE_THAN_A_FETCH_TIMEOUT_S)
    cluster.start(3 - leader)
    await reader.read_more(1, epoch + 1)
    cluster.start(leader)


async def test_it_follows_is_elected_leads_and_is_deposed(mixed: KraftCluster) -> None:
    reader, ledger = Reader(mixed.ways), Ledger(mixed, "before", PARTITIONS)
    make_topic(mixed, "before")
    ledger.start()
    await reader.read_more(2)
    assert reader.leader in (1, 2)
    for _ in range(TRIES):
        await real_majority_dies(mixed, reader)
        if reader.leader == OURS:
            break
    assert reader.leader == OURS
    led, led_epoch = len(reader.committed), reader.epoch
    await reader.read_more(6)
    eventually(lambda: mixed.living() == {1, 2}, "real brokers to serve under our controller")
    make_topic(mixed, "under-ours")
    await reader.read()
    assert (reader.leader, reader.epoch) == (OURS, led_epoch)
    mixed.stop(OURS)
    mixed.restore()
    await reader.read_more(2, led_epoch + 1)
    assert {"before", "under-ours"} <= Client(mixed.bootstrap).topics()
    taken_out_and_added(mixed)
    make_topic(mixed, "after")
    await reader.read_more(2)
    await asyncio.sleep(1)
    await asyncio.to_thread(ledger.settle)
    assert await asyncio.to_thread(ledger.audit) > 100
    ledger.close()
    assert complaints(mixed, REAL) == []
    mixed.kill(1, 2, OURS)
    logs = {node: log_batches(mixed.metadata_folder(node).parent) for node in (1, 2, OURS)}
    assert len(reader.committed) > led + 6
    for log in logs.values():
        assert all(log.get(offset, data) == data for offset, data in reader.committed.items())
    assert sum(reader.committed.items() <= log.items() for log in logs.values()) >= 2


def taken_out_and_added(mixed: KraftCluster) -> None:
    """Ours, by Kafka's own tool while a real voter leads."""
    commands, asked = Commands(mixed), ("--bootstrap-server", mixed.address(1, 2))
    named = ("--controller-id", str(OURS), "--controller-directory-id", directory_id(OURS))

    def now() -> str:
        return replica(commands, asked, OURS)[0]

    commands.ask("quorum", *asked, "remove-controller", *named)
    eventually(lambda: now() == "Observer", "ours to look on", standing=now)
    properties = mixed.folder / "ours.properties"
    log_dir = mixed.metadata_folder(OURS).parent
    properties.write_text(controller_properties(mixed, OURS, mixed.ways[OURS][1], log_dir))
    commands.ask("quorum", *asked, "--command-config", str(properties), "add-controller")
    eventually(lambda: now() == "Follower", "ours to vote", standing=now)
    if mixed.kafka.release.version >= "4":  # which a real leader does only once all controllers are registered
        commands.ask("features", *asked, "downgrade", "--feature", "eligible.leader.replicas.version=0")
        commands.upgrade_feature("eligible.leader.replicas.version=1")


def dumped(kafka: Installation, file: Path) -> str:
    words = ("--cluster-metadata-decoder", "--files", str(file))
    package = "kafka.tools" if kafka.release.version < "4" else "org.apache.kafka.tools"
    return run_tool(kafka, f"{package}.DumpLogSegments", *words)


def test_its_files_are_what_kafka_reads(tmp_path: Path) -> None:
    voters = voter_set({1: 9001, 2: 9002}, 1)
    format_folder(tmp_path, CLUSTER_ID, ReplicaKey(1, directory_id(1)), voters, [LEVEL_25])
    disk = VoterDisk(tmp_path, VoterSet(), 0)
    disk.append(
        [
            RaftBatch(0, 1, 4, LeaderElected(1, (1, 2), (2,))),
            RaftBatch(1, 3, 4, VotersWritten(voters)),
            RaftBatch(3, 5, 4, data_batch([NO_OP, LEVEL_25], 5)),
        ],
        5,
    )
    disk.close(0)
    files = [tmp_path / FOLDER / f"{0:020d}.log", tmp_path / FOLDER / f"{0:020d}-{0:010d}.checkpoint"]
    kafka = install_or_skip("3.9.1")
    said = [dumped(kafka, file) for file in files]
    assert all("isvalid: true" in each and "isvalid: false" not in each for each in said)
    in_log = ("LEADER_CHANGE", "KRaftVersion", "KRaftVoters", "NO_OP_RECORD", '"featureLevel":25')
    assert [word for word in in_log if word not in said[0]] == []
    in_snapshot = ("SnapshotHeader", "KRaftVersion", "KRaftVoters", '"featureLevel":25', "SnapshotFooter")
    assert [word for word in in_snapshot if word not in said[1]] == []
