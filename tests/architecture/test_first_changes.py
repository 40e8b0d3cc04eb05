"""What CONTRIBUTING.md says about where things are and go: each file, folder and name in backticks is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import click
import pytest

from tests.architecture.source_tree import PACKAGES, ROOT, read, syntax
from tui.cli.main import kdrill

WAYS = "Three ways through the house"
_PLACE = re.compile(rf"(?:{'|'.join((*PACKAGES, 'tests'))})/[\w./]+")


def paragraphs(title: str) -> list[str]:
    """A section's entries."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", read(Path("CONTRIBUTING.md")), re.DOTALL | re.MULTILINE)
    assert found, f"CONTRIBUTING.md has no section {title}"
    return [part for part in re.split(r"\n\n|\n(?=- |\d+\. )", found[1]) if "`" in part]


def quoted(text: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`]+)`", text)


def names_in(module: Path) -> set[str]:
    """What a module defines, the bodies of its classes included."""
    names = set[str]()
    for node in ast.walk(syntax(module)):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                names.add(node.name)
            case ast.Name(ctx=ast.Store()):
                names.add(node.id)
            case _:
                pass
    return names


@pytest.mark.parametrize("title", [WAYS, "Decisions", "How to add"])
def test_every_place_that_is_named_is_there(title: str) -> None:
    places = [word for part in paragraphs(title) for word in quoted(part) if _PLACE.fullmatch(word)]
    assert places
    assert not [place for place in places if not (ROOT / place).exists()]


@pytest.mark.parametrize("entry", paragraphs("How to add"), ids=lambda entry: entry[:30].strip("*"))
def test_every_name_is_in_one_of_the_files_beside_it(entry: str) -> None:
    modules = [Path(word) for word in quoted(entry) if _PLACE.fullmatch(word) and word.endswith(".py")]
    known = {name for module in modules for name in names_in(module)}
    unknown = [word for word in quoted(entry) if not (_PLACE.fullmatch(word) or word in known or is_elsewhere(word))]
    assert not unknown


def is_elsewhere(word: str) -> bool:
    """A module or package by its dotted name, a command, or a variable of the environment."""
    place = ROOT / word.replace(".", "/")
    is_command = word.removeprefix("kdrill ") in kdrill.list_commands(click.Context(kdrill))
    return place.is_dir() or place.with_suffix(".py").exists() or is_command or word == "KDRILL_UPDATE_SNAPSHOTS=1"


def test_a_way_takes_fewer_than_ten_hops() -> None:
    hops = [int(part.partition(".")[0]) for part in paragraphs(WAYS) if part[0].isdigit()]
    assert hops == [*range(1, max(hops) + 1)] * 3
    assert max(hops) < 10


def test_a_key_leads_to_its_result_through_few_files_and_folders() -> None:
    steps = paragraphs(WAYS)[-9:]
    files = {Path(word) for part in steps for word in quoted(part) if _PLACE.fullmatch(word)}
    assert steps[0].startswith("1.") and 15 < len(files) <= 20
    assert len({file.parent for file in files}) <= 6
