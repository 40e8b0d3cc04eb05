"""The scenarios that come with kdrill, as their guide shows them: with real consumers of Kafka 0.8.2.2.

A broker dies in each.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from model.sandbox.java import fetched_jars
from model.sandbox.load.members import OLD_KAFKA
from model.sandbox.processes import SandboxError
from model.sandbox.scenario import SHIPPED
from tests.architecture.source_tree import ROOT
from tests.harness.command import KDRILL, NO_CONFIG
from tests.maven import skip_or_fail
from tests.tui.guides.console import Shown, missing, shown_commands

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(420)]

GUIDE = ROOT / "tui/guides/zookeeper-consumers.md"
SHOWN = [*shown_commands(GUIDE.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module", autouse=True)
def old_jars() -> None:
    try:
        fetched_jars("kafka-0.8.2.2", (OLD_KAFKA,), user_cache_path("kdrill") / "jars")
    except SandboxError as reason:
        skip_or_fail(str(reason))


def test_the_guide_leads_through_all_of_them() -> None:
    played = {shown.command.split()[3] for shown in SHOWN}
    assert played == {file.stem for file in SHIPPED.glob("*.toml")}


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.command)
def test_every_step_passes_and_the_feed_says_why(shown: Shown, tmp_path: Path) -> None:
    """As the guide shows it."""
    binary = tmp_path / "kdrill"
    binary.write_text(f'#!/bin/sh\nexec {shlex.join(KDRILL)} "$@"\n')
    binary.chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", shown.command],
        cwd=tmp_path,
        env={**os.environ, **NO_CONFIG, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert not missing(shown, done.stdout), done.stdout
