"""The pictures of the README show what the program shows now: who notices a difference takes them anew.

`uv run python -m tests.screenshots` does; each picture carries the text of the screen it was taken of.
"""

import re
from difflib import SequenceMatcher

import pytest
from PIL import Image
from PIL.GifImagePlugin import GifImageFile

from model.analyses.forecast.forecast import PILOT
from tests.screenshots import __main__ as taking
from tests.screenshots.__main__ import DEMO_PICTURES, FOLDER, KRAFT_PICTURES, SANDBOX_PICTURES, Picture, take_of_demo
from tests.screenshots.png import text_of
from tui.app.export import screen_text
from tui.app.widgets.edge_lines import tab_line
from tui.engine.actions import NUMBERS, SCREENS, tab_titles
from tui.engine.messages import HeaderFacts

LINES, WORDS = 0.5, 0.9
"""Of the lines, so many are the same but for their figures; and of the words. An age that is longer by a letter breaks
a sentence elsewhere, and shifts half a screen's lines."""


def worded(text: str) -> list[str]:
    """Lines without figures, bars and curves of figures, ages, random ids, spaces and what fills frames."""
    lines = re.sub(r"\b[\da-f]{8}\b|[▀-▟]", "", text).splitlines()
    return [re.sub(r"[\d\s.,:…─═]+[smhd]?\b|[\s…─═]", "", line) for line in lines]


def words(text: str) -> list[str]:
    """All words, in the order of the alphabet."""
    return sorted(re.findall(r"[A-Za-z_][A-Za-z_-]+", text))


def likeness(one: list[str], other: list[str]) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


@pytest.mark.instrument
async def test_each_screen_of_the_demo_looks_as_in_its_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setattr(taking, "FORECAST_YEARS", PILOT)  # figures are not compared
    now: dict[str, str] = {}
    await take_of_demo(lambda app, name: now.update({name: screen_text(app)}))
    assert now.keys() == DEMO_PICTURES.keys()
    alike = {
        name: (likeness(worded(kept), worded(seen)), likeness(words(kept), words(seen)))
        for name, seen in now.items()
        for kept in [text_of(FOLDER / f"{name}.png")]
    }
    assert min(lines for lines, _ in alike.values()) >= LINES, f"take them anew: {alike}"
    assert min(words for _, words in alike.values()) >= WORDS, f"take them anew: {alike}"


@pytest.mark.parametrize(
    ("name", "picture"), [*DEMO_PICTURES.items(), *SANDBOX_PICTURES.items(), *KRAFT_PICTURES.items()]
)
def test_every_picture_has_the_screens_that_there_are(name: str, picture: Picture) -> None:
    """Of the sandbox, where no two pictures are alike, this is what can be compared."""
    facts = HeaderFacts(generation="kraft") if name in KRAFT_PICTURES else HeaderFacts()
    forms = {
        "".join(text for text, _ in tab_line(tab_titles(screen, facts), NUMBERS, active, picture.size[0])).strip()
        for active, screen in enumerate(SCREENS)
    }
    assert text_of(FOLDER / f"{name}.png").split("\n")[1].strip() in forms, "take it anew"


def test_the_moving_picture_moves_and_is_light() -> None:
    path = FOLDER / "failover.gif"
    with Image.open(path) as image:
        assert isinstance(image, GifImageFile)
        assert image.n_frames > 20
    assert path.stat().st_size < 2_000_000
