"""The same reader over TLS, against a real server with Netty and a key of the test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from model.hosts.client_security import Store, Tls
from model.hosts.tls import tls_context
from model.hosts.zookeeper.protocol import AuthFailed, Connecting
from model.zookeeper import Znode
from tests.authority import Authority
from tests.harness.zookeeper import SecureServer, kazoo, secure_server
from tests.zookeeper.conftest import OpenReader

NODES = 2000


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def server(authority: Authority) -> Iterator[SecureServer]:
    with secure_server(authority) as server:
        with kazoo(server.plain) as client:
            for number in range(NODES):
                client.create_async(f"/n{number}", b"x" * 1000)
            client.sync("/")
        yield server


def test_reads_and_watches_over_tls(server: SecureServer, authority: Authority, open_reader: OpenReader) -> None:
    tls = tls_context(Tls(truststore=Store(location=str(authority.certificate))))
    reader, heard = open_reader(server.secure, tls=tls, session_timeout_ms=10_000)
    survey = heard.epoch(1).server
    assert survey.version is not None
    assert survey.has_multi_read
    reader.watch_recursive("/")
    paths = [f"/n{number}" for number in range(NODES)]
    # Answers far larger than a TLS record, and thousands of small ones.
    znodes = reader.read_many(paths)
    assert [type(znode) for znode in znodes] == [Znode] * NODES
    assert reader.read_many(paths, watch=True) == znodes


def test_a_server_that_is_not_trusted_ends_the_reader(server: SecureServer, open_reader: OpenReader) -> None:
    _, heard = open_reader(server.secure, tls=tls_context(Tls()))
    refused = heard.state(AuthFailed)
    assert refused.reason.startswith(f"{server.secure}: authentication failed: the server's certificate is not trusted")


def test_without_tls_it_tries_again_and_says_something(server: SecureServer, open_reader: OpenReader) -> None:
    _, heard = open_reader(server.secure)
    assert heard.state(Connecting, lambda state: state.reason != "").reason.startswith(server.secure)
