"""Which partition of `__consumer_offsets` a group belongs to, and who may answer for it.

Source: `GroupMetadataManager.partitionFor`, `kafka.coordinator.group.GroupCoordinator.validateGroupStatus` (3.9).
"""

from enum import Enum

from model.consumers.assignors.java_strings import signed, string_hash

_LEAST_INT = -(2**31)


class Standing(Enum):
    """What this broker is to a group, and the error that strangers get."""

    COORDINATOR = "NONE"
    LOADING = "COORDINATOR_LOAD_IN_PROGRESS"
    """It leads the group's partition, and reads it."""
    STRANGER = "NOT_COORDINATOR"
    """It does not lead the group's partition."""
    CLOSED = "COORDINATOR_NOT_AVAILABLE"
    """It has not started yet, or shuts down."""


def partition_of(group_id: str, partitions: int) -> int:
    """The partition whose leader coordinates the group."""
    code = signed(string_hash(group_id))
    return (0 if code == _LEAST_INT else abs(code)) % partitions


def standing_error(group_id: str, standing: Standing, *, needs_name: bool) -> str | None:
    """Why no group is looked at. `needs_name`: requests of members; offsets may be kept for a group without a name."""
    if needs_name and not group_id:
        return "INVALID_GROUP_ID"
    return None if standing is Standing.COORDINATOR else standing.value
