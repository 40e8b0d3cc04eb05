"""Three voters of a KRaft quorum, in memory: elections, replication, truncation and snapshots as a test wants them.

Who is deposed and does not know it answers on as the leader it was, and writes on. Answers follow KafkaRaftClient and
KafkaRaftLog.validateOffsetAndEpoch (4.3). Each record says its offset, its epoch and who wrote it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from model.log.records import Record, encode_batch
from model.observer.messages import (
    NOBODY,
    Address,
    FetchLog,
    FetchSnapshot,
    KnownLeader,
    LogFetched,
    LogPosition,
    SnapshotFetched,
)
from tests.model.observer.play import snapshot_file

PIECE_BYTES = 150


@dataclass(frozen=True)
class Entry:
    """A batch."""

    base: int
    end: int
    epoch: int
    data: bytes


@dataclass
class Voter:
    """One node: its log, and whom it takes for the leader."""

    number: int
    log: list[Entry] = field(default_factory=list)
    epoch: int = 0
    leader: int = NOBODY
    high_watermark: int = -1
    epoch_start: int = 0
    same: int = 0
    """So far its log is known to be its leader's."""
    snapshot: LogPosition | None = None
    """The newest."""
    kept: list[LogPosition] = field(default_factory=list[LogPosition])
    """Older ones that are there, too."""
    start: int = 0
    """Where its log starts: below, there is only the snapshot."""

    @property
    def snapshots(self) -> list[LogPosition]:
        return self.kept if self.snapshot is None else [*self.kept, self.snapshot]

    @property
    def leads(self) -> bool:
        return self.leader == self.number

    @property
    def end(self) -> LogPosition:
        return LogPosition(self.log[-1].end, self.log[-1].epoch) if self.log else LogPosition()

    def write(self, count: int) -> None:
        base = self.end.offset
        records = [Record(at, 7, value=f"{at}@{self.epoch}/{self.number}".encode()) for at in range(base, base + count)]
        self.log.append(Entry(base, base + count, self.epoch, encode_batch(records, leader_epoch=self.epoch)))


