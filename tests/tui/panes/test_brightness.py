"""What has just changed is bright for a moment; nothing else is, and nothing while nothing changes."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.tui.dashboard import kdrill, opened, press, rows
from tui.app.widgets.lists import BRIGHT, BRIGHT_S, RecentChanges, brightened
from tui.engine.rows import NO_ACROSS, Across, Column, Line, Row, Window

STYLES = st.sampled_from(["", "dim", "cell-leader", "cell-isr"])
LINES = st.lists(st.tuples(st.text("Lo-", max_size=4), STYLES), max_size=4).map(tuple)


@given(LINES, LINES)
def test_only_the_signs_that_changed_are_bright(before: Line, now: Line) -> None:
    bright = brightened(Row("k", (before,)), Row("k", (now,)))
    was, are = ([(sign, style) for text, style in line for sign in text] for line in (before, now))
    if bright is None:
        assert before == now or was == are or all(style == "dim" for _, style in now)
        return
    shown = [(sign, style) for text, style in bright.cells[0] for sign in text]
    assert [sign for sign, _ in shown] == [sign for sign, _ in are]
    if len(was) == len(are):
        assert [style == BRIGHT for _, style in shown] == [one != other for one, other in zip(was, are, strict=True)]


def window(*states: str, across: Across = NO_ACROSS) -> Window:
    rows = tuple(Row(f"k{place}", (((state, "ok"),),)) for place, state in enumerate(states))
    return Window(0, len(rows), rows, (Column("state", 8),), across=across)


def test_a_change_is_bright_for_its_time() -> None:
    changes, now = RecentChanges(), window("ok", "under", "ok")
    assert changes.learn(window("ok", "ok", "ok"), now, [1], 3, now_s=5.0)
    assert [changes.seen(row).cells[0][0][1] for row in now.rows] == ["ok", BRIGHT, "ok"]
    assert changes.forget(5.0 + BRIGHT_S / 2) == set()
    assert changes.forget(5.0 + BRIGHT_S) == {"k1"}
    assert changes.seen(now.rows[1]) is now.rows[1]


def test_neither_another_part_of_a_list_nor_all_of_it_is_bright() -> None:
    changes, old = RecentChanges(), window("ok", "ok", "ok")
    assert not changes.learn(old, window("1", "2", "3"), [0, 1, 2], 2, now_s=0.0)
    assert not changes.learn(old, window("1", "ok", "ok", across=Across(column="b1")), [0], 3, now_s=0.0)
    assert not changes.learn(old, Window(1, 3, old.rows, old.columns), [0, 1, 2], 3, now_s=0.0)


def test_a_row_that_changes_again_is_seen_as_it_is() -> None:
    changes, under, ok = RecentChanges(), window("under"), window("ok")
    changes.learn(ok, under, [0], 1, now_s=0.0)
    changes.learn(under, window("gone"), [0], 0, now_s=0.1)
    assert changes.seen(window("gone").rows[0]).cells == window("gone").rows[0].cells


@pytest.mark.parametrize("level", ["full", "none"])
async def test_it_is_drawn_bright_and_then_as_before(still: str, level: str) -> None:
    async with opened(still) as pilot:
        kdrill(pilot).animation_level = level  # pyright: ignore[reportAttributeAccessIssue]
        await press(pilot, "3")
        view = rows(pilot)
        style = view.look.style(BRIGHT)

        def is_bright() -> bool:
            return any(style in [piece.style for piece in view.strip_at(y)] for y in range(view.size.height))

        assert not is_bright()
        first = view.answer.rows[0]
        changed = structs.replace(first, cells=(*first.cells[:-1], (("X down", "error"),)))
        view.show(structs.replace(view.answer, rows=(changed, *view.answer.rows[1:])))
        assert is_bright() == (level == "full")
        deadline = time.monotonic() + 30
        while is_bright():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        assert "X down" in view.strip_at(1).text
