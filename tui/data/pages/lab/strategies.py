"""Every strategy for one group, side by side."""

from spark_tasks.previews.result import Figures, StrategyPreview
from tui.data.analyses.look import Look
from tui.data.fields import Texts
from tui.data.messages import ListQuery
from tui.data.pages.lab.bench import Preview, preview_of
from tui.data.pages.listing import Listing, place_in
from tui.rows import Column, Line, Row, line, span

COLUMNS = (
    Column("strategy", -18, "<", "strategy"),
    Column("idle", 4, ">"),
    Column("each", 7, ">"),
    Column("most lag", 9, ">"),
    Column("moves", 9, ">"),
    Column("1 dies", 6, ">"),
    Column("1 joins", 7, ">"),
)
"""`each`: fewest to most partitions of a member; `moves`: and the fewest that are possible for that balance; then
the partitions that change hands when the worst consumer dies, and when one joins."""


def lab_strategies(look: Look, query: ListQuery) -> Listing:
    """For the group in `scope`."""
    found = preview_of(look, query.scope)
    rows = found.figures.strategies if found else ()
    names = [one.strategy for one in rows]
    return Listing(
        count=len(rows),
        fields=lambda: {"strategy": Texts(lambda: names)},
        shown=("strategy",),
        row=lambda index: _row(found, rows[index]),
        place=place_in(names),
        columns=COLUMNS,
        made_from=(look.result, query.scope),
        nothing=look.note or "choose a group",
    )


def _row(found: Preview | None, one: StrategyPreview) -> Row:
    used = found is not None and found.names.uses == one.strategy
    name = line(span(one.strategy, "leader" if used else ""))
    figures = one.rebalanced
    if figures is None:
        return Row(one.strategy, (name, *(line(span("-", "dim")) for _ in range(4)), line("refuses"), line("")))
    cells = (
        name,
        line(span(f"{figures.idle:,}", "warn" if figures.idle else "dim")),
        line(f"{figures.partitions_min:,}-{figures.partitions_max:,}"),
        line(span("-" if figures.lag_max is None else f"{figures.lag_max:,}", "dim")),
        _moves(figures),
        _leave(one),
        line(span("-", "dim")) if one.joined is None else line(f"{one.joined.moves:,}"),
    )
    return Row(one.strategy, cells, mark="*" if used else "")


def _moves(figures: Figures) -> Line:
    style = "ok" if figures.moves <= figures.moves_lower_bound else "changed"
    return line(span(f"{figures.moves:,}", style), span(f" of {figures.moves_lower_bound:,}", "dim"))


def _leave(one: StrategyPreview) -> Line:
    if one.worst_leave is None:
        return line(span("-", "dim"))
    return line(span(f"{one.worst_leave.figures.moves + one.worst_leave.handed_on:,}", ""))
