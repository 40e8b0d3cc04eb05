"""The ZooKeeper in memory does what a real one does: the same random sequences of operations on both."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest

from model.sandbox.embedded_zookeeper import start_zookeeper
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from model.zookeeper import AddWatch, Create, Delete, GetChildren, GetData, SetData, WatchMode
from tests.thorough import the_rest_when_asked
from tests.zookeeper.lockstep import ROOT, Lockstep, normal
from tests.zookeeper.memory_zookeeper import MemoryZooKeeper
from tests.zookeeper.raw_session import RawSession
from tests.zookeeper.znode_life import ZnodeLife

USUAL = 30
"""Sequences of a plain run."""
SEQUENCES = int(os.environ.get("KDRILL_ZOOKEEPER_SEQUENCES", "120"))
"""How many random sequences to run: raise it after changes of the memory ZooKeeper."""
LENGTH = 80


@pytest.fixture(scope="module")
def real_port() -> Iterator[int]:
    """A server whose sessions can expire at once."""
    with start_zookeeper(options=ServerOptions(tick_time_ms=20, min_session_timeout_ms=20)) as server:
        yield server.port


@pytest.mark.parametrize("seed", the_rest_when_asked(range(SEQUENCES), USUAL))
def test_a_random_sequence(seed: int, real_port: int) -> None:
    life = ZnodeLife(seed, ROOT)
    with Lockstep(real_port) as both:
        for _ in range(LENGTH):
            if not len(both) or (len(both) < 4 and life.chance(10)):
                both.open()
            session = life.number(len(both))
            state = both.memory.state
            if life.chance(40):
                both.close(session)
            elif life.chance(60):
                both.expire(session)
            elif life.chance(40):
                both.reconnect(session, life.watches(state.tree, state.zxid))
            else:
                both.ask(session, life.operation(state.tree))


@pytest.mark.parametrize(
    ("ever", "left"), [(2, 2), (5, 5), (11, 11), (13, 5), (25, 23), (60, 7), (200, 12), (200, 150)]
)
def test_many_ephemerals_go_in_the_same_order(ever: int, left: int, real_port: int) -> None:
    random = Random(ever)
    with Lockstep(real_port) as both:
        both.open()
        both.open()
        both.ask(0, AddWatch(ROOT, WatchMode.PERSISTENT_RECURSIVE))
        paths = [f"{ROOT}/{random.getrandbits(32)}" for _ in range(ever)]
        for path in paths:
            both.ask(1, Create(path, ephemeral=True))
        for path in random.sample(paths, ever - left):
            both.ask(0, Delete(path))
        both.ask(1, Create(f"{ROOT}/last", ephemeral=True))
        both.close(1)


def test_a_new_server(own_zookeeper: EmbeddedZooKeeper) -> None:
    """What is there before anybody wrote, and the first transactions."""
    real = RawSession(own_zookeeper.port)
    memory = MemoryZooKeeper(lambda: 0).open()
    asked = [
        *(read(path) for path in ("/", "/zookeeper", "/zookeeper/config") for read in (GetData, GetChildren)),
        Create("/", sequential=True),
        AddWatch("/", WatchMode.PERSISTENT_RECURSIVE),
        Create("/a"),
        Create("/", sequential=True),
        Delete("/zookeeper"),
        Delete("/"),
        SetData("/", b"1"),
        GetChildren("/"),
    ]
    for operation in asked:
        assert normal(real.ask(operation)) == normal(memory.ask(operation))
    assert real.close() == memory.close()
    assert [normal(message) for message in real.take()] == [normal(message) for message in memory.take()]
