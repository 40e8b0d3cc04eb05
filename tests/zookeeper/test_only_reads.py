"""The promise that nothing is ever written, at the client and on the wire."""

from __future__ import annotations

from typing import Any

import pytest
from kazoo.security import OPEN_ACL_UNSAFE

from model.hosts.zookeeper.connection import BufferedClient, ReadOnlyClient, missing_internals
from model.hosts.zookeeper.settings import TrafficMeter
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.harness.zookeeper import kazoo
from tests.zookeeper.conftest import OpenReader
from tests.zookeeper.counting_proxy import CountingProxy

WRITES = {
    "create": lambda client: client.create("/x", b""),
    "create2": lambda client: client.create("/x", b"", include_data=True),
    "delete": lambda client: client.delete("/x"),
    "set": lambda client: client.set("/x", b""),
    "set_acls": lambda client: client.set_acls("/x", OPEN_ACL_UNSAFE),
    "transaction": lambda client: client.transaction().commit(),
    "reconfig": lambda client: client.reconfig(joining="server.1=a:1:2", leaving=None, new_members=None),
    "add_auth": lambda client: client.add_auth("digest", "a:b"),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("kind", [BufferedClient, ReadOnlyClient])
def test_a_write_is_refused_before_it_is_queued(kind: Any, write: Any, proxy: CountingProxy) -> None:
    options: dict[str, Any] = {"on_events": lambda _: None, "meter": TrafficMeter()} if kind is BufferedClient else {}
    client = kind(hosts=proxy.address, **options)
    client.start()
    with pytest.raises(PermissionError, match="could write"):
        write(client)
    client.stop()
    client.close()
    assert proxy.asked.keys() <= {"createSession", "closeSession", "ping"}


def test_a_whole_session_leaves_no_write_on_the_wire(
    proxy: CountingProxy, writer: Any, chroot: str, open_reader: OpenReader
) -> None:
    writer.create(f"{chroot}/a", b"1")
    reader, heard = open_reader(proxy.address, chroot)
    for epoch in (1, 2):
        heard.epoch(epoch)
        reader.sync()
        reader.watch_recursive("/")
        reader.read("/a", watch=True)
        reader.children("/", watch=True)
        reader.exists("/b", watch=True)
        reader.read_many(["/a"] * 300)
        reader.read_many(["/a"] * 300, watch=True)
        reader.children_many(["/", "/a"])
        reader.rearm(reader.last_zxid, data=["/a"], existence=["/b"], children=["/"])
        if epoch == 1:
            proxy.cut()
    reader.close()
    assert proxy.writes() == {}
    assert proxy.asked["createSession"] == 2
    assert {"multiRead", "getData", "getChildren2", "exists", "addWatch", "setWatches", "sync"} <= proxy.asked.keys()


def test_the_proxy_sees_a_write(proxy: CountingProxy, zookeeper_server: EmbeddedZooKeeper, chroot: str) -> None:
    """Else the test above proves nothing."""
    with kazoo(proxy.address) as client:
        client.create(f"{chroot}/a", b"")
        transaction = client.transaction()
        transaction.set_data(f"{chroot}/a", b"1")
        transaction.commit()
    assert set(proxy.writes()) == {"opcode 1", "opcode 14", "opcode 5 in multi"}


def test_kazoo_still_has_what_the_buffered_connection_overrides() -> None:
    assert missing_internals() == []
