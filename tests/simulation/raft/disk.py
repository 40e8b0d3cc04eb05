"""What a replica of the metadata log has on its disk: all that outlives a crash."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from model.observer.messages import UNKNOWN, LogPosition
from model.raft.messages import Append, Command, ElectionState, Persist, StartLogAt, StoreSnapshot, Truncate
from model.raft.raft_log import RaftBatch, RaftLog, VoterSet
from tests.simulation.violation import promise

SNAPSHOT_BYTES = 100
"""A snapshot is told in pieces of so many."""


@dataclass(frozen=True)
class Snapshot:
    """Everything below an offset, and who votes by it."""

    batches: tuple[RaftBatch, ...]
    voters: VoterSet


@dataclass
class Disk:
    """Files; written by commands, as far as these were carried out."""

    voters: VoterSet
    """By the configuration, or in the snapshot that the directory was formatted with."""
    state: ElectionState = field(default_factory=ElectionState)
    start: int = 0
    batches: list[RaftBatch] = field(default_factory=list)
    snapshots: dict[LogPosition, Snapshot] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.batches[-1].next_offset if self.batches else self.start

    @property
    def history(self) -> tuple[RaftBatch, ...]:
        """All that it has, from offset 0: what a snapshot holds, then the log."""
        held = next((each.batches for id_, each in self.snapshots.items() if id_.offset == self.start), ())
        return (*held, *self.batches)

    def log(self) -> RaftLog:
        """As it is read when a process starts."""
        log = RaftLog(voter_sets=((UNKNOWN, self.voters),))
        if self.start:
            newest = max(id_ for id_ in self.snapshots if id_.offset == self.start)
            log = log.replaced(newest, self.snapshots[newest].voters)
        for id_ in self.snapshots:
            log = log.with_snapshot(id_)
        return log.appended(self.batches)

    def carry_out(self, command: Command, snapshots: dict[LogPosition, Snapshot]) -> None:
        """One command that writes. `snapshots`: all that were ever made, for those that are copied."""
        match command:
            case Persist(state):
                before = self.state
                promise(state.epoch >= before.epoch, f"the epoch falls from {before.epoch} to {state.epoch}")
                is_second = state.epoch == before.epoch and before.voted not in {None, state.voted}
                promise(not is_second, f"a second vote in epoch {state.epoch}: {before.voted}, {state.voted}")
                self.state = state
            case Append(batches):
                for batch in batches:
                    self._append(batch)
            case Truncate(offset):
                promise(offset >= self.start, f"cut at {offset}, below the log's start at {self.start}")
                self.batches = [batch for batch in self.batches if batch.next_offset <= offset]
                promise(self.end == offset, f"cut at {offset}, within a batch")
            case StoreSnapshot(snapshot, is_last=True):
                self.snapshots[snapshot] = snapshots[snapshot]
            case StartLogAt(snapshot):
                self.start_at(snapshot)
            case _:
                pass

    def _append(self, batch: RaftBatch) -> None:
        promise(batch.offset == self.end, f"a batch at {batch.offset}, yet the log ends at {self.end}")
        self.batches.append(batch)

    def start_at(self, snapshot: LogPosition) -> None:
        """The log is emptied; older snapshots are deleted with it."""
        self.start, self.batches = snapshot.offset, []
        self.snapshots = {id_: each for id_, each in self.snapshots.items() if id_ >= snapshot}

    def clean(self, snapshot: LogPosition) -> None:
        """What this snapshot has is deleted from the log."""
        self.start = snapshot.offset
        self.batches = [batch for batch in self.batches if batch.offset >= snapshot.offset]
        self.snapshots = {id_: each for id_, each in self.snapshots.items() if id_ >= snapshot}

    def mend(self) -> None:
        """What a start does: a snapshot was copied, and the crash came before the log was emptied for it."""
        newest = max(self.snapshots, default=LogPosition())
        last_epoch = self.batches[-1].epoch if self.batches else 0
        if newest.offset > self.end or (newest.offset > self.start and newest.epoch > last_epoch):
            self.start_at(newest)

    def tear(self, command: Command, rng: random.Random) -> None:
        """The process died while this was written: the first batches of it, perhaps."""
        if isinstance(command, Append):
            for batch in command.batches[: rng.randint(0, len(command.batches))]:
                self._append(batch)
