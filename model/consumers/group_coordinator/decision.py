"""What was decided about one group. A value; carrying it out is the host's part."""

from collections.abc import Callable

import msgspec

from model.consumers.group_coordinator.commands import GroupCommand
from model.consumers.group_coordinator.group import Group


class GroupDecision(msgspec.Struct, frozen=True):
    """The group from now on, what to do, and a sentence for each thing that an operator may ask about."""

    group: Group
    commands: tuple[GroupCommand, ...] = ()
    reasons: tuple[str, ...] = ()

    def then(self, step: "Callable[[Group], GroupDecision]") -> "GroupDecision":
        """This, and what the step decides about the group as it is afterwards."""
        later = step(self.group)
        return GroupDecision(later.group, self.commands + later.commands, self.reasons + later.reasons)


def because(group: Group, sentence: str, *commands: GroupCommand) -> GroupDecision:
    """A decision with a sentence, which begins with the group's name."""
    return GroupDecision(group, commands, (f"Group {group.group_id}: {sentence}",))
