"""What holds at every step of every history: the safety of Raft, as KIP-595 and KIP-853 change it."""

from __future__ import annotations

from model.observer.messages import UNKNOWN, LogPosition
from model.raft.messages import Append, Command, Commit, Lead, Truncate
from model.raft.node import Leader, RaftNode, Resigned
from model.raft.raft_log import LeaderElected, RaftBatch, VoterSet
from tests.simulation.raft.disk import Disk, Snapshot
from tests.simulation.violation import promise


class Promises:
    """What all replicas have shown so far."""

    def __init__(self) -> None:
        self.leaders: dict[int, int] = {}
        """By epoch."""
        self.batches: dict[tuple[int, int], tuple[RaftBatch, int]] = {}
        """By offset and epoch: a batch, and the epoch of the one before it."""
        self.committed: list[RaftBatch] = []
        self.committed_in: list[int] = []
        """The epoch of who told it first, of each of them."""
        self.shown: dict[int, int] = {}
        """The largest high watermark that each process told; forgotten when it ends."""
        self.snapshots: dict[LogPosition, Snapshot] = {}

    def before(self, node: RaftNode, disk: Disk, command: Command) -> None:
        """A command is about to be carried out."""
        if isinstance(command, Append):
            self._append(disk, command)
        elif isinstance(command, Truncate):
            shown = self.shown.get(node.key.id, UNKNOWN)
            promise(command.offset >= shown, f"cut at {command.offset}, below what was committed, {shown}")

    def after(self, node: RaftNode, disk: Disk, command: Command) -> None:
        """It was carried out."""
        if isinstance(command, Lead):
            self._lead(node, disk, command)
        elif isinstance(command, Commit):
            self._commit(node, disk, command.high_watermark)

    def _append(self, disk: Disk, command: Append) -> None:
        last = disk.batches[-1].epoch if disk.batches else max((id_.epoch for id_ in disk.snapshots), default=0)
        for batch in command.batches:
            promise(batch.epoch >= last, f"epoch {batch.epoch} after epoch {last} at {batch.offset}")
            if batch.epoch > last:
                begins = isinstance(batch.content, LeaderElected)
                promise(begins, f"epoch {batch.epoch} begins at {batch.offset} without its leader")
            known = self.batches.setdefault((batch.offset, batch.epoch), (batch, last))
            promise(known == (batch, last), f"two batches at {batch.offset} of epoch {batch.epoch}")
            last = batch.epoch

    def _lead(self, node: RaftNode, disk: Disk, command: Lead) -> None:
        other = self.leaders.get(command.epoch)
        promise(other is None, f"{other} leads epoch {command.epoch}, and then {node.key.id} does")
        self.leaders[command.epoch] = node.key.id
        self._has_all(disk, command.epoch, f"the leader of epoch {command.epoch}, {node.key.id},")

    def _has_all(self, disk: Disk, epoch: int, who: str) -> None:
        """But for what later epochs committed: whose votes came late is elected in an old one, and leads nobody."""
        count = max((place for place, each in enumerate(self.committed_in, 1) if each <= epoch), default=0)
        held = disk.history[:count]
        promise(list(held) == self.committed[:count], f"{who} does not have all that was committed")

    def _commit(self, node: RaftNode, disk: Disk, mark: int) -> None:
        shown = self.shown.get(node.key.id, UNKNOWN)
        promise(mark > shown, f"the high watermark of {node.key.id} goes from {shown} to {mark}")
        self.shown[node.key.id] = mark
        below = [batch for batch in disk.history if batch.next_offset <= mark]
        promise(bool(below) and below[-1].next_offset == mark, f"{mark} is committed at {node.key.id}, who ends before")
        common = min(len(below), len(self.committed))
        promise(below[:common] == self.committed[:common], f"{node.key.id} committed something else below {mark}")
        self.committed.extend(below[common:])
        self.committed_in.extend(node.epoch for _ in below[common:])

    def of_voters(self, node: RaftNode) -> None:
        """A leader writes no second change of the voters before the first is committed."""
        if isinstance(node.role, Leader):
            mark = self.committed[-1].next_offset if self.committed else 0
            open_sets = [offset for offset, _ in node.log.voter_sets if offset >= mark]
            promise(len(open_sets) <= 1, f"voters change at {open_sets}, committed is {mark}")

    def snapshot(self, node: RaftNode, id_: LogPosition, made: Snapshot) -> None:
        """A state machine made one."""
        promise(id_.offset <= node.log.high_watermark, f"snapshot {id_} of what is not committed")
        known = self.snapshots.setdefault(id_, made)
        promise(known == made, f"two snapshots {id_}")

    def isolated(self, before: RaftNode, after: RaftNode) -> None:
        """Cut off from all others, a replica does not raise its epoch, but once if it led."""
        may = 1 if isinstance(before.role, Leader | Resigned) else 0
        rise = after.epoch - before.epoch
        promise(rise <= may, f"{after.key.id} raised its epoch from {before.epoch} to {after.epoch}, cut off from all")


def voters_at(node: RaftNode, offset: int) -> VoterSet:
    """Who votes by what is below an offset."""
    return [voters for at, voters in node.log.voter_sets if at < offset][-1]
