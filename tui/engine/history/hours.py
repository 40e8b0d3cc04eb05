"""Brokers by hours as a grid of counts: leaderships lost, or ISR churn; hours share a cell where there is no room.

The screen fills its cells with the palette's ramp; where there are no colours, and on the command line, signs say the
same. Cells of which nothing was recorded are not cells in which nothing happened.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from model.analyses.history.results import BrokerHour, ClusterHistory
from tui.engine.glyphs import LEVELS
from tui.engine.history.queries import LOST
from tui.engine.palette import heat
from tui.engine.rows import Span

HOUR_MS = 3_600_000
STEPS_H = (1, 2, 3, 4, 6, 8, 12, 24, 48, 168, 336, 672)
"""Hours that a cell may stand for."""

SIGNS = " .:-=+*#@"
"""Of each step of heat, where colours fill no cells."""
UNKNOWN: Span = ("?", "dim")


def count_of(hour: BrokerHour, measure: str) -> int:
    """How often it happened in this hour."""
    return hour.lost if measure == LOST else hour.left + hour.joined


@dataclass(frozen=True, eq=False)
class HourGrid:
    """Row by broker, column by time: `counts[row, column]`; `known` where anything was recorded."""

    brokers: tuple[int, ...]
    from_ms: int
    step_ms: int
    counts: NDArray[np.int64]
    known: NDArray[np.bool_]

    @cached_property
    def times(self) -> tuple[int, ...]:
        """When each column begins, ms."""
        return tuple(self.from_ms + place * self.step_ms for place in range(len(self.known)))

    @cached_property
    def most(self) -> int:
        """The highest count."""
        return int(self.counts.max(initial=0))

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """Of each broker."""
        return tuple(self.counts.sum(axis=1).tolist())

    def part(self, row: int, column: int) -> float:
        """Of the highest count, 0 to 1."""
        return int(self.counts[row, column]) / self.most if self.most else 0.0

    def cell(self, row: int, column: int, width: int, *, is_filled: bool) -> Span:
        """One cell: a colour, or a sign where there are none; and the count, where all of it fits."""
        if not self.known[column]:
            return UNKNOWN
        style, count = heat(self.part(row, column)), int(self.counts[row, column])
        sign = "" if is_filled else SIGNS[int(style.removeprefix("heat"))]
        numbered = f"{sign}{count:,}" if count else sign
        return ((numbered if len(numbered) <= width else sign) or " ", style)

    def drawn(self, row: int, *, is_ascii: bool = False) -> str:
        """The row in signs alone: heights of blocks, or those of `SIGNS`."""
        signs = SIGNS if is_ascii else LEVELS
        shown = (signs[-(-self.part(row, column) * 8 // 1).__int__()] for column in range(len(self.known)))
        return "".join(sign if known else "?" for sign, known in zip(shown, self.known.tolist(), strict=True))


def grid_of(of: ClusterHistory, measure: str, cells: int) -> HourGrid:
    """In as many cells as there are at most; brokers by their ids."""
    start_h, end_h = of.from_ms // HOUR_MS, -(-max(of.to_ms, of.from_ms + 1) // HOUR_MS)
    step_h = next(
        (step for step in STEPS_H if -(-(end_h - start_h // step * step) // step) <= max(cells, 1)), STEPS_H[-1]
    )
    start_h = start_h // step_h * step_h
    columns = -(-(end_h - start_h) // step_h)
    brokers = sorted({hour.broker for hour in of.hours})
    place = {broker: row for row, broker in enumerate(brokers)}
    counts = np.zeros((len(brokers), columns), np.int64)
    for hour in of.hours:
        counts[place[hour.broker], (hour.hour_ms // HOUR_MS - start_h) // step_h] += count_of(hour, measure)
    step_ms, from_ms = step_h * HOUR_MS, start_h * HOUR_MS
    return HourGrid(tuple(brokers), from_ms, step_ms, counts, _known(of, from_ms, step_ms, columns))


def _known(of: ClusterHistory, from_ms: int, step_ms: int, columns: int) -> NDArray[np.bool_]:
    begins = from_ms + step_ms * np.arange(columns)
    known = (begins < of.to_ms) & (begins + step_ms > of.from_ms)
    for gap in of.unknown:
        known &= ~((begins >= gap.from_ms) & (begins + step_ms <= gap.to_ms))
    return known


def cell_text(step_ms: int) -> str:
    """What a cell stands for: `1 h`, `2 days`."""
    hours = step_ms // HOUR_MS
    return f"{hours} h" if hours < 48 else f"{hours // 24} days"


def took(ms: int) -> str:
    """`0 ms`, `850 ms`, `12.5 s`, `3 min 20 s`, `5 h 10 min`, `12.4 days`."""
    if ms < 1_000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms / 1_000:.1f} s"
    if ms < 3_600_000:
        return f"{ms // 60_000} min {ms // 1_000 % 60} s"
    if ms < 86_400_000:
        return f"{ms // 3_600_000} h {ms // 60_000 % 60} min"
    return f"{ms / 86_400_000:,.1f} days"
