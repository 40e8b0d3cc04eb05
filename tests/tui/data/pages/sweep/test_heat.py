"""The heat map of pairs: the worst is the first cell, every cell says in signs how bad it is."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from model.analyses.drills.results import Counts, DrillResult, FatalSets, HeatMap, ScenarioOutcome
from tests.tui.data.small_cluster import rows_of, small_image, text_of
from tui.engine.analysis import AnalysisAnswer
from tui.engine.listing import Memory
from tui.engine.questions import SweepQuestion
from tui.engine.rows import Window
from tui.engine.sweep.pages import SHADES, shade_of, sweep_heat, sweep_text, worst_first
from tui.engine.sweep.queries import HeatList, SweepText

BROKERS = HeatMap("broker", ("1", "2", "3", "10"), ((0, 3, 0, 1), (3, 0, 2, 0), (0, 2, 0, 12), (1, 0, 12, 0)))
RACKS = HeatMap("rack", ("r1", "r2"), ((7, 2), (2, 0)))
COUNTS = Counts(offline=4, under_min_isr=8, under_replicated=20, newly_offline=4, newly_under_min_isr=8, hurt=12)


def look(heat: HeatMap | None) -> AnalysisAnswer:
    listed = (ScenarioOutcome((3, 10), None, COUNTS),)
    result = DrillResult(
        scenarios=6,
        hurting=4,
        before=COUNTS,
        leaders_before={},
        listed=listed,
        worst={},
        heat=heat,
        fatal=FatalSets({}, ()),
        loss=(),
    )
    return AnalysisAnswer(SweepQuestion(kind="pairs"), small_image(), result)


def shown(heat: HeatMap | None, width: int = 80, **asked: object) -> Window:
    query = msgspec.structs.replace(HeatList(width=width), **asked)
    return sweep_heat(look(heat), query, 0, Memory())


def test_the_first_pair_of_the_list_is_the_first_cell_and_under_the_cursor() -> None:
    window = shown(BROKERS)
    assert window.rows[0].key == "b3"
    assert window.across.column == "b10"
    assert window.across.things == ("b3", "b10", "b1", "b2")
    assert [column.title for column in window.columns] == ["broker", "  b3>b10  b1  b2"]
    assert rows_of(window) == [
        "  | b3 | \\|@12   .  -2",
        "  | b10 | @12|  \\  :1   .",
        "  | b1 | .| :1   \\  -3",
        "  | b2 | -2|  .  -3   \\",
    ]


def test_map_and_list_have_one_order_of_what_is_worst() -> None:
    """The list has data lost for all before partitions that some cannot write to, however many those are."""
    listed = tuple(ScenarioOutcome(kill, None, COUNTS) for kill in ((1, 10), (2, 3), (3, 10)))
    found = look(BROKERS)
    result = msgspec.structs.replace(found.result, listed=listed)
    window = sweep_heat(AnalysisAnswer(found.question, found.image, result), HeatList(width=80), 0, Memory())
    assert window.across.things == ("b1", "b10", "b2", "b3")
    racks = msgspec.structs.replace(result, heat=RACKS, listed=(ScenarioOutcome((2, 1), None, COUNTS),))
    seen = sweep_heat(AnalysisAnswer(found.question, found.image, racks), HeatList(width=80), 0, Memory())
    assert seen.across.things == tuple(f"rack:{found.image.brokers[broker].rack}" for broker in (2, 1))


def test_sorted_by_name_both_sides_stand_in_their_order() -> None:
    window = shown(BROKERS, sort="name", column="b1")
    assert window.across.things == ("b1", "b2", "b3", "b10")
    assert [row.key for row in window.rows] == list(window.across.things)
    assert window.across.column == "b1"
    assert [row.key for row in shown(BROKERS, sort="name", reverse=True).rows] == ["b10", "b3", "b2", "b1"]


def test_where_there_is_no_room_signs_stand_alone_and_then_names_go() -> None:
    many = msgspec.structs.replace(BROKERS, hurt=tuple(tuple(1_000 * number for number in row) for row in BROKERS.hurt))
    assert rows_of(shown(many))[1] == "  | b10 | @12,000|      \\  :1,000       ."
    assert rows_of(shown(many, 30))[1] == "  | b10 | @|  \\   :   ."
    narrow = shown(many, 22)
    assert [column.title for column in narrow.columns] == ["broker", "  >b10"]
    assert rows_of(narrow)[0] == "  | b3 | \\|@ . -"
    tiny = shown(many, 18, column="b2")
    assert (tiny.columns[0].title, tiny.across.first) == ("3-4/4", 2)


def test_racks_have_cells_of_their_own() -> None:
    window = shown(RACKS)
    assert (window.rows[0].key, window.across.column) == ("rack:r1", "rack:r2")
    assert [text_of(row.cells[1]) for row in window.rows] == [" @7|=2", " =2| ."]


def test_without_a_heat_map_there_is_a_line() -> None:
    assert "only pairs" in shown(None).note
    assert (
        sweep_heat(msgspec.structs.replace(look(None), result=None, note="at it"), HeatList(), 0, Memory()).note
        == "at it"
    )


def said(heat: HeatMap, row: str = "", column: str = "") -> str:
    asked = SweepText(cell=(row, column), width=100)
    return sweep_text(look(heat), asked).plain


def test_the_cell_is_told_in_numbers() -> None:
    assert "brokers 10 and 3: hurt 12 partitions" in said(BROKERS, "b10", "b3")
    assert "4 offline, 8 min ISR, 0 unclean, 20 under" in said(BROKERS, "b10", "b3")
    assert "not among the worst 1" in said(BROKERS, "b1", "b2")
    assert "broker 1 alone" in said(BROKERS, "b1", "b1")
    assert "racks r1 and r2: the worst pair hurts 2 partitions" in said(RACKS, "rack:r1", "rack:r2")
    assert "cell" not in said(BROKERS) and "cell" not in said(BROKERS, "b1", "b99")


@given(st.integers(0, 5_000), st.integers(0, 5_000))
def test_shades_rise_with_what_is_hurt(one: int, most: int) -> None:
    one, most = sorted((one, most))
    assert (shade_of(one, most) == 0) == (one == 0)
    assert one < most or shade_of(one, most) == (len(SHADES) - 1 if most else 0)
    assert shade_of(one, most) <= shade_of(min(one + 1, most), most)


@given(
    st.integers(2, 8).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_worst_first_is_an_order_of_all_that_begins_as_the_list_does(table: list[list[int]]) -> None:
    size = len(table)
    hurt = tuple(tuple(0 if a == b else table[min(a, b)][max(a, b)] for b in range(size)) for a in range(size))
    order = worst_first(HeatMap("broker", tuple(map(str, range(size))), hurt), ("1", "0", "99"))
    assert sorted(order) == list(range(size))
    assert order[:2] == [1, 0]
    worst = [max(hurt[place]) for place in order]
    assert worst[2:] == sorted(worst[2:], reverse=True)
