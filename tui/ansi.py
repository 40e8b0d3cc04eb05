"""A string with ANSI colour codes read as lines of styled pieces: a plot built elsewhere, on its way to the screen.

Obeys select-graphic-rendition codes only. Every other escape sequence is dropped, and what is left passes `plain`, so
a plot cannot move the cursor or ring the bell.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from rich.color import Color
from rich.style import Style

from tui.text import plain

_ESCAPE = re.compile(
    r"\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x1b\\|\x07|$)|\x1b[ -/]*[0-~]?", re.S
)
"""A colour code (group 1 is set), another control sequence, an operating system command, a lone escape."""

_PLAIN_CODES = {
    1: Style(bold=True),
    2: Style(dim=True),
    3: Style(italic=True),
    4: Style(underline=True),
    7: Style(reverse=True),
    9: Style(strike=True),
    22: Style(bold=False, dim=False),
    23: Style(italic=False),
    24: Style(underline=False),
    27: Style(reverse=False),
    29: Style(strike=False),
    39: Style(color="default"),
    49: Style(bgcolor="default"),
    **{30 + number: Style(color=Color.from_ansi(number)) for number in range(8)},
    **{40 + number: Style(bgcolor=Color.from_ansi(number)) for number in range(8)},
    **{90 + number: Style(color=Color.from_ansi(8 + number)) for number in range(8)},
    **{100 + number: Style(bgcolor=Color.from_ansi(8 + number)) for number in range(8)},
}
_RESET, _FOREGROUND, _BACKGROUND = 0, 38, 48

StyledText = tuple[str, Style]


def ansi_lines(text: str) -> list[list[StyledText]]:
    """Lines of (plain text, style). Styles carry over from line to line, as on a terminal."""
    lines: list[list[StyledText]] = [[]]
    for piece, style in _pieces(text):
        first, *rest = piece.split("\n")
        lines[-1].append((plain(first.rstrip("\r")), style))
        lines += [[(plain(part.rstrip("\r")), style)] for part in rest]
    lines = [[piece for piece in line if piece[0]] for line in lines]
    return lines if lines[-1] else lines[:-1]


def _pieces(text: str) -> Iterator[StyledText]:
    style = Style.null()
    done = 0
    for escape in _ESCAPE.finditer(text):
        if escape.start() > done:
            yield text[done : escape.start()], style
        done = escape.end()
        codes = escape.group(1)
        if codes is not None:
            style = _after(style, codes)
    yield text[done:], style


@lru_cache(maxsize=4096)
def _after(style: Style, codes: str) -> Style:
    """The style after a colour code; numbers without a meaning are passed over."""
    numbers = iter([int(code or 0) for code in re.split("[;:]", codes)])
    for number in numbers:
        if number == _RESET:
            style = Style.null()
        elif number == _FOREGROUND:
            style += Style(color=_extended(numbers))
        elif number == _BACKGROUND:
            style += Style(bgcolor=_extended(numbers))
        else:
            style += _PLAIN_CODES.get(number, Style.null())
    return style


def _extended(numbers: Iterator[int]) -> Color | None:
    kind = next(numbers, None)
    if kind == 5:
        return Color.from_ansi(min(next(numbers, 0), 255))
    if kind == 2:
        red, green, blue = (min(next(numbers, 0), 255) for _ in range(3))
        return Color.from_rgb(red, green, blue)
    return None
