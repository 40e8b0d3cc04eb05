"""What the doctor says of programs that only kdrill's own tests use. Nothing where their sources are not."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from tui.command_line.doctor_fact import Fact, Machine
from tui.command_line.doctor_packages import installing

PROGRAMS = {
    "Maven": ("maven", ("mvn",), "the tests fetch real Kafka with it"),
    "JDK": ("jdk", ("javac",), "the tests call Kafka's own classes by programs that it compiles"),
    "ps": ("ps", ("ps",), "tests look with it for processes that are left behind"),
    "Chromium": ("chromium", ("chromium", "chromium-browser", "google-chrome"), "the tests of --serve look through it"),
    "tmux": ("tmux", ("tmux",), "one test of the dashboard runs in it"),
}
"""Name → package, programs that will do, what for."""


def facts_for_tests(machine: Machine) -> Iterator[Fact]:
    """What is skipped or fails without them."""
    if not (Path(__file__).parents[2] / "tests").is_dir():
        return
    for name, (package, programs, use) in PROGRAMS.items():
        path = machine.environment.get("PATH", "")
        found = next(filter(None, (shutil.which(program, path=path) for program in programs)), None)
        if found:
            yield Fact(name, "ok", f"{found}: {use}")
        else:
            yield Fact(name, "note", f"not found: {use}", installing(package, machine))
