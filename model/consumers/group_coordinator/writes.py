"""What is on its way to `__consumer_offsets`, and what is to be done when it is there."""

from collections.abc import Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.committed_offset import CommittedOffset
from model.consumers.group_coordinator.member import Member


class AssignmentWrite(msgspec.Struct, frozen=True):
    """A generation's assignment: it is handed out once it is replicated."""

    generation: int
    assignment: Mapping[str, bytes]


class StaticMemberWrite(msgspec.Struct, frozen=True):
    """A static member that came back with another id; `before` is put back if that cannot be written."""

    generation: int
    member_id: str
    before: Member
    can_skip_assignment: bool
    leader_before: str | None


class OffsetsWrite(msgspec.Struct, frozen=True):
    """Commits; `refused` are those of the same request whose metadata is too long."""

    offsets: Mapping[TopicPartition, CommittedOffset]
    refused: tuple[TopicPartition, ...]


Write = AssignmentWrite | StaticMemberWrite | OffsetsWrite
