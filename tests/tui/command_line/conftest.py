"""A cluster and a snapshot of it, for commands to read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from model.cluster.cluster_image import Provenance
from model.cluster.findings import find
from model.cluster.snapshot_file import write_snapshot
from tests.demo_tree import DemoTree, demo_tree
from tests.tui.data.small_cluster import small_image


@pytest.fixture
def tree(zookeeper: str) -> Iterator[DemoTree]:
    """The demo cluster; it has findings of severity error."""
    with demo_tree(zookeeper) as tree:
        yield tree


@pytest.fixture
def snapshot_file(tmp_path: Path) -> Path:
    """A snapshot of a small cluster with findings of severity error."""
    image = msgspec.structs.replace(small_image(), provenance=Provenance("zk://there", 5, 1, complete=True))
    write_snapshot(tmp_path / "small.json", image, find(image, None).found)
    return tmp_path / "small.json"
