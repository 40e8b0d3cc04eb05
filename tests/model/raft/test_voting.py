"""Who is voted for, by what a voter is in its epoch (KafkaRaftClient 4.3, KIP-996), and how an election goes."""

from __future__ import annotations

import pytest

from model.observer.messages import NOBODY, LogPosition
from model.raft.messages import (
    AnswerHeader,
    Append,
    BeginQuorumEpoch,
    ElectionState,
    EndQuorumEpoch,
    EpochAnswer,
    Fetch,
    FetchAnswer,
    Lead,
    Persist,
    ReplyReceived,
    RequestReceived,
    Send,
    TimePassed,
    Vote,
    VoteAnswer,
)
from model.raft.node import Candidate, Follower, Leader, Prospective, Resigned, Unattached
from model.raft.raft_log import LeaderElected, RaftBatch, ReplicaKey, VotersWritten
from tests.model.raft.replica import Replica, fetch, follower, leader, log_of, voter, voters

THREE = voters(1, 2, 3)
LOG = log_of((1, 4), (2, 10), voting=THREE)


def vote(epoch: int, last: LogPosition, *, candidate: int = 2, pre_vote: bool = False, to: int = 1) -> Vote:
    return Vote(None, voter(to).key, voter(candidate).key, epoch, last, pre_vote)


def test_a_fresh_follower_would_vote_for_another_until_it_has_fetched_from_its_leader() -> None:
    replica = follower(1, LOG, leader=3)
    asked = vote(2, LogPosition(10, 2), pre_vote=True)
    assert replica.ask(asked, VoteAnswer).known == AnswerHeader("NONE", 2, 3, voter(3).address)
    assert replica.ask(asked, VoteAnswer).granted
    assert not replica.ask(vote(2, LogPosition(9, 2), pre_vote=True), VoteAnswer).granted
    replica.hear(Fetch, FetchAnswer(AnswerHeader(epoch=2, leader=3)))
    assert not replica.ask(asked, VoteAnswer).granted


def test_a_follower_never_votes_in_its_leaders_epoch() -> None:
    replica = follower(1, LOG, leader=3, epoch=3)
    assert not replica.ask(vote(3, LogPosition(99, 2)), VoteAnswer).granted


def test_leaders_vote_for_nobody() -> None:
    replica = leader(1, LOG)
    epoch = replica.node.epoch
    for pre_vote in (False, True):
        assert not replica.ask(vote(epoch, LogPosition(99, epoch - 1), pre_vote=pre_vote), VoteAnswer).granted


@pytest.mark.parametrize(
    ("state", "role"), [(ElectionState(3, 1), Resigned), (ElectionState(3, -1, voter(1).key), Candidate)]
)
def test_who_stands_or_resigned_answers_pre_votes_by_the_log_alone(state: ElectionState, role: type) -> None:
    replica = Replica(1, LOG, state)
    assert isinstance(replica.role, role)
    assert replica.ask(vote(3, LogPosition(10, 2), pre_vote=True), VoteAnswer).granted
    assert not replica.ask(vote(3, LogPosition(9, 2), pre_vote=True), VoteAnswer).granted
    assert not replica.ask(vote(3, LogPosition(10, 2)), VoteAnswer).granted


def test_a_loser_that_starts_again_follows_the_winner_it_knew_as_soon_as_somebody_names_it() -> None:
    replica = Replica(1, LOG, ElectionState(3, 3, voter(1).key))
    assert isinstance(replica.role, Candidate)
    replica.hear(Vote, VoteAnswer(AnswerHeader(epoch=3, leader=3)))
    assert isinstance(replica.role, Follower)
    assert replica.role.address == voter(3).address


