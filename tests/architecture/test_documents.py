"""What README.md, CONTRIBUTING.md and CHANGELOG.md say is so: commands, keys, links, folders."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import click
import pytest

from tests.architecture.source_tree import PACKAGES, ROOT, folders_with_modules, read
from tui.actions import ACTIONS, MOTIONS
from tui.command_line.main import kdrill
from tui.config import load_config

README = read(Path("README.md"))
CONTRIBUTING = read(Path("CONTRIBUTING.md"))


def shown_commands(document: str) -> list[list[str]]:
    """The words after `kdrill` in every line of a document's shell blocks that runs it."""
    blocks = re.findall(r"```sh\n(.*?)```", document, re.DOTALL)
    runs = re.findall(r"^(?:.*&& )?(?:uv run )?kdrill\b([^|;<\n]*)", "".join(blocks), re.MULTILINE)
    return [shlex.split(words, comments=True) for words in runs]


@pytest.mark.parametrize("words", shown_commands(README + CONTRIBUTING), ids=" ".join)
def test_a_command_that_is_shown_is_understood(words: list[str]) -> None:
    group = click.Context(kdrill)
    name, rest = (words[0], words[1:]) if words and words[0] in kdrill.list_commands(group) else ("open", words)
    command = kdrill.get_command(group, name)
    assert command is not None
    command.make_context(name, rest, parent=group)


def test_every_command_is_shown() -> None:
    shown = {words[0] for words in shown_commands(README) if words}
    assert set(kdrill.list_commands(click.Context(kdrill))) - {"open"} <= shown


def test_the_keys_are_those_of_the_program() -> None:
    keys = [*MOTIONS, *((action.sign, action.help) for action in ACTIONS)]
    table = "\n".join(["| key | what it does |", "|---|---|", *(f"| `{sign}` | {what} |" for sign, what in keys)])
    shown = re.search(r"^\| key \|.*?(?=\n\n)", README, re.DOTALL | re.MULTILINE)
    assert shown, "README.md has no table of keys"
    if os.environ.get("KDRILL_UPDATE_SNAPSHOTS") == "1":
        (ROOT / "README.md").write_text(README.replace(shown[0], table), encoding="utf-8")
    else:
        assert shown[0] == table, f"KDRILL_UPDATE_SNAPSHOTS=1 writes the table anew:\n{table}"


def test_the_configuration_that_is_shown_is_understood(tmp_path: Path) -> None:
    shown = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    file = tmp_path / "config.toml"
    file.write_text("".join(shown))
    config = load_config(file)
    assert config.clusters.keys() == {"prod-eu1", "vault"}


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_what_is_linked_is_there(document: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", read(Path(document)))
    assert not [link for link in links if not (ROOT / link).exists()]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_map_of_the_house_is_complete(package: str) -> None:
    named = re.findall(rf"^\| `({package}(?:/[a-z_/]+)?)/` \|", CONTRIBUTING, re.MULTILINE)
    assert sorted(named) == sorted(folders_with_modules(package))
