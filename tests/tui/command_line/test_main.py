"""The command itself: help with examples for everything."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from tests.harness.command import kdrill, kdrill_alone, running
from tui.cli.main import COMMANDS
from tui.cli.main import kdrill as kdrill_group

LONGEST_SUMMARY = 78 - 6 - len("snapshot")
"""Of a command in the list, on 80 columns."""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = kdrill(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Example: kdrill" in done.stdout


def test_the_help_of_all_lists_every_command_with_what_it_says_of_itself() -> None:
    listed = kdrill_alone("--help", environment={"COLUMNS": "80"}).stdout.partition("\nCommands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == list(COMMANDS)
    with click.Context(kdrill_group) as context:
        for line, name in zip(listed, COMMANDS, strict=True):
            command = kdrill_group.get_command(context, name)
            assert command is not None
            assert line.split(maxsplit=1)[1] == command.get_short_help_str(LONGEST_SUMMARY)


@pytest.mark.parametrize("command", ["", "open", "status", "drill", "snapshot", "plan", "preview", "forecast"])
def test_help_names_what_of_a_kraft_node_is_a_source(command: str) -> None:
    said = kdrill(*command.split(), "--help").stdout
    assert "__cluster_metadata-0" in said
    assert ".checkpoint" in said


def test_help_is_the_same_by_its_short_option() -> None:
    long, short = kdrill_alone("--help"), kdrill_alone("-h")
    assert (long.returncode, long.stderr) == (0, "")
    assert (short.returncode, short.stdout) == (0, long.stdout)


def test_the_version() -> None:
    assert kdrill_alone("--version").stdout == f"kdrill, version {version('kdrill')}\n"


def test_it_is_installed_under_its_name() -> None:
    """All other tests run what this script runs."""
    script = Path(sys.executable).with_name("kdrill")
    assert subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout == (
        f"kdrill, version {version('kdrill')}\n"
    )


def test_help_into_a_pipe_that_nobody_reads_says_nothing() -> None:
    with running("--help") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