def test_a_vote_is_given_once_an_epoch_and_again_to_the_same_whatever_its_log() -> None:
    replica = Replica(1, LOG, ElectionState(3))
    answer = replica.ask(vote(3, LogPosition(10, 2)), VoteAnswer)
    assert answer.granted
    persisted = [each for each in replica.commands if isinstance(each, Persist)]
    assert persisted == [Persist(ElectionState(3, NOBODY, voter(2).key))]
    assert replica.commands.index(persisted[0]) == 0, "it is written before it is answered"
    assert replica.ask(vote(3, LogPosition(1, 1)), VoteAnswer).granted
    assert not replica.ask(vote(3, LogPosition(99, 2), candidate=3), VoteAnswer).granted
    assert replica.ask(vote(3, LogPosition(10, 2), candidate=3, pre_vote=True), VoteAnswer).granted


def test_a_vote_counts_for_a_directory_not_only_for_a_node() -> None:
    replica = Replica(1, LOG, ElectionState(3, NOBODY, ReplicaKey(2, "another-directory")))
    assert not replica.ask(vote(3, LogPosition(10, 2)), VoteAnswer).granted


@pytest.mark.parametrize(
    ("last", "granted"),
    [((10, 2), True), ((9, 2), False), ((1, 3), True), ((99, 1), False), ((11, 2), True)],
)
def test_the_longer_log_of_the_larger_epoch_is_up_to_date(last: tuple[int, int], granted: bool) -> None:
    assert Replica(1, LOG, ElectionState(5)).ask(vote(5, LogPosition(*last)), VoteAnswer).granted == granted


def test_a_larger_epoch_is_taken_over_even_from_a_pre_vote_and_the_old_vote_forgotten() -> None:
    replica = Replica(1, LOG, ElectionState(3, NOBODY, voter(2).key))
    assert not replica.ask(vote(6, LogPosition(1, 1), candidate=3, pre_vote=True), VoteAnswer).granted
    assert replica.node.persisted == ElectionState(6)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (vote(7, LogPosition(10, 7)), "INVALID_REQUEST"),
        (vote(7, LogPosition(10, 7), pre_vote=True), "NONE"),
        (vote(7, LogPosition(10, 8), pre_vote=True), "INVALID_REQUEST"),
        (vote(7, LogPosition(-1, 0)), "INVALID_REQUEST"),
        (vote(1, LogPosition(10, 0)), "FENCED_LEADER_EPOCH"),
        (vote(7, LogPosition(10, 2), candidate=-1), "INVALID_REQUEST"),
        (vote(7, LogPosition(10, 2), to=2), "INVALID_VOTER_KEY"),
    ],
)
def test_requests_that_are_refused(asked: Vote, error: str) -> None:
    replica = Replica(1, LOG)
    assert replica.ask(asked, VoteAnswer).known.error == error
    assert replica.node.epoch == (7 if error in {"NONE", "INVALID_VOTER_KEY"} else 2)


def test_an_election_asks_first_and_raises_the_epoch_only_with_a_majority_behind_it() -> None:
    replica = Replica(1, LOG)
    replica.wait(2_000, TimePassed())
    assert isinstance(replica.role, Prospective)
    ((number, asked),) = replica.sent(Vote)  # the other one has not answered its Fetch yet
    assert (asked.pre_vote, asked.epoch, asked.last) == (True, 2, LogPosition(10, 2))
    replica.tell(ReplyReceived(number, VoteAnswer(AnswerHeader(epoch=2), granted=True)))
    assert isinstance(replica.role, Candidate)
    assert replica.commands[0] == Persist(ElectionState(3, NOBODY, voter(1).key))
    ((number, request),) = replica.sent(Vote)
    assert (request.pre_vote, request.epoch) == (False, 3)
    replica.tell(ReplyReceived(number, VoteAnswer(AnswerHeader(epoch=3), granted=True)))
    assert isinstance(replica.role, Leader)
    (append,) = [each for each in replica.commands if isinstance(each, Append)]
    assert [batch.content for batch in append.batches] == [
        LeaderElected(1, (1, 2, 3), (1, request.voter.id)),
        VotersWritten(THREE),
    ]
    assert Lead(3, 10) in replica.commands
    assert len(replica.sent(BeginQuorumEpoch)) == 1, "the other one has not answered yet"


