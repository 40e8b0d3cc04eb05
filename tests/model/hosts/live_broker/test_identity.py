"""Who a broker is, by its settings, its log dirs and a real ZooKeeper."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from model.broker.settings.settings import Settings
from model.hosts.live_broker.identity import IdentityError, broker_id, check_cluster, cluster_id, note_identity
from model.hosts.writing_session import SuccessiveSessions
from model.hosts.zookeeper.settings import ZooKeeperSettings
from model.log.checkpoints import read_meta_properties, write_meta_properties
from model.znodes.paths import CLUSTER_ID
from model.zookeeper import Create

PATIENCE_S = 60.0
GIVEN_AN_ID = Settings({"broker.id": -1})
BROKER_7 = Settings({"broker.id": 7})


@pytest.fixture
async def session(zookeeper: str) -> AsyncIterator[SuccessiveSessions]:
    address, _, chroot = zookeeper.partition("/")
    session = SuccessiveSessions(ZooKeeperSettings(address, f"/{chroot}"))
    await session.open(PATIENCE_S)
    yield session
    await session.close()


async def test_zookeeper_gives_out_ids_above_those_that_are_set(session: SuccessiveSessions) -> None:
    assert [await broker_id(GIVEN_AN_ID, (), session.ask) for _ in range(2)] == [1001, 1002]
    assert await broker_id(Settings({"broker.id": -1, "reserved.broker.max.id": 5}), (), session.ask) == 8


async def test_log_dirs_remember_the_id(session: SuccessiveSessions, tmp_path: Path) -> None:
    """A folder that is new says nothing."""
    assert await broker_id(BROKER_7, (tmp_path / "new",), session.ask) == 7
    note_identity((tmp_path,), 7, "the-cluster")
    assert read_meta_properties(tmp_path) == {"version": "0", "broker.id": "7", "cluster.id": "the-cluster"}
    assert await broker_id(GIVEN_AN_ID, (tmp_path,), session.ask) == 7
    assert await broker_id(BROKER_7, (tmp_path, tmp_path / "new"), session.ask) == 7


async def test_log_dirs_of_others_are_refused(session: SuccessiveSessions, tmp_path: Path) -> None:
    folders = tmp_path / "a", tmp_path / "b"
    for number, folder in enumerate(folders):
        folder.mkdir()
        write_meta_properties(folder, {"version": "0", "broker.id": str(number), "cluster.id": "one"})
    with pytest.raises(IdentityError, match=r"the log dirs belong to several brokers: .*a says 0, .*b says 1"):
        await broker_id(GIVEN_AN_ID, folders, session.ask)
    with pytest.raises(IdentityError, match=r"broker.id is 7, but meta.properties in .*a says 0"):
        await broker_id(BROKER_7, folders[:1], session.ask)
    assert await cluster_id(session.ask) is None
    check_cluster(folders, None)
    await session.ask((Create("/cluster"), Create(CLUSTER_ID, b'{"version":"1","id":"two"}')))
    assert await cluster_id(session.ask) == "two"
    with pytest.raises(IdentityError, match="belongs to cluster one, and ZooKeeper's is two"):
        check_cluster(folders, "two")
