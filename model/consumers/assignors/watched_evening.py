"""Moving partitions where somebody had them in an older generation, or where some that are claimed do not exist.

Then it matters that Kafka looks for balance before every partition, which `evening` can do without: partitions that go
back to who had them could otherwise move for ever. `performReassignments` (3.9) has a bug besides, for those who want
to see it: such a member gets partitions back without being asked whether it still subscribes, or Kafka fails if the
member takes no part in moving.
"""

from collections.abc import Sequence

import numpy as np

from model.consumers.assignors.evening import Evening, Move, fixed_members
from model.consumers.assignors.group import NOBODY, AssignorError, Flags, Group, Ints
from model.consumers.assignors.movements import Movements
from model.consumers.assignors.runs import Run


class WatchedEvening(Evening):
    """Moves until all is balanced; `previous` owners need not subscribe."""

    def __init__(
        self, group: Group, owner: Ints, counts: Ints, movements: Movements, previous: Ints | None = None
    ) -> None:
        super().__init__(group, owner, counts, movements, previous)
        self._fixed = fixed_members(group, owner, counts)

    def shared(self, runs: Sequence[Run]) -> list[Run]:
        """What may move at all: partitions of topics with several subscribers, one named twice included."""
        group = self._group
        counts = group.subscriber_counts
        return [Run(run.partitions[counts[group.topic_of[run.partitions]] > 1], run.members) for run in runs]

    def goes_back(self, previous: Ints, having: Ints) -> Flags:
        """As the base class has it; those of members that take no part are found too."""
        return super().goes_back(previous, having) | (previous != NOBODY) & self._fixed[previous]

    def next_move(self, run: Run, position: int) -> Move | None:
        """As the base class has it, unless all is balanced. Raises AssignorError where Kafka fails."""
        move = super().next_move(run, position)
        if move is None or self._is_balanced():
            return None
        if self._fixed[move.to]:
            raise AssignorError(
                "a partition's previous owner takes no part in moving, at which Kafka 3.9.1 throws NullPointerException"
            )
        return move

    def _is_balanced(self) -> bool:
        """Source: `GeneralAssignmentBuilder.isBalanced` (3.9)."""
        group, counts = self._group, self.counts
        active = counts[~self._fixed]
        if not len(active) or int(active.min()) >= int(active.max()) - 1:
            return True
        largest = np.zeros(group.topics, dtype=np.int64)
        owned = np.flatnonzero(self.owner[: group.partitions] != NOBODY)
        np.maximum.at(largest, group.topic_of[owned], counts[self.owner[owned]])
        seen = np.array([int(largest[topics].max(initial=0)) for topics in group.subscriptions])[group.subscription_of]
        return not bool(((seen > counts + 1) & (counts != group.most) & ~self._fixed).any())
