"""The batches of a plan under review: what each comes to, and which are left out."""

from model.planning.plan import Batch
from tui.data.analyses.look import Look
from tui.data.analyses.planned import kept_batches, plan_in
from tui.data.fields import Field, Texts
from tui.data.messages import ListQuery
from tui.data.pages.listing import Listing, place_in
from tui.rows import Column, Row, line, span

ALL = "all"
"""Key of the row for all batches that are in."""

COLUMNS = (
    Column("batch", 6, ">"),
    Column("is", 4, "<", "is"),
    Column("partitions", 10, ">"),
    Column("copies", 8, ">"),
    Column("GB", 10, ">"),
    Column("most on a broker", -16, ">"),
)
IN, OUT = "in", "out"


def plan_batches(look: Look, _query: ListQuery) -> Listing:
    """All that are in first, then each in the order in which they are to be run."""
    plan, kept = plan_in(look), kept_batches(look)
    batches = plan.batches if plan else ()
    keys = [ALL, *(str(batch.number) for batch in batches)] if batches else []
    stand = ["", *(IN if batch in kept else OUT for batch in batches)]

    def fields() -> dict[str, Field]:
        return {"batch": Texts(lambda: keys), "is": Texts(lambda: stand)}

    return Listing(
        count=len(keys),
        fields=fields,
        shown=("batch", "is"),
        row=lambda index: _row(batches[index - 1], stand[index]) if index else _all(kept),
        place=place_in(keys),
        columns=COLUMNS,
        made_from=(look.result, kept),
        nothing=look.note or "there is no plan yet: enter makes one" if plan is None else "nothing has to change",
    )


def _all(batches: tuple[Batch, ...]) -> Row:
    sizes = [batch.bytes for batch in batches]
    known = [size for size in sizes if size is not None]
    cells = (
        line(ALL),
        line(),
        line(f"{sum(batch.end - batch.first for batch in batches):,}"),
        line(f"{sum(batch.moves for batch in batches):,}"),
        line(_gigabytes(sum(known) if len(known) == len(sizes) else None)),
        line(span("one batch after the other", "dim")),
    )
    return Row(ALL, cells)


def _row(batch: Batch, stand: str) -> Row:
    out = "removed" if stand == OUT else ""
    cells = (
        line(span(batch.number, out)),
        line(span(stand, out or "dim")),
        line(span(f"{batch.end - batch.first:,}", out)),
        line(span(f"{batch.moves:,}", out)),
        line(span(_gigabytes(batch.bytes), out)),
        line(span(f"{batch.busiest_replicas:,} copies", out or "dim")),
    )
    return Row(str(batch.number), cells, mark="-" if out else "")


def _gigabytes(size: int | None) -> str:
    return "-" if size is None else f"{size / 1e9:,.1f}"
