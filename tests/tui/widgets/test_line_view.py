"""A list of any length: windows, the cursor's identity, motions, mouse, hostile text."""

import pytest
from textual.events import MouseScrollDown
from textual.pilot import Pilot

from tests.tui.hostile import HOSTILE
from tests.tui.quiet import resized
from tests.tui.screen_text import assert_screen, screen_lines
from tests.tui.widgets.listing import COLUMNS, ListApp, Numbered, row
from tui.app.widgets.line_view import LineView
from tui.engine.rows import Column, Row, Window
from tui.engine.text import cells


async def test_a_million_rows_are_asked_for_in_windows() -> None:
    app = ListApp(Numbered(1_000_000))
    async with app.run_test(size=(60, 21)) as pilot:
        await pilot.press("j", "j", "G", "k", "pageup", "ctrl+u", "g", "pagedown", "ctrl+d")
        assert len(app.asked) < 9
        assert all(wanted.count <= 3 * 21 for wanted in app.asked)
        assert sum(wanted.count for wanted in app.asked) < 500
        await pilot.press("G")
        assert screen_lines(app)[-1].startswith(">  row 999999")


async def test_scrolling_line_by_line_asks_seldom_and_is_never_without_rows() -> None:
    app = ListApp(Numbered(1_000))
    async with app.run_test(size=(60, 21)) as pilot:
        for _ in range(100):
            await pilot.press("j")
            assert "..." not in "".join(screen_lines(app))
        assert len(app.asked) < 12


async def test_the_cursor_moves_before_the_rows_arrive() -> None:
    app = ListApp(Numbered(500))
    async with app.run_test(size=(60, 11)) as pilot:
        app.answers = False
        await pilot.press("G")
        assert app.view.cursor == 499
        assert app.view.cursor_key == ""
        assert screen_lines(app)[-1].startswith(">  ...")
        await pilot.press("enter")
        assert app.selected() == []
        app.answer(app.asked[-1])
        await pilot.pause()
        assert app.view.cursor_key == "k499"
        assert app.highlighted()[-1] == "k499"
        await pilot.press("enter")
        assert app.selected() == ["k499"]


async def test_the_cursor_goes_along_with_its_row() -> None:
    app = ListApp([row(index) for index in range(100)])
    async with app.run_test(size=(60, 11)) as pilot:
        await pilot.press("j", "j", "j")
        app.rows = app.rows[::-1]
        app.view.ask()
        await pilot.pause()
        assert (app.view.cursor_key, app.view.cursor) == ("k3", 96)
        assert any(line.startswith(">  row 3 ") for line in screen_lines(app))
        await pilot.press("enter")
        assert app.selected() == ["k3"]
        assert app.highlighted() == ["k0", "k1", "k2", "k3"]


async def test_rows_that_come_in_above_do_not_move_the_cursor_on_the_screen() -> None:
    app = ListApp([row(index) for index in range(100)])
    async with app.run_test(size=(60, 11)) as pilot:
        await pilot.press("pagedown", "j")
        before = [line.rstrip("┃ ") for line in screen_lines(app)]
        app.rows = [row(index) for index in range(1000, 1020)] + list(app.rows)
        app.view.ask()
        await pilot.pause()
        assert [line.rstrip("┃ ") for line in screen_lines(app)] == before
        assert app.view.cursor == 31


async def test_a_row_that_is_gone_leaves_the_cursor_to_its_neighbour() -> None:
    app = ListApp([row(index) for index in range(5)])
    async with app.run_test(size=(60, 11)) as pilot:
        await pilot.press("j", "j")
        app.rows = [row(index) for index in (0, 1, 3, 4)]
        app.view.ask()
        await pilot.pause()
        assert (app.view.cursor, app.view.cursor_key) == (2, "k3")
        assert app.highlighted()[-1] == "k3"
        app.rows = [row(0)]
        app.view.ask()
        await pilot.pause()
        assert (app.view.cursor, app.view.cursor_key) == (0, "k0")
        app.rows = []
        app.view.ask()
        await pilot.pause()
        assert (app.view.cursor, app.view.cursor_key) == (0, "")
        assert app.highlighted()[-1] == ""


async def test_a_row_that_comes_or_goes_at_the_end_is_drawn_at_once() -> None:
    app = ListApp([row(index) for index in range(3)])
    async with app.run_test(size=(60, 11)) as pilot:
        for count in (4, 2, 5):
            app.rows = [row(index) for index in range(count)]
            app.view.ask()
            await pilot.pause()
            shown = [line[3:].split("  ")[0] for line in screen_lines(app)[1:] if line.strip()]
            assert shown == [f"row {index}" for index in range(count)]


