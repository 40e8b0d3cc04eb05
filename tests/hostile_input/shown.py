"""Whether a text may be shown: nothing in it that a terminal obeys, and an error in one line that can be read."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from tui.engine.rows import Line
from tui.engine.text import plain

FORBIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode's categories of control, format (bidirectional ones among them), surrogate, private and no characters."""


def check_shown(text: str, *, ends: str = "") -> None:
    """Of a text as it reaches the terminal; `ends` are control characters that are ours."""
    if text.isascii() and text.isprintable():
        return
    bad = {letter for letter in set(text) - set(ends) if unicodedata.category(letter) in FORBIDDEN}
    assert not bad, f"would reach the terminal: {sorted(bad)!r} in {text[:200]!r}"


def check_error(error: BaseException | str) -> None:
    """Of a failure that an operator is told: one line, as `kdrill` writes it, which cuts it where it is too long."""
    text = str(error)
    assert text.strip(), f"{error!r} says nothing"
    check_shown(plain(text))


def check_lines(lines: Iterable[Line]) -> None:
    """Of lines as a pane draws them."""
    for line in lines:
        for text, _style in line:
            check_shown(plain(text))
