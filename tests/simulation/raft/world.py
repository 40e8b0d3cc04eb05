"""Replicas of a metadata log in virtual time: processes, disks, and a network that is slow, cut or broken."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from model.observer.messages import UNKNOWN, Address, LogPosition
from model.raft.decide import begin, decide
from model.raft.messages import (
    AnswerHeader,
    Command,
    Event,
    Exit,
    FetchAnswer,
    LogCleaned,
    Reply,
    ReplyReceived,
    Request,
    RequestFailed,
    RequestReceived,
    Send,
    SendAnswer,
    SnapshotAnswer,
    SnapshotLoaded,
    SnapshotMade,
    StoreSnapshot,
    TimePassed,
    Vote,
    VoteAnswer,
)
from model.raft.node import Decision, RaftNode
from model.raft.raft_log import Voter, VoterSet
from tests.simulation.raft.disk import SNAPSHOT_BYTES, Disk, Snapshot
from tests.simulation.raft.promises import Promises, voters_at
from tests.simulation.violation import ViolationError, promise

FETCHED_BATCHES = 8
"""At most so many in an answer."""
SNAPSHOT_SIZE = 250
OUTSIDE = 0
"""Who asks for changes of the voters."""
NOTHING_KNOWN = AnswerHeader()
"""What a node of an old release tells in an error."""


@dataclass
class Replica:
    """One machine: its disk, and the process on it, if there is one."""

    me: Voter
    disk: Disk
    node: RaftNode | None = None
    life: int = 0
    """Counts processes: what is meant for an earlier one is lost."""
    wake_ms: int = 0
    paused_until_ms: int = 0
    answers_to: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Who waits for the answer to a request: replica, its life, its number."""
    cut_from_all: RaftNode | None = None
    """As it was when it was isolated."""


