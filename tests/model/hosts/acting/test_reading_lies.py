"""What a proposal reads ends whatever the server tells."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from model.hosts.acting import zookeeper_writes
from model.hosts.acting.zookeeper_writes import ZnodeReading
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from model.hosts.zookeeper.settings import ZooKeeperSettings
from tests.zookeeper.lying_zookeeper import STATE, LyingZooKeeper, Tree


class Endless(Tree):
    """Every znode has children, each of which has."""

    def data(self, path: str) -> bytes | None:
        return b""

    def names(self, path: str) -> Sequence[str]:
        return ("a", "b")


def test_a_tree_without_an_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zookeeper_writes, "TREE_ZNODES", 1_000)
    with (
        LyingZooKeeper(tree=Endless()) as server,
        ZnodeReading(ZooKeeperSettings(server.address)) as reads,
        pytest.raises(ZooKeeperUnavailable, match=r"^/consumers/g has no end: more than \d,\d{3} znodes"),
    ):
        reads.tree("/consumers/g")


def test_a_tree_is_read_from_its_top() -> None:
    znodes = {f"/consumers/g/{name}": STATE for name in ("ids/m1", "offsets/orders/0", "offsets/orders/1", "owners/x")}
    with LyingZooKeeper(tree=Tree(znodes)) as server, ZnodeReading(ZooKeeperSettings(server.address)) as reads:
        found = list(reads.tree("/consumers/g"))
    assert set(found) >= znodes.keys() | {"/consumers/g", "/consumers/g/offsets/orders"}
    assert found == sorted(found, key=lambda path: path.count("/"))
