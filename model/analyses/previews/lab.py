"""One group in full, with names: who gets what under a strategy, and two strategies side by side. For this process.

A group of thousands of partitions takes milliseconds a strategy, so this needs no engine.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from model.analyses.previews.changed_group import NOTHING, ChangedGroup, GroupChange, StagedGroup, changed
from model.analyses.previews.figures import UNKNOWN, answers, decided
from model.analyses.previews.group_arrays import Staged
from model.analyses.previews.kernel import figures_of
from model.analyses.previews.result import AssignmentFigures, GroupNames, newcomers
from model.consumers.assignors.assignment import AssignedCase
from model.consumers.assignors.case import alike_to_clients
from model.consumers.assignors.group import NOBODY, AssignorError, GroupToAssign, Ints
from model.consumers.assignors.strategies import TAKEN_FOR_EQUAL, difference, failure, strategy_named, throws_at_times


@dataclass(frozen=True, eq=False)
class AssignmentComparison:
    """Every partition of a group, topic after topic: who has it now, and who gets it under either strategy.

    Members are numbers of `members`, which names those that join last; NOBODY where a partition has none.
    """

    members: tuple[str, ...]
    topics: tuple[str, ...]
    topic: Ints  # [P] index into topics
    partition: Ints  # [P] number within its topic
    lag: Ints  # [P] records, -1 where it is not known
    before: Ints  # [P]
    left: Ints  # [P]
    right: Ints  # [P]

    @property
    def differs(self) -> Ints:
        """Places of the partitions that the two strategies give to different members."""
        return np.flatnonzero(self.left != self.right)

    @property
    def moves_right(self) -> Ints:
        return _moved(self.before, self.right)


@dataclass(frozen=True, eq=False)
class Dealings:
    """Every partition of a group, who has it now, and who gets it under each of several strategies.

    Members, topics and partitions are numbered as in a comparison.
    """

    members: tuple[str, ...]
    topics: tuple[str, ...]
    topic: Ints  # [P]
    partition: Ints  # [P]
    before: Ints  # [P]
    gets: Mapping[str, Ints]  # strategy → [P]; those that refuse the group are not there


class Lab:
    """A staged group to try strategies and changes on."""

    def __init__(self, staged: Staged, number: int = 0) -> None:
        self.names: GroupNames = staged.groups[number]
        self._staged = StagedGroup(staged.arrays, number)

    def outcome(self, strategy: str, change: GroupChange = NOTHING) -> AssignedCase:
        """What a strategy makes of the group after a change; `explanations` takes it.

        Raises AssignorError where there is no such strategy, or where it refuses this group.
        """
        return self._outcome(changed(self._staged, change), strategy)

    def differs(self, strategy: str, change: GroupChange = NOTHING) -> str | None:
        """What Kafka 3.9.1 does in place of `outcome`, because of a bug, and why; None where it does the same.

        Raises AssignorError as `outcome` does.
        """
        if len(self._staged.subscriptions()) <= 1:
            return None
        ours = self.outcome(strategy, change)
        kafkas = _as_kafka_sees(ours.named.group, ours.strategy.kind in ("sticky", "cooperative"))
        causes = [TAKEN_FOR_EQUAL] if kafkas.alike and not ours.named.group.alike else []
        if not causes and not throws_at_times(ours.strategy, kafkas):
            return None
        named = replace(ours.named, group=kafkas)
        try:
            decision = decided(changed(self._staged, change), ours.strategy, named, as_kafka=True)
        except AssignorError as error:
            return failure(error, causes)
        return difference(ours, AssignedCase(ours.strategy, named, decision), causes)

    def compare(self, left: str, right: str, change: GroupChange = NOTHING) -> AssignmentComparison:
        """Two strategies side by side. Raises AssignorError as `outcome` does."""
        group, whole = changed(self._staged, change), changed(self._staged)
        topic = whole.group.topic_of
        return AssignmentComparison(
            members=(*self.names.members, *newcomers(change.joins)),
            topics=self.names.topics,
            topic=topic,
            partition=self._partitions(),
            lag=self._staged.lag,
            before=whole.before.owner,
            left=self._owner(group, left),
            right=self._owner(group, right),
        )

    def dealings(self, strategies: Sequence[str], change: GroupChange = NOTHING) -> Dealings:
        """What each strategy makes of the group after a change, partition by partition."""
        group, whole = changed(self._staged, change), changed(self._staged)
        gets: dict[str, Ints] = {}
        for strategy in strategies:
            with suppress(AssignorError):
                gets[strategy] = self._owner(group, strategy)
        members = (*self.names.members, *newcomers(change.joins))
        topic, before = whole.group.topic_of, whole.before.owner
        return Dealings(members, self.names.topics, topic, self._partitions(), before, gets)

    def figures(self, strategies: Sequence[str], change: GroupChange) -> tuple[AssignmentFigures | None, ...]:
        """What each strategy comes to after a change, None where it refuses the group.

        What a consumer that died had moves, too, whatever the strategy.
        """
        group = changed(self._staged, change)
        rows: list[list[int]] = answers(group, strategies).figures.tolist()
        found = (None if row[0] == UNKNOWN else figures_of(row) for row in rows)
        return tuple(None if one is None else _with_moves(one, group.handed_on) for one in found)

    def _partitions(self) -> Ints:
        """int64[P]: each partition's number within its topic."""
        numbers = [
            np.array(self.names.numbers.get(topic, range(count)), dtype=np.int64)
            for topic, count in zip(self.names.topics, self._staged.counts.tolist(), strict=True)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *numbers])

    def _outcome(self, group: ChangedGroup, strategy: str) -> AssignedCase:
        kept = map(self.names.members.__getitem__, group.kept.tolist())
        members = (*kept, *newcomers(group.group.members - len(group.kept)))
        chosen = strategy_named(strategy)
        named = group.named(chosen, members)
        return AssignedCase(chosen, named, decided(group, chosen, named))

    def _owner(self, group: ChangedGroup, strategy: str) -> Ints:
        """int64[P]: who gets each of the partitions that there were before the change, numbered as before it."""
        target = self._outcome(group, strategy).assignment.target
        joined = len(self.names.members) + np.arange(group.group.members - len(group.kept))
        numbers = np.concatenate((group.kept, joined, [NOBODY]))
        owner = np.full(len(self._staged.lag), NOBODY, dtype=np.int64)
        owner[np.repeat(np.isin(self._staged.topics, group.topics), self._staged.counts)] = numbers[target]
        return owner


def _with_moves(figures: AssignmentFigures, more: int) -> AssignmentFigures:
    fewest = figures.moves_lower_bound + more
    return msgspec.structs.replace(figures, moves=figures.moves + more, moves_lower_bound=fewest)


def _as_kafka_sees(group: GroupToAssign, by_clients: bool) -> GroupToAssign:
    """The group, alike where clients of 3.9.1 take it for that."""
    if group.alike or not by_clients:
        return group
    lists: list[list[int]] = [topics.tolist() for topics in group.subscriptions]
    order: list[int] = group.subscription_of[group.walk].tolist()
    return replace(group, alike=alike_to_clients([lists[row] for row in order], as_kafka=True))


def _moved(before: Ints, after: Ints) -> Ints:
    return np.flatnonzero((before != NOBODY) & (before != after))
