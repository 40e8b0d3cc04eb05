"""The records of `__consumer_offsets` as values. Their bytes are `record_codec`'s."""

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.committed_offset import CommittedOffset


class StoredMember(msgspec.Struct, frozen=True, kw_only=True):
    """A member in a group's record."""

    member_id: str
    instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes = b""
    assignment: bytes = b""


class StoredGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A group's record: a generation with its assignment, or an empty group."""

    protocol_type: str = ""
    generation: int
    protocol: str | None = None
    leader: str | None = None
    state_since_ms: int | None = None
    members: tuple[StoredMember, ...] = ()


class OffsetRecord(msgspec.Struct, frozen=True):
    """An offset that a group has committed; None: it is no more."""

    group_id: str
    partition: TopicPartition
    value: CommittedOffset | None


class GroupRecord(msgspec.Struct, frozen=True):
    """A group; None: it is no more."""

    group_id: str
    value: StoredGroup | None


OffsetsTopicRecord = OffsetRecord | GroupRecord
