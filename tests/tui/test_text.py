"""Untrusted text becomes plain, and takes exactly the cells asked for."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tui.hostile import HOSTILE
from tui.engine.text import cells, cut, fit, fit_line, pad, plain, short_age, wrap_line

ANY_TEXT = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.text(st.sampled_from("a \x1b\u202e\u200b\u0301日🇫\ufe0f\u00ad\n")),
    st.sampled_from(HOSTILE),
)
LINES = st.lists(st.tuples(ANY_TEXT, st.sampled_from(("", "dim", "error"))), max_size=5)
WIDTHS = st.integers(0, 40)
BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def is_harmless(text: str) -> bool:
    return text.isprintable() and all(
        unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Mn", "Me")
        and unicodedata.bidirectional(character) not in BIDIRECTIONAL
        and cell_len(character) in (1, 2)
        for character in text
    )


@given(ANY_TEXT)
def test_plain_text_has_nothing_to_obey_and_nothing_invisible(text: str) -> None:
    assert is_harmless(plain(text))


@given(ANY_TEXT)
def test_plain_text_is_plain_already(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_visible_text_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


@given(ANY_TEXT, WIDTHS, st.sampled_from("<>^"), st.sampled_from("…~"))
def test_plain_takes_exactly_the_width_asked_for(text: str, width: int, align: str, ellipsis: str) -> None:
    fitted = plain(text, width, align=align, ellipsis=ellipsis)
    assert cell_len(fitted) == width
    assert is_harmless(fitted)


@given(ANY_TEXT, WIDTHS)
def test_text_that_was_cut_says_so(text: str, width: int) -> None:
    if cells(plain(text)) > width > 0:
        assert plain(text, width).rstrip(" ").endswith("…")


@given(ANY_TEXT, WIDTHS)
def test_a_cut_keeps_as_much_as_fits(text: str, width: int) -> None:
    text = plain(text)
    start = cut(text, width)
    assert text.startswith(start)
    assert cells(start) <= width
    assert start == text or cells(text[: len(start) + 1]) > width


@given(LINES, WIDTHS, st.sampled_from("<>^"))
def test_a_line_of_pieces_takes_exactly_its_width(line: list[tuple[str, str]], width: int, align: str) -> None:
    fitted = fit_line(line, width, align=align)
    text = "".join(text for text, _ in fitted)
    assert cell_len(text) == width
    assert is_harmless(text)


@given(LINES, WIDTHS)
def test_a_line_of_pieces_reads_like_the_same_text_in_one_piece(line: list[tuple[str, str]], width: int) -> None:
    whole = plain("".join(plain(text) for text, _ in line), width)
    assert "".join(text for text, _ in fit_line(line, width)) == whole


@given(LINES, st.integers(2, 40))
def test_wrapping_loses_nothing_but_spaces(line: list[tuple[str, str]], width: int) -> None:
    wrapped = ["".join(text for text, _ in part) for part in wrap_line(line, width)]
    assert all(cell_len(part) <= width for part in wrapped)
    assert "".join(wrapped).replace(" ", "") == "".join(plain(text) for text, _ in line).replace(" ", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31m", r"\x1b[31m"),
        ("a\tb\r\n", r"a\tb\r\n"),
        ("\u202e", r"\u202e"),
        ("\U000e0041", r"\U000e0041"),
        ("\x9b", r"\x9b"),
        ("é", "é"),
        ("e\u0301", r"e\u0301"),
        ("[/brokers/ids]", "[/brokers/ids]"),
    ],
)
def test_escapes_are_readable(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_wide_characters_are_never_halved() -> None:
    assert fit("日本語", 4) == "日… "
    assert fit("日本語", 5) == "日本…"
    assert fit("日本語", 6) == "日本語"
    assert fit("日本語", 5, ellipsis="~") == "日本~"
    assert pad("日本", 6, ">") == "  日本"


def test_continued_lines_keep_the_first_ones_indent() -> None:
    wrapped = wrap_line([("  one two three", "")], 9)
    assert ["".join(text for text, _ in part).rstrip() for part in wrapped] == ["  one two", "  three"]


@pytest.mark.parametrize(
    ("age_ms", "expected"),
    [(-5, "0s"), (0, "0s"), (1_999, "1s"), (59_999, "59s"), (60_000, "1m"), (3_600_000, "1h"), (172_800_000, "2d")],
)
def test_ages_are_said_in_their_largest_unit(age_ms: int, expected: str) -> None:
    assert short_age(age_ms) == expected
