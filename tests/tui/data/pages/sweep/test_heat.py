"""The heat map of pairs: as the list has it, in one order of what is bad, and each cell says in signs how bad it is."""

from __future__ import annotations

from itertools import combinations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.analyses import analysis
from model.analyses.drills.results import (
    DrillParameters,
    DrillResult,
    FatalSets,
    HeatMap,
    ScenarioCounts,
    ScenarioOutcome,
)
from model.analyses.drills.sweep import DRILLS
from model.analyses.image_arrays import arrays_of, racks_of
from tests.tui.data.small_cluster import rows_of, small_image, text_of
from tui.engine.drill.heat import SHADES, affected, clustered, heat_cell, heat_of, sweep_heat
from tui.engine.drill.queries import DeathList, HeatList, ScenarioList, SweepText
from tui.engine.drill.sweep_pages import SCENARIO_COUNTS, badness, sweep_scenarios, sweep_text, worst_deaths
from tui.engine.jobs import AnalysisAnswer
from tui.engine.listing import AnswerMemo
from tui.engine.palette import HEATS
from tui.engine.questions import DeathsQuestion, SweepQuestion
from tui.engine.rows import Window

IMAGE = small_image()
RACKS = HeatMap("rack", ("r1", "r2"), ((7, 2), (2, 0)))


def counts(lost: int = 0, offline: int = 0, under_min: int = 0, moved: int = 0) -> ScenarioCounts:
    return ScenarioCounts(
        offline=offline,
        under_min_isr=under_min,
        under_replicated=20,
        unclean=lost,
        newly_offline=offline,
        newly_under_min_isr=under_min,
        leaders_moved=moved,
        hurt=lost + offline + under_min,
    )


PAIRS = {
    (2, 3): counts(lost=1, offline=2, under_min=3, moved=9),
    (1, 2): counts(offline=12),
    (3, 4): counts(offline=3, moved=5),
    (1, 3): counts(under_min=40),
    (2, 4): counts(moved=7),
    (1, 4): counts(),
}
"""Of brokers 1 to 4 in racks r1, r2, r3, r1; the worst first."""
BROKERS = HeatMap(
    "broker",
    ("1", "2", "3", "4"),
    tuple(tuple(PAIRS[min(a, b), max(a, b)].hurt if a != b else 0 for b in range(1, 5)) for a in range(1, 5)),
)


def look(heat: HeatMap | None, listed: int = 6) -> AnalysisAnswer:
    scenarios = tuple(ScenarioOutcome(kill, None, told) for kill, told in PAIRS.items())[:listed]
    result = DrillResult(
        scenarios=6,
        hurting=4,
        before=counts(),
        leaders_before={},
        listed=scenarios,
        worst={},
        heat=heat,
        fatal=FatalSets({}, ()),
        loss=(),
    )
    return AnalysisAnswer(SweepQuestion(kind="pairs"), IMAGE, result)


def shown(heat: HeatMap | None, width: int = 80, **asked: object) -> Window:
    query = msgspec.structs.replace(HeatList(width=width), **asked)
    return sweep_heat(look(heat), query, 0, AnswerMemo())


def test_the_worst_pair_is_under_the_cursor_and_numbers_are_of_the_worst_that_happens() -> None:
    window = shown(BROKERS)
    assert (window.rows[0].key, window.across.column) == ("b2", "b3")
    assert window.across.things == ("b2", "b1", "b4", "b3")
    assert [column.title for column in window.columns] == ["broker", " b2 b1 b4>b3"]
    assert rows_of(window) == [
        "  | b2 | \\ 12  7| 1",
        "  | b1 | 12  \\   |40",
        "  | b4 | 7     \\| 3",
        "  | b3 | 1 40  3| \\",
    ]


def test_colours_rise_with_what_is_worse_and_signs_tell_the_same_where_nothing_is_filled() -> None:
    heat = heat_of(look(BROKERS), look(BROKERS).result, HeatList(is_filled=False))
    steps = {}
    for pair in PAIRS:
        row, column = (heat.things.index(f"b{broker}") for broker in pair)
        steps[pair] = heat.at(row, column).step
        text, style = heat.cell(row, column, numbered=True)
        assert (text[0], style) == (SHADES[steps[pair]], f"heat{steps[pair]}")
    assert list(steps.values()) == [7, 5, 4, 3, 1, 0]


