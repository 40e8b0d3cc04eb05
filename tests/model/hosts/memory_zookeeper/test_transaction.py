"""Writes, one transaction each: what they answer, and what they do to the Stats around them."""

from __future__ import annotations

import pytest

from model.hosts.memory_zookeeper.tree import Tree, ZnodeChange, apply, new_tree
from model.zookeeper import Answer, Check, Code, Create, Delete, EventKind, Multi, SetData, Stat, Write

SESSION = 7


def after(*writes: Write) -> Tree:
    """A new tree after these writes, each of which succeeds."""
    tree = new_tree()
    for zxid, write in enumerate(writes, 1):
        tree, result, _ = apply(tree, write, zxid, 1000 + zxid, SESSION)
        assert result.ok
    return tree


def test_a_created_znode() -> None:
    tree, result, changes = apply(after(Create("/a")), Create("/a/b", b"xy", ephemeral=True), 2, 1002, SESSION)
    stat = Stat(2, 2, 1002, 1002, 0, 0, 0, SESSION, 2, 0, 2)
    assert result == Answer(stat=stat, path="/a/b")
    assert changes == (ZnodeChange(EventKind.CREATED, "/a/b", SESSION),)
    parent = tree.get("/a")
    assert parent is not None
    assert parent.stat == Stat(1, 1, 1001, 1001, 0, 1, 0, 0, 0, 1, 2)


def test_a_sequential_znode_is_numbered_by_all_the_children_there_ever_were() -> None:
    tree = after(Create("/a"), Create("/a/x"), Delete("/a/x"), Create("/a/y"), SetData("/a", b"1"))
    _, result, _ = apply(tree, Create("/a/n_", sequential=True), 9, 0, SESSION)
    assert result.ok
    assert result.path == "/a/n_0000000002"


def test_data_is_written_at_the_expected_version() -> None:
    tree = after(Create("/a"), SetData("/a", b"1", 0), SetData("/a", b"22", 1))
    node = tree.get("/a")
    assert node is not None
    assert (node.data, node.stat) == (b"22", Stat(1, 3, 1001, 1003, 2, 0, 0, 0, 2, 0, 1))


@pytest.mark.parametrize(
    ("write", "code"),
    [
        (Create("/a"), Code.NODE_EXISTS),
        (Create("/x/y"), Code.NO_NODE),
        (Create("/e/x"), Code.NO_CHILDREN_FOR_EPHEMERALS),
        (Create("/a/"), Code.BAD_ARGUMENTS),
        (Create("a"), Code.BAD_ARGUMENTS),
        (Create("/x/../y"), Code.NO_NODE),
        (Delete("/a"), Code.NOT_EMPTY),
        (Delete("/a/b", 5), Code.BAD_VERSION),
        (Delete("/x"), Code.NO_NODE),
        (Delete("/"), Code.BAD_ARGUMENTS),
        (Delete("/zookeeper/quota"), Code.BAD_ARGUMENTS),
        (SetData("/a", b"", 5), Code.BAD_VERSION),
        (SetData("/x", b""), Code.NO_NODE),
        (SetData("/a//b", b""), Code.BAD_ARGUMENTS),
    ],
)
def test_a_refused_write_changes_nothing(write: Create | Delete | SetData, code: Code) -> None:
    tree = after(Create("/a"), Create("/a/b"), Create("/e", ephemeral=True))
    same, result, changes = apply(tree, write, 9, 0, SESSION)
    assert (result, changes) == (Answer(code), ())
    assert same is tree
    parts = (Answer(code), Answer(Code.RUNTIME_INCONSISTENCY))
    assert apply(tree, Multi((write, write)), 9, 0, SESSION)[1] == Answer(code, parts=parts)


def test_a_broker_registers_as_kafka_does() -> None:
    """The znode has version 1, and its czxid is the broker's epoch."""
    tree = after(Create("/ids"))
    multi = Multi((Create("/ids/1", ephemeral=True), SetData("/ids/1", b"{}", 0)))
    tree, result, changes = apply(tree, multi, 42, 0, SESSION)
    assert result.ok
    node = tree.get("/ids/1")
    assert node is not None
    assert (node.data, node.stat.version, node.stat.czxid, node.stat.mzxid) == (b"{}", 1, 42, 42)
    assert [change.kind for change in changes] == [EventKind.CREATED, EventKind.DATA_CHANGED]


def test_a_stale_controller_is_fenced() -> None:
    """Its check fails, the write behind it is innocent, and nothing happens."""
    tree = after(Create("/controller_epoch"), SetData("/controller_epoch", b"2"), Create("/state"))
    multi = Multi((SetData("/state", b"x"), Check("/controller_epoch", 0), SetData("/state", b"y")))
    same, result, _ = apply(tree, multi, 9, 0, SESSION)
    assert result.code is Code.BAD_VERSION
    assert result.parts == (Answer(), Answer(Code.BAD_VERSION), Answer(Code.RUNTIME_INCONSISTENCY))
    assert same is tree


def test_a_multi_sees_its_own_writes() -> None:
    multi = Multi(
        (
            Create("/a"),
            Create("/a/n", sequential=True),
            Create("/a/n", sequential=True),
            Delete("/a/n0000000000"),
            Delete("/a/n0000000001"),
            Check("/a", 0),
            Delete("/a"),
            Create("/a", b"again"),
        )
    )
    tree, result, _ = apply(new_tree(), multi, 1, 0, SESSION)
    assert result.ok
    node = tree.get("/a")
    assert node is not None
    assert (node.data, node.stat.num_children, list(node.names)) == (b"again", 0, [])


def test_what_did_not_change_is_shared() -> None:
    tree = after(Create("/a"), *(Create(f"/a/{number}") for number in range(100)))
    changed, _, _ = apply(tree, SetData("/a/5", b"new"), 200, 0, SESSION)
    assert [path for path, node in tree.items() if changed.get(path) is not node] == ["/a/5"]
    old, new = tree.get("/a/5"), changed.get("/a/5")
    assert old is not None
    assert new is not None
    assert (old.data, new.data) == (b"", b"new")
