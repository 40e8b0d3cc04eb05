"""Real ZooKeeper servers of special kinds: with TLS, with logins, and of old releases."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from model.sandbox.java import zookeeper_jars
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from tests.authority import PASSWORD, Authority
from tests.maven import UnavailableError, jars_folder, skip_or_fail

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
    with EmbeddedZooKeeper(options=ServerOptions(extra=extra), jars=_jars_with_netty()) as running:
        yield SecureServer(f"127.0.0.1:{port}", running.address, port)


@dataclass(frozen=True)
class _WithLogins(ServerOptions):
    """With Java's file of logins."""

    logins: str = ""

    def java_flags(self) -> list[str]:
        return [*super().java_flags(), f"-Djava.security.auth.login.config={self.logins}"]


@contextmanager
def server_with_login(folder: Path, password: str, *, required: bool = False) -> Iterator[EmbeddedZooKeeper]:
    """One that knows alice's password, by SASL. `required`: it lets nobody in without it."""
    logins = folder / "jaas.conf"
    module = "org.apache.zookeeper.server.auth.DigestLoginModule"
    logins.write_text(f'Server {{ {module} required user_alice="{password}"; }};\n')
    extra = {"authProvider.1": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"}
    if required:
        extra["sessionRequireClientSASLAuth"] = "true"
    with EmbeddedZooKeeper(options=_WithLogins(extra=extra, logins=str(logins)), jars=_jars_with_netty()) as server:
        yield server


def _jars_with_netty() -> list[Path]:
    """What a server needs for TLS and for SASL."""
    jars = zookeeper_jars()
    return [*jars, *sorted(jars[0].parent.glob("netty-*.jar"))]


def jars_of(version: str) -> list[Path]:
    """The class path of a release. Without it the test is skipped, or fails with KDRILL_REQUIRE_CONFORMANCE=1."""
    try:
        return sorted(jars_folder(f"zookeeper-{version}", [f"org.apache.zookeeper:zookeeper:{version}"]).glob("*.jar"))
    except UnavailableError as reason:
        skip_or_fail(str(reason))
