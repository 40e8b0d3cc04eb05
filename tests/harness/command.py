"""The real `kdrill`: in this process, in one of its own to its end or for as long as a test runs, in a terminal."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tests.harness.waiting import PATIENCE_S
from tests.pseudo_terminal import Terminal
from tui.cli import main

KDRILL = (sys.executable, "-P", "-c", "from tui.cli import main; main()")
"""Python, and what it runs."""
NO_CONFIG = {"KDRILL_CONFIG": os.devnull}
"""An empty configuration, whatever this machine's user has."""
NO_SPARK = {"KDRILL_SPARK_MASTER": "off"}
"""It takes seconds of both cores to start."""
QUIET = {**NO_CONFIG, **NO_SPARK}

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGTERM)
"""What commands handle in their own ways."""

Done = subprocess.CompletedProcess[str]


def kdrill(
    *arguments: str | Path, environment: dict[str, str] | None = None, cwd: Path | None = None, said: str = ""
) -> Done:
    """Runs kdrill to its end; `said` is its standard input, through a pipe.

    It runs in this process, where it is loaded already, but for one that is in the middle of a coroutine: there
    kdrill has a process of its own, and so has `kdrill_alone`.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        return kdrill_alone(*arguments, environment=environment, cwd=cwd, said=said)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with _as_it_was({**NO_CONFIG, **(environment or {})}, cwd), _streams(said, out.fileno(), err.fileno()):
            try:
                main([str(word) for word in arguments])
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 0
            except BaseException as error:
                sys.excepthook(type(error), error, error.__traceback__)
                code = 1
        return Done([*KDRILL, *map(str, arguments)], code, _text(out), _text(err))


def kdrill_alone(
    *arguments: str | Path, environment: dict[str, str] | None = None, cwd: Path | None = None, said: str = ""
) -> Done:
    """As `kdrill`, in a process of its own: from the first import to the last exit."""
    return subprocess.run(
        [*KDRILL, *map(str, arguments)],
        capture_output=True,
        text=True,
        input=said,
        env={**os.environ, **NO_CONFIG, **(environment or {})},
        cwd=cwd,
        timeout=PATIENCE_S,
        check=False,
    )


@contextmanager
def _as_it_was(variables: dict[str, str], cwd: Path | None) -> Iterator[None]:
    """The process afterwards, though the program changes what holds for all of it."""
    cores = resource.getrlimit(resource.RLIMIT_CORE)
    formatter = logging.lastResort and logging.lastResort.formatter
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    before = dict(os.environ)
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((sys, "excepthook"), (sys, "unraisablehook"), (threading, "excepthook")):
            patch.setattr(module, name, getattr(module, name))
        if cwd is not None:
            patch.chdir(cwd)
        os.environ.update(variables)
        yield
    os.environ.clear()
    os.environ.update(before)
    for number, handler in handlers.items():
        signal.signal(number, handler)
    resource.setrlimit(resource.RLIMIT_CORE, cores)
    if logging.lastResort:
        logging.lastResort.setFormatter(formatter)


@contextmanager
def _streams(said: str, out: int, err: int) -> Iterator[None]:
    """Files in place of this process's standard output and error, on Python's side and below."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as pipe:
        pipe.write(said)  # a pipe takes more than any test says
    before = [os.dup(number) for number in range(3)]
    objects = sys.stdin, sys.stdout, sys.stderr
    try:
        for number, descriptor in enumerate((reading, out, err)):
            os.dup2(descriptor, number)
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, errors="backslashreplace", buffering=1)
        yield
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        sys.stdin, sys.stdout, sys.stderr = objects
        for number, descriptor in enumerate(before):
            os.dup2(descriptor, number)
        for descriptor in (*before, reading):
            os.close(descriptor)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")


@contextmanager
def running(*arguments: str, **more: Any) -> Iterator[subprocess.Popen[str]]:
    """kdrill, running; ended at the end if need be. `more` is for the process: `stdin`, `env` and the like."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": {**os.environ, **NO_CONFIG}}
    with subprocess.Popen([*KDRILL, *arguments], text=True, **{**pipes, **more}) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def in_terminal(
    *arguments: str, program: str = "", environment: Mapping[str, str | None] | None = None, **size: int
) -> Iterator[Terminal]:
    """kdrill, without Spark; `program` is what Python runs instead, `size` as a terminal has it."""
    command = [*KDRILL[:-1], program or KDRILL[-1], *arguments]
    with closing(Terminal(command, environment={**QUIET, **(environment or {})}, **size)) as terminal:
        yield terminal


def failure(done: Done) -> str:
    """The one line that a failed run said; fails if it said more, or printed a result."""
    assert done.stdout == ""
    assert done.stderr.startswith("kdrill: ")
    assert done.stderr.endswith("\n")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("kdrill: ").rstrip("\n")
