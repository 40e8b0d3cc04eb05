"""What a group coordinator wants done. A host does it, all of it, in order, and decides nothing.

Errors are Kafka's names; NONE is none.
"""

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.events import LeavingMember
from model.consumers.group_coordinator.records import OffsetsTopicRecord

NO_GENERATION = -1


class GroupCommand(msgspec.Struct, frozen=True):
    """Something to do for a group."""


class Answer(GroupCommand, frozen=True):
    """Answers one request, by its number. Each is answered once."""

    request: int
    error: str = "NONE"


class JoinedMember(msgspec.Struct, frozen=True):
    """A member as its leader is told of it."""

    member_id: str
    instance_id: str | None
    metadata: bytes


class AnswerJoin(Answer, frozen=True, kw_only=True):
    """JoinGroup. Only the leader learns of the members."""

    member_id: str = ""
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


class AnswerSync(Answer, frozen=True, kw_only=True):
    """SyncGroup."""

    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


class AnswerHeartbeat(Answer, frozen=True):
    """Heartbeat."""


class AnswerLeave(Answer, frozen=True, kw_only=True):
    """LeaveGroup: what became of each member."""

    members: tuple[tuple[LeavingMember, str], ...] = ()


class AnswerCommit(Answer, frozen=True, kw_only=True):
    """OffsetCommit: the error of each partition. `error` is not used."""

    partitions: tuple[tuple[TopicPartition, str], ...] = ()


class AnswerOffsetDeletion(Answer, frozen=True, kw_only=True):
    """OffsetDelete; no partitions where the group has an error."""

    partitions: tuple[tuple[TopicPartition, str], ...] = ()


class AnswerGroupDeletion(Answer, frozen=True):
    """DeleteGroups, of one group."""


class AppendRecords(GroupCommand, frozen=True):
    """Append to the group's partition of `__consumer_offsets`, all in one batch, and wait for the ISR (acks=all).

    Tell `AppendCompleted` with the request's number; where it is None nobody waits, and acks=0 does.
    """

    records: tuple[OffsetsTopicRecord, ...]
    request: int | None = None
