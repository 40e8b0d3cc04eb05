"""What must be true at every moment. The truth is what is durable: the records below the high watermark, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.coordinate import FetchedOffset
from model.consumers.group_coordinator.events_and_commands import AnswerCommit
from model.consumers.group_coordinator.stored_formats import GroupRecord, OffsetRecord, StoredGroup
from tests.simulation.groups.member import Member
from tests.simulation.groups.offsets_partition import Batch, OffsetsPartition
from tests.simulation.groups.protocol import COOPERATIVE, claim_in, owned_in
from tests.simulation.violation import promise

Name = tuple[str, TopicPartition]


class Commit(NamedTuple):
    """A commit as it was sent. `restarted`: partitions where its member may rightly be behind others."""

    member: Member | None
    member_id: str
    generation: int
    sent_ms: int
    restarted: frozenset[TopicPartition]


class Durable(NamedTuple):
    """An offset, or that there is none any more, and where the log says so."""

    offset: int
    number: int
    at: int


class Promises:
    """Told of what is sent, made durable, answered and owned; raises ViolationError."""

    def __init__(self, now_ms: Callable[[], int], retention_ms: int) -> None:
        self._now_ms = now_ms
        self.groups: dict[str, StoredGroup] = {}
        self.offsets: dict[Name, Durable] = {}
        self.deleted: set[str] = set()
        """Groups that operators have deleted."""
        self.owners: dict[TopicPartition, set[Member]] = {}
        self._retention_ms = retention_ms
        self._commits: list[Commit] = []
        self._durable: dict[tuple[int, TopicPartition], int] = {}
        """Where in the log commits are, by number."""
        self._acknowledged: dict[Name, int] = {}
        """The last place in the log of a commit that was acknowledged."""
        self._refused: set[tuple[int, TopicPartition]] = set()
        """Commits that were refused, and that no coordinator has told since. They may be in the log all the same: a
        coordinator that waited too long for its followers goes on with the offset before, in Kafka, too."""

    # Offsets

    def committing(self, member: Member | None, offsets: Mapping[TopicPartition, int]) -> int:
        """A number for a commit that is being sent, which is to be its metadata."""
        if member is None:
            self._commits.append(Commit(None, "", -1, self._now_ms(), frozenset(offsets)))
        else:
            restarted = frozenset(member.restarted)
            self._commits.append(Commit(member, member.id, member.generation, self._now_ms(), restarted))
        return len(self._commits) - 1

    def durable(self, batch: Batch) -> None:
        """A batch has come below the high watermark."""
        for record in batch.records():
            match record:
                case GroupRecord():
                    self._group_stored(record)
                case OffsetRecord(group_id, partition, None):
                    self._offset_removed((group_id, partition))
                case OffsetRecord():
                    self._offset_stored(record, batch.base_offset)

    def _offset_stored(self, record: OffsetRecord, at: int) -> None:
        assert record.value is not None
        name, number = (record.group_id, record.partition), int(record.value.metadata)
        commit, before = self._commits[number], self.offsets.get(name)
        group = self.groups.get(record.group_id)
        told = f"{name}: commit {number} of {commit.member_id}, generation {commit.generation}"
        if commit.member is None:
            promise(group is None or not group.members, f"{told}: an operator's, and there are members")
        else:
            promise(group is not None and group.generation == commit.generation, f"{told} counts in {_short(group)}")
            ids = {each.member_id for each in group.members} if group else set[str]()
            promise(commit.member_id in ids, f"{told} is no member of {ids}")
        if before is not None and record.value.offset < before.offset:
            last = self._commits[before.number]
            overtaken = last.member is commit.member and last.sent_ms >= commit.sent_ms
            was_refused = (before.number, record.partition) in self._refused
            has_cause = commit.member is None or record.partition in commit.restarted or overtaken or was_refused
            promise(has_cause, f"{told}: {before.offset} of {last.member_id} goes back to {record.value.offset}")
        self.offsets[name] = Durable(record.value.offset, number, at)
        self._durable[number, record.partition] = at

    def _offset_removed(self, name: Name) -> None:
        before = self.offsets.pop(name, None)
        if before is not None and name[0] not in self.deleted:
            age_ms = self._now_ms() - self._commits[before.number].sent_ms
            promise(age_ms >= self._retention_ms, f"{name} expired after {age_ms} ms")

    def acknowledged(self, group_id: str, number: int, answer: AnswerCommit) -> None:
        """A coordinator says what became of a commit."""
        for partition, error in answer.partitions:
            if error != "NONE":
                self._refused.add((number, partition))
            else:
                at = self._durable.get((number, partition))
                promise(at is not None, f"{group_id} {partition}: commit {number} is acknowledged, and not durable")
                name = (group_id, partition)
                self._acknowledged[name] = max(self._acknowledged.get(name, -1), at or 0)

    def fetched(self, group_id: str, offsets: Iterable[FetchedOffset], partition: OffsetsPartition) -> None:
        """What the coordinator of this moment says of a group's offsets."""
        for each in offsets:
            name = (group_id, each.partition)
            if each.offset >= 0:
                self._refused.discard((int(each.metadata), each.partition))
            acknowledged = self._acknowledged.get(name)
            if acknowledged is None:
                continue
            if each.offset >= 0:
                at = self._durable.get((int(each.metadata), each.partition))
                kept = at is None or at >= acknowledged
            else:
                kept = _is_removed_after(partition, name, acknowledged)
            promise(kept, f"{name}: {each} is told, and what was acknowledged at {acknowledged} is lost")

    # Groups

    def _group_stored(self, record: GroupRecord) -> None:
        name, stored, before = record.group_id, record.value, self.groups.get(record.group_id)
        if stored is None:
            promise(before is None or not before.members, f"{name} is forgotten with members: {_short(before)}")
            self.groups.pop(name, None)
            return
        grows = before is None or stored.generation > before.generation
        promise(grows or _is_same_but_ids(before, stored), f"{name}: {_short(before)} is followed by {_short(stored)}")
        shared = [each for member in stored.members for each in owned_in(member.assignment)]
        promise(len(set(shared)) == len(shared), f"{name}: somebody shares a partition in {_short(stored)}")
        self.groups[name] = stored

    def took(self, member: Member, partitions: Iterable[TopicPartition]) -> None:
        """A member takes partitions for its own. Whoever else does so has to be fenced already."""
        group = self.groups.get(member.plan.group_id)
        if group is None or group.generation != member.generation:
            return  # it is fenced itself, and is going to learn of it
        ids = {each.member_id for each in group.members}
        if member.id not in ids:
            return
        for each in partitions:
            owners = {other for other in self.owners.get(each, set()) if other.alive and each in other.owned}
            for other in owners - {member}:
                promise(
                    other.id not in ids or _is_fenced(other, group),
                    f"{each} goes to {member} ({member.id}), and {other} ({other.id}) has it",
                )
            self.owners[each] = owners | {member}