class SimulatedQuorum:
    """Voters 1 to 3. `committed` is what a majority has; it only grows, or this simulation is wrong."""

    def __init__(self) -> None:
        self.voters = {number: Voter(number) for number in (1, 2, 3)}
        self.committed: list[Entry] = []
        self.truncated = 0
        """Entries that some voter had to give up."""

    @property
    def high_watermark(self) -> int:
        return self.committed[-1].end if self.committed else 0

    @property
    def newest(self) -> int:
        return max(voter.epoch for voter in self.voters.values())

    def elect(self, number: int) -> bool:
        """If a majority has no more than it. Who grants its vote knows the epoch; the leader is told by `learn`."""
        candidate = self.voters[number]
        own = (candidate.end.epoch, candidate.end.offset)
        granting = [voter for voter in self.voters.values() if (voter.end.epoch, voter.end.offset) <= own]
        if len(granting) < 2:
            return False
        epoch = self.newest + 1
        for voter in granting[:2] if candidate in granting[:2] else [candidate, granting[0]]:
            voter.epoch, voter.leader, voter.same = epoch, NOBODY, 0
        candidate.leader, candidate.high_watermark, candidate.epoch_start = number, -1, candidate.end.offset
        candidate.write(1)
        return True

    def learn(self, number: int) -> None:
        """Of the newest epoch and its leader."""
        leader = self.leader()
        voter = self.voters[number]
        if leader is not None and (voter.epoch, voter.leader) != (leader.epoch, leader.number):
            voter.epoch, voter.leader, voter.same = leader.epoch, leader.number, 0

    def leader(self) -> Voter | None:
        """Of the newest epoch."""
        return next((voter for voter in self.voters.values() if voter.leads and voter.epoch == self.newest), None)

    def replicate(self, number: int, most: int) -> None:
        """So many batches to a follower that knows the leader, after it has dropped what the leader does not have."""
        leader, follower = self.leader(), self.voters[number]
        if leader is None or follower is leader or follower.epoch != leader.epoch or follower.leader != leader.number:
            return
        same = 0
        while same < min(len(leader.log), len(follower.log)) and leader.log[same] == follower.log[same]:
            same += 1
        self.truncated += len(follower.log) - same
        follower.log = leader.log[: same + most]
        follower.same = follower.end.offset
        self._commit(leader)

    def _commit(self, leader: Voter) -> None:
        following = (each.same for each in self.voters.values() if each.epoch == leader.epoch and each is not leader)
        ends = sorted((leader.end.offset, *following), reverse=True)
        if ends[1] <= max(leader.epoch_start, leader.high_watermark):
            return
        leader.high_watermark = ends[1]
        committed = [entry for entry in leader.log if entry.end <= ends[1]]
        assert committed[: len(self.committed)] == self.committed, "the simulation lost what was committed"
        self.committed = committed

    def make_snapshot(self, number: int, *, trims: bool) -> None:
        """Of what it knows to be committed; `trims`: its log starts behind it then."""
        voter = self.voters[number]
        if voter.high_watermark <= voter.start:
            return
        last = [entry for entry in voter.log if entry.end <= voter.high_watermark][-1]
        voter.snapshot = LogPosition(last.end, last.epoch)
        if trims:
            voter.start = last.end

    def fetch(self, number: int, question: FetchLog, most: int) -> LogFetched:
        """What a voter answers to an observer; at most so many batches."""
        voter = self.voters[number]
        leader = KnownLeader(voter.leader, voter.epoch)
        if (error := self._refusal(voter, question.epoch)) != "NONE":
            endpoints = {} if voter.leader == NOBODY else {voter.leader: address_of(voter.leader)}
            return LogFetched(error=error, leader=leader, endpoints=endpoints)
        offset, mark = question.end.offset, voter.high_watermark
        if voter.snapshot is not None and (offset == 0 or offset < voter.start):
            return LogFetched(leader=leader, high_watermark=mark, snapshot=voter.snapshot, log_start=voter.start)
        starts = [each for each in voter.snapshots if each.offset == voter.start]
        if voter.snapshot is not None and starts and offset == voter.start and question.end.epoch != starts[0].epoch:
            return LogFetched(leader=leader, high_watermark=mark, snapshot=voter.snapshot, log_start=voter.start)
        known = [entry for entry in voter.log if entry.epoch <= question.end.epoch]
        own = LogPosition(known[-1].end, known[-1].epoch) if known else LogPosition()
        if offset and (own.epoch != question.end.epoch or own.offset < offset):
            return LogFetched(leader=leader, high_watermark=mark, diverging=own, log_start=voter.start)
        entries = [entry for entry in voter.log if entry.end > offset][:most]
        data = b"".join(each.data for each in entries)
        return LogFetched(leader=leader, high_watermark=mark, records=data, log_start=voter.start)

    def fetch_snapshot(self, number: int, question: FetchSnapshot) -> SnapshotFetched:
        """As a real controller: whatever is wrong is UNKNOWN_SERVER_ERROR."""
        voter = self.voters[number]
        if self._refusal(voter, question.epoch) != "NONE" or question.snapshot not in voter.snapshots:
            return SnapshotFetched(top_error="UNKNOWN_SERVER_ERROR")
        data = self.snapshot(question.snapshot)
        end = question.position + PIECE_BYTES
        return SnapshotFetched(
            leader=KnownLeader(voter.leader, voter.epoch),
            snapshot=question.snapshot,
            size=len(data),
            position=question.position,
            data=data[question.position : end],
        )

    def snapshot(self, snapshot: LogPosition) -> bytes:
        """The file of this id, the same at each voter."""
        texts = [f"{entry.base}-{entry.epoch}" for entry in self.committed if entry.end <= snapshot.offset]
        return snapshot_file(snapshot.epoch, texts)

    @staticmethod
    def _refusal(voter: Voter, epoch: int) -> str:
        if epoch < voter.epoch:
            return "FENCED_LEADER_EPOCH"
        if epoch > voter.epoch:
            return "UNKNOWN_LEADER_EPOCH"
        return "NONE" if voter.leads else "NOT_LEADER_OR_FOLLOWER"


def address_of(number: int) -> Address:
    """Where a voter listens."""
    return f"voter-{number}", 9093
