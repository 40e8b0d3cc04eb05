"""What a reader says and does when the network, the server or kazoo lets it down: it recovers, and nobody hangs."""

from __future__ import annotations

import struct
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from kazoo.protocol.connection import ConnectionHandler

from model.hosts.zookeeper.protocol import SessionGone, Suspended, Wiped, ZooKeeperUnavailable
from model.hosts.zookeeper.reader import ZooKeeperReader
from model.hosts.zookeeper.settings import ZooKeeperSettings
from model.sandbox.embedded_zookeeper import start_zookeeper
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.zookeeper import Missing, Refused, Znode, ZnodeChanged
from tests.zookeeper.conftest import OpenReader
from tests.zookeeper.counting_proxy import CountingProxy, Rewrite
from tests.zookeeper.heard import PATIENCE_S, Heard


def frame(xid: int, zxid: int, error: int, body: bytes = b"") -> bytes:
    reply = struct.pack("!iqi", xid, zxid, error) + body
    return struct.pack("!i", len(reply)) + reply


def xid_of(reply: bytes) -> int:
    return struct.unpack_from("!i", reply)[0]


LOSES_THE_CONNECTION: dict[str, Rewrite] = {
    "unknown error code": lambda reply: frame(xid_of(reply), 1, -9999),
    "wrong xid": lambda reply: frame(xid_of(reply) + 1, 1, 0, reply[16:]),
    "negative length": lambda _: struct.pack("!i", -5),
    "absurd length": lambda _: struct.pack("!i", 0x7FFFFFFF),
    "too short for a header": lambda _: struct.pack("!i", 3) + b"abc",
    "event with a garbled path": lambda _: frame(-1, 1, 0, struct.pack("!iii", 3, 3, 2) + b"\xff\xfe"),
    "event cut short": lambda _: frame(-1, 1, 0, b"\0\0\0\3"),
    "two answers to one request": lambda reply: frame(xid_of(reply), 1, -101) * 2,
}
KEEPS_THE_CONNECTION: dict[str, Rewrite] = {
    "answer cut short": lambda reply: frame(xid_of(reply), 1, 0, reply[16:20]),
    "announces more bytes than it has": lambda reply: frame(xid_of(reply), 1, 0, b"\x7f" * 68),
    "error of the data tree": lambda reply: frame(xid_of(reply), 1, -3),
}


def test_a_cut_is_reported_and_the_same_session_resumed(proxy: CountingProxy, open_reader: OpenReader) -> None:
    reader, heard = open_reader(proxy.address)
    first = heard.epoch(1)
    proxy.cut()
    heard.state(Suspended)
    second = heard.epoch(2)
    assert (second.session_id, second.is_new_session, second.wiped) == (first.session_id, False, None)
    assert isinstance(reader.read("/"), Znode)


def test_connections_that_break_at_once_take_nothing_from_later_ones(
    proxy: CountingProxy, open_reader: OpenReader
) -> None:
    """As old servers do who do not know a request: of a server that tells its version nobody believes that."""
    broken: list[bytes] = []

    def break_off_twice(reply: bytes) -> bytes:
        if len(broken) == 2:
            return struct.pack("!i", len(reply)) + reply
        broken.append(reply)
        proxy.passes_four_letters = len(broken) == 2
        raise ConnectionAbortedError

    proxy.passes_four_letters = False
    proxy.rewrite_next_reply(break_off_twice)
    _, heard = open_reader(proxy.address)
    server = heard.epoch(1).server
    assert len(broken) == 2
    assert server.version is not None
    assert (server.has_multi_read, server.has_add_watch) == (True, True)


def test_watches_do_not_outlive_the_connection_but_the_new_epoch_tells(
    proxy: CountingProxy, writer: Any, chroot: str, open_reader: OpenReader
) -> None:
    """A change in the gap is not an event: whoever reads again on each epoch, after setting watches, misses nothing."""
    writer.create(f"{chroot}/a", b"before")
    reader, heard = open_reader(proxy.address, chroot)
    heard.epoch(1)
    reader.watch_recursive("/")
    proxy.cut()
    writer.set(f"{chroot}/a", b"in the gap")
    heard.epoch(2)
    reader.watch_recursive("/")
    again = reader.read("/a")
    writer.set(f"{chroot}/a", b"after")
    heard.paths("/a")
    assert isinstance(again, Znode)
    assert again.data == b"in the gap"


def test_a_cut_in_mid_frame_fails_the_read_and_resumes(
    proxy: CountingProxy, writer: Any, chroot: str, open_reader: OpenReader
) -> None:
    writer.create(f"{chroot}/big", b"x" * 500_000)
    reader, heard = open_reader(proxy.address, chroot)
    heard.epoch(1)
    proxy.cut_in_mid_frame(after_bytes=100_000)
    with pytest.raises(ZooKeeperUnavailable):
        reader.read("/big")
    heard.epoch(2)
    znode = reader.read("/big")
    assert isinstance(znode, Znode)
    assert len(znode.data) == 500_000


