"""Three voters as processes: they elect and replicate, die and come back, and nothing that was committed is lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from model.hosts.quorum.committed_log import values_of
from model.hosts.quorum.voter_disk import VoterDisk, format_folder
from model.hosts.wire.connection import Connection
from model.hosts.wire.names import ApiKey, WireError, error_name, topic_id_text
from model.metadata_log.decoder import Decoded, decode
from model.raft.raft_log import ReplicaKey, Voter, VoterSet
from tests.harness.kafka import free_ports
from tests.harness.quorum_voters import CLUSTER_ID, Reader, VoterProcess, directory_id, three_voters
from tests.harness.waiting import PATIENCE_S
from tests.thorough import the_rest_when_asked

VERSIONS = ("kraft.version-1", "kraft.version-0")


@pytest.fixture(params=the_rest_when_asked([1, 0]), ids=VERSIONS)
def voters(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[int, VoterProcess]]:
    with three_voters(tmp_path, request.param) as found:
        yield found


def reader_of(voters: dict[int, VoterProcess]) -> Reader:
    return Reader({node: voter.address for node, voter in voters.items()})


async def configured(voter: VoterProcess, value: str, patience_s: float) -> str:
    """What the controller there answers to a setting for all brokers. Raises WireError without an answer in time."""
    connection = await Connection.open(*voter.address, "operator", 5.0)
    try:
        shapes = connection.request_shapes(ApiKey.INCREMENTAL_ALTER_CONFIGS)
        setting = shapes.AlterableConfig(name="min.insync.replicas", config_operation=0, value=value)
        resource = shapes.AlterConfigsResource(resource_type=4, resource_name="", configs=(setting,))
        request = shapes.IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)
        answer: Any = await connection.ask(request, patience_s)
        return error_name(answer.responses[0].error_code) if answer.responses else ""
    finally:
        await connection.close()


async def updated(voter: VoterProcess, kraft_version: int) -> str:
    """What the controller there answers to another kraft.version."""
    connection = await Connection.open(*voter.address, "operator", 5.0)
    try:
        shapes = connection.request_shapes(ApiKey.UPDATE_FEATURES)
        key = shapes.FeatureUpdateKey(feature="kraft.version", max_version_level=kraft_version, upgrade_type=1)
        request = shapes.UpdateFeaturesRequest(
            timeout=timedelta(seconds=5), feature_updates=(key,), validate_only=False
        )
        answer: Any = await connection.ask(request, 5.0)
        return error_name(answer.error_code)
    finally:
        await connection.close()


@pytest.mark.parametrize("voters", [1, 0], indirect=True, ids=VERSIONS)
async def test_voters_that_were_configured_are_kept_in_the_log_from_kraft_version_1_on(
    voters: dict[int, VoterProcess],
) -> None:
    """As soon as each has told its directory."""
    reader = reader_of(voters)
    await reader.read_more(3)
    deadline_s = time.monotonic() + PATIENCE_S
    while (error := await updated(voters[reader.leader], 1)) != "NONE":
        assert error == "INVALID_UPDATE_VERSION" and time.monotonic() < deadline_s
        await asyncio.sleep(0.1)
    assert await updated(voters[reader.leader], 0) == "INVALID_UPDATE_VERSION"
    voters[reader.leader].kill()
    await reader.read_more(3, reader.epoch + 1)
    for voter in voters.values():
        voter.kill()
    for node, voter in voters.items():
        disk = VoterDisk(voter.folder, VoterSet(), 0)
        known = disk.raft_log().voters
        assert (known.kraft_version, known.by_id(node)) == (
            1,
            Voter(ReplicaKey(node, directory_id(node)), voter.address),
        )
        disk.close(0)


async def test_a_controller_acknowledges_what_outlives_it_and_nothing_else(
    voters: dict[int, VoterProcess],
) -> None:
    reader = reader_of(voters)
    await reader.read_more(3)
    assert await configured(voters[reader.leader], "7", 30) == "NONE"
    voters[reader.leader].kill()
    await reader.read_more(3, reader.epoch + 1)
    settings = [decode(value) for data in reader.committed.values() for value, _ in values_of(data)]
    written = [each.fields for each in settings if isinstance(each, Decoded) and each.schema.name == "ConfigRecord"]
    assert [fields["value"] for fields in written] == ["7"]
    for node in voters.keys() - {reader.leader}:
        voters[node].kill()
    with pytest.raises(WireError):
        await configured(voters[reader.leader], "8", 1.5)


async def test_leaders_die_and_nothing_committed_is_lost(voters: dict[int, VoterProcess]) -> None:
    reader = reader_of(voters)
    await reader.read_more(3)
    for _ in range(3):
        killed, epoch = reader.leader, reader.epoch
        voters[killed].kill()
        await reader.read_more(3, epoch + 1)
        assert reader.leader != killed
        voters[killed].start()
        await reader.read_more()
    await asyncio.sleep(1)
    for voter in voters.values():
        voter.kill()
    logs = [voter.batches() for voter in voters.values()]
    for log in logs:
        assert all(log.get(offset, data) == data for offset, data in reader.committed.items())
    assert sum(reader.committed.items() <= log.items() for log in logs) >= 2


async def test_all_are_killed_at_once_and_go_on_where_they_were(voters: dict[int, VoterProcess]) -> None:
    reader = reader_of(voters)
    await reader.read_more(3)
    for voter in voters.values():
        voter.kill()
    for voter in voters.values():
        voter.start()
    await reader.read_more(3, reader.epoch + 1)


async def test_a_leader_that_is_stopped_hands_over(voters: dict[int, VoterProcess]) -> None:
    reader = reader_of(voters)
    await reader.read_more()
    stopped, epoch = reader.leader, reader.epoch
    began = asyncio.get_running_loop().time()
    await asyncio.to_thread(voters[stopped].stop)
    assert voters[stopped].exit_code() == 0
    await reader.read_more(1, epoch + 1)
    assert asyncio.get_running_loop().time() - began < 5


async def test_what_a_leader_alone_has_is_not_committed_and_is_cut_later(voters: dict[int, VoterProcess]) -> None:
    reader = reader_of(voters)
    await reader.read_more(3)
    old, epoch = reader.leader, reader.epoch
    others = voters.keys() - {old}
    for node in others:
        voters[node].kill()
    await asyncio.sleep(1.5)
    await reader.read()
    voters[old].kill()
    tail = voters[old].batches()
    held = [voters[node].batches() for node in others]
    assert len(tail) > max(map(len, held))
    assert any(reader.committed.items() <= log.items() for log in held)
    for node in others:
        voters[node].start()
    await reader.read_more(3, epoch + 1)
    voters[old].start()
    await reader.read_more(3)
    await asyncio.sleep(1)
    for voter in voters.values():
        voter.kill()
    cut = voters[old].batches()
    assert reader.committed.items() <= cut.items()
    assert not tail.items() <= cut.items()


async def until_voting(reader: Reader, voters: dict[int, VoterProcess], *wanted: tuple[int, str]) -> None:
    """Until these replicas vote, as the leader says."""

    async def voting() -> set[tuple[int, str | None]]:
        await reader.read()
        try:
            connection = await Connection.open(*voters[reader.leader].address, "operator", 5.0)
        except (WireError, KeyError):
            return set()
        shapes = connection.request_shapes(ApiKey.DESCRIBE_QUORUM)
        asked = shapes.TopicData(topic_name="__cluster_metadata", partitions=(shapes.PartitionData(partition_index=0),))
        answer: Any = await connection.ask(shapes.DescribeQuorumRequest(topics=(asked,)), 5.0)
        await connection.close()
        told = answer.topics[0].partitions[0].current_voters
        return {(each.replica_id, topic_id_text(each.replica_directory_id)) for each in told}

    deadline_s = time.monotonic() + PATIENCE_S
    while (found := await voting()) != set(wanted):
        assert time.monotonic() < deadline_s, found
        await asyncio.sleep(0.1)


async def test_who_wishes_to_vote_does_so_by_itself_also_after_it_lost_its_disk(tmp_path: Path) -> None:
    with three_voters(tmp_path, 1) as voters:
        reader, port = reader_of(voters), next(free_ports())
        three = [(node, directory_id(node)) for node in voters]
        quorum = ",".join(f"127.0.0.1:{voter.address[1]}" for voter in voters.values())
        for number, directory in enumerate((directory_id(4), directory_id(5))):
            folder = tmp_path / f"fourth-{number}"
            format_folder(folder, CLUSTER_ID, ReplicaKey(4, directory), VoterSet(), [])
            fourth = VoterProcess(folder, port, "--quorum", quorum, "--auto-join")
            fourth.start()
            try:
                await until_voting(reader, voters, *three, (4, directory))
            finally:
                fourth.kill()
