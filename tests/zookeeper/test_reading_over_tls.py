"""The same reader over TLS, against a real server with Netty and a key of the test's own."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from kazoo.client import KazooClient

from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from model.hosts.zookeeper.settings import Settings, Tls
from model.hosts.zookeeper.values import Connecting, Znode
from model.sandbox.zookeeper_jars import zookeeper_jars
from model.sandbox.zookeeper_options import ServerOptions
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.zookeeper.conftest import OpenReader

NODES = 2000


class TlsServer(NamedTuple):
    address: str
    certificate: str


@pytest.fixture(scope="module")
def tls_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsServer]:
    keytool = shutil.which("keytool")
    if keytool is None:
        pytest.skip("no keytool (it comes with Java) to make a key with")
    folder = tmp_path_factory.mktemp("tls")
    store, certificate = folder / "server.p12", folder / "server.pem"
    password = ["-storepass", "secret", "-keystore", str(store), "-alias", "server"]
    name = ["-dname", "CN=localhost", "-ext", "san=ip:127.0.0.1", "-keyalg", "EC", "-validity", "2"]
    subprocess.run([keytool, "-genkeypair", *password, "-storetype", "PKCS12", *name], check=True, capture_output=True)
    subprocess.run(
        [keytool, "-exportcert", "-rfc", *password, "-file", str(certificate)], check=True, capture_output=True
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    extra = {
        "secureClientPort": str(port),
        "secureClientPortAddress": "127.0.0.1",
        "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
        "ssl.keyStore.location": str(store),
        "ssl.keyStore.password": "secret",
        "ssl.clientAuth": "none",
    }
    jars = list(zookeeper_jars())
    jars += sorted(Path(jars[0]).parent.glob("netty-*.jar"))
    with EmbeddedZooKeeper(options=ServerOptions(extra=extra), jars=jars) as server:
        client: Any = KazooClient(server.address)
        client.start()
        for number in range(NODES):
            client.create_async(f"/n{number}", b"x" * 1000)
        client.sync("/")
        client.stop()
        yield TlsServer(f"127.0.0.1:{port}", str(certificate))


def test_reads_and_watches_over_tls(tls_server: TlsServer, open_reader: OpenReader) -> None:
    reader, heard = open_reader(tls_server.address, tls=Tls(ca=tls_server.certificate), session_timeout_ms=10_000)
    server = heard.epoch(1).server
    assert server.version is not None
    assert server.has_multi_read
    reader.watch_recursive("/")
    paths = [f"/n{number}" for number in range(NODES)]
    # Answers far larger than a TLS record, and thousands of small ones.
    znodes = reader.read_many(paths)
    assert [type(znode) for znode in znodes] == [Znode] * NODES
    assert reader.read_many(paths, watch=True) == znodes


@pytest.mark.parametrize(
    ("tls", "says"),
    [(Tls(), "certificate verify failed"), (None, "")],
    ids=["unknown authority", "no TLS"],
)
def test_why_tls_fails(tls: Tls | None, says: str, tls_server: TlsServer, open_reader: OpenReader) -> None:
    reader, heard = open_reader(tls_server.address, tls=tls)
    failed = heard.state(Connecting, lambda state: state.reason != "")
    assert failed.reason.startswith(tls_server.address)
    assert says.casefold() in failed.reason.casefold().replace("_", " ")
    with pytest.raises(ZooKeeperUnavailable):
        reader.read("/")


def test_a_certificate_file_that_is_not_there_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"^TLS file /nowhere.pem does not exist; check the path$"):
        Settings("localhost:2181", tls=Tls(ca="/nowhere.pem"))
