"""Tools that run in turn in one JVM say and end as in one of their own, also those that end the JVM."""

from __future__ import annotations

import subprocess

import pytest

from model.sandbox.java import java_environment
from tests.conformance.kafka.releases import install_or_skip
from tests.conformance.kafka.tool_server import tool_done

pytestmark = pytest.mark.conformance


def usage(said: str) -> list[str]:
    """The lines about options."""
    return [line for line in said.splitlines() if line.startswith("--")]


@pytest.mark.parametrize("release", ["0.8.2.2", "1.1.1", "3.9.1", "KRaft 4.4.0"])
def test_they_end_and_say_the_same(release: str) -> None:
    kafka = install_or_skip(release.removeprefix("KRaft "))
    tool = kafka.release.classes["topics"]
    command = kafka.java(tool, heap_mb=64)
    alone = subprocess.run(command, capture_output=True, text=True, check=False, timeout=90, env=java_environment())
    assert alone.returncode == 1 and len(usage(alone.stdout + alone.stderr)) > 5
    for _ in range(2):
        done = tool_done(kafka, tool)
        assert done.returncode == alone.returncode
        assert (usage(done.stdout), usage(done.stderr)) == (usage(alone.stdout), usage(alone.stderr))


def test_what_succeeds_ends_with_0() -> None:
    kafka = install_or_skip("3.9.1")
    done = tool_done(kafka, kafka.release.classes["topics"], "--version")
    assert (done.returncode, done.stdout.strip()) == (0, "3.9.1")
