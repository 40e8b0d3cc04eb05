"""A PNG of an app's screen, cell by cell, straight from what Textual would send to a terminal.

Lines, blocks and Braille are drawn as shapes so that they join from cell to cell, whatever the font thinks of them.
For documentation and tests: imports Pillow, which the program itself does without.
"""

from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont
from PIL.PngImagePlugin import PngInfo
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.app import App

from tests.screenshots.glyphs import Box, Colour, draw_shape
from tui.app.export import screen_text
from tui.engine.text import cells

FONT_FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "/Library/Fonts",
    "~/Library/Fonts",
)
FONT = "DejaVuSansMono.ttf"
BOLD_FONT = "DejaVuSansMono-Bold.ttf"
TEXT = "Screen"
"""The name under which a picture carries its text: who looks for a picture that is out of date can read it."""


class ScreenshotError(Exception):
    """The picture cannot be made; the message names what is missing."""


def find_font(name: str = FONT) -> Path:
    """The file of this font. Raises ScreenshotError where it is not installed."""
    for folder in FONT_FOLDERS:
        found = next(Path(folder).expanduser().rglob(name), None)
        if found:
            return found
    raise ScreenshotError(f"{name} is not among this machine's fonts: install DejaVu (Debian: fonts-dejavu-core)")


Strips = list[list[Segment]]
"""A screen: the segments of each of its lines."""


def save_png(app: App[Any], path: Path, *, font_size: int = 16) -> None:
    """Write the app's present screen. Raises ScreenshotError without a font."""
    told = PngInfo()
    told.add_itxt(TEXT, screen_text(app))
    drawn(strips_of(app), app.ansi_theme, font_size).save(path, pnginfo=told)


def strips_of(app: App[Any]) -> Strips:
    """The app's present screen, to be drawn later."""
    return [list(strip) for strip in app.screen._compositor.render_strips()]


def drawn(strips: Strips, theme: TerminalTheme, font_size: int) -> Image.Image:
    """A picture of a screen. Raises ScreenshotError without a font."""
    fonts = [ImageFont.truetype(find_font(name), font_size) for name in (FONT, BOLD_FONT)]
    ascent, descent = fonts[0].getmetrics()
    cell_width, cell_height = round(fonts[0].getlength("M")), ascent + descent
    width = sum(cells(segment.text) for segment in strips[0])
    image = Image.new("RGB", (width * cell_width, len(strips) * cell_height), theme.background_color)
    draw = ImageDraw.Draw(image)
    for y, strip in enumerate(strips):
        x = 0
        for segment in strip:
            if not segment.text:
                continue
            box = Box(x * cell_width, y * cell_height, cell_width, cell_height)
            _draw_segment(draw, segment, box, fonts, theme)
            x += cells(segment.text)
    return image


def text_of(path: Path) -> str:
    """What the picture shows, as text; empty where it does not say."""
    with Image.open(path) as image:
        image.load()
        return str(image.info.get(TEXT, ""))


def _draw_segment(
    draw: ImageDraw.ImageDraw, segment: Segment, box: Box, fonts: list[ImageFont.FreeTypeFont], theme: TerminalTheme
) -> None:
    style = segment.style or Style.null()
    foreground, background = _colours(style, theme)
    size = cells(segment.text)
    draw.rectangle((box.x, box.y, box.x + size * box.width - 1, box.y + box.height - 1), fill=background)
    place = box
    for character in segment.text:
        if character != " " and not draw_shape(draw, character, place, foreground, background):
            draw.text((place.x, place.y), character, font=fonts[bool(style.bold)], fill=foreground)
        place = place.right_by(cells(character))
    if style.underline:
        bottom = box.y + box.height - 2
        draw.line((box.x, bottom, box.x + size * box.width - 1, bottom), fill=foreground)


def _colours(style: Style, theme: TerminalTheme) -> tuple[Colour, Colour]:
    foreground: Colour = theme.foreground_color
    background: Colour = theme.background_color
    if style.color is not None:
        foreground = style.color.get_truecolor(theme, foreground=True)
    if style.bgcolor is not None:
        background = style.bgcolor.get_truecolor(theme, foreground=False)
    if style.dim:
        red, green, blue = ((front + back) // 2 for front, back in zip(foreground, background, strict=True))
        foreground = (red, green, blue)
    return (background, foreground) if style.reverse else (foreground, background)
