"""What a source says and does when the server or the link lets it down: the image stays, then all is read again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest
from kazoo.protocol.connection import ConnectionHandler

from model.hosts.zookeeper.protocol import Connected, SessionGone
from model.sandbox.embedded_zookeeper import start_zookeeper
from model.sandbox.processes import free_port
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from model.sources.addresses import parse_zookeeper_address
from model.sources.feed import Moment
from model.sources.zookeeper.attempts import FLAPPING
from model.sources.zookeeper.zookeeper_source import FollowerTiming, ZooKeeperSource
from tests.harness.waiting import eventually
from tests.zookeeper.counting_proxy import CountingProxy
from tests.zookeeper.followed import followed
from tests.zookeeper.kafka_life import KafkaLife

QUICK = FollowerTiming(verify_s=0.1, resync_pause_s=0.1)
NEVER_ASKED = FollowerTiming(verify_s=600.0, resync_pause_s=0.1)
SHORT_SESSIONS = ServerOptions(max_session_timeout_ms=1500)


@pytest.fixture
def server() -> Iterator[EmbeddedZooKeeper]:
    """A server of the test's own, whose sessions last 1.5 s, with a cluster's tree."""
    with start_zookeeper(options=SHORT_SESSIONS) as server:
        with closing(KafkaLife(server.address, 1)) as life:
            life.found()
        yield server


def source_of(address: str, timing: FollowerTiming = QUICK) -> ZooKeeperSource:
    return ZooKeeperSource(parse_zookeeper_address(f"zk://{address}"), timing)


def has_topic(name: str) -> Callable[[Moment], bool]:
    return lambda moment: moment.status.phase == "live" and name in moment.image.topics


def test_a_killed_server_leaves_its_image_marked_stale_until_it_is_back(server: EmbeddedZooKeeper) -> None:
    # Nothing is asked on a quiet connection here: the break itself is the news.
    with followed(server.address, timing=NEVER_ASKED) as source:
        live = source.phase("live")
        server.kill()
        stale = source.until(lambda moment: "Connection refused" in moment.status.reason)
        assert stale.image is live.image
        assert stale.status.phase == "stale"
        assert live.status.verified_ms == stale.status.verified_ms <= stale.status.since_ms
        assert stale.status.since_ms == source.phase("stale").status.since_ms
        server.start()
        with closing(KafkaLife(server.address, 2)) as life:
            life.create_topic("made-meanwhile", 2)
            source.until_now(has_topic("made-meanwhile"))
            source.until_same_as(server.address)
        assert (source.now.status.reason, source.loads) == ("", 2)
        assert source.phases == ["connecting", "loading", "live", "stale", "live"]


def test_what_changes_behind_a_black_hole_appears_with_a_new_session(server: EmbeddedZooKeeper) -> None:
    with CountingProxy(server.address) as proxy, closing(KafkaLife(server.address, 2)) as life:
        zookeeper = source_of(proxy.address)
        with followed(zookeeper) as source:
            source.phase("live")
            assert zookeeper.reader is not None
            first = zookeeper.reader.state
            proxy.swallow()
            life.create_topic("made-meanwhile", 2)
            source.phase("stale")
            eventually(lambda: zookeeper.reader and isinstance(zookeeper.reader.state, SessionGone))
            proxy.flow()
            source.until_now(has_topic("made-meanwhile"))
            second = zookeeper.reader.state
            assert isinstance(first, Connected)
            assert isinstance(second, Connected)
            assert first.session_id != second.session_id
            source.until_same_as(server.address)
        assert proxy.writes() == {}


def test_a_server_frozen_for_longer_than_a_session_lasts(server: EmbeddedZooKeeper) -> None:
    with followed(server.address, timing=QUICK) as source:
        source.phase("live")
        server.pause()
        source.phase("stale")
        server.resume()
        with closing(KafkaLife(server.address, 2)) as life:
            life.create_topic("after-the-pause", 1)
            source.until_now(has_topic("after-the-pause"))
            source.until_same_as(server.address)


def test_another_cluster_behind_the_same_name_leaves_nothing_of_the_old_one() -> None:
    with start_zookeeper(options=SHORT_SESSIONS) as old, closing(KafkaLife(old.address, 1)) as life:
        life.found()
        with followed(old.address, timing=QUICK) as source:
            before = source.phase("live")
            port = old.port
            old.close()
            with (
                start_zookeeper(port=port, options=SHORT_SESSIONS) as new,
                closing(KafkaLife(new.address, 2)) as other,
            ):
                other.create_topic("new", 1)
                after = source.until_now(has_topic("new"))
                assert set(after.image.topics) == {"new"}
                source.until_same_as(new.address)
                assert source.now.image.cluster_id is None
                assert after.image.provenance.zxid < before.image.provenance.zxid
                assert [change.kind for change in after.feed][-1] != "topic-removed"  # the old one was not taken apart


def test_a_flapping_link_costs_one_load_in_each_pause(proxy: CountingProxy, zookeeper: str) -> None:
    chroot = zookeeper[zookeeper.index("/") :]
    with closing(KafkaLife(zookeeper, 1)) as life:
        life.found(topics=3)
        with followed(proxy.address + chroot, timing=FollowerTiming(resync_pause_s=600.0)) as source:
            source.phase("live")
            for _ in range(5):
                told = len(source.moments)
                proxy.cut()
                source.until(lambda moment: moment.status.reason == FLAPPING, after=told)
            assert source.now.status.phase == "stale"
            assert proxy.asked["addWatch"] == source.loads == 1


def test_a_connection_cut_in_the_middle_of_a_load(proxy: CountingProxy, zookeeper: str) -> None:
    chroot = zookeeper[zookeeper.index("/") :]
    with closing(KafkaLife(zookeeper, 1)) as life:
        life.found(topics=30)
        proxy.cut_in_mid_frame(after_bytes=3_000)
        with followed(proxy.address + chroot, timing=QUICK) as source:
            source.until(lambda moment: moment.status.phase == "connecting" and moment.status.reason)
            source.phase("live")
            source.until_same_as(zookeeper)
            proxy.cut_in_mid_frame(after_bytes=3_000)
            proxy.cut()
            source.phase("live", after=len(source.moments))
            source.until_same_as(zookeeper)
        assert source.loads == 2


def test_a_quiet_live_source_is_verified_again_and_again(zookeeper: str) -> None:
    with closing(KafkaLife(zookeeper, 1)) as life:
        life.found(topics=1)
        with followed(zookeeper, timing=QUICK) as source:
            first = source.phase("live")
            later = source.until(lambda moment: moment.status.verified_ms > first.status.verified_ms + 300)
            assert later.image is first.image
            assert later.status.since_ms == first.status.since_ms


def test_a_broker_whose_session_ends_is_gone(zookeeper: str) -> None:
    life = KafkaLife(zookeeper, 1)
    life.found(topics=1)
    with followed(zookeeper, timing=NEVER_ASKED) as source:
        assert source.phase("live").image.controller.broker is not None
        life.close()
        source.until(lambda moment: not moment.image.brokers and moment.image.controller.broker is None)


def test_a_kazoo_whose_inside_is_unknown_is_polled(zookeeper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    send: Any = ConnectionHandler._send_request

    def send_with_other_parameters(self: ConnectionHandler, *timeouts_s: float) -> None:
        send(self, *timeouts_s)

    monkeypatch.setattr(ConnectionHandler, "_send_request", send_with_other_parameters)
    with closing(KafkaLife(zookeeper, 1)) as life:
        life.found(topics=1)
        with followed(zookeeper, timing=QUICK) as source:
            source.phase("live")
            life.create_topic("made-later", 1)
            source.until_now(has_topic("made-later"))
            assert source.phases == ["connecting", "loading", "live"]


def test_a_sink_that_fails_ends_the_source_and_not_silently(zookeeper: str) -> None:
    class Failing:
        def __init__(self) -> None:
            self.reasons: list[str] = []
            self.ended = threading.Event()

        def take(self, batch: object) -> None:
            raise LookupError("a bug")

        def report(self, status: Any) -> None:
            self.reasons.append(status.reason)
            if status.phase == "closed":
                self.ended.set()

    with closing(KafkaLife(zookeeper, 1)) as life:
        life.found(topics=1)
        sink = Failing()
        with closing(source_of(zookeeper)) as source:
            source.open(sink)
            assert sink.ended.wait(30)
        said = sink.reasons[-1]
        assert said.startswith(f"zk://{zookeeper}: a defect in kdrill: LookupError in model/sources/")


@contextmanager
def connecting(server: EmbeddedZooKeeper) -> Iterator[ZooKeeperSource]:
    yield source_of(f"127.0.0.1:{free_port(0)}")


@contextmanager
def swallowed(server: EmbeddedZooKeeper) -> Iterator[ZooKeeperSource]:
    with CountingProxy(server.address) as proxy:
        proxy.swallow()
        yield source_of(proxy.address)


@contextmanager
def reached(server: EmbeddedZooKeeper) -> Iterator[ZooKeeperSource]:
    yield source_of(server.address)


STATES: dict[str, tuple[Callable[[EmbeddedZooKeeper], Any], str, Callable[[EmbeddedZooKeeper], None]]] = {
    "connecting": (connecting, "connecting", lambda _: None),
    "black hole": (swallowed, "connecting", lambda _: None),
    "loading": (reached, "loading", lambda _: None),
    "live": (reached, "live", lambda _: None),
    "frozen": (reached, "live", EmbeddedZooKeeper.pause),
    "dead": (reached, "live", EmbeddedZooKeeper.kill),
}


@pytest.mark.parametrize(("sources", "phase", "spoil"), STATES.values(), ids=STATES)
def test_a_source_ends_at_once_in_every_state(
    sources: Callable[[EmbeddedZooKeeper], Any],
    phase: Any,
    spoil: Callable[[EmbeddedZooKeeper], None],
) -> None:
    # Whoever waited for a frozen server's farewell would wait for eight seconds.
    with start_zookeeper() as server, ExitStack() as ends:
        with closing(KafkaLife(server.address, 1)) as life:
            life.found(topics=1)
        source = ends.enter_context(sources(server))
        with followed(source) as following:
            following.phase(phase)
            spoil(server)
            closing_thread = threading.Thread(target=source.close, daemon=True)
            closing_thread.start()
            closing_thread.join(5)  # two seconds are promised; the machine may be busy
            assert not closing_thread.is_alive()
            eventually(lambda: following.now.status.phase == "closed")
            assert following.now.status.reason == ""
        server.close()
