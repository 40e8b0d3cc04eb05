"""The real `kdrill` in a process of its own, without a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

KDRILL = (sys.executable, "-P", "-c", "from tui.cli import main; main()")
NO_CONFIG = {"KDRILL_CONFIG": os.devnull}
"""An empty configuration, whatever this machine's user has."""

PATIENCE_S = 60.0

Done = subprocess.CompletedProcess[str]


def kdrill(
    *arguments: str | Path, environment: dict[str, str] | None = None, cwd: Path | None = None, said: str = ""
) -> Done:
    """Runs kdrill to its end; `said` is its standard input, through a pipe."""
    return subprocess.run(
        [*KDRILL, *map(str, arguments)],
        capture_output=True,
        text=True,
        input=said,
        env={**os.environ, **NO_CONFIG, **(environment or {})},
        cwd=cwd,
        timeout=120,
        check=False,
    )


def until(is_so: Callable[[], bool]) -> None:
    """Waits for what happens in another process."""
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s
        time.sleep(0.1)


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """kdrill, running; ended at the end if need be."""
    process = subprocess.Popen(
        [*KDRILL, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **NO_CONFIG},
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def failure(done: Done) -> str:
    """The one line that a failed run said; fails if it said more, or printed a result."""
    assert done.stdout == ""
    assert done.stderr.startswith("kdrill: ")
    assert done.stderr.endswith("\n")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("kdrill: ").rstrip("\n")
