"""Replicas to ask, and what they do about it; no tests."""

from __future__ import annotations

from typing import Any, TypeVar

from model.observer.messages import NOBODY, UNKNOWN, LogPosition
from model.raft.decide import begin, decide
from model.raft.messages import (
    AnswerHeader,
    BeginQuorumEpoch,
    Command,
    ElectionState,
    EpochAnswer,
    Event,
    Fetch,
    RecordsProposed,
    Reply,
    ReplyReceived,
    Request,
    RequestReceived,
    Send,
    SendAnswer,
    TimePassed,
    Vote,
    VoteAnswer,
)
from model.raft.node import Leader, QuorumSettings, RaftNode, Role
from model.raft.raft_log import LeaderElected, RaftBatch, RaftLog, ReplicaKey, Voter, VoterSet

Kind = TypeVar("Kind")


def voter(id_: int) -> Voter:
    return Voter(ReplicaKey(id_, f"directory-{id_}"), (f"node-{id_}", 9093))


def voters(*ids: int, kraft_version: int = 1) -> VoterSet:
    return VoterSet.of([voter(id_) for id_ in ids], kraft_version)


def log_of(*epochs: tuple[int, int], voting: VoterSet, **fields: Any) -> RaftLog:
    """(epoch, its end), one after the other from offset 0."""
    log, offset = RaftLog(voter_sets=((UNKNOWN, voting),), **fields), 0
    for epoch, end in epochs:
        batches = [RaftBatch(offset, offset + 1, epoch, LeaderElected(1, voting.ids, ()))]
        batches += [RaftBatch(at, at + 1, epoch, b"record") for at in range(offset + 1, end)]
        log, offset = log.appended(batches), end
    return log


class Replica:
    """A node that is told things; `now_ms` goes on by hand."""

    def __init__(
        self,
        id_: int,
        log: RaftLog,
        state: ElectionState | None = None,
        now_ms: int = 10_000,
        settings: QuorumSettings | None = None,
    ) -> None:
        self.now_ms = now_ms
        bootstrap = tuple(each.address for each in log.voters.voters if each.address is not None)
        decision = begin(
            voter(id_), state or ElectionState(log.last.epoch), log, now_ms, settings=settings, bootstrap=bootstrap
        )
        self.node: RaftNode = decision.node
        self.commands: tuple[Command, ...] = decision.commands
        self._number = 0

    @property
    def role(self) -> Role:
        return self.node.role

    def tell(self, event: Event) -> tuple[Command, ...]:
        decision = decide(self.node, event, self.now_ms)
        self.node, self.commands = decision.node, decision.commands
        return self.commands

    def ask(self, request: Request, kind: type[Kind]) -> Kind:
        """Its answer, which comes at once."""
        self._number += 1
        commands = self.tell(RequestReceived(self._number, request))
        (reply,) = [each.reply for each in commands if isinstance(each, SendAnswer) and each.number == self._number]
        assert isinstance(reply, kind)
        return reply

    def sent(self, kind: type[Kind]) -> list[tuple[int, Kind]]:
        """Requests of this kind that the last event made it send, with their numbers."""
        sends = [each for each in self.commands if isinstance(each, Send)]
        return [(each.number, each.request) for each in sends if isinstance(each.request, kind)]

    def on_its_way(self, kind: type[Kind]) -> list[tuple[int, Kind]]:
        """Requests of this kind that have no answer yet, with their numbers."""
        links = self.node.links.values()
        return [(link.number, link.request) for link in links if link.number and isinstance(link.request, kind)]

    def hear(self, kind: type[Kind], reply: Reply) -> None:
        """The same answer to each request of this kind that is on its way."""
        for number, _ in self.on_its_way(kind):
            self.tell(ReplyReceived(number, reply))

    def wait(self, ms: int, event: Event) -> None:
        self.now_ms += ms
        self.tell(event)


def follower(
    id_: int, log: RaftLog, leader: int, epoch: int | None = None, settings: QuorumSettings | None = None
) -> Replica:
    """One whose leader has told it so, and that has not fetched yet."""
    replica = Replica(id_, log, settings=settings)
    epoch = log.last.epoch if epoch is None else epoch
    replica.tell(RequestReceived(99, BeginQuorumEpoch(None, voter(id_).key, leader, epoch, voter(leader).address)))
    return replica


def leader(id_: int, log: RaftLog) -> Replica:
    """One that all others voted for, of the epoch after its log's last."""
    replica = Replica(id_, log)
    replica.wait(5_000, TimePassed())
    for _ in range(2):
        replica.hear(Vote, VoteAnswer(AnswerHeader(epoch=replica.node.epoch), granted=True))
    replica.hear(BeginQuorumEpoch, EpochAnswer(AnswerHeader(epoch=replica.node.epoch)))
    assert isinstance(replica.role, Leader)
    return replica


def propose(replica: Replica, count: int) -> None:
    replica.tell(RecordsProposed(replica.node.epoch, tuple((1, b"record") for _ in range(count))))


def fetch(id_: int, epoch: int, end: LogPosition, high_watermark: int = UNKNOWN, max_wait_ms: int = 0) -> Fetch:
    key = voter(id_).key if id_ != NOBODY else ReplicaKey(NOBODY)
    return Fetch(None, key, epoch, end, high_watermark, max_wait_ms)
