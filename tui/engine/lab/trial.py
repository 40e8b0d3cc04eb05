"""What is tried on one group, what the strategies make of it, and what each consumer has now and gets then."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.analyses.previews.changed_group import STAYS, GroupChange, StagedGroup
from model.analyses.previews.group_arrays import Staged
from model.analyses.previews.lab import Comparison, Dealings, Lab
from model.analyses.previews.result import Figures, GroupNames, GroupPreview, PreviewResult
from model.consumers.assignors.assignment import AssignedCase
from model.consumers.assignors.group import NOBODY, AssignorError, Flags, Ints
from tui.engine.analysis import AnalysisAnswer
from tui.engine.consumers.names import Naming, Short, naming
from tui.engine.listing import Listing, Memory
from tui.engine.questions import LabTrial, PreviewQuestion
from tui.engine.rows import Row


class Preview(NamedTuple):
    """One group of a look: where it is among those staged, its names, and its figures."""

    number: int
    names: GroupNames
    figures: GroupPreview


@dataclass(frozen=True, eq=False)
class Tried:
    """`left` is the strategy in use, or the first; `right` the one that is tried. `refused`: why there is nothing."""

    names: GroupNames
    left: str
    right: str
    comparison: Comparison | None = None
    outcome: AssignedCase | None = None
    consumer_of: Ints | None = None
    differs: str | None = None
    """What Kafka 3.9.1 does in place of `outcome`, because of a bug."""
    refused: str = ""


@dataclass(frozen=True, eq=False)
class Dealt:
    """What every strategy deals. `consumer_of` int64[M] has for each member a place in `consumers`."""

    dealings: Dealings
    consumer_of: Ints
    consumers: tuple[Short, ...]
    """Those that join come last."""
    there: Flags
    """bool[M]: who is in the group now."""
    stay: Flags
    """bool[M]: who is in it then."""

    def owners(self, members: Ints) -> Ints:
        """int64[P]: places of consumers in place of members; NOBODY stays."""
        return np.append(self.consumer_of, NOBODY)[members]

    def moves(self, strategy: str) -> Ints:
        """Places of the partitions that have another member then, nobody's among them."""
        gets = self.dealings.gets.get(strategy, self.dealings.before)
        return np.flatnonzero(gets != self.dealings.before)


def previews(look: AnalysisAnswer) -> tuple[Preview, ...]:
    """All groups of a look."""
    if look.result is None:
        return ()
    staged, result = _parts(look)
    return tuple(Preview(one.group, staged.groups[one.group], one) for one in result.groups)


def preview_of(look: AnalysisAnswer, group: str) -> Preview | None:
    """The group of this key."""
    return next((one for one in previews(look) if one.names.key == group), None)


def made_up_keys(look: AnalysisAnswer) -> tuple[str, ...]:
    """Keys of the groups in it that are not there."""
    question = look.question
    return question.made_up.keys if isinstance(question, PreviewQuestion) and question.made_up else ()


def tried(look: AnalysisAnswer, group: str, trial: LabTrial, memory: Memory) -> Tried | None:
    """What the strategy and the change on the trial make of a group; None where the group is not there."""
    found = preview_of(look, group)
    if found is None:
        return None
    made_from = (look.result, group, trial.strategy, trial.leaves, trial.joins)
    return memory.recall("lab trial", made_from, lambda: _tried(_parts(look)[0], found, trial))


def figures_tried(found: Preview, look: AnalysisAnswer, trial: LabTrial, memory: Memory) -> tuple[Figures | None, ...]:
    """What each strategy of a group comes to with the change on the trial, None where it refuses."""
    strategies = [one.strategy for one in found.figures.strategies]
    if not trial.leaves and not trial.joins:
        return tuple(one.rebalanced for one in found.figures.strategies)
    made_from = (look.result, found.number, trial.leaves, trial.joins)
    lab = Lab(_parts(look)[0], found.number)
    return memory.recall("lab strategies", made_from, lambda: lab.figures(strategies, _change(found.names, trial)))


