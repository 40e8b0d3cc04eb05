"""SASL against a real ZooKeeper that lets nobody in without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from model.hosts.zookeeper.settings import Sasl
from model.hosts.zookeeper.states import AuthFailed
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from model.zookeeper.znodes import Znode
from tests.zookeeper.conftest import OpenReader
from tests.zookeeper.secure_server import jars_with_netty


@dataclass(frozen=True)
class _Options(ServerOptions):
    """With Java's file of logins."""

    logins: str = ""

    def java_flags(self) -> list[str]:
        return [*super().java_flags(), f"-Djava.security.auth.login.config={self.logins}"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedZooKeeper]:
    logins: Path = tmp_path_factory.mktemp("sasl") / "jaas.conf"
    module = "org.apache.zookeeper.server.auth.DigestLoginModule"
    logins.write_text(f'Server {{ {module} required user_alice="pass word"; }};\n')
    extra = {
        "authProvider.1": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
        "sessionRequireClientSASLAuth": "true",
    }
    with EmbeddedZooKeeper(options=_Options(extra=extra, logins=str(logins)), jars=jars_with_netty()) as server:
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
