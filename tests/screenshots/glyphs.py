"""Box lines, blocks, shades and Braille as shapes that fill a cell to its edges. Knows one cell, not the screen."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

Colour = tuple[int, int, int]


class Box(NamedTuple):
    """A cell in pixels."""

    x: int
    y: int
    width: int
    height: int

    def right_by(self, places: int) -> "Box":
        """The cell so many places to the right."""
        return self._replace(x=self.x + places * self.width)


LINES = {
    **{"─": (1, 1, 0, 0), "│": (0, 0, 1, 1), "┌": (0, 1, 0, 1), "┐": (1, 0, 0, 1), "└": (0, 1, 1, 0)},
    **{"┘": (1, 0, 1, 0), "├": (0, 1, 1, 1), "┤": (1, 0, 1, 1), "┬": (1, 1, 0, 1), "┴": (1, 1, 1, 0)},
    **{"┼": (1, 1, 1, 1), "╴": (1, 0, 0, 0), "╶": (0, 1, 0, 0), "╵": (0, 0, 1, 0), "╷": (0, 0, 0, 1)},
    **{"╭": (0, 1, 0, 1), "╮": (1, 0, 0, 1), "╰": (0, 1, 1, 0), "╯": (1, 0, 1, 0)},
    **{"━": (3, 3, 0, 0), "┃": (0, 0, 3, 3), "┏": (0, 3, 0, 3), "┓": (3, 0, 0, 3), "┗": (0, 3, 3, 0)},
    **{"┛": (3, 0, 3, 0), "┣": (0, 3, 3, 3), "┫": (3, 0, 3, 3), "┳": (3, 3, 0, 3), "┻": (3, 3, 3, 0)},
    "╋": (3, 3, 3, 3),
}
"""Line → pixels of thickness of its arms to the left, right, top and bottom."""

BLOCKS = {
    **{chr(0x2580 + eighths): (0, 8 - eighths, 8, 8) for eighths in range(1, 9)},
    **{chr(0x2590 - eighths): (0, 0, eighths, 8) for eighths in range(1, 8)},
    **{"▀": (0, 0, 8, 4), "▐": (4, 0, 8, 8), "▔": (0, 0, 8, 1), "▕": (7, 0, 8, 8)},
}
"""Block → left, top, right and bottom in eighths of the cell."""

SHADES = {"░": 1, "▒": 2, "▓": 3}
"""Shade → quarters of the foreground in its colour."""

BRAILLE = (
    *((0, 0, 0x01), (0, 1, 0x02), (0, 2, 0x04), (0, 3, 0x40)),
    *((1, 0, 0x08), (1, 1, 0x10), (1, 2, 0x20), (1, 3, 0x80)),
)
"""Column, row and bit of each dot in U+2800…U+28FF."""


def draw_shape(draw: "ImageDraw", character: str, box: Box, colour: Colour, background: Colour) -> bool:
    """Draw the character if it is one of the shapes; False leaves it to the font."""
    if character in LINES:
        _draw_lines(draw, LINES[character], box, colour)
    elif character in BLOCKS:
        left, top, right, bottom = BLOCKS[character]
        edges = (box.x + left * box.width // 8, box.y + top * box.height // 8)
        draw.rectangle((*edges, box.x + right * box.width // 8 - 1, box.y + bottom * box.height // 8 - 1), fill=colour)
    elif character in SHADES:
        share = SHADES[character]
        mixed = [(share * front + (4 - share) * back) // 4 for front, back in zip(colour, background, strict=True)]
        draw.rectangle(
            (box.x, box.y, box.x + box.width - 1, box.y + box.height - 1), fill=(mixed[0], mixed[1], mixed[2])
        )
    elif 0x2800 <= ord(character) <= 0x28FF:
        _draw_braille(draw, ord(character) - 0x2800, box, colour)
    else:
        return False
    return True


def _draw_lines(draw: "ImageDraw", arms: tuple[int, int, int, int], box: Box, colour: Colour) -> None:
    left, right, up, down = arms
    middle_x, middle_y = box.x + box.width // 2, box.y + box.height // 2
    for thickness, start, end in ((left, box.x, middle_x), (right, middle_x, box.x + box.width - 1)):
        if thickness:
            top = middle_y - thickness // 2
            draw.rectangle((start, top, end, top + thickness - 1), fill=colour)
    for thickness, start, end in ((up, box.y, middle_y), (down, middle_y, box.y + box.height - 1)):
        if thickness:
            side = middle_x - thickness // 2
            draw.rectangle((side, start, side + thickness - 1, end), fill=colour)


def _draw_braille(draw: "ImageDraw", dots: int, box: Box, colour: Colour) -> None:
    radius = max(1, box.width // 8)
    for column, row, bit in BRAILLE:
        if dots & bit:
            x = box.x + (2 * column + 1) * box.width // 4
            y = box.y + (2 * row + 1) * box.height // 8
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)