def _is_fenced(member: Member, group: StoredGroup) -> bool:
    """Whether a member of the group may have what is another's by now: it missed a generation, and commits nothing.

    Eager ones may, and static ones, which are kept without being asked, be they where they may. A cooperative one may
    only if the coordinator last heard a request from before its generation: JoinGroup has no number, and one that was
    given up on may be read late, in Kafka, too, after newer ones on another connection (KIP-848 ends this).
    """
    if member.generation == group.generation:
        return False
    if member.plan.strategy != COOPERATIVE or member.instance_id is not None:
        return True
    (said,) = (each.subscription for each in group.members if each.member_id == member.id)
    return claim_in(said, member.plan.topic).generation < member.generation


def _is_same_but_ids(before: StoredGroup | None, after: StoredGroup) -> bool:
    """A static member has come back under another id."""

    def shares(group: StoredGroup) -> list[tuple[str, bytes]]:
        return sorted((each.instance_id or each.member_id, each.assignment) for each in group.members)

    return before is not None and before.generation == after.generation and shares(before) == shares(after)


def _is_removed_after(partition: OffsetsPartition, name: Name, at: int) -> bool:
    """Whether the leader's log says so, be it not replicated yet."""
    later = [batch for batch in partition.copies[partition.leader] if batch.base_offset > at]
    records = [record for batch in later for record in batch.records() if isinstance(record, OffsetRecord)]
    return any((each.group_id, each.partition) == name and each.value is None for each in records)


def _short(group: StoredGroup | None) -> str:
    return "nothing" if group is None else f"generation {group.generation} of {[m.member_id for m in group.members]}"