def test_sorted_by_name_both_sides_stand_in_their_order() -> None:
    window = shown(BROKERS, sort="name", column="b1")
    assert window.across.things == ("b1", "b2", "b3", "b4")
    assert [row.key for row in window.rows] == list(window.across.things)
    assert window.across.column == "b1"
    assert [row.key for row in shown(BROKERS, sort="name", reverse=True).rows] == ["b4", "b3", "b2", "b1"]


@pytest.mark.parametrize("is_filled", [True, False])
def test_where_there_is_no_room_numbers_go_and_then_names(is_filled: bool) -> None:
    many = {pair: counts(offline=1_000 * told.hurt) for pair, told in PAIRS.items()}
    found = look(BROKERS)
    listed = tuple(ScenarioOutcome(kill, None, told) for kill, told in many.items())
    found = msgspec.structs.replace(found, result=msgspec.structs.replace(found.result, listed=listed))

    def row(width: int) -> tuple[str, str]:
        window = sweep_heat(found, HeatList(width=width, is_filled=is_filled), 0, AnswerMemo())
        assert window.across.first == 0 and len(window.columns[1].title) <= width
        return window.columns[1].title, text_of(window.rows[0].cells[1])

    sign = "" if is_filled else "+"
    assert f"{sign}12,000" in row(80)[1] and ">b3" in row(80)[0]
    assert "," not in row(26)[1] and ">b3" in row(26)[0]
    assert row(22)[0].strip() == ">b3"
    assert len(row(17)[1]) == 4 and "|" in row(17)[1]


def test_racks_have_cells_of_their_own() -> None:
    window = shown(RACKS)
    assert (window.rows[0].key, window.across.column) == ("rack:r2", "rack:r1")
    assert [text_of(row.cells[1]) for row in window.rows] == ["   |12", " 12|  "]


def test_of_a_pair_that_is_not_listed_the_number_alone_is_known() -> None:
    result = look(BROKERS, listed=2).result
    heat = heat_of(look(BROKERS), result, HeatList(sort="name"))
    assert (heat.at(0, 2).number, heat.at(0, 3).number) == (40, 0)
    assert heat.at(0, 2).step < min(heat_cell(one, heat.most).step for one in result.listed)


def test_without_a_heat_map_there_is_a_line() -> None:
    assert "only pairs" in shown(None).note
    waiting = msgspec.structs.replace(look(None), result=None, note="at it")
    assert sweep_heat(waiting, HeatList(), 0, AnswerMemo()).note == "at it"


def said(heat: HeatMap, row: str = "", column: str = "", listed: int = 6) -> str:
    return sweep_text(look(heat, listed), SweepText(cell=(row, column), width=100)).plain


def test_the_cell_is_told_in_numbers() -> None:
    assert "brokers 2 and 3: 6 partitions affected" in said(BROKERS, "b2", "b3")
    assert "1 lost, 2 offline, 3 min ISR, 9 moved, 20 under-repl" in said(BROKERS, "b2", "b3")
    assert "not among the worst 1" in said(BROKERS, "b1", "b2", listed=1)
    assert "broker 1 alone" in said(BROKERS, "b1", "b1")
    assert "racks r1 and r2, worst pair: 2 partitions affected" in said(RACKS, "rack:r1", "rack:r2")
    assert "cell" not in said(BROKERS) and "cell" not in said(BROKERS, "b1", "b99")
    legend = next(line for line in said(BROKERS).splitlines() if "lost" in line)
    assert [word for word in legend.split() if word.isalpha()] == ["none", "moved", "min", "ISR", "offline", "lost"]


