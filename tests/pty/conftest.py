"""kdrill in a pseudo-terminal, on a cluster that a test may change."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.demo_tree import DemoTree, demo_tree
from tests.pseudo_terminal import Terminal

Open = Callable[..., Terminal]

QUIET = {"KDRILL_CONFIG": os.devnull, "KDRILL_SPARK_MASTER": "off"}
"""No configuration of the user's, and no Spark, which takes seconds of both cores to start."""

KDRILL = (sys.executable, "-P", "-c", "from tui.cli import main; main()")


@pytest.fixture
def open_kdrill() -> Iterator[Open]:
    """Starts kdrill with these arguments; `program` is what Python runs instead."""
    with ExitStack() as terminals:

        def opened(*arguments: str, program: str = "", environment: dict[str, Any] | None = None, **size: int):
            command = [*KDRILL[:-1], program or KDRILL[-1], *arguments]
            terminal = Terminal(command, environment={**QUIET, **(environment or {})}, **size)
            terminals.callback(terminal.close)
            return terminal

        yield opened


@pytest.fixture
def tree(zookeeper: str) -> Iterator[DemoTree]:
    with demo_tree(zookeeper) as tree:
        yield tree
