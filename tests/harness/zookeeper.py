"""Real ZooKeeper: what others see in one, and servers of special kinds: with TLS, with logins, of old releases."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from model.sandbox.embedded_zookeeper import Ensemble
from model.sandbox.java import zookeeper_jars
from model.sandbox.options import SandboxOptions
from model.sandbox.sandbox_folder import SandboxFolder
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from tests.authority import PASSWORD, Authority
from tests.harness.waiting import PATIENCE_S
from tests.maven import UnavailableError, jars_folder, skip_or_fail

NO_CONTROLLER = -1

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


@asynccontextmanager
async def three_servers() -> AsyncIterator[Ensemble]:
    """An ensemble of three, ended with all that is theirs."""
    options = SandboxOptions(zookeepers=3)
    folder = SandboxFolder(options)
    ensemble = Ensemble(options, folder)
    try:
        await ensemble.start()
        yield ensemble
    finally:
        await ensemble.close()
        folder.close()


@contextmanager
def kazoo(address: str, **more: Any) -> Iterator[Any]:
    """Somebody else's session at `host:port/chroot`, for as long as the block. `more` is kazoo's own settings."""
    client: Any = KazooClient(address, **more)
    try:
        client.start(timeout=PATIENCE_S)
        yield client
    finally:
        client.stop()
        client.close()


class Znodes:
    """What others see at `host:port/chroot`, and may write there, while it is entered."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._ends = ExitStack()

    def __enter__(self) -> Self:
        self.client = self._ends.enter_context(kazoo(self._address))
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    def data(self, path: str) -> bytes | None:
        """What is in a znode; None when there is no such."""
        try:
            return self.client.get(path)[0] or b""
        except NoNodeError:
            return None

    def text(self, path: str) -> str:
        """What is in a znode; empty when there is nothing in it, or no such znode."""
        return str(self.data(path) or b"", "utf-8")

    def read(self, path: str) -> dict[str, Any]:
        """The JSON object in a znode; empty when there is nothing in it, or no such znode."""
        return json.loads(self.text(path) or "{}")

    def children(self, path: str) -> list[str]:
        """The children of a znode; none when it does not exist."""
        try:
            return list(self.client.get_children(path))
        except NoNodeError:
            return []

    def write(self, path: str, data: str = "") -> None:
        """Creates a znode, and those above it, as tools do that write to ZooKeeper themselves."""
        self.client.create(path, data.encode(), makepath=True)

    def overwrite(self, path: str, data: str) -> None:
        """Writes a znode that there is, whatever its version."""
        self.client.set(path, data.encode())

    def delete(self, path: str) -> None:
        """Deletes a znode."""
        self.client.delete(path)

    def controller(self) -> int:
        """The broker in /controller; NO_CONTROLLER while there is none."""
        return int(self.read("/controller").get("brokerid", NO_CONTROLLER))

    def epoch_of(self, broker: int) -> int:
        """A broker's epoch, which is the zxid of its registration; 0 where it has none."""
        found = self.client.exists(f"/brokers/ids/{broker}")
        return found.czxid if found else 0

    def state(self, topic: str, partition: int = 0) -> dict[str, Any]:
        """The partition's state znode: leader, isr, leader_epoch …; empty before the controller wrote it."""
        return self.read(f"/brokers/topics/{topic}/partitions/{partition}/state")

    def replicas(self, topic: str) -> dict[int, list[int]]:
        """A topic's replicas by partition, as in its znode."""
        found = self.read(f"/brokers/topics/{topic}").get("partitions", {})
        return {int(partition): replicas for partition, replicas in found.items()}
