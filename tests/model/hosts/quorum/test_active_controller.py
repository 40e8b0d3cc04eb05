"""A controller that notices by its own write that its voter leads no more."""

from __future__ import annotations

import asyncio
from pathlib import Path

from msgspec.structs import replace

from model.hosts.quorum.active_controller import ActiveController, Periods
from model.hosts.quorum.control_batches import data_batch
from model.hosts.quorum.quorum_voter import QuorumVoter
from model.hosts.quorum.voter_disk import VoterDisk
from model.metadata_log.encoder import encode_record
from model.raft.messages import AddVoter, Fetch
from model.raft.node import Leader, QuorumSettings, Resigned
from model.raft.raft_log import RaftBatch, ReplicaKey, Voter
from tests.harness.quorum_voters import CLUSTER_ID, directory_id, voter_set
from tests.harness.waiting import eventually_async
from tests.model.hosts.quorum.test_controller_state import LOG

VOTERS = voter_set({1: 9001}, 1)
NEVER_MS = 3_600_000


async def with_a_second_voter(voter: QuorumVoter) -> None:
    """That is added, and follows no more: of the leader nobody else knows it."""
    port = await voter.start("127.0.0.1", 0, {})
    await eventually_async(lambda: voter.node.log.high_watermark == voter.node.log.end)
    second = Voter(ReplicaKey(7, directory_id(7)), ("127.0.0.1", port))
    await voter.ask_node(Fetch(None, second.key, voter.node.epoch, voter.node.log.last, max_wait_ms=0))
    told, _ = await voter.ask_node(AddVoter(None, second, when_committed=False))
    assert told.known.error == "NONE"


async def test_it_lets_go_and_its_voter_goes_on(tmp_path: Path) -> None:
    disk = VoterDisk(tmp_path, VOTERS, 0)
    values = [encode_record(*record) for record in LOG]
    disk.append([RaftBatch(0, len(values), 1, data_batch(values, 5))], 5)
    settings = QuorumSettings(election_timeout_ms=NEVER_MS, fetch_timeout_ms=NEVER_MS)
    voter = QuorumVoter(VOTERS.voters[0].key, CLUSTER_ID, disk, (), settings)
    controller = ActiveController(voter, CLUSTER_ID, Periods(session_ms=50, balance_ms=1))
    voter.machine = controller
    await with_a_second_voter(voter)
    role = voter.node.role
    assert isinstance(role, Leader)
    voter._node = replace(voter.node, role=replace(role, check_at_ms=0))  # it notices with what happens next
    controller.start()  # which is that it fences who is silent, and then looks for leaders to move back
    await eventually_async(lambda: isinstance(voter.node.role, Resigned), "it to resign")
    for _ in range(5):
        await asyncio.sleep(0)
    assert (voter.node.stop_by_ms, voter.ended.done(), controller.state) == (None, False, None)
    controller.close()
    await voter.close()
