"""The course of a drill: folded time, on which every step has its place; the counts that are drawn; the scrubber."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.drills.drill import run
from model.drills.scenario import Act, Deed, Scenario, of_acts
from tests.tui.data.asked import rows_shown, text_shown
from tests.tui.data.small_cluster import small_image, text_of
from tui.engine.drill.course import axis_of, course_of, numbers_of, step_in_cell
from tui.engine.drill.playback import MARKS, DrillAnswer, playback_of
from tui.engine.drill.queries import AtSecond, CoursePicture, DrillTimelineList, InCell, ToMark
from tui.engine.glyphs import ASCII, FOLD
from tui.engine.questions import DrillPlan

IMAGE = small_image()
FILM = playback_of(run(IMAGE, Scenario(kill=(4,), restart_after_ms=60_000)))
LOOK = DrillAnswer(DrillPlan(kill=(4,)), IMAGE, FILM)

WIDTHS = st.integers(1, 250)
TIMES = st.lists(st.sampled_from([0.0, 0.5, 3.0, 999.0, 1_000.0, 18_000.0, 60_000.0]), max_size=120).map(
    lambda gaps: [sum(gaps[:number]) for number in range(len(gaps) + 1)]
)


@given(TIMES, WIDTHS)
def test_every_step_has_its_place_in_order_from_end_to_end(times: list[float], width: int) -> None:
    axis = axis_of(times, width)
    assert list(axis.cells) == sorted(axis.cells) and len(axis.cells) == len(times)
    assert axis.cells[0] == 0
    assert axis.cells[-1] == (width - 1 if len(times) > 1 else 0)


@given(TIMES, WIDTHS)
def test_cells_lead_back_to_the_steps_they_show(times: list[float], width: int) -> None:
    axis = axis_of(times, width)
    steps = [axis.step_at(cell) for cell in range(width)]
    assert steps == sorted(steps) and steps[0] == 0 and 0 <= steps[-1] < len(times)
    for step, cell in enumerate(axis.cells):
        assert step in axis.within(cell)
        assert axis.cells[axis.step_at(cell)] == cell
    assert {step for cell in range(width) for step in axis.within(cell)} == set(range(len(times)))
    assert [axis.step_at(-5), axis.step_at(width + 5)] == [steps[0], steps[-1]]


@given(TIMES, st.integers(130, 250))
def test_with_room_each_step_has_a_cell_of_its_own(times: list[float], width: int) -> None:
    few = times[:40]
    assert len(set(axis_of(few, width).cells)) == len(few)


@given(TIMES, WIDTHS)
def test_folds_are_silences_and_there_is_room_to_say_how_long_they_were(times: list[float], width: int) -> None:
    axis = axis_of(times, width)
    gaps = [after - before for before, after in pairwise(times)]
    for fold in axis.folds:
        assert fold.ms >= 1_000 and fold.ms == gaps[axis.within(fold.start).stop - 1]
        assert len(fold.text) < fold.end - fold.start
    if axis.folds:
        left = sorted(gaps)[: len(gaps) - len(axis.folds)]
        assert min(fold.ms for fold in axis.folds) >= max(left, default=0)


def test_thirty_ms_are_as_wide_as_eighteen_seconds() -> None:
    times = [0.0, 2.0, *(18_000.0 + ms for ms in range(0, 33, 3))]
    axis = axis_of(times, 100)
    (fold,) = axis.folds
    assert fold.text == f"{FOLD} 18 s {FOLD}"
    busy = axis.cells[-1] - axis.cells[2]
    assert abs(busy - (fold.end - fold.start)) <= 12


@pytest.mark.parametrize("acts", [None, [Act(Deed.STOP, (4,)), Act(Deed.KILL, (1, 2, 3)), Act(Deed.START, (5,))]])
def test_what_is_drawn_are_the_counts_of_each_step_and_at_worst(acts: list[Act] | None) -> None:
    playback = FILM if acts is None else playback_of(run(IMAGE, of_acts(acts)))
    wide, narrow = course_of(playback, 400), course_of(playback, 60)
    of_steps = [numbers_of(counts) for counts in playback.counts]
    assert [wide.columns[cell] for cell in wide.axis.cells] == of_steps
    peaks = tuple(map(max, zip(*of_steps, strict=True)))
    for course in (wide, narrow):
        assert tuple(map(max, zip(*course.columns, strict=True))) == course.peaks == peaks
        assert course.longest_ms == max(counts.longest_ms for counts in playback.counts)


def picture(width: int = 120, height: int = 10, **asked: object) -> list[str]:
    query = CoursePicture(width=width, height=height, **asked)  # pyright: ignore[reportArgumentType]
    return [text_of(line) for line in text_shown(LOOK, query).lines]


@pytest.mark.parametrize("look", [{}, {"is_filled": False}, {"is_ascii": True}], ids=["filled", "marks", "ascii"])
@pytest.mark.parametrize("size", [(58, 6), (77, 6), (117, 10), (197, 15), (400, 40)])
def test_it_fills_its_room_and_no_more(size: tuple[int, int], look: dict[str, bool]) -> None:
    lines = picture(*size, **look)
    assert len(lines) <= size[1] and {len(line) for line in lines} == {size[0]}
    assert "".join(lines).translate(ASCII).isascii()
    said = "\n".join(lines)
    for word in ("no leader", "under min ISR", "under-repl", "longest outage 18.1 s", "+0.000 b4 down"):
        assert word in said


def test_numbers_now_and_at_worst_stand_before_the_axis() -> None:
    assert LOOK.playback is not None
    moment = 12
    now, worst = FILM.counts[moment], course_of(FILM, 120).peaks
    said = {" ".join(line[: course_of(FILM, 120).gutter].split()[1:]) for line in picture(moment=moment)}
    assert {
        f"no leader {now.leaderless} {worst[0]}",
        f"under min ISR {now.under_min_isr} {worst[1]}",
        f"under-repl {now.under_replicated} {worst[2]}",
    } <= said


def test_deaths_expiry_election_and_return_are_told_below_their_marks() -> None:
    *_, signs, first, second = picture(width=160, moment=0)
    labels = (first, second)
    for sign, told in (("x", "b4 expired"), ("*", "controller b1|b2|b3"), ("U", "b4 back"), ("w", "1 elected")):
        line = next(line for line in labels if told in line)
        start = line.rindex("+", 0, line.index(told))
        assert signs[start] == sign, told


def test_the_scrubber_shows_marks_and_where_we_are_and_folds() -> None:
    gutter, last = course_of(FILM, 160).gutter, len(FILM.steps) - 1
    signs = next(line for line in picture(width=160, moment=0) if line.startswith("at "))
    assert signs.startswith("at +0.000 s ") and signs[gutter] == "@" and "━" not in signs
    assert [sign for sign in signs[gutter:] if sign in "Kx*U"] == ["x", "*", "U"]
    assert f"{FOLD} 18 s {FOLD}" in signs and f"{FOLD} 42 s {FOLD}" in signs
    signs = next(line for line in picture(width=160, moment=last) if line.startswith("at "))
    assert signs[gutter] == "K" and signs[-1] == "@" and "─" not in signs


def test_before_there_is_a_playback_it_says_why() -> None:
    empty = msgspec.structs.replace(LOOK, playback=None, note="setting up the copy")
    assert "setting up the copy" in text_shown(empty, CoursePicture(width=60)).plain


def test_a_cell_is_sought_in_the_list_of_moments() -> None:
    def place(cell: int, width: int) -> int:
        return rows_shown(LOOK, DrillTimelineList(seek=InCell(cell, width), count=0)).cursor

    gutter = course_of(FILM, 160).gutter
    last = len(FILM.steps) - 1
    assert [place(gutter, 160), place(0, 160), place(159, 160)] == [0, 0, last]
    assert place(gutter + 40, 160) == step_in_cell(FILM, gutter + 40, 160) > 0
    assert place(4, 0) == place(0, 0) == -1


def test_seconds_and_marks_are_sought_there_too() -> None:
    def place(seek: AtSecond | ToMark) -> int:
        return rows_shown(LOOK, DrillTimelineList(seek=seek, count=0)).cursor

    steps = FILM.steps
    marks = [number for number, step in enumerate(steps) if step.sign in MARKS]
    assert [place(ToMark(0)), place(ToMark(marks[2], back=True))] == marks[1:2] * 2
    assert place(ToMark(marks[-1])) == place(ToMark(0, back=True)) == -1
    assert (place(ToMark(-1)), place(ToMark(-1, back=True))) == (-1, marks[-1])
    assert [place(AtSecond(-1.0)), place(AtSecond(1e9))] == [0, len(steps) - 1]
    assert steps[place(AtSecond(60.0))].at_ms <= 60_000 < steps[place(AtSecond(60.0)) + 1].at_ms
