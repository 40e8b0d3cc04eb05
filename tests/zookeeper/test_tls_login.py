"""From a client.properties to a cluster's image: a real ZooKeeper that wants TLS and a certificate; what goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from model.sources.source import SourceError
from tests.authority import PASSWORD, Authority
from tests.demo_tree import demo_tree
from tests.harness.zookeeper import SecureServer, secure_server
from tui.cli.following import follow
from tui.cli.options import opening_of
from tui.engine.config import load_config

PATIENCE_S = 120.0
"""What is hopeless is told after three seconds, but on a busy machine a look may come to nothing."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def server(authority: Authority) -> Iterator[SecureServer]:
    with secure_server(authority, client_auth="need") as server, demo_tree(server.plain):
        yield server


def properties(folder: Path, *lines: str) -> Path:
    path = folder / "client.properties"
    path.touch(0o600)
    path.write_text("\n".join(("zookeeper.ssl.client.enable=true", *lines)))
    return path


def trusting(authority: Authority) -> str:
    return f"zookeeper.ssl.truststore.location={authority.certificate}"


def being(store: Path) -> tuple[str, str]:
    return f"zookeeper.ssl.keystore.location={store}", f"zookeeper.ssl.keystore.password={PASSWORD}"


def brokers(source: str, command_config: Path | None) -> set[int]:
    """Of the first image. Raises SourceError."""
    seen: list[set[int]] = []

    def see(moment: object) -> bool:
        seen.append(set(moment.image.brokers))  # pyright: ignore[reportAttributeAccessIssue]
        return False

    opening = opening_of(source, load_config(), command_config)
    asyncio.run(follow(msgspec.structs.replace(opening, connect_timeout_s=PATIENCE_S), see))
    return seen[0]


@pytest.mark.parametrize("kind", ["keystore", "pkcs12"])
def test_a_cluster_behind_tls_and_our_certificate(
    kind: str, server: SecureServer, authority: Authority, tmp_path: Path
) -> None:
    own = being(getattr(authority.issue("alice"), kind))
    file = properties(tmp_path, trusting(authority), *own)
    assert brokers(f"zk://{server.secure}/kafka", file) >= {1, 2}


def why_not(source: str, file: Path | None) -> str:
    """The one line that the source ends with."""
    with pytest.raises(SourceError) as error:
        brokers(source, file)
    said = str(error.value)
    assert said.isprintable()
    assert PASSWORD not in said
    return said


def test_what_goes_wrong_is_said_in_one_line(server: SecureServer, authority: Authority, tmp_path: Path) -> None:
    source = f"zk://{server.secure}/kafka"
    own = being(authority.issue("bob").keystore)
    stranger = Authority(tmp_path, "stranger")
    strangers = being(stranger.issue("mallory").keystore)
    start = f"{source}: {server.secure}: authentication failed: the server"

    wrong_authority = why_not(source, properties(tmp_path, trusting(stranger), *own))
    assert wrong_authority.startswith(f"{start}'s certificate is not trusted (")
    assert why_not(source, properties(tmp_path, trusting(authority))).startswith(f"{start} does not take our cert")
    not_taken = why_not(source, properties(tmp_path, trusting(authority), *strangers))
    assert not_taken.startswith(f"{start} does not take our certificate")
    by_name = source.replace("127.0.0.1", "localhost")
    wrong_name = why_not(by_name, properties(tmp_path, trusting(authority), *own))
    assert f"localhost:{server.port}: authentication failed: the server's certificate is for other names" in wrong_name


def test_tls_on_one_side_only(server: SecureServer, authority: Authority, tmp_path: Path) -> None:
    plain_on_tls = why_not(f"zk://{server.secure}/kafka", None)
    assert "the server speaks TLS here, and we do not; give --command-config a file" in plain_on_tls
    tls_on_plain = why_not(f"zk://{server.plain}/kafka", properties(tmp_path, trusting(authority)))
    assert "the server ended the TLS handshake: is this a plain port?" in tls_on_plain
