"""What is tried on one group: its names, what the strategies make of it, and the strategies that are compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from model.consumers.assignors.group import AssignorError, Ints
from model.consumers.assignors.strategy import Outcome
from spark_tasks.previews.changed_group import STAYS, Change
from spark_tasks.previews.lab import Comparison, Lab
from spark_tasks.previews.names import GroupNames
from spark_tasks.previews.result import Figures, GroupPreview, Result
from spark_tasks.previews.staged_group import StagedGroup
from spark_tasks.previews.staging import Staged
from tui.data.analyses.look import Look
from tui.data.pages.listing import Listing, Memory
from tui.data.questions import LabBench, PreviewQuestion
from tui.rows import Row


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
    outcome: Outcome | None = None
    consumer_of: Ints | None = None
    differs: str | None = None
    """What Kafka 3.9.1 does in place of `outcome`, because of a bug."""
    refused: str = ""


def previews(look: Look) -> tuple[Preview, ...]:
    """All groups of a look."""
    if look.result is None:
        return ()
    staged, result = _parts(look)
    return tuple(Preview(one.group, staged.groups[one.group], one) for one in result.groups)


def preview_of(look: Look, group: str) -> Preview | None:
    """The group of this key."""
    return next((one for one in previews(look) if one.names.key == group), None)


def made_up_keys(look: Look) -> tuple[str, ...]:
    """Keys of the groups in it that are not there."""
    question = look.question
    return question.made_up.keys if isinstance(question, PreviewQuestion) and question.made_up else ()


def tried(look: Look, group: str, bench: LabBench, memory: Memory) -> Tried | None:
    """What the strategy and the change on the bench make of a group; None where the group is not there."""
    found = preview_of(look, group)
    if found is None:
        return None
    made_from = (look.result, group, bench.strategy, bench.leaves, bench.joins)
    return memory.recall("lab bench", made_from, lambda: _tried(_parts(look)[0], found, bench))


def figures_tried(found: Preview, look: Look, bench: LabBench, memory: Memory) -> tuple[Figures | None, ...]:
    """What each strategy of a group comes to with the change on the bench, None where it refuses."""
    strategies = [one.strategy for one in found.figures.strategies]
    if not bench.leaves and not bench.joins:
        return tuple(one.rebalanced for one in found.figures.strategies)
    made_from = (look.result, found.number, bench.leaves, bench.joins)
    lab = Lab(_parts(look)[0], found.number)
    return memory.recall("lab strategies", made_from, lambda: lab.figures(strategies, _change(found.names, bench)))


def _change(names: GroupNames, bench: LabBench) -> Change:
    places: Mapping[str, int] = {consumer: place for place, consumer in enumerate(names.consumers)}
    return Change(places.get(bench.leaves, STAYS), bench.joins)


def nothing(look: Look, one: Tried | None) -> Listing:
    """A list without rows, and why."""
    return Listing(0, dict, (), lambda _: Row("", ()), lambda _: -1, (), (look,), one.refused if one else look.note)


def _tried(staged: Staged, found: Preview, bench: LabBench) -> Tried:
    names = found.names
    strategies = [one.strategy for one in found.figures.strategies]
    left = names.uses if names.uses in strategies else strategies[0]
    right = bench.strategy if bench.strategy in strategies else left
    change, lab = _change(names, bench), Lab(staged, found.number)
    try:
        comparison, outcome = lab.compare(left, right, change), lab.outcome(right, change)
        differs = lab.differs(right, change)
    except AssignorError as error:
        return Tried(names, left, right, refused=str(error))
    consumer_of = StagedGroup(staged.arrays, found.number).consumer_of
    return Tried(names, left, right, comparison, outcome, consumer_of, differs)


def _parts(look: Look) -> tuple[Staged, Result]:
    return look.result
