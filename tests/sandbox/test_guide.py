"""The commands of the sandbox's guide do what it says; what clients are told to paste has tests beside the clients."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest

from model.sandbox import scenario
from tests.architecture.source_tree import ROOT
from tests.harness.command import running
from tests.harness.sandbox import ready_line

GUIDE = (ROOT / "tui/guides/sandbox.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines() if line.startswith("kdrill sandbox")]
STARTS = [command for command in COMMANDS if "--scenario" not in command]
PATIENCE_S = 240


def words_of(command: str) -> list[str]:
    """Without a dashboard, which needs a terminal."""
    return [*shlex.split(command)[1:], *([] if "--headless" in command else ["--headless"])]


@pytest.mark.parametrize("command", STARTS)
def test_a_sandbox_starts_as_asked_and_leaves_what_is_to_be_kept(command: str, tmp_path: Path) -> None:
    words = words_of(command)
    with running(*words, cwd=tmp_path, stdin=subprocess.DEVNULL) as process:
        ready = ready_line(process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    wanted = {"broker": int(dict(pairwise(words)).get("--brokers", "3"))}
    wanted["controller"] = 3 if "--mode kraft" in command else 0
    wanted["zookeeper"] = 0 if "--mode kraft" in command else 3 if "--zookeepers 3" in command else 1
    wanted["load"] = int("--load" in words)
    for kind, count in wanted.items():
        assert len([name for name in ready["pids"] if name.partition("-")[0] == kind]) == count, ready["pids"]
    assert Path(tmp_path, ready["dir"]).exists() == ("--keep" in words)


def test_a_scenario_is_played_again_from_its_file(tmp_path: Path) -> None:
    """The file is the one that `--help-scenario` shows."""
    (command,) = [command for command in COMMANDS if "--scenario" in command]
    assert "drill.toml" in command
    example = (scenario.__doc__ or "").partition("What can be done")[0].partition("\n\n")[2]
    (tmp_path / "drill.toml").write_text(textwrap.dedent(example))
    with running(*words_of(command), cwd=tmp_path, stdin=subprocess.DEVNULL) as process:
        said, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    outcome = json.loads(said.splitlines()[-1])
    assert (outcome["format"], outcome["passed"]) == ("kdrill.scenario/1", True)


def test_there_are_commands_to_try() -> None:
    assert len(STARTS) > 2
