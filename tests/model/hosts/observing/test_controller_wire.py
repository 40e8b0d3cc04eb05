"""Answers that real controllers gave to an observer, read; and the request of a version that `kio` does not know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model.hosts.observing.controller_wire import answer_of
from model.hosts.wire.messages import decode_request, decode_response, encode, request_start
from model.observer.messages import (
    Answer,
    ControllersDescribed,
    DescribeControllers,
    DescribeQuorum,
    FetchLog,
    FetchSnapshot,
    KnownLeader,
    LogFetched,
    LogPosition,
    Question,
    QuorumDescribed,
    SnapshotFetched,
)
from model.observer.observed_log import fetched_batches

LINES = Path("tests/data/kraft/answers-to-a-stranger.jsonl").read_text().splitlines()
QUESTIONS: dict[int, Question] = {
    1: FetchLog(),
    55: DescribeQuorum(),
    59: FetchSnapshot(1, LogPosition(1, 1)),
    60: DescribeControllers(),
}


def answers() -> dict[tuple[str, str], Answer]:
    """By release and case."""
    told: dict[tuple[str, str], Answer] = {}
    for each in map(json.loads, LINES):
        response = decode_response(bytes.fromhex(each["response"]), each["api"], each["version"])[1]
        told[each["release"], each["case"]] = answer_of(QUESTIONS[each["api"]], response)
    return told


@pytest.mark.parametrize(
    ("release", "leader", "port", "mark", "snapshot"),
    [
        ("3.9.1", KnownLeader(3, 9), 19443, 96, LogPosition(95, 9)),
        ("4.4.0", KnownLeader(1, 5), 19411, 209, LogPosition(207, 5)),
    ],
)
def test_real_answers(release: str, leader: KnownLeader, port: int, mark: int, snapshot: LogPosition) -> None:
    told = {case: answer for (each, case), answer in answers().items() if each == release}
    at = {leader.id: ("127.0.0.1", port)}
    assert told["epoch 0 at"] == LogFetched(error="FENCED_LEADER_EPOCH", leader=leader, endpoints=at, log_start=0)
    assert told["right epoch at follower"] == LogFetched(
        error="NOT_LEADER_OR_FOLLOWER", leader=leader, endpoints=at, log_start=0
    )
    assert told["epoch+1 at leader"] == LogFetched(
        error="UNKNOWN_LEADER_EPOCH", leader=leader, endpoints=at, log_start=0
    )
    assert told["offset 0 at leader"] == LogFetched(
        leader=leader, endpoints=at, high_watermark=mark, snapshot=snapshot, log_start=0
    )
    assert told["wrong cluster"] == LogFetched("INCONSISTENT_CLUSTER_ID")
    assert told["wrong topic id"] == LogFetched("INVALID_REQUEST")
    assert told["broker listener"] == LogFetched(error="UNKNOWN_TOPIC_ID")
    assert told["snapshot at follower"] == told["snapshot at follower"] == SnapshotFetched("UNKNOWN_SERVER_ERROR")
    assert told["snapshot wrong cluster"] == SnapshotFetched("INCONSISTENT_CLUSTER_ID")
    assert told["DescribeQuorum v2 at follower"] == QuorumDescribed()
    assert told["DescribeCluster v1 type 2 at broker"] == ControllersDescribed()


@pytest.mark.parametrize(("release", "mark"), [("3.9.1", 98), ("4.4.0", 211)])
def test_real_records(release: str, mark: int) -> None:
    """What came from the high watermark on: records of which none was committed yet."""
    told = answers()[release, "at hw"]
    assert isinstance(told, LogFetched)
    (start,) = {base for base in range(mark - 2, mark + 1) if told.records[:8] == base.to_bytes(8, "big")}
    batches = fetched_batches(told.records, LogPosition(start, told.leader.epoch), told.leader.epoch)
    assert b"".join(each.data for each in batches) == told.records
    assert (told.high_watermark, batches[0].base_offset, batches[0].epoch) == (mark, start, told.leader.epoch)


@pytest.mark.parametrize("release", ["3.9.1", "4.4.0"])
def test_real_snapshots_and_quorums(release: str) -> None:
    told = answers()
    piece = told[release, "snapshot piece 0, 300 B"]
    assert isinstance(piece, SnapshotFetched)
    assert (piece.position, len(piece.data), piece.snapshot.offset > 0, piece.size > 300) == (0, 300, True, True)
    quorum = told[release, "DescribeQuorum v2 at leader"]
    assert isinstance(quorum, QuorumDescribed)
    assert quorum.quorum is not None
    assert [each.id for each in quorum.quorum.voters] == [1, 2, 3] == sorted(quorum.endpoints)
    controllers = told[release, "DescribeCluster v1 type 2 at controller"]
    assert isinstance(controllers, ControllersDescribed)
    assert (controllers.cluster_id, controllers.endpoints) == ("MkU3OEVBNTcwNTJENDM2Qg", quorum.endpoints)


def test_a_fetch_that_tells_a_high_watermark_as_a_broker_of_4_4_sends_it() -> None:
    frame = bytes.fromhex(
        "0001001200000000000d726166742d636c69656e742d3400000001f400000000001000000000000000ffffffff0200000000000000000000"
        "000000000001020000000000000000000000000000000000000000ffffffffffffffff00000000020010356eedef9a93e4e760656288455c"
        "b5d00108ffffffffffffffff000101020017174d6b55334f4556424e5463774e544a454e444d325167010d00000004ffffffffffffffff00"
    )
    start = request_start(frame)
    body = decode_request(frame)
    partition = body.topics[0].partitions[0]
    assert (start.api_key, start.version, body.cluster_id) == (1, 18, "MkU3OEVBNTcwNTJENDM2Qg")
    assert (body.replica_state.replica_id, partition.high_watermark, body.max_bytes) == (4, -1, 1 << 20)
    assert frame.endswith(encode(body))
