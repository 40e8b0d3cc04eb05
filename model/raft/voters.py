"""Who votes in a quorum, and how the set changes: one voter at a time, so that old and new majorities overlap.

Sources: KIP-853; `org.apache.kafka.raft.VoterSet`, `ReplicaKey` (4.3).
"""

from collections.abc import Iterable
from typing import Self

import msgspec

from model.observer.messages import Address


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