def test_map_and_list_have_the_same_figures_and_the_same_order() -> None:
    """Of a real sweep: each cell is the list's row of these two, and a row that is worse is no colder."""
    parameters = DrillParameters(kind="pairs", racks=racks_of(IMAGE))
    result = analysis.run_here(DRILLS, arrays_of(IMAGE), parameters)
    found = AnalysisAnswer(SweepQuestion(kind="pairs"), IMAGE, result)
    listing, heat = sweep_scenarios(found, ScenarioList()), heat_of(found, result, HeatList())
    titles = [title for _, title, _ in SCENARIO_COUNTS[:4]]
    steps = list[tuple[int, int]]()
    for place in range(listing.count):
        row = listing.row(place)
        numbers = dict(zip(titles, (int(text_of(cell).replace(",", "")) for cell in row.cells[1:5]), strict=True))
        at = heat.at(*(heat.things.index(thing) for thing in row.key.split()))
        worst = next((number for number in numbers.values() if number), 0)
        scenario = result.listed[place]
        assert (at.number, tuple(numbers.values()), numbers) == (
            worst,
            (*affected(scenario), scenario.counts.leaders_moved),
            dict(zip(("lost", "offline", "min ISR", "moved"), numbers.values(), strict=True)),
        )
        steps.append((at.step, -place))
    assert steps == sorted(steps, reverse=True)
    assert [badness(one) for one in result.listed] == sorted(map(badness, result.listed), reverse=True)
    assert listing.count == len(list(combinations(IMAGE.brokers, 2)))


def test_the_worst_failures_stand_first_brokers_and_racks_alike() -> None:
    told = {(1,): counts(offline=1), (2,): counts(lost=1), (3,): counts(moved=80), (1, 4): counts(offline=2)}
    found = tuple(ScenarioOutcome(kill, "r1" if len(kill) > 1 else None, each) for kill, each in told.items())
    listing = worst_deaths(AnalysisAnswer(DeathsQuestion(), IMAGE, found), DeathList(), 0, AnswerMemo())
    rows = [listing.row(place) for place in range(listing.count)]
    assert [(row.key, row.mark) for row in rows] == [("b2", "X"), ("rack r1: b1 b4", "X"), ("b1", "X"), ("b3", "")]
    affects = [column.title for column in listing.columns].index("affected")
    assert text_of(rows[1].cells[affects]).strip() and not text_of(rows[3].cells[affects]).strip()
    assert [len(text_of(row.cells[affects])) for row in rows] == [listing.columns[affects].width] * 4


COUNTS = st.builds(counts, *[st.integers(0, 3) | st.integers(0, 5_000)] * 4)


@given(COUNTS, COUNTS)
def test_what_is_worse_is_no_colder(one: ScenarioCounts, other: ScenarioCounts) -> None:
    scenarios = [ScenarioOutcome((1, 2), None, each) for each in (one, other)]
    most = tuple(map(max, zip(*map(affected, scenarios), strict=True)))
    cells = [heat_cell(each, most) for each in scenarios]
    assert all(0 <= cell.step < HEATS == len(SHADES) for cell in cells)
    (low, _), (high, _) = sorted(zip(cells, scenarios, strict=True), key=lambda each: badness(each[1]))
    assert low.step <= high.step
    assert [cell.step == 0 for cell in cells] == [not any(badness(each)) for each in scenarios]


@given(
    st.integers(2, 8).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_brokers_of_a_rack_stand_together_those_in_most_trouble_first(table: list[list[int]]) -> None:
    size = len(table)
    hurt = tuple(tuple(0 if a == b else table[min(a, b)][max(a, b)] for b in range(size)) for a in range(size))
    order = clustered(HeatMap("broker", tuple(str(place + 1) for place in range(size)), hurt), IMAGE, "2")
    assert sorted(order) == list(range(size))
    assert order[0] == 1
    racks = [getattr(IMAGE.brokers.get(place + 1), "rack", None) or "none" for place in order]
    assert len({rack for rack, after in zip(racks, [*racks[1:], None], strict=True) if rack != after}) == sum(
        rack != after for rack, after in zip(racks, [*racks[1:], None], strict=True)
    )
    for rack in set(racks):
        totals = [sum(hurt[place]) for place, of in zip(order, racks, strict=True) if of == rack and place != 1]
        assert totals == sorted(totals, reverse=True)
