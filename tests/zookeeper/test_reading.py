"""What a reader reads from a healthy server, through its public face."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest
from kazoo.security import make_digest_acl

from model.hosts.zookeeper.protocol import AuthFailed, Closed, Connecting, ZooKeeperClosed, ZooKeeperUnavailable
from model.hosts.zookeeper.reader import MULTI_READ_BATCH, ZooKeeperReader
from model.hosts.zookeeper.settings import Credential, Sasl, ZooKeeperSettings
from model.sandbox.embedded_zookeeper import ZnodeSession, start_zookeeper
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from model.zookeeper import Children, EventKind, Forbidden, Missing, Stat, Znode
from tests.zookeeper.conftest import OpenReader


def test_one_znode_is_read_with_its_stat(
    zookeeper_server: EmbeddedZooKeeper, writer: Any, chroot: str, open_reader: OpenReader
) -> None:
    writer.create(f"{chroot}/a", b"one")
    writer.set(f"{chroot}/a", b"two!")
    reader, heard = open_reader(zookeeper_server.address, chroot)
    heard.epoch(1)
    znode = reader.read("/a")
    assert isinstance(znode, Znode)
    assert (znode.path, znode.data) == ("/a", b"two!")
    expected = writer.exists(f"{chroot}/a")
    assert znode.stat == Stat(*expected) == reader.exists("/a")


def test_what_is_not_there_is_a_value(
    zookeeper_server: EmbeddedZooKeeper, writer: Any, chroot: str, open_reader: OpenReader
) -> None:
    reader, heard = open_reader(zookeeper_server.address, chroot)
    heard.epoch(1)
    assert reader.read("/no") == reader.children("/no") == reader.exists("/no") == Missing("/no")
    assert reader.read_many(["/no"]) == reader.children_many(["/no"]) == [Missing("/no")]


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 1234])
def test_many_are_answered_in_order_whatever_the_batches(
    count: int, zookeeper_server: EmbeddedZooKeeper, writer: Any, chroot: str, open_reader: OpenReader
) -> None:
    for first in range(0, count, 500):
        transaction = writer.transaction()
        for number in range(first, min(first + 500, count)):
            transaction.create(f"{chroot}/n{number}", b"%d" % number)
        transaction.commit()
    reader, heard = open_reader(zookeeper_server.address, chroot)
    heard.epoch(1)
    paths = [path for number in range(count) for path in (f"/n{number}", f"/absent{number}")]
    in_batches = reader.read_many(paths)
    assert [answer.path for answer in in_batches] == paths
    assert [answer.data for answer in in_batches if isinstance(answer, Znode)] == [b"%d" % n for n in range(count)]
    assert in_batches == reader.read_many(paths, watch=True)


def test_children_of_many(
    zookeeper_server: EmbeddedZooKeeper, writer: Any, chroot: str, open_reader: OpenReader
) -> None:
    writer.ensure_path(f"{chroot}/a/x")
    writer.ensure_path(f"{chroot}/a/ÿ中")
    reader, heard = open_reader(zookeeper_server.address, chroot)
    heard.epoch(1)
    one, root, none = reader.children_many(["/a", "/", "/none"])
    assert isinstance(one, Children)
    assert isinstance(root, Children)
    assert (set(one.names), one.stat, root.names, none) == ({"x", "ÿ中"}, None, ("a",), Missing("/none"))
    assert reader.children_many(["/a"], watch=True) == [reader.children("/a")]


def test_nodes_our_identity_may_not_read_are_forbidden(
    zookeeper_server: EmbeddedZooKeeper, writer: Any, chroot: str, open_reader: OpenReader
) -> None:
    writer.create(f"{chroot}/secret", b"s", acl=[make_digest_acl("ann", "right", all=True)])
    answers: list[object] = []
    for password in ("wrong", "right"):
        credentials = (Credential("digest", f"ann:{password}"),)
        reader, heard = open_reader(zookeeper_server.address, chroot, credentials=credentials)
        heard.epoch(1)
        answers += [reader.read("/secret"), *reader.read_many(["/secret"])]
    assert answers[:2] == [Forbidden("/secret")] * 2
    assert [answer.data for answer in answers[2:] if isinstance(answer, Znode)] == [b"s", b"s"]


def test_an_unknown_kind_of_credential_ends_the_reader(
    zookeeper_server: EmbeddedZooKeeper, open_reader: OpenReader
) -> None:
    reader, heard = open_reader(zookeeper_server.address, credentials=(Credential("nonsense", "x"),))
    refused = heard.state(AuthFailed)
    assert "authentication failed" in refused.reason
    with pytest.raises(ZooKeeperUnavailable, match="authentication failed"):
        reader.read("/")


def test_a_server_that_wants_a_login_ends_the_reader_without_one(open_reader: OpenReader) -> None:
    wants_login = {"enforce.auth.enabled": "true", "enforce.auth.schemes": "digest"}
    with start_zookeeper(options=ServerOptions(extra=wants_login)) as server:
        reader, heard = open_reader(server.address, credentials=(Credential("digest", "ann:x"),))
        heard.epoch(1)
        assert isinstance(reader.read("/"), Znode)
        _, heard = open_reader(server.address)
        assert heard.state(AuthFailed).reason == f"{server.address}: the server accepts authenticated sessions only"


@pytest.mark.skipif(find_spec("puresasl") is not None, reason="pure-sasl is installed")
def test_sasl_without_its_package_says_what_is_missing(
    zookeeper_server: EmbeddedZooKeeper, open_reader: OpenReader
) -> None:
    _, heard = open_reader(zookeeper_server.address, sasl=Sasl("DIGEST-MD5", "ann", "x"))
    assert "pure-sasl" in heard.state(AuthFailed).reason


def test_a_recursive_watch_reports_changes_without_the_chroot(
    zookeeper_server: EmbeddedZooKeeper, writer: Any, chroot: str, open_reader: OpenReader
) -> None:
    reader, heard = open_reader(zookeeper_server.address, chroot)
    heard.epoch(1)
    reader.watch_recursive("/")
    writer.create(f"{chroot}/t", b"")
    writer.create(f"{chroot}/t/p", b"1")
    writer.set(f"{chroot}/t/p", b"2")
    changed = writer.exists(f"{chroot}/t/p").mzxid
    writer.delete(f"{chroot}/t/p")
    writer.set(chroot, b"last")
    heard.paths("/")
    assert [(event.kind, event.path) for event in heard.events] == [
        (EventKind.CREATED, "/t"),
        (EventKind.CREATED, "/t/p"),
        (EventKind.DATA_CHANGED, "/t/p"),
        (EventKind.DELETED, "/t/p"),
        (EventKind.DATA_CHANGED, "/"),
    ]
    assert heard.events[2].zxid == changed


def test_one_shot_watches_fire_once(
    zookeeper_server: EmbeddedZooKeeper, writer: Any, chroot: str, open_reader: OpenReader
) -> None:
    writer.create(f"{chroot}/data", b"")
    writer.create(f"{chroot}/parent", b"")
    reader, heard = open_reader(zookeeper_server.address, chroot)
    heard.epoch(1)
    reader.read("/data", watch=True)
    reader.children("/parent", watch=True)
    reader.exists("/later", watch=True)
    for data in (b"1", b"2"):
        writer.set(f"{chroot}/data", data)
    writer.create(f"{chroot}/parent/child", b"")
    writer.create(f"{chroot}/later", b"")
    heard.paths("/later")
    assert [(event.kind, event.path) for event in heard.events] == [
        (EventKind.DATA_CHANGED, "/data"),
        (EventKind.CHILDREN_CHANGED, "/parent"),
        (EventKind.CREATED, "/later"),
    ]


def test_rearmed_watches_fire_at_once_for_what_changed_since(
    zookeeper_server: EmbeddedZooKeeper, writer: Any, chroot: str, open_reader: OpenReader
) -> None:
    for name in ("old", "changed", "parent"):
        writer.create(f"{chroot}/{name}", b"")
    reader, heard = open_reader(zookeeper_server.address, chroot)
    heard.epoch(1)
    reader.sync()
    reader.read("/")
    zxid = reader.last_zxid
    writer.set(f"{chroot}/changed", b"1")
    writer.create(f"{chroot}/parent/child", b"")
    writer.create(f"{chroot}/born", b"")
    reader.rearm(zxid, data=["/old", "/changed"], existence=["/born", "/unborn"], children=["/parent", "/old"])
    assert heard.paths("/changed", "/born", "/parent") == {"/changed", "/born", "/parent"}
    writer.set(f"{chroot}/old", b"1")
    writer.create(f"{chroot}/unborn", b"")
    assert heard.paths("/old", "/unborn") == {"/changed", "/born", "/parent", "/old", "/unborn"}


def test_a_chroot_that_does_not_exist_is_a_warning_with_a_hint(
    own_zookeeper: EmbeddedZooKeeper, open_reader: OpenReader
) -> None:
    session = ZnodeSession(own_zookeeper.address)
    session.make_path("/kafka")
    session.close()
    _, heard = open_reader(own_zookeeper.address, "/kafkaa")
    there = f"chroot /kafkaa does not exist on {own_zookeeper.address}; its root has: kafka, zookeeper"
    assert heard.epoch(1).warning == there


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("127.0.0.1:1", "127.0.0.1:1: Connection refused"),
        ("host.invalid:2181", "cannot resolve host host.invalid: "),
    ],
)
def test_why_there_is_no_connection(address: str, says: str, open_reader: OpenReader) -> None:
    reader, heard = open_reader(address)
    assert says in heard.state(Connecting, lambda state: state.reason != "").reason
    with pytest.raises(ZooKeeperUnavailable, match=says):
        reader.read("/")
    with pytest.raises(ZooKeeperUnavailable, match=says):
        reader.wait_connected(0)


def test_a_closed_reader_says_so(zookeeper_server: EmbeddedZooKeeper, open_reader: OpenReader) -> None:
    reader, heard = open_reader(zookeeper_server.address)
    heard.epoch(1)
    reader.close()
    reader.close()
    with pytest.raises(ZooKeeperClosed):
        reader.read("/")
    assert heard.states[-1] == Closed()


def test_the_pace_is_asked_before_every_read(zookeeper_server: EmbeddedZooKeeper) -> None:
    asked: list[int] = []
    reader = ZooKeeperReader.open(
        ZooKeeperSettings(zookeeper_server.address),
        on_events=lambda _: None,
        on_state=lambda _: None,
        pace=asked.append,
    )
    reader.wait_connected(60)
    reader.read("/")
    reader.read_many(["/"] * (2 * MULTI_READ_BATCH + 50))
    reader.read_many(["/"] * 3, watch=True)
    reader.close()
    assert asked == [1, MULTI_READ_BATCH, MULTI_READ_BATCH, 50, 1, 1, 1]


@pytest.mark.parametrize("address", ["", "a:b", ":2181", "a:1/kafka", "a:99999"])
def test_an_address_that_is_none_is_refused_in_one_line(address: str) -> None:
    with pytest.raises(ValueError, match=r"^ZooKeeper address .*$"):
        ZooKeeperSettings(address)


@pytest.mark.parametrize("chroot", ["kafka", "/", "/kafka/", "//kafka"])
def test_a_chroot_that_is_none_is_refused_in_one_line(chroot: str) -> None:
    with pytest.raises(ValueError, match=r"^chroot .*$"):
        ZooKeeperSettings("localhost:2181", chroot)


def test_secrets_are_not_shown() -> None:
    assert "tell" not in repr(ZooKeeperSettings("a:1", credentials=(Credential("digest", "ann:tell"),)))
