"""ZooKeeper before 3.6: no MultiRead, no recursive watches. Reads are pipelined, watches fire once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from model.hosts.zookeeper.protocol import ZooKeeperUnsupported
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.zookeeper import EventKind, Missing, Znode
from tests.harness.zookeeper import jars_of, kazoo
from tests.zookeeper.conftest import OpenReader
from tests.zookeeper.counting_proxy import CountingProxy

pytestmark = pytest.mark.conformance


@pytest.fixture(scope="module", params=["3.4.14", "3.5.10"])
def old_server(request: pytest.FixtureRequest) -> Iterator[EmbeddedZooKeeper]:
    with EmbeddedZooKeeper(jars=jars_of(request.param)) as server:
        with kazoo(server.address) as client:
            for number in range(1000):
                client.create_async(f"/n{number}", b"%d" % number)
            client.sync("/")
        yield server


def test_many_are_pipelined_in_order(old_server: EmbeddedZooKeeper, open_reader: OpenReader) -> None:
    reader, heard = open_reader(old_server.address)
    server = heard.epoch(1).server
    assert (server.has_multi_read, server.has_add_watch, server.has_watches) == (False, False, True)
    paths = [f"/n{number}" for number in range(1001)]
    *znodes, last = reader.read_many(paths)
    assert [znode.data for znode in znodes if isinstance(znode, Znode)] == [b"%d" % number for number in range(1000)]
    assert last == Missing("/n1000")


def test_watches_fire_once_and_are_rearmed(old_server: EmbeddedZooKeeper, open_reader: OpenReader) -> None:
    reader, heard = open_reader(old_server.address)
    heard.epoch(1)
    with pytest.raises(ZooKeeperUnsupported):
        reader.watch_recursive("/")
    paths = [f"/n{number}" for number in range(1000)]
    with kazoo(old_server.address) as client:
        reader.read_many(paths, watch=True)
        zxid = reader.last_zxid
        client.set("/n7", b"")
        heard.paths("/n7")
        reader.rearm(zxid, data=paths, existence=["/absent"])
        client.set("/n8", b"")
        heard.paths("/n8")
    # The other watches were set twice; a server keeps one a path, so each change is reported once.
    assert [(event.kind, event.path) for event in heard.events] == [
        (EventKind.DATA_CHANGED, "/n7"),
        (EventKind.DATA_CHANGED, "/n7"),
        (EventKind.DATA_CHANGED, "/n8"),
    ]


def test_an_old_server_that_tells_no_version_is_found_out(
    old_server: EmbeddedZooKeeper, open_reader: OpenReader
) -> None:
    with CountingProxy(old_server.address) as proxy:
        proxy.passes_four_letters = False
        reader, heard = open_reader(proxy.address)
        server = heard.epoch(1).server
        assert (server.version, server.has_multi_read) == (None, False)
        assert len(reader.read_many(["/n1", "/n2"])) == 2
        assert not proxy.writes()
