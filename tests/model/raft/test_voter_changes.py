"""Who may become a voter, be removed or change its address (KIP-853; AddVoterHandler and the like, 4.3)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from model.observer.messages import LogPosition
from model.raft.decide import begin, decide
from model.raft.messages import (
    AddVoter,
    AnswerHeader,
    Append,
    AskVersions,
    ChangeAnswer,
    ElectionState,
    EndQuorumEpoch,
    FetchAnswer,
    RemoveVoter,
    RequestReceived,
    Send,
    SendAnswer,
    TimePassed,
    UpdateVoter,
    UpgradeKraftVersion,
    VersionsAnswer,
    Vote,
)
from model.raft.node import Leader, Resigned
from model.raft.raft_log import RaftBatch, ReplicaKey, Voter, VoterSet, VotersWritten
from tests.model.raft.replica import Replica, fetch, follower, leader, log_of, voter, voters


def led(*ids: int, kraft_version: int = 1, commit: bool = True) -> Replica:
    """Node 1 leads epoch 2; all that is written is committed."""
    replica = leader(1, log_of((1, 5), voting=voters(*ids, kraft_version=kraft_version)))
    if commit:
        _all_fetch(replica, ids)
    return replica


def _all_fetch(replica: Replica, ids: tuple[int, ...]) -> None:
    for id_ in ids:
        if id_ != 1:
            replica.ask(fetch(id_, 2, LogPosition(replica.node.log.end, 2)), FetchAnswer)


def written(replica: Replica) -> list[tuple[int, ...]]:
    batches = [batch for each in replica.commands if isinstance(each, Append) for batch in each.batches]
    return [batch.content.voters.ids for batch in batches if isinstance(batch.content, VotersWritten)]


def test_an_observer_that_has_caught_up_becomes_a_voter_and_the_asker_hears_when_it_is_committed() -> None:
    replica = led(1, 2, 3)
    _all_fetch(replica, (7,))
    replica.tell(RequestReceived(50, AddVoter(None, voter(7))))
    ((_, asked),) = replica.sent(AskVersions)
    assert asked == AskVersions()
    replica.hear(AskVersions, VersionsAnswer(AnswerHeader(epoch=2)))
    assert written(replica) == [(1, 2, 3, 7)]
    assert replica.node.log.voters.ids == (1, 2, 3, 7), "it counts from now on"
    replica.ask(fetch(2, 2, replica.node.log.last), FetchAnswer)
    assert isinstance(replica.role, Leader)
    assert replica.role.change is not None, "two of four are no majority"
    reply = _answer_on(replica, 50, 7)
    assert reply.known.error == "NONE"


def test_the_only_voter_leads_on_while_another_one_is_added_however_long_it_was_alone() -> None:
    replica = led(1)
    replica.wait(3_600_000, TimePassed())
    replica.ask(fetch(7, 2, replica.node.log.last), FetchAnswer)
    replica.tell(RequestReceived(50, AddVoter(None, voter(7))))
    replica.hear(AskVersions, VersionsAnswer(AnswerHeader(epoch=2)))
    replica.wait(replica.node.settings.check_quorum_ms - 1, TimePassed())
    assert isinstance(replica.role, Leader)
    replica.wait(1, TimePassed())
    assert isinstance(replica.role, Resigned), "the second one never followed"


def _answer_on(replica: Replica, number: int, fetching: int) -> ChangeAnswer:
    commands = replica.tell(RequestReceived(999, fetch(fetching, 2, replica.node.log.last)))
    (reply,) = [each.reply for each in commands if isinstance(each, SendAnswer) and each.number == number]
    assert isinstance(reply, ChangeAnswer)
    return reply


def test_who_does_not_want_to_wait_is_answered_once_it_is_written() -> None:
    replica = led(1, 2, 3)
    _all_fetch(replica, (7,))
    replica.tell(RequestReceived(50, AddVoter(None, voter(7), when_committed=False)))
    replica.hear(AskVersions, VersionsAnswer(AnswerHeader(epoch=2)))
    assert isinstance(replica.role, Leader)
    assert (written(replica), replica.role.change) == ([(1, 2, 3, 7)], None)


@pytest.mark.parametrize(
    ("added", "error"),
    [
        (voter(2), "DUPLICATE_VOTER"),
        (Voter(ReplicaKey(2, "another-directory"), ("node-2", 9093)), "DUPLICATE_VOTER"),
        (Voter(ReplicaKey(7), ("node-7", 9093)), "INVALID_REQUEST"),
        (Voter(ReplicaKey(7, "directory-7")), "INVALID_REQUEST"),
    ],
)
def test_voters_that_are_not_added(added: Voter, error: str) -> None:
    assert led(1, 2, 3).ask(AddVoter(None, added), ChangeAnswer).known.error == error


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (VersionsAnswer(AnswerHeader(epoch=2)), "REQUEST_TIMED_OUT"),
        (VersionsAnswer(AnswerHeader("UNSUPPORTED_VERSION")), "REQUEST_TIMED_OUT"),
        (VersionsAnswer(AnswerHeader(epoch=2), (0, 0)), "INVALID_REQUEST"),
    ],
)
def test_who_is_not_there_has_not_caught_up_or_is_too_old_does_not_vote(reply: VersionsAnswer, error: str) -> None:
    replica = led(1, 2, 3)
    replica.tell(RequestReceived(50, AddVoter(None, voter(8))))
    replica.hear(AskVersions, reply)
    (answer,) = [each.reply for each in replica.commands if isinstance(each, SendAnswer)]
    assert (answer.known.error, written(replica)) == (error, [])


def test_one_change_at_a_time() -> None:
    replica = led(1, 2, 3)
    replica.tell(RequestReceived(50, RemoveVoter(None, voter(3).key)))
    assert written(replica) == [(1, 2)]
    refused = replica.ask(RemoveVoter(None, voter(2).key), ChangeAnswer)
    assert (refused.known.error, refused.why) == ("REQUEST_TIMED_OUT", "another change of the voters is going on")
    replica.wait(2_000, TimePassed())
    refused = replica.ask(RemoveVoter(None, voter(2).key), ChangeAnswer)
    assert refused.why == "the last change of the voters is not committed yet"
    _all_fetch(replica, (2,))
    replica.tell(RequestReceived(51, RemoveVoter(None, voter(2).key)))
    assert written(replica) == [(1,)]


@pytest.mark.parametrize(
    ("replica", "asked", "error"),
    [
        (led(1, 2, 3), RemoveVoter(None, voter(7).key), "VOTER_NOT_FOUND"),
        (led(1, 2, 3), RemoveVoter(None, ReplicaKey(2, "another-directory")), "VOTER_NOT_FOUND"),
        (led(1), RemoveVoter(None, voter(1).key), "VOTER_NOT_FOUND"),
        (led(1, 2, 3, kraft_version=0), RemoveVoter(None, voter(2).key), "UNSUPPORTED_VERSION"),
        (led(1, 2, 3, commit=False), RemoveVoter(None, voter(2).key), "REQUEST_TIMED_OUT"),
        (Replica(1, log_of((1, 5), voting=voters(1, 2))), RemoveVoter(None, voter(2).key), "NOT_LEADER_OR_FOLLOWER"),
    ],
    ids=["unknown", "another directory", "the last", "kraft.version 0", "nothing committed", "no leader"],
)
def test_voters_that_are_not_removed(replica: Replica, asked: RemoveVoter, error: str) -> None:
    assert replica.ask(asked, ChangeAnswer).known.error == error


def test_a_leader_that_removes_itself_does_not_count_itself_and_resigns_once_that_is_committed() -> None:
    replica = led(1, 2, 3, 4)
    replica.tell(RequestReceived(50, RemoveVoter(None, voter(1).key)))
    end = replica.node.log.last
    replica.ask(fetch(2, 2, end), FetchAnswer)
    assert isinstance(replica.role, Leader), "one of three"
    assert _answer_on(replica, 50, 3).known.error == "NONE"
    assert isinstance(replica.role, Resigned)
    assert {key.id for key in replica.role.successors} == {2, 3, 4}
    assert {request.leader for _, request in replica.sent(EndQuorumEpoch)} <= {1}


def test_a_voter_that_moved_says_so_and_is_answered_before_that_is_committed() -> None:
    replica = led(1, 2, 3)
    moved = replace(voter(2), address=("elsewhere", 9093))
    assert replica.ask(UpdateVoter(None, 2, moved), ChangeAnswer).known.error == "NONE"
    assert replica.node.log.voters.by_id(2) == moved
    _all_fetch(replica, (2, 3))
    unknown = replace(voter(7), address=("elsewhere", 9093))
    assert replica.ask(UpdateVoter(None, 2, unknown), ChangeAnswer).known.error == "VOTER_NOT_FOUND"
    old = replace(voter(2), versions=(0, 0))
    assert replica.ask(UpdateVoter(None, 2, old), ChangeAnswer).known.error == "INVALID_REQUEST"
    assert replica.ask(UpdateVoter(None, 1, moved), ChangeAnswer).known.error == "FENCED_LEADER_EPOCH"


def configured(*ids: int) -> Replica:
    """Node 1 leads voters whose directories nobody knows."""
    told = VoterSet.of([Voter(ReplicaKey(id_), (f"node-{id_}", 9093)) for id_ in ids], 0)
    replica = leader(1, log_of((1, 5), voting=told))
    _all_fetch(replica, ids)
    return replica


def upgrade(replica: Replica, version: int = 1, *, dry: bool = False) -> str:
    return replica.ask(UpgradeKraftVersion(version, dry), ChangeAnswer).known.error


def test_configured_voters_are_written_once_all_have_told_who_they_are() -> None:
    replica = configured(1, 2, 3)
    assert replica.ask(UpdateVoter(None, 2, voter(2)), ChangeAnswer).known.error == "NONE"
    assert (written(replica), upgrade(replica)) == ([], "INVALID_UPDATE_VERSION")
    replica.ask(UpdateVoter(None, 2, voter(3)), ChangeAnswer)
    assert (upgrade(replica, dry=True), replica.node.log.voters.kraft_version) == ("NONE", 0)
    assert upgrade(replica) == "NONE"
    assert replica.node.log.voters == voters(1, 2, 3)
    assert replica.node.log.end - replica.node.log.voters_offset == 2, "kraft.version is written, too"
    assert upgrade(replica) == "NONE"
    assert upgrade(replica, 0) == "INVALID_UPDATE_VERSION"
    assert replica.ask(AddVoter(None, voter(7)), ChangeAnswer).known.error == "REQUEST_TIMED_OUT"  # not committed yet


@pytest.mark.parametrize(
    "told", [Voter(ReplicaKey(3), ("node-3", 9093)), Voter(ReplicaKey(3, "directory-3"), ("node-3", 9093), (0, 0))]
)
def test_a_voter_that_has_no_directory_or_knows_voters_records_not_keeps_all_as_they_are(told: Voter) -> None:
    replica = configured(1, 2, 3)
    for each in (voter(2), told):
        replica.ask(UpdateVoter(None, 2, each), ChangeAnswer)
    assert (upgrade(replica), replica.node.log.voters.kraft_version) == ("INVALID_UPDATE_VERSION", 0)


def test_only_a_leader_upgrades() -> None:
    assert (
        upgrade(follower(1, log_of((1, 5), voting=voters(1, 2, 3, kraft_version=0)), leader=2))
        == "NOT_LEADER_OR_FOLLOWER"
    )


def test_a_leader_that_listens_elsewhere_now_says_so_at_the_start_of_its_epoch() -> None:
    there = leader(1, log_of((1, 5), voting=voters(1, 2, 3)).appended(_as_voters(voters(1, 2, 3))))
    assert there.node.log.voters_offset == 5
    moved = voters(1, 2, 3).updated(replace(voter(1), address=("elsewhere", 9093)))
    replica = leader(1, log_of((1, 5), voting=moved).appended(_as_voters(moved)))
    log = replica.node.log
    assert (log.voters, log.voters_offset, log.end) == (voters(1, 2, 3), 8, 10), "with their kraft.version"


def _as_voters(told: VoterSet) -> list[RaftBatch]:
    return [RaftBatch(5, 7, 1, VotersWritten(told))]


def test_voters_that_all_listen_elsewhere_now_find_each_other_where_each_is_told_they_are() -> None:
    log, there = log_of((1, 5), voting=voters(1, 2, 3)), {2: ("new-2", 9093), 3: ("new-3", 9093)}
    decision = begin(voter(1), ElectionState(1), log, 0, reached=there)
    asked = decide(decision.node, TimePassed(), 5_000)
    sent = {each.address for each in asked.commands if isinstance(each, Send) and isinstance(each.request, Vote)}
    assert sent == set(there.values())