async def test_an_answer_to_an_older_question_does_not_pull_the_cursor_back() -> None:
    app = ListApp([row(index) for index in range(500)])
    async with app.run_test(size=(60, 11)) as pilot:
        app.answers = False
        app.view.ask()
        await pilot.press("j", "j")
        late = Window(0, 500, tuple(app.rows[:30]), COLUMNS, cursor=7)
        app.view.show(late, "k0")
        assert (app.view.cursor, app.view.cursor_key) == (2, "k2")


async def test_news_stay_in_view_while_the_cursor_is_on_the_first_row() -> None:
    app = ListApp([row(index) for index in range(50)], make=lambda: LineView(follow_top=True))
    async with app.run_test(size=(60, 11)) as pilot:
        app.rows = [row(100), *app.rows]
        app.view.ask()
        await pilot.pause()
        assert (app.view.cursor, app.view.cursor_key) == (0, "k100")
        await pilot.press("j")
        app.rows = [row(101), *app.rows]
        app.view.ask()
        await pilot.pause()
        assert (app.view.cursor, app.view.cursor_key) == (2, "k0")


async def test_seeking_goes_to_a_row_far_away() -> None:
    app = ListApp([row(index) for index in range(500)])
    async with app.run_test(size=(60, 11)) as pilot:
        app.view.seek("k321")
        await pilot.pause()
        assert app.view.cursor == 321
        assert app.view.cursor_key == "k321"
        assert any(line.startswith(">  row 321") for line in screen_lines(app))
        app.view.seek("no such row")
        await pilot.pause()
        assert app.view.cursor_key == "k321"


async def motions(pilot: Pilot[None], app: ListApp) -> list[tuple[str, int, int]]:
    seen: list[tuple[str, int, int]] = []
    for key in ("j", "down", "k", "up", "pagedown", "ctrl+d", "ctrl+u", "pageup", "G", "home", "end", "g", "k"):
        await pilot.press(key)
        seen.append((key, app.view.cursor, app.view.top))
    return seen


async def test_motions() -> None:
    app = ListApp(Numbered(100))
    async with app.run_test(size=(60, 11)) as pilot:
        assert await motions(pilot, app) == [
            ("j", 1, 0),
            ("down", 2, 0),
            ("k", 1, 0),
            ("up", 0, 0),
            ("pagedown", 10, 10),
            ("ctrl+d", 15, 15),
            ("ctrl+u", 10, 10),
            ("pageup", 0, 0),
            ("G", 99, 90),
            ("home", 0, 0),
            ("end", 99, 90),
            ("g", 0, 0),
            ("k", 0, 0),
        ]


async def test_the_mouse_moves_opens_and_scrolls() -> None:
    app = ListApp(Numbered(100))
    async with app.run_test(size=(60, 11)) as pilot:
        await pilot.click(LineView, offset=(5, 4))
        assert app.view.cursor == 3
        assert app.selected() == []
        await pilot.click(LineView, offset=(5, 6), times=2)
        assert app.selected() == ["k5"]
        await pilot.click(LineView, offset=(5, 0))
        assert app.view.cursor == 5
        await pilot._post_mouse_events([MouseScrollDown], LineView, button=0)
        assert (app.view.top, app.view.cursor) == (3, 5)
        await pilot.click(LineView, offset=(59, 10))
        assert (app.view.top, app.view.cursor) == (90, 5)


async def test_columns_go_out_of_view_whole_and_the_first_one_stays() -> None:
    columns = (Column("name", 10), *(Column(f"c{number}", 9, ">") for number in range(8)))
    rows = [Row(f"k{i}", (((f"row {i}", ""),), *(((f"{i}-{n}", ""),) for n in range(8)))) for i in range(3)]
    app = ListApp(rows, columns=columns)
    async with app.run_test(size=(60, 6)) as pilot:
        assert_screen(app, "list_columns_left")
        await pilot.press("l", "right", "l", "l", "l", "l", "l")
        assert_screen(app, "list_columns_right")
        await pilot.press("h", "left", "h", "h", "h", "h")
        assert_screen(app, "list_columns_left")


