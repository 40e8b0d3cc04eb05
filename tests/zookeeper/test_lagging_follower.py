"""A server that has fallen behind its leader: it is not believed that its old data is what is."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, closing
from pathlib import Path

import pytest

from model.sandbox.link_proxy import Proxy, Valve
from model.sandbox.processes import free_port
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from model.sources.zookeeper.zookeeper_source import FollowerTiming
from tests.harness.waiting import eventually
from tests.zookeeper.counting_proxy import CountingProxy
from tests.zookeeper.followed import followed
from tests.zookeeper.heard import PATIENCE_S
from tests.zookeeper.kafka_life import KafkaLife

SYNC = 9
QUICK = FollowerTiming(verify_s=0.1, resync_pause_s=0.1)
LIMITS = {"initLimit": "40", "syncLimit": "240"}
"""In ticks of half a second: a follower may lag for two minutes before it gives up."""


class Lagging:
    """The third of three servers, whose link to whichever of the others leads can be stopped."""

    def __init__(self, servers: list[EmbeddedZooKeeper], valve: Valve) -> None:
        self.others = ",".join(server.address for server in servers[:2])
        self.address = servers[2].address
        self._valve, self._loop = valve, asyncio.get_running_loop()

    def stop(self) -> None:
        """Nothing passes until `go_on`; from any thread but the loop's."""
        self._in_loop(self._valve.cut)

    def go_on(self) -> None:
        """All that waited arrives."""
        self._in_loop(self._valve.heal)

    def _in_loop(self, do: Callable[[], None]) -> None:
        async def doing() -> None:
            do()

        asyncio.run_coroutine_threadsafe(doing(), self._loop).result()


@pytest.fixture
async def lagging(tmp_path: Path) -> AsyncIterator[Lagging]:
    valve = Valve()
    ports = [(free_port(0), free_port(0)) for _ in range(3)]
    async with AsyncExitStack() as stack:
        ways: list[int] = []
        for quorum, _ in ports[:2]:
            proxy = Proxy(lambda _: valve)
            await proxy.start()
            stack.push_async_callback(proxy.close)
            proxy.lead_to("127.0.0.1", quorum)
            ways.append(proxy.port)
        servers = [_server(tmp_path / str(number), number, ports, ways) for number in (1, 2, 3)]
        for server in servers:
            stack.callback(server.close)
        await asyncio.gather(*(asyncio.to_thread(server.start) for server in servers[:2]))  # one of them leads
        await asyncio.to_thread(servers[2].start)
        yield Lagging(servers, valve)


def _server(folder: Path, number: int, ports: list[tuple[int, int]], ways: list[int]) -> EmbeddedZooKeeper:
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "myid").write_text(f"{number}\n")
    quorum = [own for own, _ in ports] if number < 3 else [*ways, ports[2][0]]
    places = {f"server.{at}": f"127.0.0.1:{quorum[at - 1]}:{ports[at - 1][1]}" for at in (1, 2, 3)}
    port = free_port(0)
    return EmbeddedZooKeeper(folder, port=port, options=ServerOptions(extra={**LIMITS, **places}))


async def test_what_it_says_is_no_proof(lagging: Lagging) -> None:
    """It goes on answering reads, from the past; the leader's word is what LIVE stands on."""
    await asyncio.to_thread(_follow_through_a_lag, lagging)


def _follow_through_a_lag(lagging: Lagging) -> None:
    with closing(KafkaLife(lagging.others, 1)) as life, closing(KafkaLife(lagging.address, 2, "b")) as beside:
        life.found(topics=2)
        beside.client.sync("/")
        with followed(lagging.address, timing=QUICK) as source:
            source.phase("live")
            lagging.stop()
            stopped_ms = time.time_ns() // 1_000_000
            life.create_topic("made-meanwhile", 2)
            for _ in range(5):
                assert "made-meanwhile" not in beside.client.get_children("/brokers/topics")
                time.sleep(QUICK.verify_s)  # a proof is due meanwhile, and would be had if a read would do
            assert "made-meanwhile" not in source.now.image.topics
            assert source.now.status.verified_ms <= stopped_ms
            lagging.go_on()
            source.until_now(lambda moment: "made-meanwhile" in moment.image.topics)
            source.until_now(lambda moment: moment.status.phase == "live" and moment.status.verified_ms > stopped_ms)


class HeldBack(CountingProxy):
    """A server that answers reads, but from the next `sync` on nothing more until it may `go_on`: its leader is far."""

    def __init__(self, upstream: str) -> None:
        super().__init__(upstream)
        self.asked_to_sync = threading.Event()
        self._may_answer = threading.Event()
        self._xids: set[int] = set()

    def hold(self) -> None:
        """Of what was asked before, nothing is held."""
        self._xids.clear()
        self.asked_to_sync.clear()
        self._may_answer.clear()

    def go_on(self) -> None:
        """All that waited arrives."""
        self._may_answer.set()

    def _request(self, sink: socket.socket, frame: bytes, number: int) -> None:
        xid, operation = struct.unpack_from("!ii", frame)
        if number > 0 and operation == SYNC and not self._may_answer.is_set():
            self._xids.add(xid)
            self.asked_to_sync.set()
        super()._request(sink, frame, number)

    def _answer(self, sink: socket.socket, frame: bytes, number: int) -> None:
        if number > 0 and struct.unpack_from("!i", frame)[0] in self._xids:
            self._may_answer.wait(PATIENCE_S)
        super()._answer(sink, frame, number)


def test_what_is_loaded_is_not_live_before_a_sync_is_answered(zookeeper: str) -> None:
    server, _, chroot = zookeeper.partition("/")
    with closing(KafkaLife(zookeeper, 1)) as life, HeldBack(server) as held:
        life.found(topics=2)
        with followed(f"{held.address}/{chroot}", timing=QUICK) as source:
            eventually(lambda: held.asked_to_sync.is_set() or source.now.status.phase == "live")
            time.sleep(3 * QUICK.verify_s)
            assert "live" not in source.phases
            held.go_on()
            source.phase("live")


def test_a_quiet_connection_is_not_verified_before_a_sync_is_answered(zookeeper: str) -> None:
    server, _, chroot = zookeeper.partition("/")
    with closing(KafkaLife(zookeeper, 1)) as life, HeldBack(server) as held:
        life.found(topics=2)
        held.go_on()
        with followed(f"{held.address}/{chroot}", timing=QUICK) as source:
            source.phase("live")
            held.hold()
            held_ms = time.time_ns() // 1_000_000
            eventually(lambda: held.asked_to_sync.is_set() or source.now.status.verified_ms > held_ms)
            time.sleep(3 * QUICK.verify_s)
            assert source.now.status.verified_ms <= held_ms
            held.go_on()
            source.until_now(lambda moment: moment.status.verified_ms > held_ms)