@pytest.mark.parametrize("rewrite", LOSES_THE_CONNECTION.values(), ids=LOSES_THE_CONNECTION)
def test_garbage_costs_the_connection_not_the_reader(
    rewrite: Rewrite, proxy: CountingProxy, open_reader: OpenReader
) -> None:
    reader, heard = open_reader(proxy.address)
    heard.epoch(1)
    proxy.rewrite_next_reply(rewrite)
    with suppress(ZooKeeperUnavailable):
        assert reader.read("/") == Missing("/")  # the first of two answers
    heard.state(Suspended)
    heard.epoch(2)
    assert isinstance(reader.read("/"), Znode)


@pytest.mark.parametrize("rewrite", KEEPS_THE_CONNECTION.values(), ids=KEEPS_THE_CONNECTION)
def test_a_strange_answer_costs_one_read(rewrite: Rewrite, proxy: CountingProxy, open_reader: OpenReader) -> None:
    reader, heard = open_reader(proxy.address)
    first = heard.epoch(1)
    proxy.rewrite_next_reply(rewrite)
    with suppress(ZooKeeperUnavailable):
        assert reader.read("/") == Refused("/", -3)
    assert isinstance(reader.read("/"), Znode)
    assert heard.states[-1] == first


def test_a_black_hole_is_noticed_and_survived(proxy: CountingProxy, open_reader: OpenReader) -> None:
    reader, heard = open_reader(proxy.address, session_timeout_ms=1000)
    heard.epoch(1)
    proxy.swallow()
    with pytest.raises(ZooKeeperUnavailable):
        reader.read("/")
    heard.state(Suspended)
    proxy.flow()
    heard.epoch(2)
    assert isinstance(reader.read("/"), Znode)


def test_an_expired_session_is_lost_and_replaced(own_zookeeper: EmbeddedZooKeeper, open_reader: OpenReader) -> None:
    with CountingProxy(own_zookeeper.address) as proxy:
        _, heard = open_reader(proxy.address, session_timeout_ms=1000)
        first = heard.epoch(1)
        proxy.swallow()
        heard.state(SessionGone)  # given up here, expired there
        proxy.flow()
        second = heard.epoch(2)
        assert second.session_id != first.session_id
        assert (second.is_new_session, second.wiped) == (True, None)


def test_a_slow_link_keeps_its_session(proxy: CountingProxy, writer: Any, chroot: str, open_reader: OpenReader) -> None:
    """The answer takes twice the session timeout to arrive; without pings on the way the session would end."""
    writer.create(f"{chroot}/big", b"x" * 100_000)
    reader, heard = open_reader(proxy.address, chroot, session_timeout_ms=1500, request_timeout_ms=60_000)
    first = heard.epoch(1)
    proxy.bytes_per_s = 35_000
    znode = reader.read("/big")
    assert isinstance(znode, Znode)
    assert len(znode.data) == 100_000
    assert heard.states[-1] == first


def test_a_killed_server_comes_back_to_the_same_session(
    own_zookeeper: EmbeddedZooKeeper, open_reader: OpenReader
) -> None:
    reader, heard = open_reader(own_zookeeper.address)
    first = heard.epoch(1)
    own_zookeeper.kill()
    refused = heard.state(Suspended, lambda state: "Connection refused" in state.reason)
    assert refused.reason == f"{own_zookeeper.address}: Connection refused"
    with pytest.raises(ZooKeeperUnavailable, match="Connection refused"):
        reader.read("/")
    own_zookeeper.start()
    assert heard.epoch(2).session_id == first.session_id


def test_a_wiped_server_gets_a_new_session_and_is_reported(open_reader: OpenReader) -> None:
    with start_zookeeper() as server:
        reader, heard = open_reader(server.address, session_timeout_ms=1000)
        heard.epoch(1)
        for _ in range(5):  # opening and closing sessions are transactions too
            with_zxid, other = open_reader(server.address)
            other.epoch(1)
            with_zxid.close()
        reader.read("/")
        seen = reader.last_zxid
        server.kill()
        port = server.port
    with start_zookeeper(port=port):
        heard.state(SessionGone)
        wiped = heard.epoch(2).wiped
        assert isinstance(wiped, Wiped)
        assert wiped.seen_zxid == seen > wiped.server_zxid
        assert reader.last_zxid < seen


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_dead_connection_thread_is_replaced(zookeeper_server: EmbeddedZooKeeper, writer: Any, chroot: str) -> None:
    heard = Heard()

    def end_the_thread(_events: Sequence[ZnodeChanged]) -> None:
        sys.exit()

    reader = ZooKeeperReader.open(
        ZooKeeperSettings(zookeeper_server.address, chroot), on_events=end_the_thread, on_state=heard.on_state
    )
    heard.epoch(1)
    reader.watch_recursive("/")
    writer.create(f"{chroot}/a", b"")
    heard.state(SessionGone)
    heard.epoch(2)
    assert isinstance(reader.read("/a"), Znode)
    reader.close()


