"""Assigning free partitions by least load, and moving partitions to subscribers with fewer until nothing can move.

Sources: `AbstractStickyAssignor.GeneralAssignmentBuilder` (`maybeAssign`, `performReassignments`), its
`PartitionMovements`, and `UniformHeterogeneousAssignmentBuilder` (3.9). Kafka tests for balance before every partition;
`Balancing` finds the next partition that moves among thousands at a time and passes over those before it.
`CheckedBalancing` tests as often as Kafka does: partitions that go back to previous owners could move for ever.
If a partition is to go where another one of the same topic came from, that other one goes back instead.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from model.consumers.assignors.group import NOBODY, AssignorError, Flags, GroupToAssign, Ints, spans
from model.consumers.assignors.java_hashing import HashSet
from model.consumers.assignors.java_strings import signed


class PartitionRun(NamedTuple):
    """Neighbouring partitions, and who may have them, by id."""

    partitions: Ints
    members: Ints


def runs_of(partitions: Ints, labels: Ints, members: Sequence[Ints]) -> list[PartitionRun]:
    """Cuts where the label changes; a label says which of `members` may have the partition."""
    if not len(partitions):
        return []
    starts = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist()]
    ends = [*starts[1:], len(partitions)]
    return [PartitionRun(partitions[s:e], members[int(labels[s])]) for s, e in zip(starts, ends, strict=True)]


def runs_by_subscribers(group: GroupToAssign, partitions: Ints) -> list[PartitionRun]:
    """Cuts where topics with other subscribers begin."""
    sets = group.subscriber_sets
    return runs_of(partitions, sets.of_topic[group.topic_of[partitions]], sets.members)


def runs_of_topics(group: GroupToAssign, topics: Ints) -> list[PartitionRun]:
    """All partitions of these topics in their order, cut in the same way."""
    counts, sets = group.partition_counts[topics], group.subscriber_sets
    partitions = spans(group.first[:-1][topics], counts)
    ends = np.cumsum(counts)
    runs = runs_of(topics, sets.of_topic[topics], sets.members)
    last = np.cumsum([len(run.partitions) for run in runs], dtype=np.intp)
    bounds = [0, *ends[last - 1].tolist()]
    return [PartitionRun(partitions[s:e], run.members) for run, s, e in zip(runs, bounds, bounds[1:], strict=False)]


def rounds(begins: Ints, ends: Ints) -> Ints:
    """intp: who comes up in rounds 0, 1, …, if number i takes part from round `begins[i]` until before `ends[i]`."""
    plays = begins < ends
    edges = np.unique(np.concatenate((begins[plays], ends[plays])))
    parts = [
        np.tile(np.flatnonzero((begins <= start) & (ends > start)), end - start)
        for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)


def least_loaded(counts: Ints, partitions: int) -> Ints:
    """intp[partitions]: who gets each, if it always goes to whoever has least, the first of them where several do.

    `counts` are what everybody has before.
    """
    if partitions == 1:
        return np.array([counts.argmin()])
    ordered = np.sort(counts)
    before = np.cumsum(ordered) - ordered
    raised = int(np.searchsorted(np.arange(len(counts)) * ordered - before, partitions, side="right"))
    level, over = divmod(partitions + int(ordered[:raised].sum()), raised)
    filled = rounds(counts, np.full(len(counts), level, dtype=np.int64))
    return np.concatenate((filled, np.flatnonzero(counts <= level)[:over]))


def fill(owner: Ints, counts: Ints, runs: Iterable[PartitionRun]) -> None:
    """Writes owners of the runs' partitions, and counts them; where nobody may have them they stay free."""
    for partitions, members in runs:
        if len(members) and len(partitions):
            takers = least_loaded(counts[members], len(partitions))
            owner[partitions] = members[takers]
            counts[members] += np.bincount(takers, minlength=len(members))


Pair = tuple[int, int]


