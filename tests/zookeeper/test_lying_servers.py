"""Commands that look once come to an end whatever a ZooKeeper tells them: a picture, or one line that says why not."""

from __future__ import annotations

import asyncio
import resource
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from model.hosts.zookeeper.connection import MAX_KEPT_BYTES
from model.hosts.zookeeper.requests import MAX_PAYLOAD_BYTES
from model.sources.addresses import parse_zookeeper_address
from model.sources.feed import Moment
from model.sources.source import SourceError
from model.sources.zookeeper.attempts import BEHIND
from model.sources.zookeeper.zookeeper_source import FollowerTiming, ZooKeeperSource
from model.zookeeper import TooLarge, Znode
from tests.harness.command import failure, kdrill_alone
from tests.harness.waiting import eventually
from tests.zookeeper.conftest import OpenReader
from tests.zookeeper.followed import followed
from tests.zookeeper.lies import LARGE, STATES, TOPICS, WAYS, HostileNames, Way, large_payloads, served
from tests.zookeeper.lying_zookeeper import EXISTS, TREE, Asked, LyingZooKeeper, Reply, Tree, truth
from tui.cli.following import follow_source
from tui.engine.messages import Opening, Patience

QUICK = FollowerTiming(connect_s=4.0, refused_s=0.5, verify_s=0.1, resync_pause_s=0.1, hopeless_s=0.1)
STATE_PATH = f"{STATES}/0/state"
AT_A_TIME = 10
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

    source = ZooKeeperSource(parse_zookeeper_address(f"zk://{address}"), QUICK)
    opening = Opening(source=source.name, patience=Patience(timeout_s, time.monotonic()))
    asyncio.run(follow_source(source, opening, see))
    return seen[0]


class Told(NamedTuple):
    """What a command that looks once was told by the server at `address`."""

    address: str
    moment: Moment | None
    line: str
    """Where there is no moment."""
    connections: int


def told_by(way: Way) -> Told:
    with served(way) as server:
        try:
            moment, line = picture_of(server.address, way.timeout_s), ""
        except SourceError as error:
            moment, line = None, str(error)
        return Told(server.address, moment, line, server.connections)


@pytest.fixture(scope="module")
def told_in_vain() -> Mapping[str, Told]:
    """By all ways of which no picture comes, several at a time: it is mostly waiting."""
    before_mib = peak_mib()
    in_vain = {name: way for name, way in WAYS.items() if way.says}
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        told = dict(zip(in_vain, pool.map(told_by, in_vain.values()), strict=True))
    assert peak_mib() - before_mib < MOST_MIB
    return told


@pytest.mark.parametrize("name", [name for name, way in WAYS.items() if way.says])
def test_a_command_ends_without_a_picture_and_says_why(name: str, told_in_vain: Mapping[str, Told]) -> None:
    told = told_in_vain[name]
    assert told.line.startswith(f"zk://{told.address}: ")
    assert told.line.isprintable()
    for word in WAYS[name].says:
        assert word in told.line
    eventually(nothing_is_left)


@pytest.mark.parametrize("name", [name for name, way in WAYS.items() if not way.says])
def test_a_command_comes_to_a_picture(name: str) -> None:
    way, before_mib = WAYS[name], peak_mib()
    moment = told_by(way).moment
    assert moment is not None
    check_picture(way, moment)
    eventually(nothing_is_left)
    assert peak_mib() - before_mib < MOST_MIB


def test_a_long_answer_may_take_its_time_as_long_as_it_comes(open_reader: OpenReader) -> None:
    limit_s = 2.0

    def slowly(asked: Asked, reply: Reply) -> Iterator[bytes]:
        begun_s = time.monotonic()
        for piece in large_payloads(asked, reply):
            yield piece
            if asked.paths == (STATE_PATH,) and time.monotonic() - begun_s < limit_s + 0.5:
                time.sleep(0.05)

    with LyingZooKeeper(slowly) as server:
        reader, heard = open_reader(server.address, request_timeout_ms=round(limit_s * 1000))
        heard.epoch(1)
        assert reader.read(STATE_PATH) == TooLarge(STATE_PATH, LARGE)


def test_an_old_server_is_asked_together_whether_missing_znodes_came() -> None:
    """One after the other, 200,000 names that are not there took longer than a command waits."""
    names, held = 10, list[bytes]()

    def holds_back(asked: Asked, reply: Reply) -> Iterator[bytes]:
        if asked.opcode != EXISTS or not asked.paths[0].startswith(f"{TOPICS}/"):
            yield reply.frame()
            return
        held.append(reply.frame())
        if len(held) == names:
            yield b"".join(held)
            held.clear()

    with LyingZooKeeper(holds_back, HostileNames(names), is_old=True) as server:
        assert "orders" in picture_of(server.address, 5.0).image.topics


