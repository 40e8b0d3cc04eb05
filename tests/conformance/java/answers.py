"""Asks the small Java programs of this folder, which run Kafka's own classes: a line in, a line out."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from model.sandbox.java import java_environment
from tests.conformance.kafka.releases import install_or_skip
from tests.maven import skip_or_fail

_TIMEOUT_S = 1800


def answers(program: str, release: str, questions: Iterable[str]) -> list[str]:
    """What `program`.java says to each question, run with the jars of a Kafka release.

    Skips the test without a JDK, Maven or the network; fails it then with KDRILL_REQUIRE_CONFORMANCE=1.
    """
    lines = list(questions)
    done = subprocess.run(
        java_command(program, release),
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=java_environment(),
        timeout=_TIMEOUT_S,
        check=False,
    )
    told = done.stdout.split("\n")[:-1]
    assert len(told) == len(lines), done.stderr[-2000:]
    return told


@cache
def _compiles(java: str) -> bool:
    modules = subprocess.run([java, "--list-modules"], capture_output=True, text=True, timeout=60, check=False)
    return "jdk.compiler" in modules.stdout


def need_compiler(java: Path) -> None:
    """Skips the test, or fails it, where it is no JDK."""
    if not _compiles(str(java)):
        skip_or_fail(f"{java} has no compiler: install a JDK, not only a JRE")


def java_command(program: str, release: str, *flags: str) -> list[str]:
    """The command that compiles and runs `program`.java, with the jars of a release."""
    kafka = install_or_skip(release)
    need_compiler(kafka.java_program)
    source = Path(__file__).with_name(f"{program}.java")
    # Without a configuration log4j takes everything for worth formatting, which the assignors' classes do at length.
    quiet = f"-Dlog4j.configuration={(source.parents[1] / 'kafka' / 'log4j.properties').as_uri()}"
    return [str(kafka.java_program), quiet, *flags, "-cp", f"{kafka.jars}/*", str(source)]
