"""Strategies as a matrix: a row each below how things are now, a cell a partition, in the colour of who gets it.

A cell has the number of a consumer, `2` of `c2`; what moves against now is `[2]` where there is room, else `>2`, else
merely bright. Where not all partitions find room, a cell stands for several of one topic in a row: it is whose most of
them are, `+` where they are not all, and `>` where most of them move.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from model.analyses.previews.result import AssignmentFigures, StrategyPreview
from model.consumers.assignors.group import NOBODY, Flags, Ints
from tui.engine.consumers.names import Short
from tui.engine.filters import Texts
from tui.engine.glyphs import LEVELS, bar
from tui.engine.jobs import AnalysisAnswer
from tui.engine.lab.pages import Dealt, Preview, dealt, figures_tried, preview_of
from tui.engine.listing import AnswerMemo, Listing, place_in
from tui.engine.queries import BLANK, LabStrategyList
from tui.engine.questions import PLAYED
from tui.engine.rows import Column, Line, Row, Span, line, span
from tui.engine.text import plain

NOW = "now"
STRATEGY = 18
MOVES_BAR = 8
MOST_MEMBERS = 16
"""Members with a cell of their own in the column `balance`; of more, a cell stands for several."""
EDGES, GAP = 4, 1
"""Cells of a list that are not its columns', and between columns: as the list draws them."""
NOBODYS = "-"


class Slots(NamedTuple):
    """Cells of the matrix: each `width` wide, for a range of partitions' places; a blank before each new topic."""

    ranges: tuple[range, ...]
    begins: frozenset[int]
    """Places of the cells that a topic begins with, but for the first."""
    width: int

    @property
    def size(self) -> int:
        """Cells of the terminal, all together."""
        return len(self.ranges) * self.width + len(self.begins)


