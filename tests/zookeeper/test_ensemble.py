"""An ensemble of three whose servers are killed: the session outlives its leader, the image outlives the quorum."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest

from model.hosts.zookeeper.protocol import Connected, ReadsZnodes
from model.sandbox.embedded_zookeeper import Ensemble, ZnodeSession
from model.sandbox.zookeeper_server import server_status
from model.sources.addresses import parse_zookeeper_address
from model.sources.feed import Moment
from model.sources.zookeeper.watching import RecursiveWatching, Watching
from model.sources.zookeeper.zookeeper_source import FollowerTiming, ZooKeeperSource
from model.zookeeper import Unread, Znode
from tests.harness.waiting import eventually
from tests.harness.zookeeper import three_servers
from tests.zookeeper.followed import followed
from tests.zookeeper.kafka_life import KafkaLife

QUICK = FollowerTiming(verify_s=0.1, resync_pause_s=0.1)


class Three:
    """An ensemble of three, by the numbers of its servers."""

    def __init__(self, ensemble: Ensemble) -> None:
        self._ensemble = ensemble
        self.address = ensemble.addresses

    @property
    def leader(self) -> int | None:
        """Its number, where there is one."""
        for member in self._ensemble.members:
            if member.server is not None and member.server.is_running:
                status = server_status(("127.0.0.1", member.server.port))
                if status is not None and status.mode == "leader":
                    return member.number
        return None

    def led_by(self) -> int:
        """Waits for a leader; its number."""
        eventually(lambda: self.leader)
        leader = self.leader
        assert leader is not None
        return leader

    def kill(self, *numbers: int) -> None:
        for number in numbers:
            _done(self._ensemble.kill(number))

    def bring_back(self) -> None:
        """All that were killed."""
        dead = [each.number for each in self._ensemble.members if each.status == "killed"]

        async def together() -> None:
            await asyncio.gather(*map(self._ensemble.start_again, dead))

        _done(together())


@pytest.fixture(scope="module")
def ensemble() -> Iterator[Ensemble]:
    with asyncio.Runner() as runner:
        servers = three_servers()
        yield runner.run(servers.__aenter__())
        runner.run(servers.__aexit__(None, None, None))


@pytest.fixture
def three(ensemble: Ensemble) -> Iterator[Three]:
    """All of them run, before and after."""
    three = Three(ensemble)
    yield three
    three.bring_back()
    eventually(lambda: three.leader)


@pytest.fixture
def cluster(three: Three) -> Iterator[KafkaLife]:
    """A cluster's tree below a root of its own; whoever writes there has a session with any of the three."""
    root = f"/test-{uuid.uuid4().hex[:12]}"
    session = ZnodeSession(three.address)
    session.make_path(root)
    session.close()
    with closing(KafkaLife(three.address + root, 1)) as life:
        life.found(topics=10)
        yield life


def has_topic(name: str) -> Callable[[Moment], bool]:
    return lambda moment: moment.status.phase == "live" and name in moment.image.topics


def source_of(three: Three, cluster: KafkaLife, way: Callable[[ReadsZnodes], Watching]) -> ZooKeeperSource:
    address = parse_zookeeper_address(f"zk://{three.address}{cluster.client.chroot}")
    return ZooKeeperSource(address, QUICK, choose_watching=lambda reader, _: way(reader))


def test_the_session_outlives_the_leader(three: Three, cluster: KafkaLife) -> None:
    zookeeper = source_of(three, cluster, RecursiveWatching)
    with followed(zookeeper) as source:
        live = source.phase("live")
        assert zookeeper.reader is not None
        before = zookeeper.reader.state
        three.kill(three.led_by())
        assert source.phase("stale").image is live.image
        source.phase("live", after=len(source.moments))
        after = zookeeper.reader.state
        assert isinstance(before, Connected)
        assert isinstance(after, Connected)
        assert (after.session_id, after.wiped) == (before.session_id, None)
        eventually(lambda: cluster.client.connected)
        cluster.create_topic("under-the-new-leader", 2)
        source.until_now(has_topic("under-the-new-leader"))
        source.until_same_as(three.address + cluster.client.chroot)


def test_a_leader_lost_in_the_middle_of_a_load(three: Three, cluster: KafkaLife) -> None:
    class Beheading(RecursiveWatching):
        """Between the walk and the reading of what it found, the first time, the leader dies."""

        beheaded = False

        def read(self, paths: Sequence[str]) -> Sequence[Znode | Unread]:
            if not Beheading.beheaded:
                Beheading.beheaded = True
                three.kill(three.led_by())
            return super().read(paths)

    with followed(source_of(three, cluster, Beheading)) as source:
        first = source.phase("live")
        assert first.image.provenance.complete
        assert Beheading.beheaded
        source.until_same_as(three.address + cluster.client.chroot)
        assert "stale" not in source.phases[: source.phases.index("live")]


def test_without_a_quorum_the_image_stands_and_says_how_old_it_is(three: Three, cluster: KafkaLife) -> None:
    with followed(source_of(three, cluster, RecursiveWatching)) as source:
        live = source.phase("live")
        leader = three.led_by()
        three.kill(leader, leader % 3 + 1)
        stale = source.phase("stale")
        assert stale.image is live.image
        assert stale.status.reason
        later = source.until(lambda moment: moment.seq > stale.seq + 5)  # it goes on trying, and saying so
        assert (later.status.phase, later.image) == ("stale", live.image)
        assert later.status.verified_ms == stale.status.verified_ms
        three.bring_back()
        eventually(lambda: cluster.client.connected)
        source.phase("live", after=len(source.moments))
        source.until_same_as(three.address + cluster.client.chroot)


def _done(doing: Coroutine[Any, Any, None]) -> None:
    asyncio.run(doing)
