"""`kdrill keys`: every action by screen, with the keys of the settings; or the line that says why that cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness.command import failure, kdrill
from tui.engine.actions import ACTIONS, MOTIONS, SCREENS, TITLES, holding


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text("[keys]\nsort = ['o', 'F5']\nrelated = 's'\n")
    return path


def document(*arguments: str | Path) -> dict[str, Any]:
    return json.loads(kdrill("keys", "--json", *arguments).stdout)


def sections(text: str) -> dict[str, list[list[str]]]:
    """Title → its rows, each as keys, name and what it does."""
    found = (block.splitlines() for block in text.strip().split("\n\n"))
    return {title: [row.strip().split("  ", 1) for row in rows] for title, *rows in found}


def test_every_action_stands_on_every_screen_where_it_holds() -> None:
    told = sections(kdrill("keys").stdout)
    motions, everywhere, *screens = told.values()
    assert [keys for keys, _ in motions] == [keys for keys, _ in MOTIONS]
    for screen, title in zip(SCREENS, TITLES, strict=True):
        rows = [*everywhere, *told.get(title, [])]
        shown = {(keys, *rest.split(maxsplit=1)) for keys, rest in rows}
        assert shown == {(action.sign, action.name, action.help) for action in holding(screen)}
    assert len(screens) <= len(SCREENS) + 1


def test_the_settings_are_in_it(config: Path) -> None:
    before, after = sections(kdrill("keys").stdout), sections(kdrill("keys", "--config", config).stdout)
    changed = [row for row in after["Every screen"] if row not in before["Every screen"]]
    assert [(keys, rest.split()[0]) for keys, rest in changed] == [("o F5", "sort"), ("s", "related")]


def test_the_document_has_all_of_it(config: Path) -> None:
    told = document("--config", config)
    assert told["format"] == "kdrill.keys/1"
    assert set(SCREENS) < set(told["screens"])
    assert {"j", "enter", "pageup"} < set(told["reserved"])
    assert [action["name"] for action in told["actions"]] == [action.name for action in ACTIONS]
    assert {action["name"]: action["keys"] for action in told["actions"] if action["remapped"]} == {
        "sort": ["o", "f5"],
        "related": ["s"],
    }
    (sort,) = [action for action in told["actions"] if action["name"] == "sort"]
    assert sort["screens"] == list(SCREENS)
    assert sort["label"] == "sort"


def test_without_settings_nothing_is_remapped() -> None:
    assert not [action for action in document()["actions"] if action["remapped"]]


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_settings_that_cannot_be_are_one_line(tmp_path: Path, arguments: list[str]) -> None:
    path = tmp_path / "config.toml"
    path.write_text("theme = 'dark'\n[keys]\n\nsort = 'o'\n")
    done = kdrill("keys", *arguments, "--config", path)
    assert failure(done) == f"{path}:4: keys.sort: 'o' is related already, on the screen overview"
    assert done.returncode == 1


def test_what_is_not_the_keys_business_does_not_mind_them(tmp_path: Path, snapshot_file: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[keys]\nsort = 'o'\n")
    assert kdrill("status", "--config", path, snapshot_file).stderr == ""