def slots(topic: Ints, room: int, digits: int, widths: Sequence[int] = (3, 2)) -> Slots:
    """Cells for P partitions, topic after topic, in so much room: of the first width in which each has its own.

    `widths` are cells more than `digits` less 1; where none will do, a cell stands for several, in proportion.
    """
    if not len(topic):
        return Slots((), frozenset(), digits + 1)
    starts: list[int] = [0, *(np.flatnonzero(np.diff(topic)) + 1).tolist(), len(topic)]
    for width in (digits - 1 + width for width in widths):
        if len(topic) * width + len(starts) - 2 <= room:
            return Slots(tuple(range(p, p + 1) for p in range(len(topic))), frozenset(starts[1:-1]), width)
    width = digits + 1
    count = max((room - (len(starts) - 2)) // width, 1)
    if count < len(starts) - 1:  # more topics than cells
        starts, count = [0, len(topic)], max(room // width, 1)
    ranges: list[range] = []
    begins: list[int] = []
    for first, last in pairwise(starts):
        begins.append(len(ranges))
        share = max((last - first) * (count - len(starts) + 1) // len(topic), 0) + 1
        share = min(share, last - first)
        edges = [first + (last - first) * each // share for each in range(share + 1)]
        ranges += [range(*each) for each in pairwise(edges)]
    return Slots(tuple(ranges), frozenset(begins[1:]), width)


def matrix_line(grid: Slots, owner: Ints, moved: Ints | None, named: Sequence[Short]) -> Line:
    """A row. `owner` int64[P] are places in `named`, or NOBODY; `moved` are places of partitions; None: it is now."""
    moves = np.zeros(len(owner), bool)
    moves[[] if moved is None else moved] = True
    pieces: list[Span] = []
    for place, each in enumerate(grid.ranges):
        if place in grid.begins:
            pieces.append((" ", ""))
        part = owner[each.start : each.stop]
        whose = int(part[0]) if len(part) == 1 else int(np.bincount(part + 1).argmax()) - 1
        is_moved = 2 * int(moves[each.start : each.stop].sum()) >= max(len(part), 1)
        is_mixed = bool((part != whose).any())
        short = None if whose == NOBODY else named[whose]
        calm = "error" if short is None else short.fill if moved is None else short.kept
        style = short.moved if is_moved and short else calm
        number = short.number if short else NOBODYS
        pieces.append((_signed(number, grid.width, is_moved=is_moved, is_mixed=is_mixed), style))
    return tuple(pieces)


def _signed(number: str, width: int, *, is_moved: bool, is_mixed: bool) -> str:
    if is_moved and not is_mixed and width >= len(number) + 2:
        return f"[{number}]".center(width)
    sign = ">" if is_moved else "+" if is_mixed else " "
    text = number if width <= len(number) else f"{sign}{number}" if width == len(number) + 1 else f"{sign}{number} "
    return text.rjust(width)


def topic_title(grid: Slots, topic: Ints, topics: Sequence[str]) -> str:
    """Topics' names above the first of their cells."""
    text = ""
    at = 0
    for place, each in enumerate(grid.ranges):
        if place in grid.begins:
            at += 1
            text = text[: at - 1].ljust(at)
        if not place or place in grid.begins:
            text = text.ljust(at) + plain(topics[int(topic[each.start])])
        at += grid.width
    return text[: grid.size]


def ruler(grid: Slots, numbers: Ints) -> str:
    """Partitions' numbers above their cells; where they find no room, those that do."""
    signs = [" "] * grid.size
    at, free = 0, 0
    for place, each in enumerate(grid.ranges):
        if place in grid.begins:
            at, free = at + 1, 0
        number = str(int(numbers[each.start]))
        start = at + max(grid.width - len(number), 0) // (2 if grid.width - len(number) >= 2 else 1)
        if start >= free and start + len(number) <= grid.size:
            signs[start : start + len(number)] = number
            free = start + len(number) + (grid.width <= len(number))
        at += grid.width
    return "".join(signs)


def lab_strategies(look: AnalysisAnswer, query: LabStrategyList, _: int, memory: AnswerMemo) -> Listing:
    """For the group in `scope`, after what happens to it on the trial: partitions' numbers, now, and each strategy."""
    found = preview_of(look, query.scope)
    made_from = (look.result, query.scope, query.trial.strategy, query.trial.leaves, query.trial.joins)
    if found is None:
        nothing = look.note or "choose a group"
        return Listing(0, dict, (), lambda _: Row("", ()), place_in([]), (), made_from, nothing)
    deal = dealt(found, look, query.trial, memory)
    drawing = _Drawing(found, deal, query, figures_tried(found, look, query.trial, memory))
    keys = [f"{BLANK}0", f"{BLANK}1", *(one.strategy for one in found.figures.strategies)]
    names = ["", NOW, *keys[2:]]
    return Listing(
        count=len(keys),
        fields=lambda: {"strategy": Texts(lambda: names)},
        shown=("strategy",),
        row=lambda index: drawing.row(index, keys[index]),
        place=place_in(keys),
        columns=drawing.columns,
        made_from=made_from,
        nothing=look.note or "choose a group",
    )


class _Drawing:
    """Rows of one group's strategies."""

    def __init__(
        self, found: Preview, deal: Dealt, query: LabStrategyList, tried: Sequence[AssignmentFigures | None]
    ) -> None:
        self.found, self.deal, self.query, self.tried = found, deal, query, tried
        self.strategies = found.figures.strategies
        self.is_as_it_is = not query.trial.leaves and not query.trial.joins
        self.members = min(len(deal.consumer_of), MOST_MEMBERS)
        self.grid = self._grid()
        dealings = deal.dealings
        title = topic_title(self.grid, dealings.topic, dealings.topics)
        self.columns = (Column("strategy", STRATEGY), Column(title, self.grid.size), *self._figures_columns())

    def _grid(self) -> Slots:
        dealings = self.deal.dealings
        digits = max((len(short.number) for short in self.deal.consumers), default=1)
        room = self.query.width - EDGES - STRATEGY - GAP
        needed = sum(column.width + GAP for column in self._figures_columns() if column.rank <= 1)
        wished = sum(column.width + GAP for column in self._figures_columns())
        for left, widths in ((room - wished, (3, 2)), (room - needed, (2, 1))):
            grid = slots(dealings.topic, max(left, 1), digits, widths)
            if all(len(each) == 1 for each in grid.ranges):
                return grid
        return slots(dealings.topic, max(room - needed, 1), digits, ())

    def _figures_columns(self) -> tuple[Column, ...]:
        changed = (Column("1 leaves", 8, ">", rank=5), Column("1 joins", 7, ">", rank=5)) if self.is_as_it_is else ()
        return (
            Column("moves", 5, ">"),
            Column("", MOVES_BAR, rank=1),
            Column("at least", 8, ">", rank=3),
            Column("idle", 4, ">", rank=1),
            Column("balance", max(self.members, 7), rank=2),
            Column("each", 7, ">", rank=2),
            Column("most lag", 9, ">", rank=4),
            *changed,
        )

    def row(self, index: int, key: str) -> Row:
        dealings = self.deal.dealings
        if index == 0:
            return Row(
                key,
                (line(span(self._legend(), "dim")), line(span(ruler(self.grid, dealings.partition), "dim"))),
            )
        named = self.deal.consumers
        if index == 1:
            drawn = matrix_line(self.grid, self.deal.owners(dealings.before), None, named)
            now = self.found.figures.now
            figures = self._shared(now, dealings.before, self.deal.there)
            return Row(key, (line(span(NOW, "strong")), drawn, line(span("-", "dim")), (), (), *figures))
        one, figures = self.strategies[index - 2], self.tried[index - 2]
        used = self.found.names.uses == one.strategy
        name = line(span(one.strategy, "leader" if used else ""))
        gets = dealings.gets.get(one.strategy)
        if figures is None or gets is None:
            return Row(key, (name, line(span("refuses this group", "warn"))))
        moved = self.deal.moves(one.strategy)
        if one.strategy == self.query.trial.strategy:
            gets, moved = played(dealings.before, gets, moved, self.query.played)
        drawn = matrix_line(self.grid, self.deal.owners(gets), moved, named)
        cells = (
            name,
            drawn,
            *self._moves(figures),
            *self._shared(figures, dealings.gets[one.strategy], self.deal.stay),
        )
        return Row(key, (*cells, *(self._changes(one) if self.is_as_it_is else ())), mark="*" if used else "")

    def _legend(self) -> str:
        digits = self.grid.width
        return "[n]: it moves" if digits >= 3 else ">n: it moves" if digits == 2 else "bright: it moves"

    def _moves(self, figures: AssignmentFigures) -> tuple[Line, ...]:
        most = max((one.moves for one in self.tried if one is not None), default=0)
        style = "ok" if figures.moves <= figures.moves_lower_bound else "changed"
        return (
            line(span(f"{figures.moves:,}", style)),
            line(span(bar(figures.moves / most if most else 0, MOVES_BAR), style)),
            line(span(f"{figures.moves_lower_bound:,}", "dim")),
        )

    def _shared(self, figures: AssignmentFigures, owner: Ints, there: Flags) -> tuple[Line, ...]:
        """Idle, balance, fewest to most, most lag."""
        return (
            line(span(f"{figures.idle:,}", "warn" if figures.idle else "dim")),
            balance_line(owner, there, [self.deal.consumers[each] for each in self.deal.consumer_of], self.members),
            line(f"{figures.partitions_min:,}-{figures.partitions_max:,}"),
            line(span("-" if figures.lag_max is None else f"{figures.lag_max:,}", "dim")),
        )

    def _changes(self, one: StrategyPreview) -> tuple[Line, ...]:
        died, joined = one.worst_leave, one.joined
        moves = (
            None if died is None else died.figures.moves + died.handed_on,
            None if joined is None else joined.moves,
        )
        return tuple(line(span("-", "dim")) if each is None else line(f"{each:,}") for each in moves)


def played(before: Ints, gets: Ints, moved: Ints, step: int) -> tuple[Ints, Ints]:
    """Who has the partitions `step` frames of PLAYED from now to then, and which of them have moved by then."""
    done = moved[: len(moved) * min(max(step, 0), PLAYED) // PLAYED]
    owner = before.copy()
    owner[done] = gets[done]
    return owner, done


def balance_line(owner: Ints, there: Flags, named: Sequence[Short], width: int) -> Line:
    """Partitions of each member, as one of eight levels up to the largest; of some members at once where many are.

    `named` are the members' names, `there` says who is in the group at all.
    """
    counts = np.bincount(owner[owner != NOBODY], minlength=len(named))
    most = max(int(counts.max(initial=0)), 1)
    width = min(width, len(counts))
    edges = [len(counts) * each // width for each in range(width + 1)] if width else []
    pieces: list[Span] = []
    for first, last in pairwise(edges):
        largest = first + int(counts[first:last].argmax())
        level = -(-int(counts[largest]) * 8 // most)
        empty = ("0", "warn") if there[first:last].any() else (" ", "")
        pieces.append((LEVELS[level], named[largest].hue) if level else empty)
    return tuple(pieces)
