"""What a follower takes over, cuts off and asks next (KafkaRaftClient.handleFetchResponse and the like, 4.3)."""

from __future__ import annotations

import pytest

from model.observer.messages import LogPosition
from model.raft.messages import (
    AddVoter,
    AnswerHeader,
    Append,
    ChangeAnswer,
    Commit,
    Exit,
    Fetch,
    FetchAnswer,
    FetchSnapshot,
    RemoveVoter,
    RequestFailed,
    SnapshotAnswer,
    SnapshotLoaded,
    StartLogAt,
    StoreSnapshot,
    TimePassed,
    Truncate,
    UpdateVoter,
)
from model.raft.node import Follower, Prospective, QuorumSettings, Unattached
from model.raft.raft_log import RaftBatch, ReplicaKey, Voter, VoterSet
from tests.model.raft.replica import Replica, follower, log_of, voter, voters

LEADER = AnswerHeader(epoch=2, leader=3, address=voter(3).address)
LOG = log_of((1, 4), (2, 10), voting=voters(1, 2, 3))


def batch(offset: int, epoch: int = 2) -> RaftBatch:
    return RaftBatch(offset, offset + 1, epoch, b"record")


def fetching() -> Replica:
    """Node 1 follows node 3 in epoch 2, and has asked it for what comes after offset 10."""
    replica = follower(1, LOG, leader=3)
    assert [request.end for _, request in replica.on_its_way(Fetch)][-1] == LogPosition(10, 2)
    return replica


def test_records_are_on_disk_before_the_next_fetch_and_nothing_above_the_mark_is_committed() -> None:
    replica = fetching()
    replica.hear(Fetch, FetchAnswer(LEADER, 11, batches=(batch(10), batch(11))))
    kinds = [type(each).__name__ for each in replica.commands]
    assert kinds == ["Append", "Commit", "Send"]
    assert Commit(11) in replica.commands
    ((_, request),) = replica.sent(Fetch)
    assert (request.end, request.high_watermark) == (LogPosition(12, 2), 11)


def test_a_mark_beyond_the_log_commits_what_is_there() -> None:
    replica = fetching()
    replica.hear(Fetch, FetchAnswer(LEADER, 99))
    assert Commit(10) in replica.commands
    assert replica.node.log.high_watermark == 10


def test_a_diverging_log_is_cut_and_asked_for_anew() -> None:
    replica = fetching()
    replica.hear(Fetch, FetchAnswer(LEADER, diverging=LogPosition(6, 1)))
    assert Truncate(4) in replica.commands, "its own epoch 1 ends there"
    ((_, request),) = replica.sent(Fetch)
    assert request.end == LogPosition(4, 1)


def test_what_is_committed_is_never_cut() -> None:
    replica = fetching()
    replica.hear(Fetch, FetchAnswer(LEADER, 9))
    replica.hear(Fetch, FetchAnswer(LEADER, diverging=LogPosition(6, 1)))
    assert replica.commands[0] == Exit("the leader's log ends at 4, yet offset 8 was committed")
    assert not any(isinstance(each, Truncate) for each in replica.commands)


def test_a_snapshot_is_read_in_pieces_and_takes_the_logs_place() -> None:
    replica, snapshot = fetching(), LogPosition(50, 2)
    replica.hear(Fetch, FetchAnswer(LEADER, snapshot=snapshot))
    assert [request.position for _, request in replica.sent(FetchSnapshot)] == [0]
    replica.hear(FetchSnapshot, SnapshotAnswer(LEADER, snapshot, 5, 0, b"abc"))
    assert StoreSnapshot(snapshot, 0, b"abc", is_last=False) in replica.commands
    replica.hear(FetchSnapshot, SnapshotAnswer(LEADER, snapshot, 5, 3, b"de"))
    assert StoreSnapshot(snapshot, 3, b"de", is_last=True) in replica.commands
    assert not replica.on_its_way(Fetch), "it waits until the snapshot is loaded"
    replica.tell(SnapshotLoaded(snapshot, voters(1, 2)))
    assert replica.commands[:2] == (StartLogAt(snapshot), Commit(50))
    ((_, request),) = replica.sent(Fetch)
    assert (request.end, replica.node.log.voters.ids) == (LogPosition(50, 2), (1, 2))


def test_a_snapshot_that_is_gone_is_asked_for_no_more() -> None:
    replica = fetching()
    replica.hear(Fetch, FetchAnswer(LEADER, snapshot=LogPosition(50, 2)))
    gone = AnswerHeader("SNAPSHOT_NOT_FOUND", 2, 3, voter(3).address)
    replica.hear(FetchSnapshot, SnapshotAnswer(gone, LogPosition(50, 2)))
    replica.wait(20, TimePassed())
    assert replica.on_its_way(Fetch)


