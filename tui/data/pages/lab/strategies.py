"""Every strategy for one group, side by side."""

from spark_tasks.previews.result import Figures, StrategyPreview
from tui.data.analyses.look import Look
from tui.data.fields import Texts
from tui.data.messages import ListQuery
from tui.data.pages.lab.bench import Preview, figures_tried, preview_of
from tui.data.pages.listing import Listing, Memory, place_in
from tui.rows import Column, Line, Row, line, span

COLUMNS = (
    Column("strategy", -18, "<", "strategy"),
    Column("idle", 4, ">"),
    Column("each", 7, ">"),
    Column("most lag", 9, ">"),
    Column("moves", 9, ">"),
)
"""`each`: fewest to most partitions of a member; `moves`: and the fewest that are possible for that balance."""
OF_THE_GROUP_AS_IT_IS = (Column("1 dies", 6, ">"), Column("1 joins", 7, ">"))
"""The partitions that change hands when the worst consumer dies, and when one joins. Not shown beside figures of a
group of which one has died, or that some have joined, on the bench."""


def lab_strategies(look: Look, query: ListQuery, memory: Memory) -> Listing:
    """For the group in `scope`, after what happens to it on the bench."""
    found = preview_of(look, query.scope)
    rows = found.figures.strategies if found else ()
    tried = figures_tried(found, look, query.bench, memory) if found else ()
    is_as_it_is = not query.bench.leaves and not query.bench.joins
    names = [one.strategy for one in rows]
    return Listing(
        count=len(rows),
        fields=lambda: {"strategy": Texts(lambda: names)},
        shown=("strategy",),
        row=lambda index: _row(found, rows[index], tried[index], is_as_it_is=is_as_it_is),
        place=place_in(names),
        columns=(*COLUMNS, *OF_THE_GROUP_AS_IT_IS) if is_as_it_is else COLUMNS,
        made_from=(look.result, query.scope, query.bench.leaves, query.bench.joins),
        nothing=look.note or "choose a group",
    )


def _row(found: Preview | None, one: StrategyPreview, figures: Figures | None, *, is_as_it_is: bool) -> Row:
    used = found is not None and found.names.uses == one.strategy
    name = line(span(one.strategy, "leader" if used else ""))
    if figures is None:
        return Row(one.strategy, (name, *(line(span("-", "dim")) for _ in range(3)), line("refuses")))
    cells = [
        name,
        line(span(f"{figures.idle:,}", "warn" if figures.idle else "dim")),
        line(f"{figures.partitions_min:,}-{figures.partitions_max:,}"),
        line(span("-" if figures.lag_max is None else f"{figures.lag_max:,}", "dim")),
        _moves(figures),
    ]
    if is_as_it_is:
        cells += [_leave(one), line(span("-", "dim")) if one.joined is None else line(f"{one.joined.moves:,}")]
    return Row(one.strategy, tuple(cells), mark="*" if used else "")


def _moves(figures: Figures) -> Line:
    style = "ok" if figures.moves <= figures.moves_lower_bound else "changed"
    return line(span(f"{figures.moves:,}", style), span(f" of {figures.moves_lower_bound:,}", "dim"))


def _leave(one: StrategyPreview) -> Line:
    if one.worst_leave is None:
        return line(span("-", "dim"))
    return line(span(f"{one.worst_leave.figures.moves + one.worst_leave.handed_on:,}", ""))
