"""A command that runs in this process leaves it as it was, whatever it changes for its own."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from pathlib import Path

import pytest

from tests.harness.command import SIGNALS, kdrill


def of_the_process() -> tuple[object, ...]:
    return (
        dict(os.environ),
        Path.cwd(),
        [signal.getsignal(number) for number in SIGNALS],
        [sys.excepthook, sys.unraisablehook, threading.excepthook, sys.stdin, sys.stdout, sys.stderr],
        resource.getrlimit(resource.RLIMIT_CORE),
        [os.fstat(number).st_ino for number in range(3)],
    )


@pytest.mark.parametrize(
    "words",
    [("--version",), ("dump-log", "nothing.log"), ("status", "--no-color", "none.json"), ("no", "such", "command")],
)
def test_the_process_is_as_it_was(words: tuple[str, ...], tmp_path: Path) -> None:
    kdrill("--help")  # what is opened once stays
    before, files = of_the_process(), set(os.listdir("/proc/self/fd"))
    kdrill(*words, cwd=tmp_path)
    assert of_the_process() == before
    assert set(os.listdir("/proc/self/fd")) <= files, "what earlier tests left behind may be closed meanwhile"


def test_the_input_is_read_and_both_outputs_are_told_apart(tmp_path: Path) -> None:
    good, bad = kdrill("--version"), kdrill("status", "none.json", cwd=tmp_path)
    assert (good.returncode, good.stderr) == (0, "") and good.stdout.startswith("kdrill, version")
    assert (bad.returncode, bad.stdout) == (1, "") and bad.stderr.startswith("kdrill: ")
