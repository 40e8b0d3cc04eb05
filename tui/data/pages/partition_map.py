"""The partition map's cells: what each broker is to one partition, a sign each. Shape says it, colour doubles it.

L leader   o in ISR   - out of ISR   X leads or was last in sync, and is dead   + being added   ? stranger   . none

Where KRaft has emptied the ISR, who is in the ELR (KIP-966) was last in sync.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from model.cluster.ids import NO_LEADER
from tui.data.pages.across import NOWHERE, Seen, seen
from tui.data.partition_table import PartitionTable, elr_of, isr_of, replicas_of
from tui.rows import Across, Column, Line

STYLES = {"L": "leader", "o": "isr", "-": "out", "X": "dead", "+": "adding", "?": "error", ".": "dim"}
"""Sign → style name."""


@dataclass(frozen=True)
class MapColumns:
    """All brokers, and which of them are in view."""

    all: Sequence[int]
    seen: Seen
    marked: Collection[str] = ()

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
        """`3-12 of 30 brokers` where not all are in view."""
        first, last, total = self.seen.first, self.seen.first + self.seen.count, len(self.all)
        return f"brokers {first + 1}-{last} of {total}" if self.seen.count < total else ""

    def across(self, place: int) -> Across:
        """All brokers as things to choose; `place` is the list's column that holds the map."""
        return self.seen.across([thing(broker) for broker in self.all], place)


def thing(broker: int) -> str:
    """A broker as it is chosen: `b3`."""
    return f"b{broker}"


def map_columns(
    brokers: Sequence[int], width: int, offset: int, column: str = "", marked: Collection[str] = ()
) -> MapColumns:
    """As many brokers as fit, at least one, from the one at `offset` on; the last page is full, `column` in view."""
    cell = max((len(str(broker)) for broker in brokers), default=1) + 2
    cursor = next((place for place, broker in enumerate(brokers) if thing(broker) == column), NOWHERE)
    return MapColumns(brokers, seen(len(brokers), cell, width, offset, cursor), marked)


def map_column(table: PartitionTable, shown: MapColumns) -> Column:
    """One column for the whole map; its title names the brokers, dead ones as `X5`."""
    return Column(titles(shown, table.is_dead), shown.width)


def titles(shown: MapColumns, is_dead: Callable[[int], bool]) -> str:
    """The names of the brokers in view, above their cells; marked ones as `#5`."""

    def sign(broker: int) -> str:
        return "#" if thing(broker) in shown.marked else "X" if is_dead(broker) else "b"

    return shown.seen.title([f"{sign(broker)}{broker}" for broker in shown.brokers])


def map_line(table: PartitionTable, row: int, shown: MapColumns) -> Line:
    """One partition's signs under the brokers' names."""
    return signs_line(signs_of(table, row), shown)


def signs_line(signs: Mapping[int, str], shown: MapColumns) -> Line:
    """These signs under the brokers' names."""
    cells = (signs.get(broker, ".") for broker in shown.brokers)
    return shown.seen.line([(sign, STYLES[sign]) for sign in cells])


def signs_of(table: PartitionTable, row: int) -> dict[int, str]:
    """Broker → its sign, for brokers that have something to do with the partition."""
    topic = table.columns.topics[table.columns.topic[row]]
    adding = topic.adding.get(int(table.columns.partitions[row]), ())
    leader = int(table.columns.leader[row])
    isr = isr_of(table, row)
    signs = signs_of_state(replicas_of(table, row), adding, isr, leader, table.is_dead)
    eligible = () if isr or leader != NO_LEADER else elr_of(table, row) or ()
    return signs | {broker: "X" for broker in eligible if broker in signs and table.is_dead(broker)}


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
