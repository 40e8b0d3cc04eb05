"""What DescribeGroups, ListGroups and OffsetFetch tell of a group. Nothing changes by it.

Source: `GroupMetadata.summary`, `overview`, `GroupMetadataManager.getOffsets` (3.9).
"""

from collections.abc import Collection, Iterator

import msgspec
from msgspec.structs import replace

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.group import DEAD, STABLE, Group
from model.consumers.group_coordinator.member import Member

NO_OFFSET = -1


class DescribedGroup(msgspec.Struct, frozen=True):
    """A group; what members subscribed to and got is told of stable groups only."""

    group_id: str
    state: str = DEAD
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[Member, ...] = ()


class FetchedOffset(msgspec.Struct, frozen=True):
    """What OffsetFetch says of one partition; offset -1: nothing was committed."""

    partition: TopicPartition
    offset: int = NO_OFFSET
    leader_epoch: int | None = None
    metadata: str = ""
    error: str = "NONE"


def describe(group_id: str, group: Group | None) -> DescribedGroup:
    """A group as operators see it; one that is not known is dead."""
    if group is None or group.state is DEAD:
        return DescribedGroup(group_id)
    if group.state is STABLE:
        members, protocol = tuple(group.members.values()), group.protocol or ""
    else:
        members, protocol = tuple(replace(each, assignment=b"") for each in group.members.values()), ""
    return DescribedGroup(group_id, group.state, group.protocol_type or "", protocol, members)


def is_in_states(group: Group, states: Collection[str]) -> bool:
    """Whether ListGroups is to tell it: states by any case, none of them stands for all (KIP-518)."""
    return not states or group.state.lower() in {each.lower() for each in states}


def fetch_offsets(
    group: Group | None, partitions: Collection[TopicPartition] | None, *, require_stable: bool
) -> Iterator[FetchedOffset]:
    """Of these partitions, or of all that have an offset. `require_stable`: not while a newer one is on its way."""
    read = group or Group("", DEAD)
    for partition in read.offsets if partitions is None else partitions:
        offset = read.offsets.get(partition)
        if require_stable and partition in read.pending_offsets:
            yield FetchedOffset(partition, error="UNSTABLE_OFFSET_COMMIT")
        elif offset is None:
            yield FetchedOffset(partition)
        else:
            yield FetchedOffset(partition, offset.offset, offset.leader_epoch, offset.metadata)
