"""What Raft has to know of a replica's log: where its epochs, its snapshots and its voters begin; not its records.

Sources: KIP-595, KIP-630, KIP-853; `org.apache.kafka.raft.internals.KafkaRaftLog` (`validateOffsetAndEpoch`),
`org.apache.kafka.raft.VoterSet` (4.3).
"""

from collections.abc import Iterable, Sequence
from typing import Self

import msgspec

from model.observer.messages import UNKNOWN, Address, LogPosition

BOOTSTRAP = LogPosition(0, 0)
"""The snapshot that a formatted directory begins with; nobody ever copies it."""


class ReplicaKey(msgspec.Struct, frozen=True, order=True):
    """A replica of the metadata log: a node's id and, where known, the id of the directory that holds its copy.

    A node that lost its disk comes back with another directory, and is another replica.
    """

    id: int
    directory: str | None = None

    def is_same_as(self, other: Self) -> bool:
        """Directories count only where both are known."""
        return self.id == other.id and (None in (self.directory, other.directory) or self.directory == other.directory)


class Voter(msgspec.Struct, frozen=True):
    """One voter as the KRaftVoters record has it: where it listens, and the kraft.versions it knows, least and most."""

    key: ReplicaKey
    address: Address | None = None
    versions: tuple[int, int] = (0, 1)


class VoterSet(msgspec.Struct, frozen=True):
    """The voters by ascending id, and the kraft.version under which they vote: 0 has no directories and no changes."""

    voters: tuple[Voter, ...] = ()
    kraft_version: int = 0

    @classmethod
    def of(cls, voters: Iterable[Voter], kraft_version: int = 1) -> Self:
        return cls(tuple(sorted(voters, key=lambda voter: voter.key.id)), kraft_version)

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(voter.key.id for voter in self.voters)

    @property
    def majority(self) -> int:
        """How many voters decide."""
        return len(self.voters) // 2 + 1

    def by_id(self, node: int) -> Voter | None:
        return next((voter for voter in self.voters if voter.key.id == node), None)

    def has(self, key: ReplicaKey) -> bool:
        voter = self.by_id(key.id)
        return voter is not None and voter.key.is_same_as(key)

    def is_alone(self, key: ReplicaKey) -> bool:
        return len(self.voters) == 1 and self.has(key)

    def added(self, voter: Voter) -> Self:
        return type(self).of((*self.voters, voter), self.kraft_version)

    def removed(self, key: ReplicaKey) -> Self:
        return type(self).of((each for each in self.voters if each.key.id != key.id), self.kraft_version)

    def updated(self, voter: Voter) -> Self:
        """With what a voter says of itself in place of what was known."""
        return self.removed(voter.key).added(voter)


class LeaderElected(msgspec.Struct, frozen=True):
    """The control record at the start of each epoch (LeaderChange)."""

    leader: int
    voters: tuple[int, ...]
    granting: tuple[int, ...]


class VotersWritten(msgspec.Struct, frozen=True):
    """The control records of a voter set (KRaftVersion, KRaftVoters). It counts as soon as it is in a log."""

    voters: VoterSet


class RaftBatch(msgspec.Struct, frozen=True):
    """Records that were appended together: offsets `offset` to `next_offset` - 1."""

    offset: int
    next_offset: int
    epoch: int
    content: bytes | LeaderElected | VotersWritten
    """Bytes are the state machine's; Raft does not look into them."""
    raw: bytes = b""
    """All of it as the leader wrote it; a replica's log has the same bytes. Empty in a leader's own new one."""


