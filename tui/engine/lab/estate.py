"""All groups at once: every strategy over the whole estate, and every case in it, the worst first."""

from typing import NamedTuple

from model.analyses.previews.result import (
    EstateCase,
    GroupNames,
    StrategyTotal,
    Total,
    estate_cases,
    estate_now,
    estate_totals,
)
from tui.engine.filters import ListField, Texts, whole_numbers
from tui.engine.glyphs import bar
from tui.engine.jobs import AnalysisAnswer
from tui.engine.lab.pages import named_in, previews
from tui.engine.listing import AnswerMemo, Listing, place_in
from tui.engine.rows import Column, Line, Row, Span, line, span

NOW = "now"
BAR = 10
TOTAL_COLUMNS = (
    Column("strategy", -18, "<", "strategy"),
    Column("groups", 6, ">", "groups", rank=3),
    Column("moves", 7, ">", "moves"),
    Column("", BAR, rank=4),
    Column("at least", 8, ">", rank=3),
    Column("idle", 5, ">", "idle", rank=1),
    Column("most lag", 9, ">", "lag", rank=2),
    Column("1 leaves", 8, ">", rank=2),
    Column("1 joins", 7, ">", rank=2),
)
CASE_COLUMNS = (
    Column("group", -14, "<", "group"),
    Column("change", 9, "<", "change"),
    Column("strategy", -12, "<", "strategy"),
    Column("no owner", 8, ">", "orphaned"),
    Column("moves", 7, ">", "moves", rank=1),
    Column("at least", 8, ">", rank=3),
    Column("idle", 5, ">", "idle", rank=2),
    Column("most lag", 9, ">", "lag", rank=3),
)


class _Estate(NamedTuple):
    """Of one answer: groups by their numbers, how they stand now, all strategies, all cases and their keys."""

    groups: dict[int, GroupNames]
    now: Total
    strategies: tuple[StrategyTotal, ...]
    cases: tuple[EstateCase, ...]
    keys: tuple[str, ...]


def _estate(look: AnalysisAnswer, memory: AnswerMemo) -> _Estate:
    def add_up() -> _Estate:
        found = previews(look)
        figures, groups = [one.figures for one in found], {one.number: one.names for one in found}
        cases = estate_cases(figures)
        keys = tuple(key_of(case, groups) for case in cases)
        return _Estate(groups, estate_now(figures), estate_totals(figures), cases, keys)

    return memory.recall("estate", (look.result,), add_up)


def key_of(case: EstateCase, groups: dict[int, GroupNames]) -> str:
    """Group, strategy, who leaves and how many join, between line feeds: what `trial_in` reads."""
    names = groups[case.group]
    leaves = "" if case.consumer < 0 else names.consumers[case.consumer]
    return "\n".join((names.key, case.strategies[0], leaves, "1" if case.change == "joins" else "0"))


def lab_totals(look: AnalysisAnswer, _: object, __: int, memory: AnswerMemo) -> Listing:
    """Now and every strategy, as if all groups that can use it did."""
    found = _estate(look, memory)
    names = [NOW, *(one.strategy for one in found.strategies)] if found.groups else []
    rebalanced = [found.now, *(one.by_change["rebalanced"] for one in found.strategies)]
    most = max((total.moves for total in rebalanced), default=0) or 1

    def fields() -> dict[str, ListField]:
        return {
            "strategy": Texts(lambda: names),
            "groups": whole_numbers(each.groups for each in rebalanced),
            "moves": whole_numbers(each.moves for each in rebalanced),
            "idle": whole_numbers(each.idle for each in rebalanced),
            "lag": whole_numbers(each.lag_max for each in rebalanced),
        }

    return Listing(
        count=len(names),
        fields=fields,
        shown=("strategy",),
        row=lambda index: _total_row(names[index], found.strategies[index - 1] if index else None, found.now, most),
        place=place_in(names),
        columns=TOTAL_COLUMNS,
        made_from=(look.result,),
        nothing=look.note or "no groups",
    )


