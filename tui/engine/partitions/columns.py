"""Brokers and racks across a list: whose names stand above the cells, which of them are in view, and filled cells.

A name is as wide as there is room for: `b1042`, its digits, or its last digits under what several have in common, as
`01 02 42` under `10xx`. What a cell says is a sign in it, and the colour that fills it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from tui.engine.listing import NOWHERE, VisibleColumns, visible_columns
from tui.engine.rows import Across, Column, Line, Span

CELLS = {
    "L": "cell-leader",
    "o": "cell-isr",
    "-": "cell-out",
    "X": "cell-dead",
    "+": "cell-adding",
    "?": "cell-dead",
    ".": "cell-none",
}
"""Sign → style of a filled cell."""

NARROW = 2
"""Characters of a cell that has no blank before it: its colour fills that, too."""


def thing(broker: int) -> str:
    """A broker as it is chosen: `b3`."""
    return f"b{broker}"


@dataclass(frozen=True)
class MapColumns:
    """All brokers, and which of them are in view, under names of so many last digits: 0 is a whole id with its sign.

    `seen` is led by a blank.
    """

    all: Sequence[int]
    seen: VisibleColumns
    marked: Collection[str] = ()
    digits: int = 0
    room: int = 0
    """Characters there are for them."""

    @property
    def is_whole(self) -> bool:
        """Whether there is room for all brokers."""
        return self.seen.count == len(self.all) and self.width <= self.room

    @property
    def brokers(self) -> Sequence[int]:
        """Those in view."""
        return self.all[self.seen.view]

    @property
    def width(self) -> int:
        """Characters of all cells together."""
        return self.seen.width

    @property
    def cut(self) -> str:
        """`brokers 3-12 of 30` where not all are in view."""
        first, last, total = self.seen.first, self.seen.first + self.seen.count, len(self.all)
        return f"brokers {first + 1}-{last} of {total}" if self.seen.count < total else ""

    def across(self, place: int) -> Across:
        """All brokers as things to choose; `place` is the list's column that holds the map."""
        return self.seen.across([thing(broker) for broker in self.all], place)

    def column(self, is_dead: Callable[[int], bool]) -> Column:
        """One column for the whole map: the names above the cells, `X5` for a dead broker, `#5` for a marked one."""

        def sign(broker: int) -> str:
            return "#" if thing(broker) in self.marked else "X" if is_dead(broker) else "b"

        signs = [sign(broker) for broker in self.brokers]
        if not self.digits:
            names = [f"{sign}{broker}" for sign, broker in zip(signs, self.brokers, strict=True)]
            return Column(self.seen.title(names), self.width)
        names = [tail(broker, self.digits) for broker in self.brokers]
        title = self.seen.title(names, [sign.replace("b", " ") for sign in signs])
        return Column(title, self.width, head=self._heads().rstrip())

    def _heads(self) -> str:
        runs = runs_of(self.brokers, self.digits)
        cells = ((" " + name)[: count * self.seen.cell].ljust(count * self.seen.cell) for name, count in runs)
        return "".join(cells)[1 - self.seen.lead :]

    def line(self, signs: Mapping[int, str]) -> Line:
        """One row: a filled cell for each broker in view, with its sign; `.` where it has none."""
        if self.seen.column != NOWHERE:
            cells = [(sign, CELLS[sign]) for sign in (signs.get(broker, ".") for broker in self.brokers)]
            return self.seen.filled(cells, CELLS["."])
        # Few brokers have to do with a partition: what is between them is not made anew for each row.
        nothing, cell, pieces, done = self._nothing, self.seen.cell, list[Span](), 0
        before = int(cell > NARROW)
        for place, sign in sorted((place, signs[b]) for b in signs if (place := self._places.get(b)) is not None):
            start = place * cell + before
            pieces += [(nothing[done:start], CELLS["."]), (sign.rjust(cell - before), CELLS[sign])]
            done = (place + 1) * cell
        return tuple(piece for piece in (*pieces, (nothing[done:], CELLS["."])) if piece[0])

    @cached_property
    def _nothing(self) -> str:
        return ".".rjust(self.seen.cell) * self.seen.count

    @cached_property
    def _places(self) -> Mapping[int, int]:
        return {broker: place for place, broker in enumerate(self.brokers)}


def tail(broker: int, digits: int) -> str:
    """The last digits of an id."""
    return str(broker)[-digits:] if digits else str(broker)


def runs_of(brokers: Sequence[int], digits: int) -> Iterator[tuple[str, int]]:
    """What is left out of neighbours' names, `10xx`, and how many it is left out of; empty where it is nothing."""
    size = 10**digits
    for head, run in groupby(brokers, key=lambda broker: broker // size):
        yield (f"{head}{'x' * digits}" if head else ""), len(list(run))


@dataclass(frozen=True)
class Form:
    """A way to name brokers: characters of a cell with the blank before it, and digits as in MapColumns."""

    cell: int
    digits: int


def forms(brokers: Sequence[int]) -> list[Form]:
    """The ways there are, the widest first. Last digits stand only where there is room for what they lack."""
    longest = max((len(str(broker)) for broker in brokers), default=1)
    ways = [Form(longest + 2, 0), Form(longest + 1, longest)]
    ways += [Form(digits + 1, digits) for digits in (2, 1) if digits < longest]
    return [way for way in ways if all(len(name) < count * way.cell for name, count in runs_of(brokers, way.digits))]


def map_columns(
    brokers: Sequence[int], width: int, offset: int, column: str = "", marked: Collection[str] = ()
) -> MapColumns:
    """The widest form in which all fit, else as many as do: from the one at `offset` on, the last page full.

    At least one broker is in view, and `column` is.
    """
    ways = [in_form(form, brokers, width, offset, column, marked) for form in forms(brokers)]
    return next((way for way in ways if way.is_whole), ways[-1])


def in_form(
    form: Form, brokers: Sequence[int], width: int, offset: int, column: str, marked: Collection[str]
) -> MapColumns:
    """As many brokers as fit in this form."""
    cursor = next((place for place, broker in enumerate(brokers) if thing(broker) == column), NOWHERE)
    seen = visible_columns(len(brokers), form.cell, width, offset, cursor, is_led=True)
    return MapColumns(brokers, seen, marked, form.digits, width)
