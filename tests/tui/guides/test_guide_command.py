"""`kdrill guide`: which guides there are, one of them, and one that is not there."""

from __future__ import annotations

from tests.architecture.source_tree import ROOT
from tests.harness.command import failure, kdrill

GUIDES = {file.stem: file.read_text(encoding="utf-8") for file in (ROOT / "tui/guides").glob("*.md")}


def test_every_guide_is_listed_with_its_title() -> None:
    listed = dict(line.split(maxsplit=1) for line in kdrill("guide").stdout.splitlines())
    assert listed == {name: text.partition("\n")[0].removeprefix("# ") for name, text in GUIDES.items()}


def test_a_guide_is_printed_as_it_is() -> None:
    assert kdrill("guide", "decommission").stdout == GUIDES["decommission"]


def test_a_guide_that_is_not_there_is_answered_with_those_that_are() -> None:
    said = failure(kdrill("guide", "decomission"))
    assert said.startswith(f"there is no guide 'decomission': {', '.join(sorted(GUIDES))}")
