"""Three brokers of ours for groups of real clients; one of them coordinates all groups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.host_processes import ClusterOfThree


@pytest.fixture
def three(zookeeper: str, tmp_path: Path) -> Iterator[ClusterOfThree]:
    with ClusterOfThree(zookeeper, tmp_path) as cluster:
        yield cluster
