"""Plots' colour codes become styles, and nothing else gets through."""

from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from tui.app.widgets.text_and_plot import ansi_lines
from tui.engine.text import plain


def test_colours_are_read_as_styles() -> None:
    lines = ansi_lines("\x1b[1;31mred\x1b[0m and \x1b[38;5;208;48;2;1;2;3mmore\x1b[39;49m\n\x1b[97mwhite")
    assert lines == [
        [
            ("red", Style.parse("bold color(1)")),
            (" and ", Style.null()),
            ("more", Style.parse("color(208) on #010203")),
        ],
        [("white", Style.parse("default on default") + Style.parse("color(15)"))],
    ]


def test_a_style_carries_over_to_the_next_line() -> None:
    assert ansi_lines("\x1b[32ma\nb\x1b[m\n") == [[("a", Style.parse("color(2)"))], [("b", Style.parse("color(2)"))]]


def test_everything_but_colours_is_dropped() -> None:
    text = "a\x1b[2Jb\x1b[10;10Hc\x1b]0;title\x07d\x1b(Be\x1bcf\x1b]8;;http://x\x1b\\g"
    assert "".join(piece for piece, _ in ansi_lines(text)[0]) == "abcdefg"


def test_empty_lines_keep_their_place() -> None:
    assert ansi_lines("a\n\nb") == [[("a", Style.null())], [], [("b", Style.null())]]
    assert ansi_lines("") == []


@given(st.text(st.sampled_from("ab日 \n\x1b[]0123456789;:mHJ\x07\\\u202e\x9b")))
def test_nothing_gets_through_that_a_terminal_would_obey(text: str) -> None:
    for line in ansi_lines(text):
        for piece, _ in line:
            assert piece == plain(piece)
            assert piece


@given(st.lists(st.integers(0, 300), max_size=8))
def test_any_numbers_make_a_style(numbers: list[int]) -> None:
    codes = ";".join(map(str, numbers))
    assert ansi_lines(f"\x1b[{codes}mx")[0][0][0] == "x"
