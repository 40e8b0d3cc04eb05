"""What follows when records have been written to `__consumer_offsets`, or could not be."""

from msgspec.structs import replace

from model.consumers.group_coordinator.committing import offsets_written
from model.consumers.group_coordinator.decision import GroupDecision
from model.consumers.group_coordinator.events import AppendCompleted
from model.consumers.group_coordinator.group import Group
from model.consumers.group_coordinator.settings import GroupSettings
from model.consumers.group_coordinator.static_members import static_member_written
from model.consumers.group_coordinator.syncing import assignment_written
from model.consumers.group_coordinator.writes import AssignmentWrite, OffsetsWrite, StaticMemberWrite


def append_completed(group: Group, event: AppendCompleted, settings: GroupSettings) -> GroupDecision:
    """Whoever waits for this write is answered; nobody does where the group is another one by now."""
    write = group.writes.get(event.request)
    rest = {request: each for request, each in group.writes.items() if request != event.request}
    left = replace(group, writes=rest) if write is not None else group
    match write:
        case AssignmentWrite():
            return assignment_written(left, event, write, settings)
        case StaticMemberWrite():
            return static_member_written(left, event, write)
        case OffsetsWrite():
            return offsets_written(left, event, write)
        case None:
            return GroupDecision(left)
