"""The real `kdrill --serve` in a process of its own, and the processes below it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tests.harness.command import running


class Served(NamedTuple):
    """`url` is the page's; `pid` the server's."""

    url: str
    pid: int

    @property
    def host(self) -> str:
        """`127.0.0.1:PORT`."""
        return self.url.split("/")[2]

    @property
    def sessions(self) -> list[int]:
        """Process ids of its children and of theirs."""
        return descendants(self.pid)


@contextmanager
def served(*arguments: str) -> Iterator[Served]:
    """Serves on a free port; killed at the end."""
    with running(*arguments, "--serve", "0") as process:
        assert process.stdout is not None and process.stderr is not None
        url = process.stdout.readline().strip()
        assert url, process.stderr.read()
        yield Served(url, process.pid)


def descendants(pid: int) -> list[int]:
    """Process ids of its children and of theirs."""
    table = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=True, text=True).stdout
    pairs = [(int(child), int(parent)) for child, parent in map(str.split, table.splitlines())]
    below = [pid]
    for each in below:
        below += [child for child, parent in pairs if parent == each]
    return below[1:]
