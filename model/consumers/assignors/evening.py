"""Moving partitions from members with many to subscribers with fewer, one by one as Kafka does, until nothing can move.

Sources: `AbstractStickyAssignor.GeneralAssignmentBuilder.performReassignments` and
`UniformHeterogeneousAssignmentBuilder.performReassignments` (3.9). Kafka tests for balance before every partition; here
the next partition that moves is found among thousands at a time, and those before it are passed over.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.consumers.assignors.group import NOBODY, AssignorError, Flags, Group, Ints
from model.consumers.assignors.movements import Movements
from model.consumers.assignors.runs import Run

CHUNK = 4096
"""Partitions looked at in one operation, to begin with."""


MOST_PASSES = 1000
"""A handful is usual. Each move makes a group more even, but one that goes back in place of another may not."""


class Move(NamedTuple):
    """The partition at this position of a run goes to that member."""

    position: int
    to: int


class Evening:
    """Owners and counts while partitions move. Changes the arrays it is given.

    `previous` is who had each partition in an older generation, and gets it back from who has at least two more.
    """

    def __init__(
        self, group: Group, owner: Ints, counts: Ints, movements: Movements, previous: Ints | None = None
    ) -> None:
        self.owner = owner
        self.counts = counts
        self.previous = previous
        self._group = group
        self._movements = movements

    def even_out(self, runs: Sequence[Run]) -> bool:
        """Passes over the runs until nothing moves any more; whether anything did. Raises AssignorError."""
        for passes in range(MOST_PASSES):
            if not self.pass_over(runs):
                return passes > 0
        raise AssignorError("partitions move around in circles: with such a group Kafka does not end either")

    def pass_over(self, runs: Sequence[Run]) -> bool:
        """One pass; whether anything moved."""
        moved = False
        for run in runs:
            move = self.next_move(run, 0)
            while move is not None:
                moved = True
                self.move(int(run.partitions[move.position]), move.to)
                move = self.next_move(run, move.position + 1)
        return moved

    def next_move(self, run: Run, position: int) -> Move | None:
        """The next partition, from `position` on, whose owner has at least two more than another subscriber has."""
        if not len(run.members):
            return None
        least = int(run.members[self.counts[run.members].argmin()])
        enough, size = int(self.counts[least]) + 1, CHUNK
        if self.previous is None and int(self.counts.max()) <= enough:
            return None
        while position < len(run.partitions):
            chunk = run.partitions[position : position + size]
            having = self.counts[self.owner[chunk]]
            moves = having > enough
            to = np.full(len(chunk), least)
            if self.previous is not None:
                back = self.goes_back(self.previous[chunk], having)
                moves |= back
                to[back] = self.previous[chunk][back]
            place = int(moves.argmax())
            if moves[place]:
                return Move(position + place, int(to[place]))
            position, size = position + len(chunk), size * 2
        return None

    def goes_back(self, previous: Ints, having: Ints) -> Flags:
        """bool[N]: whether partitions, whose owners have so many, go back to who had them before."""
        return (previous != NOBODY) & (having > self.counts[previous] + 1)

    def move(self, partition: int, to: int) -> int:
        """Moves the partition, or another one back in its place; says which."""
        topic = int(self._group.topic_of[partition])
        partition = self._movements.goes(partition, topic, int(self.owner[partition]), to)
        source = int(self.owner[partition])
        self._movements.moved(partition, topic, source, to)
        self.owner[partition] = to
        self.counts[source] -= 1
        self.counts[to] += 1
        return partition

    def moves_again(self, partition: int, to: int) -> bool:
        """Whether moving this partition moves one, itself or another in its place, that was moved before."""
        topic = int(self._group.topic_of[partition])
        return self._movements.has(self._movements.goes(partition, topic, int(self.owner[partition]), to))


def fixed_members(group: Group, owner: Ints, counts: Ints) -> Flags:
    """bool[C]: members that hold all they subscribe to, and share none of it; moving passes them over."""
    shared = np.zeros(group.members, dtype=np.bool_)
    shared[owner[(owner != NOBODY) & (group.subscriber_counts > 1)[group.topic_of]]] = True
    return (counts >= group.most) & ~shared
