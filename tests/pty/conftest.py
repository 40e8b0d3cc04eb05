"""kdrill in a pseudo-terminal, on a cluster that a test may change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.demo_tree import DemoTree, demo_tree
from tests.harness.command import in_terminal
from tests.pseudo_terminal import Terminal

Open = Callable[..., Terminal]


@pytest.fixture
def open_kdrill() -> Iterator[Open]:
    """Starts kdrill with these arguments; `program` is what Python runs instead."""
    with ExitStack() as terminals:
        yield lambda *arguments, **more: terminals.enter_context(in_terminal(*arguments, **more))


@pytest.fixture
def tree(zookeeper: str) -> Iterator[DemoTree]:
    with demo_tree(zookeeper) as tree:
        yield tree
