"""The demo cluster's tree on a test's own root, as something to open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from model.sandbox.demo.demo import DemoCluster
from tests.harness.small_demo import SMALL


class DemoTree(NamedTuple):
    """`source` names it; `cluster` changes it."""

    source: str
    cluster: DemoCluster


@contextmanager
def demo_tree(zookeeper: str) -> Iterator[DemoTree]:
    """On `host:port/root`; its sessions end with the context."""
    address, slash, root = f"{zookeeper}/kafka".partition("/")
    with DemoCluster(SMALL, address, slash + root) as cluster:
        yield DemoTree(f"zk://{zookeeper}/kafka", cluster)