class World:
    """All replicas. Every delay and every fault comes from one seeded generator."""

    def __init__(self, rng: random.Random, voters: VoterSet, everybody: tuple[Voter, ...], old: frozenset[int]) -> None:
        self.rng = rng
        self.now_ms = 0
        self.steps = 0
        self.promises = Promises()
        self.old = old
        """Voters that know no pre-vote."""
        self.said: list[str] = []
        self.cuts: set[tuple[int, int]] = set()
        self.slow_ms = 5
        self.fragile = 0.0
        """How likely a process dies of whatever happens to it, in the middle of what it does about that."""
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._sequence = 0
        self._requests = 0
        self.replicas = {voter.key.id: Replica(voter, Disk(voters)) for voter in everybody}
        self._by_address = {voter.address: voter.key.id for voter in everybody}
        self._bootstrap: tuple[Address, ...] = tuple(voter.address for voter in everybody if voter.address)

    def say(self, what: str) -> None:
        self.said.append(f"{self.now_ms:>7} {what}")

    def later(self, delay_ms: int, what: Callable[[], None]) -> None:
        self._sequence += 1
        heapq.heappush(self._queue, (self.now_ms + delay_ms, self._sequence, what))

    def run_until(self, end_ms: int) -> None:
        while self._queue and self._queue[0][0] <= end_ms:
            self.now_ms, _, what = heapq.heappop(self._queue)
            self.steps += 1
            what()
        self.now_ms = end_ms

    def living(self) -> Iterator[tuple[int, RaftNode]]:
        for id_, replica in self.replicas.items():
            if replica.node is not None:
                yield id_, replica.node

    def start(self, id_: int) -> None:
        replica = self.replicas[id_]
        if replica.node is not None:
            return
        replica.disk.mend()
        replica.life += 1
        replica.answers_to.clear()
        replica.paused_until_ms = 0
        self.promises.shown.pop(id_, None)
        seed = self.rng.getrandbits(60)
        decision = begin(
            replica.me, replica.disk.state, replica.disk.log(), self.now_ms, bootstrap=self._bootstrap, seed=seed
        )
        self.say(f"{id_} starts: {replica.disk.state}, log ends at {replica.disk.end}")
        self._carry_out(id_, decision)

    def crash(self, id_: int) -> None:
        replica = self.replicas[id_]
        if replica.node is not None:
            self.say(f"{id_} dies")
            self._end(replica)

    def _end(self, replica: Replica) -> None:
        replica.node, replica.cut_from_all = None, None
        for asker, life, number in replica.answers_to.values():
            self._lose(asker, life, number)
        replica.answers_to.clear()

    def tell(self, id_: int, event: Event) -> None:
        """Something happens to a process; later if it stands still."""
        replica = self.replicas[id_]
        if replica.node is None:
            return
        if self.now_ms < replica.paused_until_ms:
            life = replica.life
            self.later(replica.paused_until_ms - self.now_ms, lambda: self._tell_life(id_, life, event))
            return
        if self.fragile and self.rng.random() < self.fragile:
            self.crash_within(id_, event)
            self.later(self.rng.randint(1, 300), lambda: self.start(id_))
            return
        try:
            decision = decide(replica.node, event, self.now_ms)
        except Exception as error:
            raise ViolationError(f"{event!r} at {id_}: {error!r}") from error
        if replica.cut_from_all is not None and isinstance(event, RequestReceived | ReplyReceived):
            replica.cut_from_all = decision.node  # it came before the cut, and waited while this one stood still
        self._carry_out(id_, decision)

    def _tell_life(self, id_: int, life: int, event: Event) -> None:
        if self.replicas[id_].life == life:
            self.tell(id_, event)

    def _carry_out(self, id_: int, decision: Decision, dies_after: int | None = None) -> None:
        replica = self.replicas[id_]
        before, replica.node = replica.node, decision.node
        for place, command in enumerate(decision.commands):
            if replica.node is None:
                return
            if dies_after == place:
                replica.disk.tear(command, self.rng)
                self.crash(id_)
                return
            self.promises.before(decision.node, replica.disk, command)
            replica.disk.carry_out(command, self.promises.snapshots)
            self.promises.after(decision.node, replica.disk, command)
            self._outwards(id_, replica, command)
        self.promises.of_voters(decision.node)
        if replica.cut_from_all is not None:
            self.promises.isolated(replica.cut_from_all, decision.node)
        if before is None or type(before.role) is not type(decision.node.role) or before.epoch != decision.node.epoch:
            self.say(f"{id_} is {type(decision.node.role).__name__} in epoch {decision.node.epoch}")
        if replica.node is not None:
            self._wake(id_, decision.wake_ms)

    def _wake(self, id_: int, at_ms: int) -> None:
        replica = self.replicas[id_]
        replica.wake_ms = max(at_ms, self.now_ms + 1)
        life, wake_ms = replica.life, replica.wake_ms

        def wake() -> None:
            if (replica.life, replica.wake_ms) == (life, wake_ms):
                self.tell(id_, TimePassed())

        self.later(wake_ms - self.now_ms, wake)

    def _outwards(self, id_: int, replica: Replica, command: Command) -> None:
        match command:
            case Send(number, address, request):
                self._send(id_, number, self._by_address[address], request)
            case SendAnswer(number):
                self._answer(id_, replica, command)
            case StoreSnapshot(snapshot, is_last=True):
                loaded = SnapshotLoaded(snapshot, replica.disk.snapshots[snapshot].voters)
                life = replica.life
                self.later(self.rng.randint(0, 20), lambda: self._tell_life(id_, life, loaded))
            case Exit(fault):
                promise(not fault, f"{id_} ends: {fault}")
                self.say(f"{id_} has stopped")
                self._end(replica)
            case _:
                pass

    def _delay(self) -> int:
        return self.rng.randint(0, self.slow_ms)

    def _send(self, sender: int, number: int, receiver: int, request: Request) -> None:
        life = self.replicas[sender].life

        def arrive() -> None:
            replica = self.replicas[receiver]
            if (sender, receiver) in self.cuts:
                if self.rng.random() < 0.5:
                    self._lose(sender, life, number)
            elif replica.node is None:
                self._lose(sender, life, number)
            elif receiver in self.old and isinstance(request, Vote) and request.pre_vote:
                refused = VoteAnswer(msgspec.structs.replace(NOTHING_KNOWN, error="UNSUPPORTED_VERSION"))
                self._send_back(receiver, (sender, life, number), refused)
            else:
                self._requests += 1
                replica.answers_to[self._requests] = (sender, life, number)
                self.tell(receiver, RequestReceived(self._requests, request))

        self.later(self._delay(), arrive)

    def _lose(self, sender: int, life: int, number: int) -> None:
        if sender != OUTSIDE:
            self.later(self._delay(), lambda: self._tell_life(sender, life, RequestFailed(number)))

    def _answer(self, id_: int, replica: Replica, answer: SendAnswer) -> None:
        asker = replica.answers_to.pop(answer.number)
        reply = self._filled(replica, answer)
        if asker[0] == OUTSIDE:
            self.say(f"{id_} answers: {reply}")
        else:
            self._send_back(id_, asker, reply)

    def _send_back(self, id_: int, asker: tuple[int, int, int], reply: Reply) -> None:
        sender, life, number = asker

        def arrive() -> None:
            if (id_, sender) not in self.cuts:
                self._tell_life(sender, life, ReplyReceived(number, reply))
            elif self.rng.random() < 0.5:
                self._lose(sender, life, number)

        self.later(self._delay(), arrive)

    def _filled(self, replica: Replica, answer: SendAnswer) -> Reply:
        """With what the host reads from its disk."""
        reply = answer.reply
        if isinstance(reply, FetchAnswer) and answer.records_from != UNKNOWN:
            found = [batch for batch in replica.disk.batches if batch.offset >= answer.records_from]
            promise(bool(found) and found[0].offset == answer.records_from, f"no batch begins at {answer.records_from}")
            return msgspec.structs.replace(reply, batches=tuple(found[: self.rng.randint(1, FETCHED_BATCHES)]))
        if isinstance(reply, SnapshotAnswer) and reply.known.error == "NONE":
            promise(reply.snapshot in replica.disk.snapshots, f"no snapshot {reply.snapshot}")
            piece = bytes(min(SNAPSHOT_BYTES, SNAPSHOT_SIZE - reply.position))
            return msgspec.structs.replace(reply, size=SNAPSHOT_SIZE, data=piece)
        return reply

    def ask(self, id_: int, request: Request) -> None:
        """Somebody from outside asks."""
        replica = self.replicas[id_]
        if replica.node is not None:
            self._requests += 1
            replica.answers_to[self._requests] = (OUTSIDE, 0, 0)
            self.say(f"{id_} is asked: {request}")
            self.tell(id_, RequestReceived(self._requests, request))

    def isolate(self, id_: int) -> None:
        """Nothing gets to a replica, nor away from it."""
        replica = self.replicas[id_]
        if replica.node is not None and self.now_ms >= replica.paused_until_ms:
            self.say(f"{id_} is cut off")
            for other in self.replicas.keys() - {id_}:
                self.cuts |= {(id_, other), (other, id_)}
            if not replica.node.log.voters.is_alone(replica.me.key):
                replica.cut_from_all = replica.node

    def heal(self) -> None:
        """Every connection is whole again, and fast."""
        self.say("all connections are whole")
        self.cuts.clear()
        self.slow_ms, self.fragile = 5, 0.0
        for replica in self.replicas.values():
            replica.cut_from_all = None

    def crash_within(self, id_: int, event: Event) -> None:
        """The process dies between two of the commands that an event leads to."""
        replica = self.replicas[id_]
        if replica.node is not None and self.now_ms >= replica.paused_until_ms:
            decision = decide(replica.node, event, self.now_ms)
            if decision.commands:
                self._carry_out(id_, decision, dies_after=self.rng.randrange(len(decision.commands)))
            self.crash(id_)

    def make_snapshot(self, id_: int) -> None:
        """A state machine writes a snapshot of all that it has read, and deletes what that makes superfluous."""
        replica = self.replicas[id_]
        if replica.node is None or self.now_ms < replica.paused_until_ms:
            return
        mark = replica.node.log.high_watermark
        held = tuple(batch for batch in replica.disk.history if batch.next_offset <= mark)
        if not held or mark <= replica.disk.start:
            return
        position = LogPosition(mark, held[-1].epoch)
        snapshot = Snapshot(held, voters_at(replica.node, mark))
        self.promises.snapshot(replica.node, position, snapshot)
        replica.disk.snapshots[position] = snapshot
        self.say(f"{id_} makes snapshot {position}")
        self.tell(id_, SnapshotMade(position))
        if self.rng.random() < 0.7:
            replica.disk.clean(position)
            self.tell(id_, LogCleaned(position))
