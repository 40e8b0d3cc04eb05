"""The scenarios of a sweep, the worst first."""

import numpy as np

from spark_tasks.drills.results import Result, ScenarioOutcome
from tui.data.analyses.look import Look
from tui.data.fields import Field, Numbers, Texts
from tui.data.messages import ListQuery
from tui.data.pages.listing import Listing, place_in
from tui.rows import Column, Row, line, span

COUNTS = (
    ("newly_offline", "offline", "error"),
    ("newly_under_min_isr", "min ISR", "error"),
    ("unclean", "unclean", "error"),
    ("under_replicated", "under", "warn"),
    ("leaders_moved", "moved", ""),
)
"""Field of Counts, title, and the style of a number above 0."""

COLUMNS = (
    Column("dies", -12, "<", "dies"),
    *(Column(title, 7, ">", field) for field, title, _ in COUNTS),
    Column("busiest", 12, ">", "most_leaders"),
)


def sweep_scenarios(look: Look, _query: ListQuery) -> Listing:
    """Every scenario that is listed; its key is what dies. The new ones are partitions that were well before."""
    result: Result | None = look.result
    listed = result.listed if result else ()
    names = [name_of(scenario) for scenario in listed]

    def fields() -> dict[str, Field]:
        counts = {field: Numbers(_numbers(listed, field)) for field, _, _ in COUNTS}
        most = Numbers(np.array([one.most_leaders for one in listed], np.int64))
        return {"dies": Texts(lambda: names), **counts, "most_leaders": most}

    return Listing(
        count=len(listed),
        fields=fields,
        shown=("dies",),
        row=lambda index: _row(names[index], listed[index]),
        place=place_in(names),
        columns=COLUMNS,
        made_from=(look.result,),
        nothing=look.note or "there is nobody to kill",
    )


def name_of(scenario: ScenarioOutcome) -> str:
    """`b1 b2`, `rack r1`, `rack r1 and b4`: what dies."""
    brokers = " ".join(f"b{broker}" for broker in scenario.kill)
    if scenario.rack is None:
        return brokers
    return f"rack {scenario.rack}" + (f": {brokers}" if brokers else "")


def worst_first(scenario: ScenarioOutcome) -> tuple[str, str]:
    """The mark of a scenario, and its style."""
    counts = scenario.counts
    if counts.newly_offline or counts.unclean or scenario.quorum_lost:
        return "X", "error"
    return ("!", "warn") if counts.newly_under_min_isr else ("", "")


def _numbers(listed: tuple[ScenarioOutcome, ...], field: str):
    return np.array([getattr(one.counts, field) for one in listed], np.int64)


def _row(name: str, scenario: ScenarioOutcome) -> Row:
    numbers = [(getattr(scenario.counts, field), style) for field, _, style in COUNTS]
    mark, style = worst_first(scenario)
    busiest = "-" if scenario.most_leaders < 0 else f"{scenario.most_leaders:,} on b{scenario.most_leaders_on}"
    return Row(
        key=name,
        cells=(
            line(span(name, style)),
            *(line(span(f"{number:,}", style if number else "dim")) for number, style in numbers),
            line(span(busiest, "dim")),
        ),
        mark=mark,
    )
