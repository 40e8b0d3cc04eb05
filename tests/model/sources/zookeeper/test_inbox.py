"""What ZooKeeper tells is kept until the follower looks, once each, and nobody waits for anybody."""

from __future__ import annotations

import threading

from model.hosts.zookeeper.protocol import Connected, Connecting, ServerInfo, Suspended, Wiped
from model.sources.zookeeper.inbox import Inbox
from model.zookeeper import EventKind, ZnodeChanged

SERVER = ServerInfo("h:2181", (3, 9, 5), "standalone", has_multi_read=True, has_add_watch=True)


def connected(epoch: int, wiped: Wiped | None = None) -> Connected:
    return Connected(epoch, 1, 4000, SERVER, 9, 0, is_new_session=False, wiped=wiped)


def changed(path: str, kind: EventKind = EventKind.DATA_CHANGED) -> ZnodeChanged:
    return ZnodeChanged(kind, path, 5)


def test_paths_are_kept_once_in_the_order_they_first_changed() -> None:
    inbox = Inbox()
    inbox.on_events([changed("/b"), changed("/a"), changed("/b", EventKind.DELETED)])
    inbox.on_events([changed("/c", EventKind.CHILDREN_CHANGED), changed("/a", EventKind.CREATED)])
    assert inbox.drain() == (["/b", "/a"], ["/c"])
    assert inbox.drain() == ([], [])


def test_a_change_of_either_kind_wakes() -> None:
    inbox = Inbox()
    state = inbox.state
    inbox.on_events([changed("/a", EventKind.CHILDREN_CHANGED)])
    assert inbox.wait_for_change(state, 60)
    inbox.drain()
    assert not inbox.wait_for_change(state, 0)
    inbox.on_state(Suspended(0, "gone"))
    assert inbox.wait_for_change(state, 60)


def test_a_state_is_waited_for_across_threads() -> None:
    inbox = Inbox()
    threading.Timer(0.01, inbox.on_state, [connected(1)]).start()
    assert inbox.wait_for(lambda state: isinstance(state, Connected), 60)
    assert not inbox.wait_for(lambda state: isinstance(state, Connecting), 0)


def test_closing_wakes_and_reaches_nothing() -> None:
    inbox = Inbox()
    threading.Timer(0.01, inbox.close).start()
    assert not inbox.wait_for(lambda state: isinstance(state, Connected), 60)
    assert inbox.closed
    assert inbox.wait_for_change(inbox.state, 60)


def test_wiped_data_is_remembered_though_the_connection_that_saw_it_is_gone() -> None:
    inbox = Inbox()
    inbox.on_state(connected(1))
    assert inbox.wiped_epoch == 0
    inbox.on_state(connected(2, Wiped(9, 3)))
    inbox.on_state(Suspended(0, "gone"))
    inbox.on_state(connected(3))
    assert inbox.wiped_epoch == 2
