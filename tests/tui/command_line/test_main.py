"""The command itself: help with examples for everything, and the facts of this machine."""

from __future__ import annotations

import json
import os
import subprocess
from importlib.metadata import version

import pytest

from tests.tui.command_line.running import KDRILL, kdrill
from tui.command_line.main import COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = kdrill(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Example: kdrill" in done.stdout


def test_the_help_of_all_names_every_command() -> None:
    for option in ("--help", "-h"):
        done = kdrill(option)
        assert (done.returncode, done.stderr) == (0, "")
        assert all(command in done.stdout for command in COMMANDS if command != "open")


def test_the_version() -> None:
    assert kdrill("--version").stdout == f"kdrill, version {version('kdrill')}\n"


def test_help_into_a_pipe_that_nobody_reads_says_nothing() -> None:
    with subprocess.Popen([*KDRILL, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_the_doctor_names_what_there_is() -> None:
    done = kdrill("doctor", "--json")
    document = json.loads(done.stdout)
    facts = {fact["name"]: fact for fact in document["facts"]}
    assert (done.returncode, document["format"]) == (0, "kdrill.doctor/1")
    assert {"Python", "Java", "ZooKeeper", "Spark", "terminal", "colour", "encoding", "config"} <= set(facts)
    assert len(kdrill("doctor").stdout.splitlines()) == len(facts)


def test_the_doctor_misses_java() -> None:
    done = kdrill("doctor", environment={"PATH": os.devnull, "JAVA_HOME": ""})
    assert done.returncode == 1
    assert any(line.startswith("X  Java") for line in done.stdout.splitlines())
