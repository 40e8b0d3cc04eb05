"""The server with its clients: mail in order, and going back in time."""

from __future__ import annotations

from model.zookeeper import Create, Delete, EventKind, Exists, GetData, SetData, ZnodeChanged
from tests.zookeeper.memory_zookeeper import MemoryZooKeeper


class Clock:
    now_ms = 0

    def __call__(self) -> int:
        return self.now_ms


def test_events_come_before_the_answers_that_follow_them() -> None:
    server = MemoryZooKeeper(Clock())
    alice, bob = server.open(), server.open()
    missing = bob.ask(Exists("/a", watch=True))
    created = alice.ask(Create("/a"))
    read = bob.ask(GetData("/a", watch=True))
    own = bob.ask(SetData("/a", b"1"))
    assert alice.take() == (created,)
    assert bob.take() == (
        missing,
        ZnodeChanged(EventKind.CREATED, "/a", created.zxid),
        read,
        ZnodeChanged(EventKind.DATA_CHANGED, "/a", own.zxid),
        own,
    )
    assert bob.take() == ()


def test_time_comes_from_outside() -> None:
    clock = Clock()
    session = MemoryZooKeeper(clock).open()
    clock.now_ms = 5
    session.ask(Create("/a"))
    clock.now_ms = 8
    stat = session.ask(SetData("/a", b"")).answer.stat
    assert stat is not None
    assert (stat.ctime_ms, stat.mtime_ms) == (5, 8)


def test_going_back_and_taking_another_way() -> None:
    server = MemoryZooKeeper(Clock())
    alice, bob = server.open(), server.open()
    bob.ask(Exists("/a", watch=True))
    alice.ask(Create("/a", b"first"))
    before = server.snapshot()
    alice.ask(Delete("/a"))
    alice.close()
    after = server.snapshot()
    server.restore(before)
    assert alice.ask(GetData("/a")).answer.ok
    assert [type(message) for message in bob.take()] == [type(bob.ask(GetData("/a"))), ZnodeChanged]
    server.restore(after)
    assert not bob.ask(GetData("/a")).answer.ok
    assert not alice.ask(GetData("/a")).answer.ok
    assert server.snapshot().state == after.state


def test_who_expires_hears_no_more() -> None:
    server = MemoryZooKeeper(Clock())
    alice, bob = server.open(), server.open()
    for session in (alice, bob):
        session.ask(Exists("/e", watch=True))
    assert alice.ask(Create("/e", ephemeral=True)).answer.ok
    bob.ask(Exists("/e", watch=True))
    bob.take()
    server.expire(alice.id)
    assert alice.take() == ()
    assert bob.take() == (ZnodeChanged(EventKind.DELETED, "/e", server.state.zxid),)
