"""SASL against a real ZooKeeper that lets nobody in without it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from model.hosts.zookeeper.protocol import AuthFailed
from model.hosts.zookeeper.settings import Sasl
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.zookeeper import Znode
from tests.harness.zookeeper import server_with_login
from tests.zookeeper.conftest import OpenReader


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedZooKeeper]:
    with server_with_login(tmp_path_factory.mktemp("sasl"), "pass word", required=True) as server:
        yield server


def test_who_knows_the_password_may_read(server: EmbeddedZooKeeper, open_reader: OpenReader) -> None:
    reader, heard = open_reader(server.address, sasl=Sasl("DIGEST-MD5", "alice", "pass word"))
    heard.epoch(1)
    assert isinstance(reader.read("/"), Znode)


def test_who_does_not_is_told_and_not_tried_again(server: EmbeddedZooKeeper, open_reader: OpenReader) -> None:
    def refusal(sasl: Sasl | None) -> str:
        _, heard = open_reader(server.address, sasl=sasl)
        return heard.state(AuthFailed).reason.removeprefix(server.address)

    assert refusal(None) == ": the server accepts authenticated sessions only"
    not_taken = ": authentication failed: the server does not take this SASL login; check user name and password"
    assert refusal(Sasl("DIGEST-MD5", "alice", "wrong")) == not_taken
    assert refusal(Sasl("DIGEST-MD5", "nobody", "pass word")) == not_taken