class RaftLog(msgspec.Struct, frozen=True):
    """The log of one replica."""

    base: LogPosition = LogPosition()
    """What is below it is in the snapshot of this id only."""
    end: int = 0
    epochs: tuple[tuple[int, int], ...] = ()
    """(epoch, its first offset), both ascending."""
    snapshots: tuple[LogPosition, ...] = ()
    """Ids, ascending: what is below the offset, and the epoch of the last record in it."""
    voter_sets: tuple[tuple[int, VoterSet], ...] = ((UNKNOWN, VoterSet()),)
    """(offset, voters), ascending; UNKNOWN for the configured set, or that of the bootstrap snapshot."""
    high_watermark: int = UNKNOWN
    """The largest known here. It never falls."""

    @property
    def last(self) -> LogPosition:
        """The log's end."""
        return LogPosition(self.end, self.epochs[-1][0] if self.epochs else self.base.epoch)

    @property
    def voters(self) -> VoterSet:
        """As appended last, committed or not."""
        return self.voter_sets[-1][1]

    def voters_at(self, offset: int) -> VoterSet:
        """As of what is below this offset."""
        return next(voters for at, voters in reversed(self.voter_sets) if at < offset)

    @property
    def voters_offset(self) -> int:
        return self.voter_sets[-1][0]

    def appended(self, batches: Sequence[RaftBatch]) -> Self:
        """With these behind its end."""
        epochs, voter_sets = list(self.epochs), list(self.voter_sets)
        for batch in batches:
            if not epochs or epochs[-1][0] < batch.epoch:
                epochs.append((batch.epoch, batch.offset))
            if isinstance(batch.content, VotersWritten):
                voter_sets.append((batch.offset, batch.content.voters))
        end = batches[-1].next_offset if batches else self.end
        return msgspec.structs.replace(self, end=end, epochs=tuple(epochs), voter_sets=tuple(voter_sets))

    def committed(self, high_watermark: int) -> Self:
        """After a leader told its high watermark."""
        mark = max(self.high_watermark, min(high_watermark, self.end))
        return self if mark == self.high_watermark else msgspec.structs.replace(self, high_watermark=mark)

    def end_of(self, epoch: int) -> LogPosition:
        """Of the largest epoch here that is not above this one: its end; 0-0 where there is none."""
        end = self.end
        for known, start in reversed(self.epochs):
            if known <= epoch:
                return LogPosition(end, known)
            end = start
        return self.base if self.base.epoch <= epoch else LogPosition()

    def check(self, asked: LogPosition) -> LogPosition | None:
        """What a leader with this log tells a follower whose log ends there, if it is no prefix of its own: the end of
        the largest epoch not above the follower's. None: it is a prefix, or the follower needs a snapshot."""
        if asked.offset == 0 == self.base.offset:
            return None
        end = self.end_of(asked.epoch)
        return end if end.epoch != asked.epoch or end.offset < asked.offset else None

    def snapshot_for(self, asked: LogPosition) -> LogPosition | None:
        """The snapshot that a follower whose log ends there has to read first."""
        if not self.snapshots:
            return None
        oldest, newest = self.snapshots[0], self.snapshots[-1]
        if asked.offset == 0:
            return newest if newest != BOOTSTRAP else None
        is_other = asked.offset == self.base.offset and asked.epoch != oldest.epoch
        return newest if asked.offset < self.base.offset or is_other or asked.epoch < oldest.epoch else None

    def truncation(self, diverging: LogPosition) -> int:
        """Where to cut this log after a leader's answer: a later offset cannot be in the leader's log."""
        if diverging.epoch == 0:
            return min(diverging.offset, self.end)
        end = self.end_of(diverging.epoch)
        return min(end.offset, diverging.offset) if end.epoch == diverging.epoch else end.offset

    def truncated(self, offset: int) -> Self:
        """Without what is at or above this offset; voters and epochs that began there are forgotten, too."""
        return msgspec.structs.replace(
            self,
            end=offset,
            epochs=tuple(each for each in self.epochs if each[1] < offset),
            voter_sets=tuple(each for each in self.voter_sets if each[0] < offset),
        )

    def with_snapshot(self, snapshot: LogPosition) -> Self:
        return msgspec.structs.replace(self, snapshots=tuple(sorted({*self.snapshots, snapshot})))

    def cleaned(self, snapshot: LogPosition) -> Self:
        """Without what is below the end of this snapshot, which takes its place."""
        ends = (*(start for _, start in self.epochs[1:]), self.end)
        return msgspec.structs.replace(
            self,
            base=snapshot,
            epochs=tuple(
                (epoch, max(start, snapshot.offset))
                for (epoch, start), end in zip(self.epochs, ends, strict=False)
                if end > snapshot.offset
            ),
            snapshots=tuple(each for each in self.snapshots if each >= snapshot),
        )

    def replaced(self, snapshot: LogPosition, voters: VoterSet) -> Self:
        """Empty behind a snapshot that was read from the leader, with the voters that it names."""
        return type(self)(
            base=snapshot,
            end=snapshot.offset,
            snapshots=(snapshot,),
            voter_sets=((snapshot.offset - 1, voters),),
            high_watermark=snapshot.offset,
        )
