"""On a machine without Java: before anything is drawn, what is missing, what works without, how to install it."""

from __future__ import annotations

import os
import pty
import subprocess

import pytest

from tests.harness.command import KDRILL, NO_CONFIG, PATIENCE_S, kdrill
from tui.cli.doctor_programs import installing, this_machine

NO_JAVA = {"PATH": "", "JAVA_HOME": "", "KDRILL_JAVA": ""}


@pytest.mark.parametrize("words", [(), ("--demo",), ("sandbox",)])
def test_the_terminal_stays_as_it_is(words: tuple[str, ...]) -> None:
    near, far = pty.openpty()
    environment = {**os.environ, **NO_CONFIG, **NO_JAVA, "TERM": "xterm-256color"}
    with subprocess.Popen([*KDRILL, *words], stdin=far, stdout=far, stderr=far, env=environment) as process:
        code = process.wait(PATIENCE_S)
    os.close(far)
    said = os.read(near, 100_000).decode()
    os.close(near)
    assert code == 1
    assert "\x1b" not in said, "neither an alternate screen nor a colour"
    assert len(said.splitlines()) == 1
    assert_told(said)


def test_a_sandbox_without_a_screen_says_so_too() -> None:
    done = kdrill("sandbox", "--headless", environment=NO_JAVA)
    assert (done.returncode, done.stdout) == (1, "")
    assert_told(done.stderr)


def assert_told(said: str) -> None:
    assert said.startswith("kdrill: no Java found on PATH or in JAVA_HOME. Install Java 17 or newer")
    assert "live clusters and snapshots do not: kdrill sandbox --mode kraft, kdrill zk://host:2181" in said
    assert said.rstrip().endswith(installing("java", this_machine()))


def test_a_java_that_was_ordered_and_is_none_is_named() -> None:
    done = kdrill("sandbox", "--headless", environment={**NO_JAVA, "KDRILL_JAVA": "/nowhere/java"})
    assert done.returncode == 1
    assert "/nowhere/java (KDRILL_JAVA)" in done.stderr and done.stderr.rstrip().endswith("unset KDRILL_JAVA")
