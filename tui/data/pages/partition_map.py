"""The partition map's cells: what each broker is to one partition, a sign each. Shape says it, colour doubles it.

L leader   o in ISR   - out of ISR   X leads or was last in sync, and is dead   + being added   ? stranger   . none
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from model.cluster.ids import NO_LEADER
from tui.data.partition_table import PartitionTable, isr_of, replicas_of
from tui.rows import Column, Line

STYLES = {"L": "leader", "o": "isr", "-": "out", "X": "dead", "+": "adding", "?": "error", ".": "dim"}
"""Sign → style name."""


@dataclass(frozen=True)
class MapColumns:
    """The brokers in view, each in a cell of `cell` characters with its blank."""

    brokers: tuple[int, ...]
    cell: int
    first: int
    total: int

    @property
    def width(self) -> int:
        """Characters of all cells together."""
        return max(len(self.brokers) * self.cell - 1, 0)

    @property
    def cut(self) -> str:
        """`3-12 of 30 brokers` where not all are in view."""
        last = self.first + len(self.brokers)
        return f"brokers {self.first + 1}-{last} of {self.total}" if len(self.brokers) < self.total else ""


def map_columns(brokers: Sequence[int], width: int, offset: int) -> MapColumns:
    """As many brokers as fit, at least one, from the one at `offset` on; the last page is full."""
    cell = max((len(str(broker)) for broker in brokers), default=1) + 2
    count = max((width + 1) // cell, 1)
    first = max(0, min(offset, len(brokers) - count))
    return MapColumns(tuple(brokers[first : first + count]), cell, first, len(brokers))


def map_column(table: PartitionTable, shown: MapColumns) -> Column:
    """One column for the whole map; its title names the brokers, dead ones as `X5`."""
    return Column(titles(shown, table.is_dead), shown.width)


def titles(shown: MapColumns, is_dead: Callable[[int], bool]) -> str:
    """The names of the brokers in view, above their cells."""
    names = (f"{'X' if is_dead(broker) else 'b'}{broker}" for broker in shown.brokers)
    return " ".join(name.rjust(shown.cell - 1) for name in names)


def map_line(table: PartitionTable, row: int, shown: MapColumns) -> Line:
    """One partition's signs under the brokers' names."""
    return signs_line(signs_of(table, row), shown)


def signs_line(signs: Mapping[int, str], shown: MapColumns) -> Line:
    """These signs under the brokers' names."""
    cells = ((signs.get(broker, ".").rjust(shown.cell - 1), signs.get(broker, ".")) for broker in shown.brokers)
    runs = ((STYLES[sign], " ".join(cell for cell, _ in run)) for sign, run in groupby(cells, lambda cell: cell[1]))
    pieces = [(text, style) for style, text in runs]
    return tuple((text if place == 0 else f" {text}", style) for place, (text, style) in enumerate(pieces))


def signs_of(table: PartitionTable, row: int) -> dict[int, str]:
    """Broker → its sign, for brokers that have something to do with the partition."""
    topic = table.columns.topics[table.columns.topic[row]]
    adding = topic.adding.get(int(table.columns.partitions[row]), ())
    leader = int(table.columns.leader[row])
    return signs_of_state(replicas_of(table, row), adding, isr_of(table, row), leader, table.is_dead)


def signs_of_state(
    replicas: Sequence[int], adding: Sequence[int], isr: Sequence[int], leader: int, is_dead: Callable[[int], bool]
) -> dict[int, str]:
    """The same from a partition's assignment and state."""
    signs = {broker: "+" if broker in adding else "-" for broker in replicas}
    signs.update({broker: "o" if broker in replicas else "?" for broker in isr})
    if leader == NO_LEADER:
        signs.update({broker: "X" for broker in isr if is_dead(broker)})
    else:
        signs[leader] = "X" if is_dead(leader) else "L"
    return signs
