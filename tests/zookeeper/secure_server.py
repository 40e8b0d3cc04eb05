"""A real ZooKeeper that speaks TLS: Netty, and a key of the tests' own."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from model.sandbox.java import zookeeper_jars
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from tests.authority import PASSWORD, Authority

NAMES = ("127.0.0.1",)
"""What the server's certificate is for; not for `localhost`."""


class SecureServer(NamedTuple):
    """Where it listens."""

    secure: str
    """`127.0.0.1:PORT`, TLS only."""
    plain: str
    port: int
    """Of the secure one."""


@contextmanager
def secure_server(authority: Authority, *, client_auth: str = "none") -> Iterator[SecureServer]:
    """`client_auth` is none or need: whether clients have to show a certificate of the authority."""
    server = authority.issue("zookeeper", *NAMES)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    extra = {
        "secureClientPort": str(port),
        "secureClientPortAddress": "127.0.0.1",
        "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
        "ssl.keyStore.location": str(server.pkcs12),
        "ssl.keyStore.password": PASSWORD,
        "ssl.trustStore.location": str(authority.certificate),
        "ssl.clientAuth": client_auth,
    }
    with EmbeddedZooKeeper(options=ServerOptions(extra=extra), jars=jars_with_netty()) as running:
        yield SecureServer(f"127.0.0.1:{port}", running.address, port)


def jars_with_netty() -> list[Path]:
    """What a server needs for TLS and for SASL."""
    jars = zookeeper_jars()
    return [*jars, *sorted(jars[0].parent.glob("netty-*.jar"))]
