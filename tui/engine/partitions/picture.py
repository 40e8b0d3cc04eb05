"""All partitions of a cluster in one picture: brokers across, partitions down, each cell the worst that it stands for.

Where there are more partitions than half lines, one of these stands for several; where there are more brokers than
cells, a cell does. Without fills a line has signs instead.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np

from model.cluster.topic_image import Ints
from model.sources.feed import Moment
from tui.engine.glyphs import UPPER
from tui.engine.listing import Memory
from tui.engine.messages import TextAnswer
from tui.engine.palette import stacked
from tui.engine.partitions.counts import NOTHING, SIGNS, SignCounts
from tui.engine.partitions.rows import CELLS, table_of
from tui.engine.partitions.table import STATES, PartitionTable
from tui.engine.queries import PartitionPicture
from tui.engine.rows import Line, Span, span
from tui.engine.sheets import Sheet
from tui.engine.text import fit

LONGEST_NAME = 24
"""Cells of a topic's name beside the picture."""

MOST = 200_000
"""Partitions of which a picture is made: it takes some 30 ms then, and as much of what is counted for it."""
MOST_AT_ONCE = 25_000
"""Partitions up to which each change is drawn at once; of twice as many every 2 s, and so on."""

LEAD = 2
"""Cells of the sign before a name, and of the blank behind it."""

WIDEST = 8
"""Cells of a broker."""

STYLES = [CELLS[sign] for sign in SIGNS]

Shape = tuple[int, int]
"""Rows of cells, and columns."""


def partitions_picture(moment: Moment, query: PartitionPicture, now_ms: int, memory: Memory) -> TextAnswer:
    """As many lines as there are or are needed; `>` is where the partition or topic `query.key` is."""
    table, sheet = table_of(moment, memory), Sheet("All partitions", query.width)
    if len(table) > MOST:
        return sheet.say(f"There is no picture of more than {MOST:,} partitions; zoomed out, the list has it.").answer()
    brokers, each = len(table.brokers), 1 + (query.is_filled and not query.is_ascii)
    least = max(query.width // 3, query.width - LEAD - 2 * brokers)
    names = min(max(map(len, table.starts), default=0), LONGEST_NAME, least)
    room = query.width - names - LEAD
    shape = min(len(table), (query.height - 1) * each), min(brokers, room)
    if min(shape) < 1:
        return sheet.answer()
    wide = min(room // shape[1], WIDEST)
    pace = len(table) // MOST_AT_ONCE
    of = table if not pace or query.at else now_ms // (1000 * pace)
    made_from = (of, table.outline, *shape, wide, each)
    drawn = memory.recall("partitions picture", made_from, lambda: [*_drawn(table, shape, wide, each)])
    sheet.draw(" " * (names + LEAD) + _heading(table, shape[1], wide))
    here, named = _row_of(table, query.key, shape[0]) // each, ""
    for number, (topic, style, cells) in enumerate(drawn):
        name = "" if topic == named else fit(topic, min(names, len(topic)))
        sign = span(">" if number == here else " ", "key")
        sheet.draw(sign, span(name, style), " " * (names + 1 - len(name)), *cells)
        named = topic
    return sheet.answer()


def _drawn(table: PartitionTable, shape: Shape, wide: int, each: int) -> Iterator[tuple[str, str, Line]]:
    """For each line, of so many rows of cells, the topic that is worst there, the style of its name, and the cells."""
    codes, states = worst_cells(table, shape), table.states
    firsts = np.searchsorted(_groups(len(table), shape[0]), np.arange(shape[0])).tolist()
    for top in range(0, shape[0], each):
        start = firsts[top]
        stop = firsts[top + each] if top + each < shape[0] else len(table)
        topic = table.columns.topics[table.columns.topic[start + int(states[start:stop].argmin())]]
        begins = table.starts[topic.name]
        state = STATES[states[begins : begins + len(topic)].min()]
        cells = _halved(codes[top : top + each], wide) if each > 1 else _signed(codes[top], wide)
        yield topic.name, "dim" if state is STATES[-1] else state.style, tuple(cells)


def worst_cells(table: PartitionTable, shape: Shape) -> Ints:
    """int32 of this shape: of the partitions and brokers of each cell the worst, an index into SIGNS."""
    rows, columns = shape
    return SignCounts(table).worst_of(_groups(len(table), rows), _groups(len(table.brokers), columns), shape)


def _groups(count: int, groups: int) -> Ints:
    """Which of so many groups each of `count` things is in, as even as they can be."""
    return (np.arange(count) * groups // max(count, 1)).astype(np.int32)


def _row_of(table: PartitionTable, key: str, rows: int) -> int:
    """The row of cells in which a partition, or a topic's first one, is; negative: in none."""
    place = table.place(key)
    start = place if place >= 0 else table.starts.get(key, -1)
    return start * rows // len(table) if start >= 0 else -2


def _heading(table: PartitionTable, columns: int, wide: int) -> str:
    """The brokers' names where there is room for each, or their ids, else the first and the last one."""
    names = [f"{'X' if table.is_dead(broker) else 'b'}{broker}" for broker in table.brokers]
    for all_ in (names, [name[1:] for name in names]):
        if columns == len(all_) and max(map(len, all_)) < wide:
            return "".join(name.center(wide) for name in all_).rstrip()
    return f"{names[0]}{names[-1].rjust(columns * wide - len(names[0]))}"


def _halved(pair: Ints, wide: int) -> Iterator[Span]:
    above, below = pair[0], pair[1] if len(pair) > 1 else np.full(pair.shape[1], NOTHING)
    styles = [stacked(STYLES[one], STYLES[other]) for one, other in zip(above, below, strict=True)]
    return _runs([(UPPER * wide, style) for style in styles])


def _signed(codes: Ints, wide: int) -> Iterator[Span]:
    return _runs([(SIGNS[code].center(wide), STYLES[code]) for code in codes])


def _runs(spans: Sequence[Span]) -> Iterator[Span]:
    return (("".join(text for text, _ in run), style) for style, run in groupby(spans, key=itemgetter(1)))
