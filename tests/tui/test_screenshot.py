"""Pictures of a screen have every cell in its place."""

from pathlib import Path

import pytest
from PIL import Image
from rich.segment import Segment
from textual.app import ComposeResult
from textual.strip import Strip

from tests.screenshots import png as screenshot
from tests.screenshots.png import ScreenshotError, find_font, save_png
from tui.app.theme import ThemedApp
from tui.app.widgets.drawing import StripWidget


class Cells(StripWidget):
    def strip_at(self, y: int) -> Strip:
        text = ("█ █", "───", "日x", "⠿▒A")[y]
        return Strip([Segment(text, self.look.style("error" if y == 0 else ""))])


class CellsApp(ThemedApp[None]):
    def compose(self) -> ComposeResult:
        yield Cells()


async def test_every_cell_has_its_place_in_the_picture(tmp_path: Path) -> None:
    app = CellsApp()
    async with app.run_test(size=(3, 4)):
        save_png(app, tmp_path / "cells.png", font_size=20)
    with Image.open(tmp_path / "cells.png") as image:
        width, height = image.width // 3, image.height // 4
        red, background = image.getpixel((width // 2, height // 2)), image.getpixel((width + width // 2, height // 2))
        corners = [(0, 0), (width - 1, height - 1), (2 * width, 0), (3 * width - 1, height - 1)]
        assert {image.getpixel(corner) for corner in corners} == {red}
        assert image.getpixel((width, 0)) == background != red
        line = {image.getpixel((x, height + height // 2)) for x in range(3 * width)}
        assert line == {image.getpixel((0, height + height // 2))} != {background}
        letter = image.crop((2 * width, 2 * height, 3 * width, 3 * height))
        assert len(letter.getcolors(1 << 16) or []) > 1, "the letter behind a wide one is drawn in the third cell"


def test_a_missing_font_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(screenshot, "FONT_FOLDERS", (str(tmp_path), str(tmp_path / "none")))
    with pytest.raises(ScreenshotError, match=r"DejaVuSansMono\.ttf .* fonts-dejavu-core"):
        find_font()
