"""One decision of a replica while it is being made, and the moves between what a replica can be.

Each move that changes epoch, leader or vote is persisted before anything is sent after it.
Source: `org.apache.kafka.raft.QuorumState` (4.3: `transitionTo…`).
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from model.observer.messages import NOBODY, UNKNOWN, Address
from model.raft.messages import (
    AnswerHeader,
    Append,
    ChangeAnswer,
    Command,
    Commit,
    ElectionState,
    Exit,
    FetchAnswer,
    Lead,
    Persist,
    Reply,
    Request,
    Send,
    SendAnswer,
    StepDown,
)
from model.raft.node import (
    Candidate,
    Decision,
    Follower,
    Leader,
    ParkedFetch,
    PeerLink,
    Prospective,
    RaftNode,
    Resigned,
    Unattached,
    wake_ms,
)
from model.raft.raft_log import LeaderElected, RaftBatch, VotersWritten


class Turn:
    """The node as it becomes, and the commands so far."""

    def __init__(self, node: RaftNode, now_ms: int) -> None:
        self.node = node
        self.now_ms = now_ms
        self.commands: list[Command] = []

    def set(self, **changed: Any) -> None:
        self.node = msgspec.structs.replace(self.node, **changed)

    def set_role(self, **changed: Any) -> None:
        self.set(role=msgspec.structs.replace(self.node.role, **changed))

    def decision(self) -> Decision:
        return Decision(self.node, tuple(self.commands), wake_ms(self.node, self.now_ms))

    def draw(self, below: int) -> int:
        """A random number from 0, by a linear congruential generator (Knuth's MMIX)."""
        seed = (self.node.seed * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % (1 << 64)
        self.set(seed=seed)
        return (seed >> 33) % below if below > 0 else 0

    def election_time(self) -> int:
        """When the next election timeout is: random between once and twice the setting."""
        base = self.node.settings.election_timeout_ms
        return self.now_ms + base + self.draw(base)

    def known(self, error: str = "NONE") -> AnswerHeader:
        state = self.node.persisted
        return AnswerHeader(error, state.epoch, state.leader, self.node.leader_address)

    def answer(self, number: int, reply: Reply, records_from: int = UNKNOWN) -> None:
        self.commands.append(SendAnswer(number, reply, records_from))

    def send(self, address: Address, request: Request) -> None:
        number = self.node.last_number + 1
        link = PeerLink(number, request, self.now_ms)
        self.set(last_number=number, links={**self.node.links, address: link})
        self.commands.append(Send(number, address, request))

    def is_free(self, address: Address) -> bool:
        """Whether a request may be sent there: none is on its way, and the last one did not just fail."""
        link = self.node.links.get(address, PeerLink())
        return not link.number and self.now_ms >= link.not_before_ms

    def send_if_free(self, address: Address | None, request: Request) -> bool:
        """Whether it was sent."""
        if address is None or not self.is_free(address):
            return False
        self.send(address, request)
        return True

    def fault(self, why: str) -> None:
        """What must never be: the process ends, as going on could lose what is committed."""
        self.commands.append(Exit(why))

    def persist(self, state: ElectionState) -> None:
        if state != self.node.persisted:
            self.set(persisted=state)
            self.commands.append(Persist(state))

    def append(self, contents: Sequence[tuple[int, bytes | LeaderElected | VotersWritten]]) -> None:
        """Writes batches of so many records to a leader's log."""
        offset, batches = self.node.log.end, list[RaftBatch]()
        for count, content in contents:
            batches.append(RaftBatch(offset, offset + count, self.node.epoch, content))
            offset += count
        self.take_in(tuple(batches))

    def take_in(self, batches: tuple[RaftBatch, ...]) -> None:
        """Writes batches that a leader made to the log."""
        if batches:
            self.set(log=self.node.log.appended(batches))
            self.commands.append(Append(batches))

    def commit(self, high_watermark: int) -> None:
        log = self.node.log.committed(high_watermark)
        if log is not self.node.log:
            self.set(log=log)
            self.commands.append(Commit(log.high_watermark))

    def unattached(self, epoch: int, leader: int = NOBODY) -> None:
        """It goes on without a leader, or with one of whom nobody says where it listens."""
        node = self.node
        running = self._running_ms()
        self._leave()
        voted = node.persisted.voted if epoch == node.epoch else None
        self.persist(ElectionState(epoch, leader, voted))
        self.set(role=Unattached((running or self.election_time()) if node.may_stand else None))

    def _running_ms(self) -> int | None:
        """An election timeout that goes on; a lost vote's does not, nor does one that is over."""
        match self.node.role:
            case Unattached(elect_at_ms) | Candidate(elect_at_ms) | Prospective(elect_at_ms) | Resigned(elect_at_ms):
                at_ms = elect_at_ms
            case Follower(_, fetch_until_ms):
                at_ms = fetch_until_ms
            case Leader():
                return None
        return at_ms if at_ms is not None and at_ms > self.now_ms else None

    def follow(self, epoch: int, leader: int, address: Address) -> None:
        """It fetches from this leader."""
        node = self.node
        if epoch == node.epoch and node.persisted.leader not in (NOBODY, leader):
            self.fault(f"{node.persisted.leader} and {leader} both lead epoch {epoch}")
            return
        if isinstance(node.role, Follower) and (epoch, leader) == (node.epoch, node.persisted.leader):
            self.set_role(address=address)
            return
        self._leave()
        voted = node.persisted.voted if epoch == node.epoch else None
        self.persist(ElectionState(epoch, leader, voted))
        self.set_following(address)

    def set_following(self, address: Address) -> None:
        """A follower from now on; nothing is persisted."""
        timeout_at_ms = self.now_ms + self.node.settings.fetch_timeout_ms
        self.set(role=Follower(address, timeout_at_ms, update_at_ms=timeout_at_ms))

    def adopt(self, epoch: int, leader: int, address: Address | None) -> None:
        """Takes in who leads an epoch that is not below its own."""
        address = address or self.node.voter_address(leader)
        if leader in (NOBODY, self.node.key.id):
            if epoch > self.node.epoch:
                self.unattached(epoch)
        elif address is None:
            if epoch > self.node.epoch or self.node.persisted.leader == NOBODY:
                self.unattached(epoch, leader)
        else:
            self.follow(epoch, leader, address)

    def look_for_votes(self) -> None:
        """It asks the others whether they would vote for it."""
        address = self.node.leader_address if isinstance(self.node.role, Follower) else None
        self.set(role=Prospective(self.election_time(), frozenset((self.node.key.id,)), address=address))

    def give_up(self) -> None:
        """Nobody would vote for it: all is as before."""
        role, state = self.node.role, self.node.persisted
        if isinstance(role, Prospective) and role.address is not None and state.leader != NOBODY:
            self.set_following(role.address)
        else:
            self.set(role=Unattached(self.election_time() if self.node.may_stand else None))

    def stand(self) -> None:
        """It stands for election in the next epoch, and votes for itself."""
        self.persist(ElectionState(self.node.epoch + 1, NOBODY, self.node.key))
        self.set(role=Candidate(self.election_time(), frozenset((self.node.key.id,))))

    def lead(self, granting: frozenset[int]) -> None:
        """It was elected: the first record of its epoch says so, and names the voters where no log does yet, or where
        it says something else of the leader than is true."""
        node = self.node
        self.persist(ElectionState(node.epoch, node.key.id, node.persisted.voted))
        self.set(role=Leader(node.log.end, self.now_ms + node.settings.check_quorum_ms))
        contents: list[tuple[int, LeaderElected | VotersWritten]] = []
        contents.append((1, LeaderElected(node.key.id, node.log.voters.ids, tuple(sorted(granting)))))
        voters = node.log.voters.updated(node.me) if node.is_voter else node.log.voters
        if voters.kraft_version > 0 and (node.log.voters_offset == UNKNOWN or voters != node.log.voters):
            contents.append((2, VotersWritten(voters)))  # their kraft.version, too
        self.append(contents)
        self.commands.append(Lead(node.epoch, node.log.end))

    def resign(self) -> None:
        """It leads no more; voters are told, those with most of the log first."""
        node = self.node
        successors = ()
        if isinstance(node.role, Leader):
            ends = {each: progress.end for each, progress in node.role.replicas.items()}
            others = sorted(node.others, key=lambda voter: -ends.get(voter.key.id, UNKNOWN))
            successors = tuple(voter.key for voter in others)
        self._leave()
        self.set(role=Resigned(self.election_time(), successors))

    def _leave(self) -> None:
        """A leader's followers learn at once that it leads no more."""
        role = self.node.role
        if not isinstance(role, Leader):
            return
        state = self.node.persisted
        refusal = AnswerHeader("NOT_LEADER_OR_FOLLOWER", state.epoch)
        for waiting in role.waiting:
            self.answer(waiting.number, FetchAnswer(refusal))
        if role.change is not None:
            self.answer_change(role.change.number, refusal, "the leader changed meanwhile")
        self.commands.append(StepDown(state.epoch))

    def answer_change(self, number: int, known: AnswerHeader, why: str = "") -> None:
        self.answer(number, ChangeAnswer(known, why))

    def wait(self, waiting: ParkedFetch) -> None:
        role = self.node.role
        if isinstance(role, Leader):
            self.set_role(waiting=(*role.waiting, waiting))
