"""What real voters of 3.9.1 and 4.4.0 said to each other is read, and written again as they had it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kio.schema.heartbeat.v0.request import HeartbeatRequest
from kio.schema.types import GroupId
from kio.static.primitive import i32

from model.hosts.quorum.raft_requests import API_KEYS, request_body, request_value
from model.hosts.quorum.raft_responses import reply_body, reply_value
from model.hosts.wire.messages import decode_request, decode_response, encode
from model.hosts.wire.names import MalformedError
from model.observer.messages import UNKNOWN, LogPosition
from model.raft.messages import (
    AddVoter,
    AnswerHeader,
    BeginQuorumEpoch,
    ChangeAnswer,
    EndQuorumEpoch,
    EpochAnswer,
    Fetch,
    FetchAnswer,
    FetchSnapshot,
    RemoveVoter,
    Reply,
    Request,
    SnapshotAnswer,
    UpdateVoter,
    Vote,
    VoteAnswer,
)
from model.raft.raft_log import ReplicaKey, Voter

HEARD = [json.loads(line) for line in Path("tests/data/kraft/raft-wire.jsonl").read_text(encoding="utf-8").splitlines()]
OLDER_FETCHES = bytes.fromhex("00800000"), bytes.fromhex("00100000")
"""`MaxBytes`: 8 MiB before 4.3, 1 MiB since."""
KEY, OTHER = ReplicaKey(1, "MkU3OEVBNTcwNTJENDM2Ag"), ReplicaKey(2, "MkU3OEVBNTcwNTJENDM2Aw")
WHERE = ("127.0.0.1", 19442)


def _id(heard: dict[str, Any]) -> str:
    return f"{heard['release']}-{heard['name']}"


@pytest.mark.parametrize("heard", HEARD, ids=_id)
def test_what_real_voters_said_is_written_as_they_did(heard: dict[str, Any]) -> None:
    frame = bytes.fromhex(heard["request"])
    request = request_value(decode_request(frame))
    written = encode(request_body(request, heard["version"]))
    if heard["release"] == "3.9.1":
        frame = frame.replace(*OLDER_FETCHES, 1)
    assert written and frame.endswith(written)
    if heard["response"]:
        answer = bytes.fromhex(heard["response"])
        reply, records = reply_value(decode_response(answer, heard["api"], heard["version"])[1])
        assert answer.endswith(encode(reply_body(request, reply, heard["version"], records)))


def test_all_kinds_were_heard() -> None:
    assert {heard["name"] for heard in HEARD} == {
        *("Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "Fetch", "FetchSnapshot", "RemoveRaftVoter")
    }


KNOWN = AnswerHeader("NONE", 5, 1, WHERE)
REQUESTS: list[tuple[Request, int, Reply]] = [
    (Vote("c", OTHER, KEY, 5, LogPosition(9, 4)), 1, VoteAnswer(KNOWN, granted=True)),
    (Vote("c", OTHER, KEY, 5, LogPosition(9, 5), pre_vote=True), 2, VoteAnswer(KNOWN)),
    (BeginQuorumEpoch("c", OTHER, 1, 5, WHERE), 1, EpochAnswer(KNOWN)),
    (EndQuorumEpoch("c", 1, 5, (OTHER, KEY)), 1, EpochAnswer(KNOWN)),
    (Fetch("c", KEY, 5, LogPosition(9, 5), 7, 500), 18, FetchAnswer(KNOWN, 7, log_start=3)),
    (Fetch("c", KEY, 5, LogPosition(9, 5), 2**63 - 1, 500), 17, FetchAnswer(KNOWN, 7, diverging=LogPosition(8, 4))),
    (Fetch("c", KEY, 5, LogPosition(), 7, 0), 18, FetchAnswer(KNOWN, 7, snapshot=LogPosition(50, 4))),
    (FetchSnapshot("c", KEY, 5, LogPosition(50, 4), 100), 1, SnapshotAnswer(KNOWN, LogPosition(50, 4), 200, 100, b"x")),
    (UpdateVoter("c", 5, Voter(KEY, WHERE, (0, 1))), 0, ChangeAnswer(KNOWN)),
    (AddVoter("c", Voter(KEY, WHERE), when_committed=False), 1, ChangeAnswer(AnswerHeader())),
    (AddVoter("c", Voter(KEY, WHERE)), 0, ChangeAnswer(AnswerHeader("DUPLICATE_VOTER"), "it votes")),
    (RemoveVoter("c", KEY), 0, ChangeAnswer(AnswerHeader("VOTER_NOT_FOUND"), "it does not vote")),
]


@pytest.mark.parametrize(("request_", "version", "reply"), REQUESTS, ids=lambda each: type(each).__name__)
def test_nothing_is_lost_in_the_newest_version(request_: Request, version: int, reply: Reply) -> None:
    assert request_value(request_body(request_, version)) == request_
    assert reply_value(reply_body(request_, reply, version))[0] == reply


@pytest.mark.parametrize("kind", [Vote, BeginQuorumEpoch, EndQuorumEpoch])
def test_the_first_version_knows_no_directories_and_no_addresses(kind: type[Request]) -> None:
    request, _, reply = next(each for each in REQUESTS if isinstance(each[0], kind))
    read = request_value(request_body(request, 0))
    assert read.epoch == 5  # type: ignore[union-attr]
    assert "MkU3" not in repr(read)
    known = reply_value(reply_body(request, reply, 0))[0].known
    assert known == AnswerHeader("NONE", 5, 1)


def test_another_cluster_is_told_of_the_whole_request() -> None:
    refused = AnswerHeader("INCONSISTENT_CLUSTER_ID", 5, 1)
    for request, version, reply in REQUESTS[:8]:
        body: Any = reply_body(request, type(reply)(refused), version)
        assert not getattr(body, "topics", None) and not getattr(body, "responses", None)
        assert reply_value(body)[0].known == AnswerHeader("INCONSISTENT_CLUSTER_ID", UNKNOWN)


def test_another_topic_is_none_of_a_quorums_business() -> None:
    body: Any = request_body(REQUESTS[0][0], 1)
    with pytest.raises(MalformedError, match="a VoteRequest of other"):
        request_value(body.__class__(cluster_id="c", voter_id=1, topics=()))
    with pytest.raises(MalformedError, match="nothing that voters say"):
        request_value(HeartbeatRequest(group_id=GroupId("g"), generation_id=i32(1), member_id="m"))
    assert API_KEYS[Vote] == 52
