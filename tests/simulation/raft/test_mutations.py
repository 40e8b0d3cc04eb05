"""Rules of Raft are broken on purpose, and histories notice: the checks can fail."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from model.observer.messages import LogPosition
from model.raft import decide as deciding
from model.raft import voter_changes, voting
from model.raft.messages import ElectionState, Vote
from model.raft.node import Leader, Prospective, RaftNode
from model.raft.raft_log import RaftLog, VoterSet
from model.raft.turn import Turn
from tests.simulation.raft.play import play
from tests.simulation.violation import ViolationError, play_all

SEEDS = 400
Break = Callable[[pytest.MonkeyPatch], None]


def votes_for_everybody(patch: pytest.MonkeyPatch) -> None:
    """A vote that was given is given again, to another one."""
    would_vote = voting._would_vote

    def forgetful(node: RaftNode, request: Vote) -> bool:
        return would_vote(replace(node, persisted=replace(node.persisted, voted=None)), request)

    patch.setattr(voting, "_would_vote", forgetful)


def votes_for_any_log(patch: pytest.MonkeyPatch) -> None:
    """Who lacks committed records is elected, too."""
    would_vote = voting._would_vote
    patch.setattr(
        voting,
        "_would_vote",
        lambda node, request: would_vote(node, replace(request, last=LogPosition(1 << 40, 1 << 30))),
    )


def elections_by_half(patch: pytest.MonkeyPatch) -> None:
    """Half of the voters are taken for a majority."""
    patch.setattr(VoterSet, "majority", property(lambda self: max(1, len(self.voters) // 2)))


def votes_that_are_not_written_down(patch: pytest.MonkeyPatch) -> None:
    """A voter that dies forgets whom it voted for, and in which epoch it is."""

    def persist(self: Turn, state: ElectionState) -> None:
        self.set(persisted=state)

    patch.setattr(Turn, "persist", persist)


def logs_that_never_diverge(patch: pytest.MonkeyPatch) -> None:
    """Followers keep what an old leader wrote, and go on behind it."""
    patch.setattr(RaftLog, "check", lambda self, asked: None if asked.offset <= self.end else LogPosition(self.end, 0))


def truncation_to_the_leaders_end(patch: pytest.MonkeyPatch) -> None:
    """A follower cuts where the leader's epoch ends, whatever it has there itself."""
    patch.setattr(RaftLog, "truncation", lambda self, diverging: min(diverging.offset, self.end))


def elections_without_a_question(patch: pytest.MonkeyPatch) -> None:
    """Whoever hears nothing raises its epoch."""
    look = Turn.look_for_votes

    def stand(self: Turn) -> None:
        look(self)
        self.stand()

    patch.setattr(Turn, "look_for_votes", stand)


def changes_of_voters_at_once(patch: pytest.MonkeyPatch) -> None:
    """The next change does not wait for the last one."""

    patch.setattr(voter_changes, "_busy", lambda _node: None)


def leaders_that_go_on_after_a_start(patch: pytest.MonkeyPatch) -> None:
    """Who led when it died leads again, in the same epoch."""
    begin = deciding.count_votes

    def count(turn: Turn) -> None:
        node = turn.node
        if not node.links and node.persisted.leader == node.key.id and not isinstance(node.role, Leader):
            turn.lead(frozenset((node.key.id,)))
        begin(turn)

    patch.setattr(deciding, "count_votes", count)


def snapshots_that_nobody_loads(patch: pytest.MonkeyPatch) -> None:
    """A snapshot is read, and the log goes on as it was."""
    patch.setattr(deciding, "on_loaded", lambda _turn, _event: None)


def pre_votes_for_ever(patch: pytest.MonkeyPatch) -> None:
    """A majority would vote, and nobody stands."""
    count = deciding.count_votes

    def undecided(turn: Turn) -> None:
        if not isinstance(turn.node.role, Prospective):
            count(turn)

    patch.setattr(deciding, "count_votes", undecided)


BREAKS: dict[Break, int] = {
    votes_for_everybody: 0,
    votes_for_any_log: 0,
    elections_by_half: 0,
    votes_that_are_not_written_down: 30,
    logs_that_never_diverge: 0,
    truncation_to_the_leaders_end: 190,
    elections_without_a_question: 0,
    changes_of_voters_at_once: 0,
    leaders_that_go_on_after_a_start: 0,
    snapshots_that_nobody_loads: 0,
    pre_votes_for_ever: 0,
}
"""Each with the seed from which on it is soon noticed."""


@pytest.mark.parametrize("breaks", BREAKS, ids=lambda breaks: breaks.__name__)
def test_a_broken_rule_is_noticed(breaks: Break, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch)
    with pytest.raises(ViolationError):
        play_all(play, range(BREAKS[breaks], BREAKS[breaks] + SEEDS))


def test_nothing_is_noticed_while_nothing_is_broken() -> None:
    play_all(play, range(SEEDS, SEEDS + 10))
