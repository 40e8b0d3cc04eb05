"""What is tried on one group and what the strategies make of it; every list and text of the lab by its name.

Bars have partitions and lag now, by the strategy in use, and by the one that is tried, side by side. The ownership
graph has what would move: the group as it is, and as the strategy tried would have it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from model.analyses.previews.changed_group import STAYS, GroupChange, StagedGroup
from model.analyses.previews.group_arrays import Staged
from model.analyses.previews.lab import AssignmentComparison, Dealings, Lab
from model.analyses.previews.result import AssignmentFigures, GroupNames, GroupPreview, PreviewResult
from model.cluster.texts import listed
from model.consumers.assignors.assignment import AssignedCase
from model.consumers.assignors.group import NOBODY, AssignorError, Flags, Ints
from model.consumers.ownership import not_previewed
from tui.engine.consumers.names import Naming, Short, naming
from tui.engine.consumers.owners import NO_OWNER, Sharing, shared
from tui.engine.consumers.ownership import graph_window
from tui.engine.jobs import AnalysisAnswer
from tui.engine.listing import AnswerMemo, Listing
from tui.engine.messages import TextAnswer
from tui.engine.plots import SIGNS, grouped_bars, uncoloured
from tui.engine.queries import LabBars, LabGraphList, LabText
from tui.engine.questions import LabTrial, PreviewQuestion
from tui.engine.rows import Row, Window, span
from tui.engine.sheets import Sheet, clock_text
from tui.engine.text import cells, plain


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
    comparison: AssignmentComparison | None = None
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


def tried(look: AnalysisAnswer, group: str, trial: LabTrial, memory: AnswerMemo) -> Tried | None:
    """What the strategy and the change on the trial make of a group; None where the group is not there."""
    found = preview_of(look, group)
    if found is None:
        return None
    made_from = (look.result, group, trial.strategy, trial.leaves, trial.joins)
    return memory.recall("lab trial", made_from, lambda: _tried(_parts(look)[0], found, trial))


def figures_tried(
    found: Preview, look: AnalysisAnswer, trial: LabTrial, memory: AnswerMemo
) -> tuple[AssignmentFigures | None, ...]:
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


def dealt(found: Preview, look: AnalysisAnswer, trial: LabTrial, memory: AnswerMemo) -> Dealt:
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


class ConsumerShare(NamedTuple):
    """Of each consumer: its partitions, and records that it lags on those whose lag is known."""

    partitions: Ints
    lag: Ints


class ConsumerShares(NamedTuple):
    """Consumers in the order of the list: those that join come last."""

    consumers: tuple[str, ...]
    has: ConsumerShare
    left: ConsumerShare
    """By the strategy in use."""
    right: ConsumerShare
    """By the one that is tried."""
    unknown: int
    """Partitions whose lag is not known."""
    is_lag_known: bool
    """Whether that of any is."""


def shares_of(one: Tried) -> ConsumerShares | None:
    """None where the strategy refuses the group."""
    if one.comparison is None or one.consumer_of is None:
        return None
    compared, names = one.comparison, one.names
    joined = compared.members[len(names.members) :]
    consumers = (*names.consumers, *joined)
    of_member = np.concatenate((one.consumer_of, len(names.consumers) + np.arange(len(joined))))
    lag = np.maximum(compared.lag, 0)

    def share(owner: Ints) -> ConsumerShare:
        owned = owner != NOBODY
        whose = of_member[owner[owned]]
        partitions, lags = (np.bincount(whose, what[owned], len(consumers)) for what in (np.ones_like(lag), lag))
        return ConsumerShare(partitions.astype(np.int64), lags.astype(np.int64))

    has, left, right = map(share, (compared.before, compared.left, compared.right))
    return ConsumerShares(consumers, has, left, right, int((compared.lag < 0).sum()), bool((compared.lag >= 0).any()))


TITLE = "partitions and lag by consumer"
LEAST_BESIDE = 40
"""Cells of width from which two plots stand side by side."""


def lab_bars(look: AnalysisAnswer, query: LabBars, _: int, memory: AnswerMemo) -> TextAnswer:
    """Of the group in `key`, as a plot."""
    one = tried(look, query.key, query.trial, memory)
    shares = shares_of(one) if one is not None else None
    if one is None or shares is None:
        said = plain(one.refused if one else look.note or "choose a group")
        return TextAnswer(TITLE, ansi=said, plain=said)
    made_from = (one, query.width, query.height, query.mono, query.trial.leaves)
    ansi = memory.recall("lab bars", made_from, lambda: _drawn(one, shares, query))
    return TextAnswer(TITLE, ansi=ansi, plain=uncoloured(ansi))


def _drawn(one: Tried, shares: ConsumerShares, query: LabBars) -> str:
    colour, width, height = not query.mono, query.width, max(query.height - 2, 5)
    kinds = ["has", f"{one.left} gives", *([] if one.left == one.right else [f"{one.right} gives"])]
    signs = [sign.coloured if colour else sign.mono for sign in SIGNS]
    legend = "  ".join(f"{sign} {kind}" for sign, kind in zip(signs, kinds, strict=False))
    named = named_in(one.names, shares.consumers).consumers
    names = [f"X{named[name].name}" if name == query.trial.leaves else named[name].name for name in shares.consumers]
    drawn = [shares.has, shares.left, shares.right][: len(kinds)]
    lags = any(share.lag.any() for share in drawn)
    beside = lags and width >= LEAST_BESIDE
    half = width // 2 if beside else width
    why = "lag needs more room" if lags else "nobody lags" if shares.is_lag_known else "no lag is known"
    title = "partitions" if beside else f"partitions; {why}"
    plots = [_plot(title, names, [share.partitions for share in drawn], (half, height), colour=colour)]
    if beside:
        title = f"lag, {shares.unknown:,} not known" if shares.unknown else "lag, records"
        plots.append(_plot(title, names, [share.lag for share in drawn], (half, height), colour=colour))
    lines = ("".join(_filled(part, half) for part in parts).rstrip() for parts in zip_longest(*plots, fillvalue=""))
    return "\n".join((legend[:width].center(width).rstrip(), *lines))


def _plot(title: str, names: list[str], groups: list[Ints], size: tuple[int, int], *, colour: bool) -> list[str]:
    drawn = grouped_bars(names, [values.tolist() for values in groups], size, colour=colour)
    return [title[: size[0]].center(size[0]), *drawn.split("\n")]


def _filled(text: str, width: int) -> str:
    return text + " " * (width - cells(uncoloured(text)))


def lab_graph(look: AnalysisAnswer, query: LabGraphList, now_ms: int, memory: AnswerMemo) -> Window:
    """Of the group in `scope`. Its title says that this is simulated, whatever else is on the screen."""
    one = tried(look, query.scope, query.trial, memory)
    if one is None or one.comparison is None:
        return Window(0, 0, (), note=one.refused if one else look.note or "choose a group")
    compared = one.comparison
    sharing = memory.recall("lab graph", (one,), lambda: _sharing(one, compared, query.trial.leaves))
    moves, taken_up = len(compared.moves_right), int((sharing.before[sharing.moved] == NO_OWNER).sum())
    title = f"SIMULATED {one.right}: {moves:,} would move" + (f", {taken_up:,} be taken up" if taken_up else "")
    return graph_window(sharing, query, now_ms, memory, title=title)


def _sharing(one: Tried, compared: AssignmentComparison, leaves: str) -> Sharing:
    there = len(one.names.members)
    dead = np.zeros(len(compared.members), bool)
    if one.consumer_of is not None and leaves in one.names.consumers:
        dead[:there] = one.consumer_of == one.names.consumers.index(leaves)
    gets = np.isin(np.arange(len(compared.members)), compared.right)
    states = [
        "dead" if dead[member] else "joins" if member >= there else "ok" if gets[member] else "idle"
        for member in range(len(compared.members))
    ]
    arrays = (compared.topic, compared.partition, compared.right, compared.before, compared.lag)
    topic, number, owner, before, lag = (np.asarray(each, np.int64) for each in arrays)
    return shared(compared.topics, topic, number, owner, before, lag, compared.members, states, named_in(one.names))


def _leaves(found: Preview | None, name: str) -> str:
    known = named_in(found.names).consumers if found else {}
    return f"{known[name].name}, {name}" if name in known else name or "nobody"


MADE_UP = "it is not there: its consumers are taken to have what range deals them, and no lag is known"


def lab_text(look: AnalysisAnswer, query: LabText, *_: object) -> TextAnswer:
    """What is tried on a group."""
    sheet = Sheet("Lab", query.width)
    if look.stale:
        sheet.draw(span("the cluster has changed since: ", "warn"), span("r", "key"), span(" asks anew", "warn"))
    if look.is_partial:
        staged, so_far = _parts(look)
        sheet.fact("partial", f"{len(so_far.groups):,} of {len(staged.groups):,} groups", "warn")
    if look.note:
        sheet.say(look.note)
    trial, found = query.trial, preview_of(look, query.key)
    if found is not None:
        sheet.fact("group", f"{found.names.key}, {found.names.kind} {found.names.state}".rstrip())
        if found.names.key in made_up_keys(look):
            sheet.fact("made up", MADE_UP, "added")
            sheet.fact(
                "reads", listed(found.names.topics, 8) or "no topic: none matches", "" if found.names.topics else "warn"
            )
        for note in found.names.notes:
            sheet.fact("note", note, "warn")
    if others := not_previewed(look.image):
        sheet.say(others, "dim")
    sheet.fact("leaves", _leaves(found, trial.leaves), "dead" if trial.leaves else "")
    sheet.fact("joins", f"{trial.joins or 'nobody'}", "added" if trial.joins else "")
    sheet.fact("at least", "the fewest moves for the same balance", "dim")
    for name, told in look.engine_facts:
        sheet.fact(name, told)
    return sheet.fact("image of", f"{clock_text(look.image.provenance.time_ms)} UTC").answer()