def test_who_is_refused_by_a_majority_goes_back_to_its_leader_in_the_same_epoch() -> None:
    replica = follower(1, LOG, leader=3)
    replica.hear(Fetch, FetchAnswer(AnswerHeader(epoch=2, leader=3)))
    replica.hear(Fetch, FetchAnswer(AnswerHeader(epoch=2, leader=3)))
    replica.wait(2_000, TimePassed())
    assert isinstance(replica.role, Prospective)
    replica.wait(100, TimePassed())
    replica.hear(Vote, VoteAnswer(AnswerHeader(epoch=2, leader=3)))
    assert isinstance(replica.role, Follower)
    assert replica.node.persisted == ElectionState(2, 3)


def test_a_voter_older_than_pre_votes_is_asked_for_its_vote_at_once() -> None:
    replica = Replica(1, LOG)
    replica.wait(2_000, TimePassed())
    number, _ = replica.sent(Vote)[0]
    replica.tell(ReplyReceived(number, VoteAnswer(AnswerHeader("UNSUPPORTED_VERSION"))))
    assert isinstance(replica.role, Candidate)


def test_the_only_voter_leads_at_once_in_the_next_epoch() -> None:
    log = log_of((4, 6), voting=voters(1))
    for state in (ElectionState(4), ElectionState(4, 1), ElectionState(4, NOBODY, voter(1).key)):
        replica = Replica(1, log, state)
        assert isinstance(replica.role, Leader)
        assert replica.node.epoch in {4, 5}
        assert replica.node.epoch == (4 if state.voted else 5)


def test_who_led_when_it_died_never_leads_in_that_epoch_again() -> None:
    replica = Replica(1, LOG, ElectionState(2, 1))
    assert isinstance(replica.role, Resigned)
    assert len(replica.sent(EndQuorumEpoch)) == 2
    replica.wait(2_000, TimePassed())
    assert isinstance(replica.role, Unattached)
    assert replica.node.epoch == 3


@pytest.mark.parametrize(("id_", "waits"), [(2, 0), (3, 250), (4, 500), (5, 1_000)])
def test_successors_stand_one_after_the_other(id_: int, waits: int) -> None:
    log = log_of((2, 10), voting=voters(1, 2, 3, 4, 5))
    replica = follower(id_, log, leader=1)
    keys = tuple(voter(each).key for each in (2, 3, 4))
    replica.tell(RequestReceived(1, EndQuorumEpoch(None, 1, 2, keys)))
    if waits:
        replica.wait(waits - 1, TimePassed())
        assert isinstance(replica.role, Follower)
        replica.wait(1, TimePassed())
    assert isinstance(replica.role, Prospective)


def test_a_leader_that_introduces_itself_is_followed_even_by_one_it_takes_for_another() -> None:
    replica = Replica(1, LOG)
    begun = BeginQuorumEpoch(None, ReplicaKey(1, "another-directory"), 3, 4, voter(3).address)
    assert replica.ask(begun, EpochAnswer).known == AnswerHeader("INVALID_VOTER_KEY", 4, 3, voter(3).address)
    assert isinstance(replica.role, Follower)
    assert any(isinstance(each, Send) and each.address == voter(3).address for each in replica.commands)


def test_a_removed_leader_stands_again_while_its_removal_may_not_be_committed() -> None:
    log = log_of((2, 10), voting=voters(1, 2))
    removed = log.appended([RaftBatch(10, 11, 2, VotersWritten(voters(2)))])
    replica = Replica(1, removed)
    replica.wait(2_000, TimePassed())
    assert isinstance(replica.role, Prospective)
    gone = Replica(1, removed.committed(11))
    gone.wait(2_000, TimePassed())
    assert isinstance(gone.role, Unattached)


def test_fetches_of_an_older_epoch_learn_who_leads() -> None:
    replica = follower(1, LOG, leader=3, epoch=4)
    answer = replica.ask(fetch(2, 2, LogPosition(10, 2)), FetchAnswer)
    assert answer.known == AnswerHeader("FENCED_LEADER_EPOCH", 4, 3, voter(3).address)