def test_pieces_of_something_else_are_a_fault() -> None:
    replica = fetching()
    replica.hear(Fetch, FetchAnswer(LEADER, snapshot=LogPosition(50, 2)))
    replica.hear(FetchSnapshot, SnapshotAnswer(LEADER, LogPosition(50, 2), 5, 3, b"de"))
    assert replica.commands[0] == Exit("asked for 50-2 from 0, got 50-2 from 3")


def test_answers_of_older_epochs_change_nothing() -> None:
    replica = follower(1, LOG, leader=3, epoch=4)
    replica.hear(Fetch, FetchAnswer(LEADER, 11, batches=(batch(10),)))
    assert not any(isinstance(each, Append) for each in replica.commands)


def test_a_newer_epoch_is_followed_whoever_tells_it() -> None:
    replica = fetching()
    newer = AnswerHeader("FENCED_LEADER_EPOCH", 5, 2, voter(2).address)
    replica.hear(Fetch, FetchAnswer(newer))
    assert isinstance(replica.role, Follower)
    assert (replica.node.persisted.leader, replica.node.epoch) == (2, 5)
    assert [request.epoch for _, request in replica.on_its_way(Fetch)][-1] == 5


def test_while_the_leader_does_not_answer_others_are_asked_and_then_the_leader_again() -> None:
    replica = fetching()
    for number, _ in replica.on_its_way(Fetch):
        replica.tell(RequestFailed(number))
    assert voter(3).address not in _asked(replica)
    replica.wait(30, TimePassed())
    assert voter(3).address in _asked(replica)


def _asked(replica: Replica) -> set[tuple[str, int]]:
    return {address for address, link in replica.node.links.items() if link.number}


def test_voters_stand_for_election_after_two_seconds_and_observers_never() -> None:
    replica = fetching()
    replica.wait(1_999, TimePassed())
    assert isinstance(replica.role, Follower)
    replica.wait(1, TimePassed())
    assert isinstance(replica.role, Prospective)
    observer = follower(9, LOG, leader=3)
    observer.wait(60_000, TimePassed())
    assert isinstance(observer.role, Follower)
    assert isinstance(Replica(9, LOG).role, Unattached)


@pytest.mark.parametrize(("kraft_version", "again"), [(1, 1), (0, 0)])
def test_a_voter_that_listens_elsewhere_now_tells_its_leader(kraft_version: int, again: int) -> None:
    """Until the voters' record says so; where there is none, each leader once."""
    voting = voters(1, 2, 3, kraft_version=kraft_version)
    moved = voting.updated(voter(3)).removed(voter(1).key).added(voter(1).__class__(voter(1).key, ("old", 1)))
    replica = follower(1, log_of((2, 10), voting=moved), leader=3)
    replica.hear(Fetch, FetchAnswer(LEADER, 10))
    replica.wait(1_000, TimePassed())
    replica.hear(Fetch, FetchAnswer(LEADER, 10))
    replica.wait(1_000, TimePassed())
    replica.hear(Fetch, FetchAnswer(LEADER, 10))
    assert len(replica.sent(UpdateVoter)) == 1
    replica.hear(UpdateVoter, ChangeAnswer(LEADER))
    for _ in range(2):
        replica.wait(1_000, TimePassed())
        replica.hear(Fetch, FetchAnswer(LEADER, 10))
    assert len(replica.sent(UpdateVoter)) == again


@pytest.mark.parametrize(
    ("voting", "asked"),
    [
        (voters(1, 2, 3), AddVoter(None, voter(7), when_committed=False)),
        (voters(2, 3).added(Voter(ReplicaKey(7, "lost"), ("node-7", 9093))), RemoveVoter(None, ReplicaKey(7, "lost"))),
        (voters(1, 2, 3, kraft_version=0), None),
        (voters(2, 3, 7), None),
    ],
)
def test_who_does_not_vote_asks_to_where_that_is_wished(voting: VoterSet, asked: AddVoter | RemoveVoter | None) -> None:
    """As another replica than it was before it lost its disk, perhaps."""
    replica = follower(7, log_of((2, 10), voting=voting), leader=3, settings=QuorumSettings(auto_join=True))
    replica.hear(Fetch, FetchAnswer(LEADER, 10))
    replica.wait(1_000, TimePassed())
    replica.hear(Fetch, FetchAnswer(LEADER, 10))
    replica.wait(1_000, TimePassed())
    replica.hear(Fetch, FetchAnswer(LEADER, 10))
    sent = [request for kind in (AddVoter, RemoveVoter) for _, request in replica.sent(kind)]
    assert sent == ([] if asked is None else [asked])
    never = follower(7, log_of((2, 10), voting=voting), leader=3)
    never.hear(Fetch, FetchAnswer(LEADER, 10))
    never.wait(2_000, TimePassed())
    assert not never.sent(AddVoter) + never.sent(RemoveVoter)
