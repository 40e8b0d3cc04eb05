"""Untrusted text made fit to print, and text measured and cut in terminal cells.

Names and payloads come from znodes, so they may hold escape codes, bidirectional overrides or invisible characters.
`plain` shows each of these as an escape instead of obeying it. Knows nothing of colours, markup or widgets.

Every character that `plain` lets through takes one or two cells by itself (combining characters are escaped as
well), so a width is a sum over characters and a cut never changes how the rest is drawn.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from rich.cells import cell_len, get_character_cell_size

from tui.engine.rows import Line, Span

_HARMLESS = re.compile(r"[ -~\u00a1-\u00ac\u00ae-\u02ff\u2500-\u25fc\u2801-\u28ff\u2026]*")
"""One cell each, visible, and needing no closer look: Latin, box lines, blocks, Braille dots, the ellipsis."""

_BLANK_LETTERS = frozenset("\u115f\u2800")
"""Printable by Unicode's categories and one or two cells wide, yet drawn as nothing."""

_NAMED = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


@lru_cache(maxsize=4096)
def _visible(character: str) -> str:
    if character.isprintable() and character not in _BLANK_LETTERS and get_character_cell_size(character) > 0:
        return character
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def plain(text: str, width: int | None = None, *, ellipsis: str = "…", align: str = "<") -> str:
    """The text with everything that is not plainly visible written as an escape (`\\x1b`, `\\u202e`).

    With a width, the result takes exactly that many cells (see `fit`).
    """
    if not (text.isascii() and text.isprintable()) and not _HARMLESS.fullmatch(text):
        text = "".join(map(_visible, text))
    return text if width is None else fit(text, width, ellipsis=ellipsis, align=align)


def cells(text: str) -> int:
    """Terminal cells that a plain text takes."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, width: int) -> str:
    """The longest start of a plain text that takes at most `width` cells."""
    if text.isascii():
        return text[: max(width, 0)]
    left = width
    for index, character in enumerate(text):
        left -= get_character_cell_size(character)
        if left < 0:
            return text[:index]
    return text


def pad(text: str, width: int, align: str = "<") -> str:
    """A plain text filled with spaces to `width` cells; `<`, `>` or `^` as in format strings."""
    missing = max(width - cells(text), 0)
    before = {"<": 0, ">": missing, "^": missing // 2}[align]
    return " " * before + text + " " * (missing - before)


def fit(text: str, width: int, *, ellipsis: str = "…", align: str = "<") -> str:
    """A plain text in exactly `width` cells; a cut is shown by the ellipsis, so it is never mistaken for the whole."""
    if cells(text) > width:
        text = cut(text, width - cells(ellipsis)) + cut(ellipsis, width)
    return pad(text, width, align)


def fit_line(line: Iterable[Span], width: int, *, ellipsis: str = "…", align: str = "<") -> list[Span]:
    """Pieces of untrusted text made plain, in exactly `width` cells together; the last one carries the cut."""
    pieces = [(plain(text), style) for text, style in line]
    missing = width - sum(cells(text) for text, _ in pieces)
    if missing >= 0:
        before = {"<": 0, ">": missing, "^": missing // 2}[align]
        padded = [(" " * before, ""), *pieces, (" " * (missing - before), "")]
        return [piece for piece in padded if piece[0]]
    kept: list[Span] = []
    left = width
    for text, style in pieces:
        size = cells(text)
        # The piece that fills the line to the brim is cut as well: more follows, and that has to show.
        if size >= left:
            rest = text if size > left else text + ellipsis
            return [*kept, (fit(rest, left, ellipsis=ellipsis), style)] if left > 0 else kept
        if size:
            kept.append((text, style))
        left -= size
    return kept


def wrap_line(line: Iterable[Span], width: int) -> list[Line]:
    """Pieces of untrusted text made plain and broken into lines of at most `width` cells, at spaces where possible.

    Continued lines are indented like the first one, as far as half of the width.
    """
    words = [(word, style) for text, style in line for word in re.findall(r" +|[^ ]+", plain(text))]
    indent = words[0][0] if words and words[0][0].isspace() else ""
    indent = indent[: max(min(width // 2, width - 2), 0)]  # room is left for a wide character
    lines: list[list[Span]] = [[]]
    left = max(width, 2)
    for word, style in words:
        rest = word
        if cells(rest) > left and lines[-1]:
            lines.append([(indent, style)] if indent else [])
            left = max(width, 2) - len(indent)
            rest = rest.lstrip(" ")
        while cells(rest) > left:
            head = cut(rest, left) or rest[0]
            lines[-1].append((head, style))
            rest = rest[len(head) :]
            lines.append([(indent, style)] if indent else [])
            left = max(width, 2) - len(indent)
        if rest:
            lines[-1].append((rest, style))
            left -= cells(rest)
    return [tuple(pieces) for pieces in lines]


def short_age(age_ms: int) -> str:
    """A span of time in its largest unit: `7s`, `12m`, `3h`, `4d`; never rounded up."""
    seconds = max(age_ms, 0) // 1000
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