class Movements:
    """The movements so far. `code` is a partition's hash code in Java, which decides which of several goes back."""

    def __init__(self, code: Callable[[int], int]) -> None:
        self._code = code
        self._of_partition: dict[int, Pair] = {}
        self._moved: dict[tuple[int, Pair], HashSet] = {}

    def goes(self, partition: int, topic: int, source: int, to: int) -> int:
        """The partition that is really moved if this one is to go from its owner `source` to another member."""
        source = self._of_partition.get(partition, (source, to))[0]
        opposite = self._moved.get((topic, (to, source)))
        return partition if opposite is None else opposite.first()

    def has(self, partition: int) -> bool:
        """Whether the partition was moved, and not back."""
        return partition in self._of_partition

    def moved(self, partition: int, topic: int, source: int, to: int) -> None:
        """Takes down a movement; one that leads back to where the partition was at first leaves no trace."""
        known = self._of_partition.pop(partition, None)
        if known is not None:
            partitions = self._moved[topic, known]
            partitions.remove(partition)
            if not len(partitions):
                del self._moved[topic, known]
            source = known[0]
        if source != to:
            self._of_partition[partition] = (source, to)
            self._moved.setdefault((topic, (source, to)), HashSet()).add(partition, self._code(partition))


def topic_partition_code(group: GroupToAssign, partition: int) -> int:
    """`TopicPartition.hashCode` as an unsigned 32-bit number."""
    topic = int(group.topic_of[partition])
    return (31 * (31 + partition - int(group.first[topic])) + int(group.topic_hashes[topic])) & 0xFFFFFFFF


def topic_id_partition_code(group: GroupToAssign, partition: int) -> int:
    """`TopicIdPartition.hashCode` as an unsigned 32-bit number; the group's hashes are those of topic ids."""
    topic = int(group.topic_of[partition])
    return (31 * (31 + signed(int(group.topic_hashes[topic]))) + partition - int(group.first[topic])) & 0xFFFFFFFF


CHUNK = 4096
"""Partitions looked at in one operation, to begin with."""


MOST_PASSES = 1000
"""A handful is usual. Each move makes a group more even, but one that goes back in place of another may not."""


class PartitionMove(NamedTuple):
    """The partition at this position of a run goes to that member."""

    position: int
    to: int


class Balancing:
    """Owners and counts while partitions move. Changes the arrays it is given.

    `previous` is who had each partition in an older generation, and gets it back from who has at least two more.
    """

    def __init__(
        self, group: GroupToAssign, owner: Ints, counts: Ints, movements: Movements, previous: Ints | None = None
    ) -> None:
        self.owner = owner
        self.counts = counts
        self.previous = previous
        self._group = group
        self._movements = movements

    def even_out(self, runs: Sequence[PartitionRun]) -> bool:
        """Passes over the runs until nothing moves any more; whether anything did. Raises AssignorError."""
        for passes in range(MOST_PASSES):
            if not self.pass_over(runs):
                return passes > 0
        raise AssignorError("partitions move around in circles: with such a group Kafka does not end either")

    def pass_over(self, runs: Sequence[PartitionRun]) -> bool:
        """One pass; whether anything moved."""
        moved = False
        for run in runs:
            move = self.next_move(run, 0)
            while move is not None:
                moved = True
                self.move(int(run.partitions[move.position]), move.to)
                move = self.next_move(run, move.position + 1)
        return moved

    def next_move(self, run: PartitionRun, position: int) -> PartitionMove | None:
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
                return PartitionMove(position + place, int(to[place]))
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


def fixed_members(group: GroupToAssign, owner: Ints, counts: Ints) -> Flags:
    """bool[C]: members that hold all they subscribe to, and share none of it; moving passes them over."""
    shared = np.zeros(group.members, dtype=np.bool_)
    shared[owner[(owner != NOBODY) & (group.subscriber_counts > 1)[group.topic_of]]] = True
    return (counts >= group.most) & ~shared


class CheckedBalancing(Balancing):
    """Moves until all is balanced; `previous` owners need not subscribe."""

    def __init__(
        self, group: GroupToAssign, owner: Ints, counts: Ints, movements: Movements, previous: Ints | None = None
    ) -> None:
        super().__init__(group, owner, counts, movements, previous)
        self._fixed = fixed_members(group, owner, counts)

    def shared(self, runs: Sequence[PartitionRun]) -> list[PartitionRun]:
        """What may move at all: partitions of topics with several subscribers, one named twice included."""
        group = self._group
        counts = group.subscriber_counts
        return [PartitionRun(run.partitions[counts[group.topic_of[run.partitions]] > 1], run.members) for run in runs]

    def goes_back(self, previous: Ints, having: Ints) -> Flags:
        """As the base class has it; those of members that take no part are found too."""
        return super().goes_back(previous, having) | (previous != NOBODY) & self._fixed[previous]

    def next_move(self, run: PartitionRun, position: int) -> PartitionMove | None:
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
