"""Rules that are kept are those that Textual would have parsed anew."""

from pathlib import Path

import pytest
from textual.css.stylesheet import Stylesheet
from textual.theme import BUILTIN_THEMES

import tui.app
from tui.app.theme import KeptStylesheet

OURS = (Path(tui.app.__file__).with_name("kdrill.tcss")).read_text()
LATER = "#list { background: $surface; color: $error; }"
DARK, LIGHT = ({**BUILTIN_THEMES[name].to_color_system().generate()} for name in ("textual-dark", "textual-light"))


def with_sources(sheet: Stylesheet, *sources: str) -> Stylesheet:
    for number, source in enumerate(sources):
        sheet.add_source(source, read_from=("", str(number)))
    sheet.reparse()
    return sheet


@pytest.mark.parametrize("variables", [(DARK,), (DARK, LIGHT), (DARK, LIGHT, DARK)], ids=len)
@pytest.mark.parametrize("sources", [(OURS,), (OURS, LATER)], ids=len)
def test_the_rules_are_textuals_own(variables: tuple[dict[str, str], ...], sources: tuple[str, ...]) -> None:
    kept = with_sources(KeptStylesheet(variables=variables[0]), OURS)
    for each in variables:
        kept.set_variables(each)
        with_sources(kept, *sources)
    assert kept.css == with_sources(Stylesheet(variables=variables[-1]), *sources).css


def test_what_is_parsed_once_stays() -> None:
    kept = with_sources(KeptStylesheet(variables=DARK), OURS)
    before = list(kept.rules)
    kept.set_variables(dict(DARK))
    after = with_sources(kept, OURS, LATER).rules
    assert len(after) == len(before) + 1
    assert all(one is other for one, other in zip(before, after, strict=False))
