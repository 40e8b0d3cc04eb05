"""The timeline in a line: every moment has a place, every place a moment, and where we are is seen."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from model.drills.drill import run
from model.drills.scenario import Scenario
from tests.tui.data.asked import rows_shown, text_shown
from tests.tui.data.small_cluster import small_image
from tui.engine.drill.playback import MARKS, DrillAnswer, playback_of
from tui.engine.drill.queries import AtSecond, DrillTimelineList, InCell, ScrubberText, ToMark
from tui.engine.drill.rows import cell_of, step_of
from tui.engine.questions import DrillPlan

IMAGE = small_image()
LOOK = DrillAnswer(DrillPlan(kill=(4,)), IMAGE, playback_of(run(IMAGE, Scenario(kill=(4,), restart_after_ms=60_000))))


@given(st.integers(1, 300), st.integers(1, 300), st.data())
def test_places_and_scenes_belong_to_each_other(width: int, count: int, data: st.DataObject) -> None:
    step, cell = data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, width - 1))
    assert 0 <= cell_of(step, width, count) < width
    assert 0 <= step_of(cell, width, count) < count
    if count <= width:
        assert step_of(cell_of(step, width, count), width, count) == step
    else:
        assert cell_of(step_of(cell, width, count), width, count) == cell


@given(st.integers(1, 300), st.integers(1, 300))
def test_further_right_is_later(width: int, count: int) -> None:
    assert step_of(0, width, count) == cell_of(0, width, count) == 0
    for places in (
        [step_of(cell, width, count) for cell in range(width)],
        [cell_of(s, width, count) for s in range(count)],
    ):
        assert places == sorted(places)
    assert step_of(-5, width, count) == 0
    assert step_of(width + 5, width, count) == step_of(width - 1, width, count)


def scrubber(width: int, moment: int) -> list[str]:
    asked = ScrubberText(width=width, moment=moment)
    return ["".join(text for text, _ in line) for line in text_shown(LOOK, asked).lines]


def test_the_line_shows_marks_times_and_where_we_are() -> None:
    assert LOOK.playback is not None
    last = len(LOOK.playback.steps) - 1
    times, signs = scrubber(120, 0)
    assert times.startswith("+0.000") and "+60.000" in times and len(times) <= 120
    assert len(signs) == 120 and signs[0] == "@"
    assert [sign for sign in signs if sign in "Kx*U"] == ["x", "*", "U"]
    times, signs = scrubber(120, last)
    assert signs[0] == "K" and signs.index("@") == cell_of(last, 120, last + 1)


def test_narrow_lines_keep_the_deaths_that_share_a_cell() -> None:
    times, signs = scrubber(12, 30)
    assert (len(signs), signs[0], "U" in signs) == (12, "K", True)
    assert len(times) <= 12


def test_before_there_is_a_film_the_line_is_empty() -> None:
    empty = msgspec.structs.replace(LOOK, playback=None)
    assert text_shown(empty, ScrubberText(width=20)).plain == f"\n{'-' * 20}"


def test_a_cell_is_sought_in_the_list_of_moments() -> None:
    def place(cell: int, width: int) -> int:
        return rows_shown(LOOK, DrillTimelineList(seek=InCell(cell, width), count=0)).cursor

    assert LOOK.playback is not None
    assert [place(0, 120), place(119, 120)] == [0, step_of(119, 120, len(LOOK.playback.steps))]
    assert place(4, 0) == place(0, 0) == -1


def test_seconds_and_marks_are_sought_there_too() -> None:
    def place(seek: AtSecond | ToMark) -> int:
        return rows_shown(LOOK, DrillTimelineList(seek=seek, count=0)).cursor

    assert LOOK.playback is not None
    steps = LOOK.playback.steps
    marks = [number for number, step in enumerate(steps) if step.sign in MARKS]
    assert [place(ToMark(0)), place(ToMark(marks[2], back=True))] == marks[1:2] * 2
    assert place(ToMark(marks[-1])) == place(ToMark(0, back=True)) == -1
    assert [place(AtSecond(-1.0)), place(AtSecond(1e9))] == [0, len(steps) - 1]
    assert steps[place(AtSecond(60.0))].at_ms <= 60_000 < steps[place(AtSecond(60.0)) + 1].at_ms