@pytest.mark.parametrize("words", ["status", "drill --kill 1"])
def test_how_long_is_said_on_the_command_line(words: str) -> None:
    with served(WAYS["closes after each answer"]) as server:
        source = f"zk://{server.address}"
        done = kdrill_alone(*words.split(), source, "--timeout", "3")
    assert done.returncode == 1
    assert failure(done).startswith(f"{source}: nothing new for 3 s: ")


def test_a_server_that_closes_each_connection_is_not_hammered(told_in_vain: Mapping[str, Told]) -> None:
    name = "closes after each answer"
    assert told_in_vain[name].connections < 20 * WAYS[name].timeout_s, "it is left alone for longer and longer"


def test_another_server_of_the_ensemble_does_better() -> None:
    with served(WAYS["2,000,000,000 names"]) as liar, served(WAYS["the truth"]) as honest:
        for _ in range(3):  # which one is tried first is chance
            moment = picture_of(f"{liar.address},{honest.address}", 60.0)
            assert moment.image.cluster_id == "lies"


def test_two_servers_that_lie_alike_are_tried_in_turn() -> None:
    way = WAYS["2,000,000,000 names"]
    with served(way) as one, served(way) as other:
        with pytest.raises(SourceError, match=r"2000000000 names announced.*\(\d times the same\)"):
            picture_of(f"{one.address},{other.address}", 60.0)
        assert one.connections
        assert other.connections


def test_what_was_read_stays_while_answers_are_garbled_and_is_read_again_after_that() -> None:
    with LyingZooKeeper() as server, followed(server.address, timing=QUICK) as source:
        live = source.phase("live")
        server.lie = WAYS["-2,000,000,000 names"].lie
        server.hang_up()
        stale = source.until(lambda moment: moment.status.is_hopeless)
        assert (stale.status.phase, stale.image) == ("stale", live.image)
        assert "-2000000000 names announced" in stale.status.reason
        assert "times the same" in stale.status.reason
        server.lie = truth
        again = source.until_now(lambda moment: moment.status.phase == "live")
        assert (again.status.is_hopeless, again.status.reason) == (False, "")


def test_a_server_that_knows_less_than_before_is_said_and_read_anew() -> None:
    with LyingZooKeeper() as server, followed(server.address, timing=QUICK) as source:
        source.phase("live")
        server.zxid -= 50
        told = len(source.moments)
        server.hang_up()
        stale = source.until(lambda moment: moment.status.is_hopeless, after=told)
        assert (stale.status.phase, stale.status.reason) == ("stale", BEHIND)
        source.until_now(lambda moment: moment.status.phase == "live" and not moment.status.is_hopeless)


@pytest.mark.parametrize("is_old", [False, True], ids=["one answer", "an answer each"])
def test_of_payloads_that_add_up_only_so_much_is_kept(open_reader: OpenReader, is_old: bool) -> None:
    long = {f"/config/topics/{number}": bytes(MAX_PAYLOAD_BYTES) for number in range(20)}
    with LyingZooKeeper(tree=Tree({**TREE, **long}), is_old=is_old) as server:
        reader, heard = open_reader(server.address)
        heard.epoch(1)
        *answers, short = reader.read_many([*long, "/controller"])
    kept = [answer for answer in answers if isinstance(answer, Znode)]
    assert MAX_KEPT_BYTES // 2 < sum(len(znode.data) for znode in kept) <= MAX_KEPT_BYTES + MAX_PAYLOAD_BYTES
    assert answers[len(kept) :] == [TooLarge(path, MAX_PAYLOAD_BYTES) for path in list(long)[len(kept) :]]
    assert isinstance(short, Znode)


def nothing_is_left() -> bool:
    return not [each for each in threading.enumerate() if each.name.startswith("zookeeper")]


def check_picture(way: Way, moment: Moment) -> None:
    image = moment.image
    assert (moment.status.phase, image.provenance.complete) == ("live", True)
    assert image.cluster_id == "lies"
    assert set(image.brokers) == {1}
    assert "orders" in image.topics
    assert image.unreadable.keys() == way.unreadable.keys()
    for path, word in way.unreadable.items():
        assert word in image.unreadable[path]