async def test_the_header_names_the_columns_and_the_order() -> None:
    app = ListApp(Numbered(3))
    async with app.run_test(size=(60, 5)) as pilot:
        app.view.sorted_by("value")
        await pilot.pause()
        assert screen_lines(app)[0].split() == ["name", "value^", "state"]
        app.view.sorted_by("name", reverse=True)
        await pilot.pause()
        assert screen_lines(app)[0].split() == ["namev", "value", "state"]


async def test_without_titles_there_is_no_header_and_cells_follow_each_other() -> None:
    app = ListApp(Numbered(3), columns=())
    async with app.run_test(size=(60, 5)):
        assert screen_lines(app)[0] == ">  row 0 0 ok"


async def test_an_empty_list_says_why() -> None:
    app = ListApp([], make=lambda: LineView(empty="no brokers under /brokers/ids"), answers=False)
    async with app.run_test(size=(60, 11)) as pilot:
        assert "waiting for data" in "".join(screen_lines(app))
        app.answer(app.asked[-1])
        await pilot.pause()
        assert "no brokers under /brokers/ids" in "".join(screen_lines(app))
        await pilot.press("j", "G", "enter", "pagedown", "k", "l", "h")
        app.view.show(Window(0, 0, (), note="the filter re:( is no pattern"))
        await pilot.pause()
        assert "the filter re:( is no pattern" in "".join(screen_lines(app))


async def test_a_note_takes_the_last_line() -> None:
    app = ListApp(Numbered(100))
    app.note = "first 500 of 9,000"
    async with app.run_test(size=(60, 11)) as pilot:
        assert screen_lines(app)[-1] == "   first 500 of 9,000"
        await pilot.press("G")
        assert screen_lines(app)[-2].startswith(">  row 99")


async def test_starting_over_forgets_the_rows_and_the_place() -> None:
    app = ListApp(Numbered(100))
    async with app.run_test(size=(60, 11)) as pilot:
        await pilot.press("G")
        app.answers = False
        app.view.start_over()
        await pilot.pause()
        assert "row" not in "".join(screen_lines(app))
        app.rows = [row(7)]
        app.answer(app.asked[-1])
        await pilot.pause()
        assert app.view.cursor_key == "k7"


async def test_a_smaller_screen_keeps_the_cursor_in_sight() -> None:
    app = ListApp(Numbered(100))
    async with app.run_test(size=(60, 31)) as pilot:
        for _ in range(25):
            await pilot.press("j")
        await resized(pilot, 60, 11)
        assert any(line.startswith(">  row 25") for line in screen_lines(app))
        await resized(pilot, 60, 61)
        assert len(screen_lines(app)) == 61
        assert "..." not in "".join(screen_lines(app))


async def test_the_cursor_can_be_seen_without_focus_and_without_colour() -> None:
    app = ListApp(Numbered(5), theme="mono")
    async with app.run_test(size=(60, 6)) as pilot:
        await pilot.press("j")
        focused = app.screen._compositor.render_strips()[2]
        assert all(segment.style and segment.style.reverse for segment in list(focused)[:-1])
        app.set_focus(None)
        await pilot.pause()
        blurred = app.screen._compositor.render_strips()[2]
        assert blurred.text == focused.text
        assert all(segment.style and segment.style.underline for segment in list(blurred)[:-1])


@pytest.mark.parametrize("width", [1, 4, 12, 60, 80, 300])
@pytest.mark.parametrize("ascii_only", [False, True])
async def test_hostile_text_is_shown_and_not_obeyed(width: int, ascii_only: bool) -> None:
    rows = [Row(text, (((text, ""), (text, "error")), ((text, ""),), ((text, text),)), mark=text) for text in HOSTILE]
    columns = (Column("[b]name[/]", -12), Column("\x1b[31m", 8, ">"), Column("日本語", 4))
    app = ListApp(rows, columns=columns, ascii_only=ascii_only)
    app.note = HOSTILE[4]
    async with app.run_test(size=(width, 30)) as pilot:
        await pilot.press("j", "G", "l")
        for strip in app.screen._compositor.render_strips():
            assert cells(strip.text) == width
            assert strip.text.isprintable()
        if width == 300:
            text = "\n".join(screen_lines(app))
            assert all(seen in text for seen in ("[/brokers/ids]", "[b1,b2]", "[@click=app.quit]x", r"\x1b[2J"))


@pytest.mark.parametrize("width", [60, 80, 300])
async def test_a_list_at_three_widths(width: int) -> None:
    app = ListApp([row(index) for index in range(30)])
    async with app.run_test(size=(width, 12)) as pilot:
        await pilot.press("j", "j")
        assert_screen(app, f"list_{width}")
