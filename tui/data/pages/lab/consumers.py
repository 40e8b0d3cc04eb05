"""The consumers of one group: what each has now, and with the strategy and the change that are tried."""

from tui.data.analyses.look import Look
from tui.data.fields import Texts
from tui.data.messages import ListQuery
from tui.data.pages.lab.bench import nothing, tried
from tui.data.pages.lab.shares import Shares, apart, shares_of
from tui.data.pages.listing import Listing, Memory, place_in
from tui.rows import Column, Line, Row, line, span

COLUMNS = (
    Column("consumer", -14, "<", "consumer"),
    Column("has", 6, ">"),
    Column("gets", 6, ">"),
    Column("lag", 9, ">"),
    Column("then", 9, ">"),
    Column("", 12),
)
BAR = 12
NARROW = 30
"""Cells below which only the names are in sight, and what tells them apart is all of them that fits."""


def lab_consumers(look: Look, query: ListQuery, memory: Memory) -> Listing:
    """Of the group in `scope`; who joins comes last. K lets the one under the cursor die."""
    one = tried(look, query.scope, query.bench, memory)
    shares = None if one is None else shares_of(one)
    if one is None or shares is None:
        return nothing(look, one)
    consumers, there = shares.consumers, len(one.names.consumers)
    shown = apart(consumers) if query.width < NARROW else consumers
    most = max(int(shares.right.partitions.max(initial=1)), 1)
    return Listing(
        count=len(consumers),
        fields=lambda: {"consumer": Texts(lambda: consumers)},
        shown=("consumer",),
        row=lambda index: _row(
            shares, index, shown[index], most, joins=index >= there, dies=consumers[index] == query.bench.leaves
        ),
        place=place_in(consumers),
        columns=COLUMNS,
        made_from=(one,),
        nothing="nobody is in this group",
    )


def _row(shares: Shares, index: int, shown: str, most: int, *, joins: bool, dies: bool) -> Row:
    (has, lag), (gets, then) = (tuple(int(each[index]) for each in share) for share in (shares.has, shares.right))
    name, style = shares.consumers[index], "added" if joins else "dead" if dies else ""
    return Row(
        key=name,
        cells=(
            line(span(shown, style)),
            line(span(f"{has:,}", "dim")),
            line(span(f"{gets:,}", "dim" if gets == has else "changed" if gets else "warn")),
            line(span(f"{lag:,}" if shares.is_lag_known else "-", "dim")),
            line(span(f"{then:,}" if shares.is_lag_known else "-", "dim" if then == lag else "changed")),
            _bar(gets, most),
        ),
        mark="+" if joins else "X" if dies else "",
    )


def _bar(number: int, most: int) -> Line:
    return line(span("#" * round(BAR * number / most), "info"))
