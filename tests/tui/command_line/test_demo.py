"""Commands that read a cluster: never one that nobody named, and the demo only on purpose and under its name."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from tests.harness.command import failure, kdrill
from tui.cli.main import COMMANDS
from tui.cli.main import kdrill as kdrill_group

USAGE = 2
NEEDED = {
    "snapshot": "-o out.json",
    "record": "-o out",
    "topics create": "--topic t",
    "topics alter": "--topic t --partitions 3",
    "topics delete": "--topic t",
    "act reset-offsets": "--group g",
    "act delete-group": "--group g",
    "act remove-delete-marker": "--topic t",
}
"""What a command wants before it looks for its SOURCE."""


def verbs_with_a_source() -> list[str]:
    """Each command and verb that takes a SOURCE, but for the dashboard, which opens a sandbox without one."""
    found: list[str] = []
    with click.Context(kdrill_group) as context:
        for name in COMMANDS:
            command = kdrill_group.get_command(context, name)
            group = command if isinstance(command, click.Group) else None
            for words in [name] if group is None else [f"{name} {verb}" for verb in group.list_commands(context)]:
                verb = command if group is None else group.get_command(context, words.split()[1])
                assert verb is not None
                if name != "open" and any(parameter.name == "source" for parameter in verb.params):
                    found.append(words)
    return found


@pytest.mark.parametrize("words", verbs_with_a_source())
def test_no_command_chooses_a_cluster_by_itself(words: str, tmp_path: Path) -> None:
    done = kdrill(*words.split(), *NEEDED.get(words, "").split(), cwd=tmp_path)
    assert failure(done).startswith("SOURCE is missing: which cluster?")
    assert done.returncode == USAGE
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words", ["drill --kill 2", "preview", "topics describe", "configs describe --entity-type topics"]
)
def test_a_text_about_the_demo_is_headed_so(words: str) -> None:
    done = kdrill(*words.split(), "--demo")
    assert done.stdout.startswith("DEMO, an invented cluster"), done
    assert "zk://" not in done.stdout


@pytest.mark.parametrize("words", ["drill --each-broker", "plan --each-broker", "preview"])
def test_a_document_about_the_demo_is_headed_so(words: str) -> None:
    document = json.loads(kdrill(*words.split(), "--demo", "--json").stdout)
    assert next(iter(document.items())) == ("demo", True)


def test_a_plan_of_the_demo_says_so_in_its_files(tmp_path: Path) -> None:
    done = kdrill("plan", "--demo", "--rebalance", "-o", "plan.json", "--rollback", "back.json", cwd=tmp_path)
    assert done.stdout.startswith("DEMO, an invented cluster"), done
    for name in ("plan.json", "back.json"):
        assert json.loads((tmp_path / name).read_text())["kdrill"]["source"] == "DEMO, an invented cluster"


@pytest.mark.parametrize("words", ["drill zk://a --kill 1 --demo", "zk://a --demo"])
def test_a_cluster_and_the_demo_exclude_each_other(words: str) -> None:
    done = kdrill(*words.split())
    assert "SOURCE and --demo exclude each other" in failure(done)
    assert done.returncode == USAGE
