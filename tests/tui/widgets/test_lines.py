"""The tab line and the key footer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import ComposeResult

from tests.tui.hostile import HOSTILE
from tests.tui.screen_text import assert_screen, screen_lines
from tui.app.theme import ThemedApp
from tui.app.widgets.edge_lines import KeyFooter, TabLine, keys_line, tab_line
from tui.engine.text import cells, plain

TITLES = ("Overview", "Znodes", "Partitions", "Consumers", "Rebalance", "Drill", "Logs")
NUMBERS = tuple(map(str, range(1, 100)))
KEYS = (("?", "help"), ("/", "filter"), (":", "cmd"), ("enter", "open"), ("a", "alerts"), ("p", "pause"), ("q", "back"))


class LinesApp(ThemedApp[None]):
    def __init__(
        self, titles: tuple[str, ...] = TITLES, keys: tuple[tuple[str, str], ...] = KEYS, note: str = ""
    ) -> None:
        super().__init__()
        self.titles, self.keys, self.note = titles, keys, note
        self.chosen: list[int] = []

    def compose(self) -> ComposeResult:
        yield TabLine(self.titles, NUMBERS[: len(self.titles)], active=2)
        yield KeyFooter()

    def on_mount(self) -> None:
        self.query_one(KeyFooter).show(self.keys, self.note)

    def on_tab_line_tab_chosen(self, message: TabLine.TabChosen) -> None:
        self.chosen.append(message.index)
        self.query_one(TabLine).show(message.index)


@pytest.mark.parametrize("width", [60, 80, 300])
async def test_both_lines_at_three_widths(width: int) -> None:
    app = LinesApp(note="12:04:31")
    async with app.run_test(size=(width, 3)):
        assert_screen(app, f"tabs_and_keys_{width}")


async def test_a_pressed_tab_is_said_and_shown() -> None:
    app = LinesApp()
    async with app.run_test(size=(80, 3)) as pilot:
        await pilot.click(TabLine, offset=(2, 0))
        await pilot.click(TabLine, offset=(70, 0))
        await pilot.click(TabLine, offset=(78, 0))
        assert app.chosen == [0, 6]
        assert "[7]Logs" in screen_lines(app)[0]


@pytest.mark.parametrize("width", [1, 10, 60, 300])
async def test_hostile_text_is_shown_and_not_obeyed(width: int) -> None:
    app = LinesApp(HOSTILE, tuple((text, text) for text in HOSTILE), HOSTILE[4])
    async with app.run_test(size=(width, 3)):
        for strip in app.screen._compositor.render_strips()[:2]:
            assert strip.text.isprintable()
            assert cells(strip.text) == width


@given(st.integers(0, 6), st.integers(30, 200))
def test_every_tab_has_its_number_and_the_present_one_its_name(active: int, width: int) -> None:
    line = tab_line(TITLES, NUMBERS[: len(TITLES)], active, width)
    text = "".join(text for text, _ in line)
    assert cells(text) <= width
    assert all(str(number) in text for number in range(1, 8))
    assert f"[{active + 1}]{TITLES[active]}" in text


@given(
    st.lists(st.tuples(st.sampled_from(("?", "a", "enter", "日")), st.text(max_size=9)), max_size=9), st.integers(0, 90)
)
def test_keys_are_shown_whole_or_not_at_all(keys: list[tuple[str, str]], width: int) -> None:
    text = "".join(plain(text) for text, _ in keys_line(keys, width, "note"))
    assert cells(text) <= max(width, 0)
    rest = text
    for key, label in keys:
        gap = "" if key == "?" else " "
        if not rest.strip().startswith(plain(key)):
            break
        rest = rest.lstrip().removeprefix(plain(key) + gap + plain(label))
    assert rest.strip() in ("", "note")
