"""The whole path in a real terminal multiplexer: a sandbox's broker is killed by keys, and its leaders move.

tmux draws what it was sent anew, with terminal settings of its own, so what is read here is what an operator sees.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.harness.command import KDRILL, QUIET
from tests.harness.waiting import eventually

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

KEPT = ("PATH", "HOME", "JAVA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "PYTHONPATH")
"""What the shell has of this process's environment; TERM is tmux's own."""


class Tmux:
    """One session of a server of its own, with a shell in it, in the socket's folder."""

    def __init__(self, socket: Path) -> None:
        self._command = ("tmux", "-S", str(socket), "-f", "/dev/null")
        self._do(
            "new-session",
            "-d",
            "-c",
            str(socket.parent),
            "-x",
            "150",
            "-y",
            "45",
            "env",
            "-i",
            *self._environment(),
            "sh",
        )

    def type(self, line: str) -> None:
        """Types a line into what runs."""
        self._do("send-keys", "-l", line)
        self._do("send-keys", "Enter")

    def press(self, *keys: str) -> None:
        """Presses keys, named as tmux names them."""
        self._do("send-keys", *keys)

    @property
    def lines(self) -> list[str]:
        """The screen."""
        return self._do("capture-pane", "-p").split("\n")

    def until(self, condition: Callable[[list[str]], object]) -> None:
        """Waits until the screen is like this."""
        eventually(lambda: condition(self.lines), standing=lambda: "\n".join(self.lines))

    def close(self) -> None:
        """Ends the server, and what runs in it."""
        self._do("kill-server")

    def _do(self, *words: str) -> str:
        return subprocess.run([*self._command, *words], capture_output=True, text=True, check=True).stdout

    def _environment(self) -> list[str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return [f"{name}={value}" for name, value in {**kept, **QUIET, "LANG": "C.UTF-8"}.items()]


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    server = Tmux(tmp_path / "tmux")
    server.until(any)  # the shell's prompt: it would follow what is typed too early
    yield server
    server.close()


def led_by(lines: list[str]) -> list[int]:
    """Who leads each partition on the map, row by row: the column after the brokers' own."""
    rows = (re.match(r"[║│]>? *[!~X]? *\S+-\d+ +(?:[Lo.X+~-] +)+(\d+) ", line) for line in lines)
    return [int(row[1]) for row in rows if row]


def test_a_broker_killed_by_keys_loses_its_leaders_on_the_screen(tmux: Tmux) -> None:
    tmux.type("stty -a > before; " + shlex.join(KDRILL) + "; stty -a | diff before - && echo sane: $?")
    tmux.until(lambda lines: "LIVE" in lines[0] and "3 brokers up" in lines[0])
    tmux.press("3")
    tmux.until(lambda lines: 1 in led_by(lines))
    tmux.press("8")
    tmux.until(lambda lines: any("broker 1 " in line for line in lines))
    tmux.press("v")
    tmux.until(lambda lines: any(re.search(r"broker 1 .*running", line) for line in lines))
    tmux.press("g")
    tmux.press("j")
    tmux.until(lambda lines: any(re.search(r">.*broker 1 .*running", line) for line in lines))
    tmux.press("K")
    tmux.until(lambda lines: "2 up 1 DOWN" in lines[0])
    tmux.press("3")
    tmux.until(lambda lines: led_by(lines) and 1 not in led_by(lines))
    tmux.press("Q")
    tmux.until(lambda lines: any(line.startswith("sane: 0") for line in lines))
