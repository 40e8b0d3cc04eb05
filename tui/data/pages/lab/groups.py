"""The groups of the lab: how each is balanced now, and what the best strategy would make of it."""

import numpy as np

from model.consumers.no_groups import no_groups, not_previewed
from spark_tasks.previews.result import Figures
from tui.data.analyses.look import Look
from tui.data.fields import Field, Numbers, Texts
from tui.data.messages import ListQuery
from tui.data.pages.lab.bench import Preview, made_up_keys, previews
from tui.data.pages.listing import Listing, place_in
from tui.rows import Column, Line, Row, line, span

COLUMNS = (
    Column("group", -12, "<", "group"),
    Column("memb", 5, ">", "members"),
    Column("parts", 6, ">", "partitions"),
    Column("idle", 4, ">", "idle"),
    Column("spread", 7, ">", "spread"),
    Column("lag", 8, ">", "lag"),
    Column("uses", 12, "<", "uses"),
)


def lab_groups(look: Look, _query: ListQuery) -> Listing:
    """Every group that strategies apply to; `spread` is that of now, and the least that a strategy comes to."""
    found = previews(look)
    made_up = made_up_keys(look)
    keys = [one.names.key for one in found]

    def fields() -> dict[str, Field]:
        return {
            "group": Texts(lambda: keys),
            "uses": Texts(lambda: [one.names.uses or "" for one in found]),
            "members": _numbers([one.figures.now.members for one in found]),
            "partitions": _numbers([one.names.partitions for one in found]),
            "lag": _numbers([-1 if one.names.lag is None else one.names.lag for one in found]),
            "idle": _numbers([one.figures.now.idle for one in found]),
            "spread": _numbers([one.figures.now.spread for one in found]),
        }

    return Listing(
        count=len(found),
        fields=fields,
        shown=("group", "uses"),
        row=lambda index: _row(found[index], is_made_up=keys[index] in made_up),
        place=place_in(keys),
        columns=COLUMNS,
        made_from=(look.result,),
        nothing=look.note or not_previewed(look.image) or no_groups(look.image),
    )


def _numbers(values: list[int]) -> Numbers:
    return Numbers(np.array(values, np.int64))


def _row(one: Preview, *, is_made_up: bool) -> Row:
    now = one.figures.now
    return Row(
        key=one.names.key,
        cells=(
            line(span(one.names.key, "added" if is_made_up else "")),
            line(f"{now.members:,}"),
            line(f"{one.names.partitions:,}"),
            line(span(f"{now.idle:,}", "warn" if now.idle else "dim")),
            _spread(now, min((s.rebalanced.spread for s in one.figures.strategies if s.rebalanced), default=None)),
            line(span("-" if one.names.lag is None else f"{one.names.lag:,}", "dim" if not one.names.lag else "")),
            line(span(one.names.uses or "?", "" if one.names.uses else "dim")),
        ),
        mark="?" if is_made_up else "!" if now.idle or now.unowned else "",
    )


def _spread(now: Figures, best: int | None) -> Line:
    if best is None or best == now.spread:
        return line(span(f"{now.spread:,}", "dim"))
    return line(span(f"{now.spread:,}>", "dim"), span(f"{best:,}", "changed"))
