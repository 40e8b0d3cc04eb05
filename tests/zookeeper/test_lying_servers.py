"""Commands that look once come to an end whatever a ZooKeeper tells them: a picture, or one line that says why not."""

from __future__ import annotations

import asyncio
import resource
import threading
import time

import pytest

from model.sources.feed import Moment
from model.sources.source import SourceError
from model.sources.zookeeper.address import parse_address
from model.sources.zookeeper.follower import Timing
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource
from tests.conftest import Eventually
from tests.zookeeper.lies import WAYS, Way, served
from tests.zookeeper.lying_zookeeper import LyingZooKeeper
from tui.command_line.following import follow_source
from tui.data.opening import Opening, Patience

QUICK = Timing(connect_s=2.0, refused_s=0.5, verify_s=0.1, resync_pause_s=0.1, hopeless_s=0.1)
MOST_MIB = 150
"""On top of what was in use, of what hostile servers send: up to 320 MB."""


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def picture_of(address: str, timeout_s: float) -> Moment:
    """As a command that looks once gets it, or raises SourceError."""
    seen: list[Moment] = []

    def see(moment: Moment) -> bool:
        seen.append(moment)
        return False

    source = ZooKeeperSource(parse_address(f"zk://{address}"), QUICK)
    opening = Opening(source=source.name, patience=Patience(timeout_s, time.monotonic()))
    asyncio.run(follow_source(source, opening, see))
    return seen[0]


@pytest.mark.parametrize("name", WAYS)
def test_a_command_comes_to_an_end(name: str, eventually: Eventually) -> None:
    way, before_mib = WAYS[name], peak_mib()
    with served(way) as server:
        if way.says:
            check_line(way, server)
        else:
            check_picture(way, server)
    eventually(lambda: not [each for each in threading.enumerate() if each.name.startswith("zookeeper")])
    assert peak_mib() - before_mib < MOST_MIB


def check_line(way: Way, server: LyingZooKeeper) -> None:
    with pytest.raises(SourceError) as said:
        picture_of(server.address, way.timeout_s)
    line = str(said.value)
    assert line.startswith(f"zk://{server.address}: ")
    assert line.isprintable()
    for word in way.says:
        assert word in line


def check_picture(way: Way, server: LyingZooKeeper) -> None:
    moment = picture_of(server.address, way.timeout_s)
    image = moment.image
    assert (moment.status.phase, image.provenance.complete) == ("live", True)
    assert image.cluster_id == "lies"
    assert set(image.brokers) == {1}
    assert "orders" in image.topics
    assert image.unreadable.keys() == way.unreadable.keys()
    for path, word in way.unreadable.items():
        assert word in image.unreadable[path]