def _change(names: GroupNames, trial: LabTrial) -> GroupChange:
    places: Mapping[str, int] = {consumer: place for place, consumer in enumerate(names.consumers)}
    return GroupChange(places.get(trial.leaves, STAYS), trial.joins)


def nothing(look: AnalysisAnswer, one: Tried | None) -> Listing:
    """A list without rows, and why."""
    return Listing(0, dict, (), lambda _: Row("", ()), lambda _: -1, (), (look,), one.refused if one else look.note)


def _tried(staged: Staged, found: Preview, trial: LabTrial) -> Tried:
    names = found.names
    strategies = [one.strategy for one in found.figures.strategies]
    left = names.uses if names.uses in strategies else strategies[0]
    right = trial.strategy if trial.strategy in strategies else left
    change, lab = _change(names, trial), Lab(staged, found.number)
    try:
        comparison, outcome = lab.compare(left, right, change), lab.outcome(right, change)
        differs = lab.differs(right, change)
    except AssignorError as error:
        return Tried(names, left, right, refused=str(error))
    consumer_of = StagedGroup(staged.arrays, found.number).consumer_of
    return Tried(names, left, right, comparison, outcome, consumer_of, differs)


def dealt(found: Preview, look: AnalysisAnswer, trial: LabTrial, memory: Memory) -> Dealt:
    """What every strategy deals in a group after the change on the trial."""

    def deal() -> Dealt:
        staged, names = _parts(look)[0], found.names
        strategies = [one.strategy for one in found.figures.strategies]
        dealings = Lab(staged, found.number).dealings(strategies, _change(names, trial))
        joined = dealings.members[len(names.members) :]
        consumer_of = StagedGroup(staged.arrays, found.number).consumer_of
        of_member = np.concatenate((consumer_of, len(names.consumers) + np.arange(len(joined))))
        named = named_in(names, joined)
        there = np.arange(len(of_member)) < len(names.members)
        stay = of_member != (names.consumers.index(trial.leaves) if trial.leaves in names.consumers else NOBODY)
        return Dealt(
            dealings, of_member, tuple(named.consumers[name] for name in (*names.consumers, *joined)), there, stay
        )

    made_from = (look.result, found.number, trial.leaves, trial.joins)
    return memory.recall("lab dealings", made_from, deal)


def named_in(names: GroupNames, joined: Iterable[str] = ()) -> Naming:
    """Short names of a group's consumers, and of those who join."""
    return naming(names.consumers, is_threaded=names.is_zookeeper).with_others(joined)


def _parts(look: AnalysisAnswer) -> tuple[Staged, PreviewResult]:
    return look.result


class Share(NamedTuple):
    """Of each consumer: its partitions, and records that it lags on those whose lag is known."""

    partitions: Ints
    lag: Ints


class Shares(NamedTuple):
    """Consumers in the order of the list: those that join come last."""

    consumers: tuple[str, ...]
    has: Share
    left: Share
    """By the strategy in use."""
    right: Share
    """By the one that is tried."""
    unknown: int
    """Partitions whose lag is not known."""
    is_lag_known: bool
    """Whether that of any is."""


def shares_of(one: Tried) -> Shares | None:
    """None where the strategy refuses the group."""
    if one.comparison is None or one.consumer_of is None:
        return None
    compared, names = one.comparison, one.names
    joined = compared.members[len(names.members) :]
    consumers = (*names.consumers, *joined)
    of_member = np.concatenate((one.consumer_of, len(names.consumers) + np.arange(len(joined))))
    lag = np.maximum(compared.lag, 0)

    def share(owner: Ints) -> Share:
        owned = owner != NOBODY
        whose = of_member[owner[owned]]
        partitions, lags = (np.bincount(whose, what[owned], len(consumers)) for what in (np.ones_like(lag), lag))
        return Share(partitions.astype(np.int64), lags.astype(np.int64))

    has, left, right = map(share, (compared.before, compared.left, compared.right))
    return Shares(consumers, has, left, right, int((compared.lag < 0).sum()), bool((compared.lag >= 0).any()))
