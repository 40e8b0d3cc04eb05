"""Kafka's command-line tools run in turn by one JVM of each release, which has loaded them after the first call.

A JVM of its own for each call takes a second of processor time. What a tool prints and how it ends is the same; only
those that write or read records want a process of their own, for they finish while it ends (commands.py).
"""

from __future__ import annotations

import atexit
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from threading import Lock, Timer
from typing import IO

from model.sandbox.java import java_environment
from tests.conformance.java.answers import need_compiler
from tests.conformance.kafka.releases import JAVA_FLAGS, LOGGING, Installation

SOURCE = Path(__file__).parents[1] / "java" / "ToolServer.java"
HEAP_MB = 128
TIMEOUT_S = 90
_BY_ITSELF = -(2**31)
"""The tool has ended the JVM, whose exit code says how."""


class ToolServer:
    """One JVM, from the first call on; for many threads. It ends when this process does."""

    def __init__(self, jars: Path, java: Path) -> None:
        classes = f"{jars}/*:{_compiled(java)}"
        self._command = [str(java), *JAVA_FLAGS, f"-Xmx{HEAP_MB}m", LOGGING, "-cp", classes, SOURCE.stem]
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = Lock()

    def run(self, main_class: str, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """As `subprocess.run` would, with nothing on standard input. Raises TimeoutExpired."""
        with self._turn:
            process = self._process
            if process is None or process.poll() is not None:
                process = self._process = self._started()
            assert process.stdin is not None and process.stdout is not None
            killer = Timer(TIMEOUT_S, process.kill)
            killer.start()
            try:
                process.stdin.write(b"".join([_number(1 + len(words)), *map(_text, (main_class, *words))]))
                process.stdin.flush()
                code, out, err = _read_number(process.stdout), _read_text(process.stdout), _read_text(process.stdout)
            except EOFError:
                process.wait()
                raise subprocess.TimeoutExpired([main_class, *words], TIMEOUT_S) from None
            finally:
                killer.cancel()
            return subprocess.CompletedProcess(
                [main_class, *words], process.wait() if code == _BY_ITSELF else code, out, err
            )

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # what tools complain of is in their answers
            env=java_environment(),
        )


@cache
def _server(jars: Path, java: Path) -> ToolServer:
    """That of a release, for all tests of this process."""
    return ToolServer(jars, java)


def run_tool(kafka: Installation, main_class: str, *words: str) -> str:
    """What one of a release's tools prints. Raises CalledProcessError where it fails."""
    done = tool_done(kafka, main_class, *words)
    done.check_returncode()
    return done.stdout


def tool_done(kafka: Installation, main_class: str, *words: str) -> subprocess.CompletedProcess[str]:
    """How one of a release's tools ended."""
    return _server(kafka.jars, kafka.java_program).run(main_class, words)


@cache
def _compiled(java: Path) -> str:
    """The folder with its class, for as long as this process runs."""
    need_compiler(java)
    folder = tempfile.TemporaryDirectory(prefix="kdrill-tools-")
    atexit.register(folder.cleanup)
    compiler = (str(java), "-m", "jdk.compiler/com.sun.tools.javac.Main")
    subprocess.run([*compiler, "-d", folder.name, str(SOURCE)], check=True, timeout=TIMEOUT_S, env=java_environment())
    return folder.name


def _number(value: int) -> bytes:
    return struct.pack(">i", value)


def _text(text: str) -> bytes:
    data = text.encode()
    return _number(len(data)) + data


def _read(stream: IO[bytes], count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data


def _read_number(stream: IO[bytes]) -> int:
    return struct.unpack(">i", _read(stream, 4))[0]


def _read_text(stream: IO[bytes]) -> str:
    return _read(stream, _read_number(stream)).decode(errors="replace")
