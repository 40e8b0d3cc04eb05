"""A log's segments: as a table, or as bars of their sizes."""

import numpy as np

from tui.data.fields import Field, Numbers, Texts
from tui.data.logs.keys import key_of
from tui.data.logs.reader import Log, SegmentFacts
from tui.data.pages.ages import date_text
from tui.data.pages.listing import Listing, place_in
from tui.data.pages.logs.wording import size_text, verdict
from tui.rows import Column, Line, Row, line, span

_BASE = Column("base offset", 13, ">", "base")
_SIZE = Column("size", 9, ">", "size")
_STATE = Column("state", 14, "<", "state")
TABLE = (
    _BASE,
    _SIZE,
    Column("newest record", 20, "<", "newest"),
    Column("index", 6, ">"),
    Column("batches", 8, ">"),
    Column("state", -13, "<", "state"),
)
BARS = (_BASE, _SIZE, Column("bytes", -10), _STATE)
_OTHERS = 46
"""Cells of a row of bars that are no bar."""


def log_segments(log: Log, path: str, view: str, width: int) -> Listing:
    """By base offset; the last one is the active segment, the one that is written."""
    segments = log.segments
    most = max((each.bytes for each in segments), default=0)

    def numbers(values: list[int]) -> Numbers:
        return Numbers(np.array(values, np.int64))

    def fields() -> dict[str, Field]:
        return {
            "base": numbers([each.base_offset for each in segments]),
            "size": numbers([each.bytes for each in segments]),
            "newest": numbers([each.newest_ms for each in segments]),
            "state": Texts(lambda: [_state(each)[1][0] for each in segments]),
        }

    def row(index: int) -> Row:
        each = segments[index]
        mark, state = _state(each)
        head = line(str(each.base_offset)), line(size_text(each.bytes))
        rest = (_bar(each, most, width), line(state)) if view == "bars" else (*_facts(each), line(state))
        return Row(key=key_of(path, each.base_offset), cells=(*head, *rest), mark=mark)

    return Listing(
        count=len(segments),
        fields=fields,
        shown=("base", "state"),
        row=row,
        place=place_in([key_of(path, each.base_offset) for each in segments]),
        columns=BARS if view == "bars" else TABLE,
        made_from=(log,),
        nothing="no segments here",
    )


def _facts(each: SegmentFacts) -> tuple[Line, ...]:
    batches = "-" if each.check is None or not each.check.is_done else f"{each.check.batches:,}"
    return line(span(date_text(each.newest_ms), "dim")), line(f"{each.index_entries:,}"), line(batches)


def _bar(each: SegmentFacts, most: int, width: int) -> Line:
    cells = round(each.bytes / max(most, 1) * max(width - _OTHERS, 10))
    return line(span("#" * max(cells, min(each.bytes, 1)), "info"))


def _state(each: SegmentFacts):
    mark, state = verdict([each.check] if each.check else [], 1)
    if not mark and each.complaints:
        return "!", span("bad index", "warn")
    return (mark, span("active", "ok")) if each.is_active and not mark else (mark, state)
