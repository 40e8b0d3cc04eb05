"""Logins that succeed, by SASL and by a certificate with a sealed key: what opened the door is in nothing written."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.authority import Authority
from tests.demo_tree import demo_tree
from tests.harness.zookeeper import secure_server, server_with_login
from tests.trust.canaries import canary
from tests.trust.ground import SECRET_VARIABLES, Ground, ground

CLUSTERS = """
[clusters.sasl]
zookeeper = ["{sasl}"]
chroot = "/kafka"
sasl = {{ username = "alice", password = {{ env = "CANARY_KEY" }} }}

[clusters.mistaken]
zookeeper = ["{sasl}"]
chroot = "/kafka"
sasl = {{ username = "alice", password = "{mistaken}" }}

[clusters.tls]
zookeeper = ["{tls}"]
chroot = "/kafka"
command_config = "tls.properties"
"""
PROPERTIES = """
zookeeper.ssl.client.enable=true
zookeeper.ssl.truststore.location={trusted}
zookeeper.ssl.keystore.location={own}
zookeeper.ssl.keystore.password={password}
"""
LOOKS = (
    "status {} --json",
    "status {} --prometheus",
    "configs {} describe --entity-type users",
    "snapshot {} -o {}.json",
    "record {} -o {}-recording --for 1s",
    "drill {} --each-broker --json --engine here",
    "act {} elect-preferred --allow-writes --yes",
)


@pytest.fixture
def sasl(tmp_path: Path) -> Iterator[str]:
    """A server that takes alice's password; others may stay unknown to it."""
    with server_with_login(tmp_path, SECRET_VARIABLES["CANARY_KEY"]) as server, demo_tree(server.address):
        yield server.address


@pytest.fixture
def here(tmp_path: Path, zookeeper: str, sasl: str) -> Iterator[Ground]:
    authority, password = Authority(tmp_path), canary("keystore")
    with (
        ground(tmp_path, zookeeper) as here,
        secure_server(authority, client_auth="need") as server,
        demo_tree(server.plain),
    ):
        own = authority.issue("alice", password=password).keystore
        with (here.mine / "config.toml").open("a") as config:
            config.write(CLUSTERS.format(sasl=sasl, tls=server.secure, mistaken=canary("mistaken")))
        (here.mine / "tls.properties").touch(mode=0o600)
        (here.mine / "tls.properties").write_text(
            PROPERTIES.format(trusted=authority.certificate, own=own, password=password)
        )
        yield here


def test_what_opened_the_door_is_nowhere_afterwards(here: Ground) -> None:
    assert here.run("status", "mistaken") == 1, "anybody gets in"
    codes = {
        words: here.run(*words.split())
        for name in ("sasl", "tls")
        for words in (each.format(name, name) for each in LOOKS)
    }
    assert not {words: here.said for words, code in codes.items() if code not in (0, 2)}
    search = here.searched()
    print(f"{len(codes)} commands, {search.files} files, {search.searched_bytes:,} bytes")
    assert not search.found
    for name in ("config.toml", "tls.properties"):
        shutil.copy(here.mine / name, here.work)
    assert {Path(each.partition(":")[0]).name for each in here.searched().found} == {"config.toml", "tls.properties"}
