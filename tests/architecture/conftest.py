"""Syntax trees of the whole house are large: each file of tests has its own, and no collector walks through them."""

from collections.abc import Iterator

import pytest

from model.hosts.process import uncollected
from tests.architecture.source_tree import syntax


@pytest.fixture(scope="module", autouse=True)
def trees_of_one_file() -> Iterator[None]:
    """None of them stays in memory when its tests are over."""
    with uncollected():
        yield
        syntax.cache_clear()
