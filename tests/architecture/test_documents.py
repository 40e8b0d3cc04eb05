"""What README.md, CONTRIBUTING.md, CHANGELOG.md and the guides say is so: commands, files, links, folders."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from model.sandbox.scenario import parse_scenario
from tests.architecture.source_tree import PACKAGES, ROOT, folders_with_modules, read
from tui.cli.address import with_address
from tui.cli.main import kdrill
from tui.engine.config import load_config

README = read(Path("README.md"))
CONTRIBUTING = read(Path("CONTRIBUTING.md"))
GUIDES = {file.stem: file.relative_to(ROOT) for file in sorted((ROOT / "tui/guides").glob("*.md"))}
BELOW = re.compile(r"`([a-z_]+(?:/[a-z_]+)*)/`")
"""A folder below the one that a row of the map is about."""
DOCUMENTS = [Path("README.md"), Path("CONTRIBUTING.md"), Path("CHANGELOG.md"), *GUIDES.values()]


def shown_commands(document: str) -> list[list[str]]:
    """The words after `kdrill` in every line of a document's shell blocks, and of its workflows, that runs it."""
    blocks = re.findall(r"```(?:sh|yaml)\n(.*?)```", document, re.DOTALL)
    runs = re.findall(r"^(?:.*&& |\s*- run: )?(?:uv run )?kdrill\b([^|;<\n]*)", "".join(blocks), re.MULTILINE)
    return [shlex.split(words, comments=True) for words in runs]


@pytest.mark.parametrize("words", shown_commands("".join(map(read, DOCUMENTS))), ids=" ".join)
def test_a_command_that_is_shown_is_understood(words: list[str]) -> None:
    group = click.Context(kdrill)
    name, rest = (words[0], words[1:]) if words and words[0] in kdrill.list_commands(group) else ("open", words)
    command = kdrill.get_command(group, name)
    assert command is not None
    command.make_context(name, with_address(rest), parent=group)


TOUR = [
    command
    for row in re.findall(r"^\|[^|]*\|([^|]*)\|[^|]*\|$", README, re.MULTILINE)
    for command in re.findall(r"`kdrill ([^`]*)`", row)
]


def test_every_command_is_shown() -> None:
    shown = {words[0] for words in (*shown_commands(README), *map(shlex.split, TOUR)) if words}
    assert set(kdrill.list_commands(click.Context(kdrill))) - {"open"} <= shown


@pytest.mark.parametrize("command", TOUR)
def test_a_command_of_the_tour_is_understood(command: str) -> None:
    test_a_command_that_is_shown_is_understood(shlex.split(command))


def test_the_configuration_that_is_shown_is_understood(tmp_path: Path) -> None:
    shown = re.findall(r"```toml\n(.*?)```", read(GUIDES["configuration"]), re.DOTALL)
    file = tmp_path / "config.toml"
    file.write_text("".join(shown))
    config = load_config(file)
    assert config.clusters.keys() == {"prod-eu1", "vault"}


def test_the_scenario_that_is_shown_is_understood() -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", read(GUIDES["drill-in-ci"]), re.DOTALL)
    assert parse_scenario(shown).steps


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_what_is_linked_is_there(document: Path) -> None:
    text = read(document)
    links = re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text)
    for file, anchor in links:
        linked = ROOT / document.parent / file if file else ROOT / document
        assert linked.exists(), file
        titles = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
        anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
        assert not anchor or anchor in anchors, f"{file}#{anchor}"


def test_the_readme_is_read_in_one_go() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize("name", GUIDES)
def test_every_guide_is_linked_and_listed(name: str) -> None:
    assert f"(tui/guides/{name}.md)" in README


@pytest.mark.parametrize("package", PACKAGES)
def test_the_map_of_the_house_is_complete(package: str) -> None:
    """A row for each folder of the first two levels; those below are named in it, as `findings/`."""
    rows = re.findall(rf"^\| `({package}(?:/[a-z_]+)?)/` \| (.*) \|$", CONTRIBUTING, re.MULTILINE)
    named = [folder for row, text in rows for folder in (row, *(f"{row}/{below}" for below in BELOW.findall(text)))]
    assert len(rows) == len(dict(rows))
    assert sorted(named) == sorted(folders_with_modules(package))