def test_a_failing_listener_costs_a_reconnect_so_that_nothing_is_missed(
    zookeeper_server: EmbeddedZooKeeper, writer: Any, chroot: str
) -> None:
    heard = Heard()

    def fail(_events: Sequence[ZnodeChanged]) -> None:
        raise LookupError("a bug")

    reader = ZooKeeperReader.open(
        ZooKeeperSettings(zookeeper_server.address, chroot), on_events=fail, on_state=heard.on_state
    )
    heard.epoch(1)
    reader.watch_recursive("/")
    writer.create(f"{chroot}/a", b"")
    assert "a bug" in heard.state(Suspended).reason
    heard.epoch(2)
    reader.close()


def test_nobody_hangs_while_disconnected(own_zookeeper: EmbeddedZooKeeper, open_reader: OpenReader) -> None:
    """kazoo alone blocks every caller from the 279th request on."""
    reader, heard = open_reader(own_zookeeper.address)
    heard.epoch(1)
    own_zookeeper.kill()
    heard.state(Suspended)
    failures: list[Exception] = []

    def ask_often() -> None:
        for _ in range(1000):
            try:
                reader.read("/")
            except ZooKeeperUnavailable as error:
                failures.append(error)

    asking = threading.Thread(target=ask_often, daemon=True)
    asking.start()
    asking.join(PATIENCE_S)
    assert len(failures) == 1000


def test_nobody_hangs_when_the_connection_breaks_under_many_requests(
    proxy: CountingProxy, open_reader: OpenReader
) -> None:
    reader, heard = open_reader(proxy.address)
    heard.epoch(1)
    proxy.swallow()
    outcomes: list[object] = []

    def read_many() -> None:
        try:
            outcomes.append(reader.read_many(["/"] * 5000, watch=True))
        except ZooKeeperUnavailable as error:
            outcomes.append(error)

    asking = [threading.Thread(target=read_many, daemon=True) for _ in range(4)]
    for thread in asking:
        thread.start()
    proxy.cut()
    proxy.flow()
    for thread in asking:
        thread.join(PATIENCE_S)
    assert [type(outcome) for outcome in outcomes] == [ZooKeeperUnavailable] * 4


def test_every_request_of_many_threads_is_sent(zookeeper_server: EmbeddedZooKeeper, open_reader: OpenReader) -> None:
    """A lost wake-up would leave the last ones waiting."""
    reader, heard = open_reader(zookeeper_server.address)
    heard.epoch(1)
    answers: list[object] = []
    asking = [
        threading.Thread(target=lambda: answers.extend(reader.read("/") for _ in range(500)), daemon=True)
        for _ in range(8)
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(PATIENCE_S)
    assert answers == [reader.read("/")] * 4000


def test_an_answer_that_never_comes_is_a_timeout(proxy: CountingProxy, open_reader: OpenReader) -> None:
    reader, heard = open_reader(proxy.address, session_timeout_ms=60_000, request_timeout_ms=100)
    heard.epoch(1)
    proxy.swallow()
    with pytest.raises(ZooKeeperUnavailable, match=r"no answer within 0.1 s"):
        reader.read("/")
    proxy.flow()


def test_close_does_not_wait_for_a_frozen_server(own_zookeeper: EmbeddedZooKeeper, open_reader: OpenReader) -> None:
    reader, heard = open_reader(own_zookeeper.address, session_timeout_ms=40_000)
    heard.epoch(1)
    own_zookeeper.pause()
    closing = threading.Thread(target=reader.close, args=(0.2,), daemon=True)
    closing.start()
    closing.join(10)  # the server's farewell would take 27 s
    own_zookeeper.resume()
    assert not closing.is_alive()


def test_another_kazoo_reads_the_plain_way(
    zookeeper_server: EmbeddedZooKeeper, chroot: str, open_reader: OpenReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kazoo whose inside has changed is used as it is: MultiRead yes, events no."""
    send: Any = ConnectionHandler._send_request

    def send_with_other_parameters(self: ConnectionHandler, *timeouts_s: float) -> None:
        send(self, *timeouts_s)

    monkeypatch.setattr(ConnectionHandler, "_send_request", send_with_other_parameters)
    reader, heard = open_reader(zookeeper_server.address, chroot)
    server = heard.epoch(1).server
    assert (server.has_multi_read, server.has_add_watch, server.has_watches) == (True, False, False)
    assert reader.read_many(["/"] * 1000) == [reader.read("/")] * 1000