def _total_row(name: str, one: StrategyTotal | None, now: Total, most: int) -> Row:
    total = now if one is None else one.by_change["rebalanced"]
    is_calm = total.moves == total.moves_lower_bound
    moves = span("-", "dim") if one is None else span(f"{total.moves:,}", "ok" if is_calm else "changed")
    changes = [] if one is None else [one.by_change[change] for change in ("leaves", "joins")]
    cells: list[Line] = [
        line(span(name, "strong" if one is None else "")),
        line(span(f"{total.groups:,}", "dim")),
        line(moves),
        line(span(bar(total.moves / most, BAR), "changed")),
        line(span("" if one is None else f"{total.moves_lower_bound:,}", "dim")),
        line(span(f"{total.idle:,}", "warn" if total.idle > now.idle else "dim")),
        line(_lag(total.lag_max)),
        *(line(span(f"{each.moves:,}" if each.groups else "-", "dim")) for each in changes),
    ]
    return Row(name, tuple(cells), mark="!" if one is not None and one.refused else "")


def _lag(lag: int | None) -> Span:
    return span("-" if lag is None else f"{lag:,}", "dim")


def lab_cases(look: AnalysisAnswer, _: object, __: int, memory: AnswerMemo) -> Listing:
    """Every group under every strategy: rebalanced as it is, if the consumer leaves whose loss is worst, or one joins.

    The key of a case is what `trial_in` reads. Strategies that come to the same share a row.
    """
    found = _estate(look, memory)
    cases = found.cases
    groups = [found.groups[case.group] for case in cases]
    changes = [_change(case, names) for case, names in zip(cases, groups, strict=True)]
    strategies = [_strategies(case, names) for case, names in zip(cases, groups, strict=True)]

    def fields() -> dict[str, ListField]:
        figures = [case.figures for case in cases]
        return {
            "group": Texts(lambda: [names.key for names in groups]),
            "change": Texts(lambda: changes),
            "strategy": Texts(lambda: [", ".join(case.strategies) for case in cases]),
            "orphaned": whole_numbers(case.orphaned for case in cases),
            "moves": whole_numbers(case.moves for case in cases),
            "idle": whole_numbers(each.idle for each in figures),
            "lag": whole_numbers(each.lag_max for each in figures),
        }

    return Listing(
        count=len(cases),
        fields=fields,
        shown=("group", "change", "strategy"),
        row=lambda index: _case_row(
            found.keys[index], cases[index], groups[index].key, changes[index], strategies[index]
        ),
        place=place_in(found.keys),
        columns=CASE_COLUMNS,
        made_from=(look.result,),
        nothing=look.note or "no groups",
    )


def _change(case: EstateCase, names: GroupNames) -> str:
    if case.change != "leaves":
        return "1 joins" if case.change == "joins" else "-"
    return f"{named_in(names).consumers[names.consumers[case.consumer]].name} leaves"


def _strategies(case: EstateCase, names: GroupNames) -> str:
    return "any" if case.is_any(names) else ", ".join(case.strategies)


def _case_row(key: str, case: EstateCase, group: str, change: str, strategies: str) -> Row:
    figures = case.figures
    cells = (
        line(group),
        line(span(change, "dim" if case.change == "rebalanced" else "")),
        line(span(strategies, "dim" if strategies == "any" else "")),
        line(span(f"{case.orphaned:,}", "error" if case.orphaned else "dim")),
        line(span(f"{case.moves:,}", "changed" if case.needless else "")),
        line(span(f"{case.fewest_moves:,}", "dim")),
        line(span(f"{figures.idle:,}", "warn" if figures.idle else "dim")),
        line(_lag(figures.lag_max)),
    )
    return Row(key, cells, mark="X" if case.orphaned else "!" if case.needless else "")
