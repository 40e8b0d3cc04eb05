"""A server as if it had lived."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from model.hosts.memory_zookeeper.state import (
    Planted,
    ServerState,
    answer,
    end_session,
    new_server,
    open_session,
    server_over,
)
from model.hosts.memory_zookeeper.tree import StoredZnode, creations
from model.zookeeper import Create, Delete, GetData, SetData, Stat, Write
from tests.harness.planted_zookeeper import planted_server

paths = st.sampled_from(["/a", "/b", "/a/c", "/a/d", "/a/c/e"])
writes = st.one_of(
    st.builds(Create, paths, st.binary(max_size=2), st.booleans(), st.booleans()),
    st.builds(Delete, paths),
    st.builds(SetData, paths, st.binary(max_size=2)),
)
Seen = dict[str, tuple[bytes, Stat, list[str]]]


def as_planted(state: ServerState) -> dict[str, Planted]:
    """What there is to say about a server's znodes."""
    planted: dict[str, Planted] = {}
    for path, node in state.tree.items():
        stat = node.stat
        planted[path] = Planted(
            node.data, stat.ephemeral_owner, stat.version, stat.czxid, stat.mzxid, creations(stat), stat.mtime_ms
        )
    return planted


def seen(state: ServerState) -> Seen:
    """All that clients can see, but for the owners' ids, and for pzxids: of a deletion nothing else is left."""
    return {
        path: (node.data, replace(node.stat, pzxid=0, aversion=0, ephemeral_owner=0), sorted(node.names))
        for path, node in state.tree.items()
    }


@given(st.lists(writes, max_size=30), st.lists(writes, max_size=10))
def test_a_planted_server_goes_on_as_the_one_it_describes(before: list[Write], then: list[Write]) -> None:
    lived, owner = open_session(new_server(), 6000)
    for write in before:
        lived = answer(lived, owner, write, 0).state
    planted = planted_server(as_planted(lived), zxid=lived.zxid)
    assert seen(planted) == seen(lived)
    lived, lasting = open_session(lived, 6000)
    planted, newcomer = open_session(planted, 6000)
    for write in then:
        lived, planted = answer(lived, lasting, write, 0).state, answer(planted, newcomer, write, 0).state
    assert seen(planted) == seen(lived)
    if owner != newcomer:  # it had ephemeral znodes
        lived, planted = end_session(lived, owner).state, end_session(planted, owner).state
        assert seen(planted) == seen(lived)


def test_missing_parents_are_planted_too() -> None:
    state = planted_server({"/brokers/ids/1": Planted(b"{}", owner=9, czxid=40, mzxid=41, version=1)})
    node = state.tree.get("/brokers/ids/1")
    assert node is not None
    assert (state.zxid, node.stat.czxid, node.stat.mzxid, node.stat.ephemeral_owner) == (41, 40, 41, 9)
    assert {path: names for path, (_, _, names) in seen(state).items() if names} == {
        "/": ["brokers", "zookeeper"],
        "/brokers": ["ids"],
        "/brokers/ids": ["1"],
        "/zookeeper": ["config", "quota"],
    }
    assert end_session(state, 9).state.tree.get("/brokers/ids/1") is None
    assert open_session(state, 6000)[1] == 10


def test_a_sequence_goes_on() -> None:
    state = planted_server({"/changes": Planted(creations=7), "/changes/n_0000000006": Planted()})
    state, session = open_session(state, 6000)
    created = answer(state, session, Create("/changes/n_", sequential=True), 0).answer
    assert created.ok
    assert created.path == "/changes/n_0000000007"


class Million(Mapping[str, StoredZnode]):
    """A million znodes, none of which is there before somebody asks for it."""

    def __getitem__(self, path: str) -> StoredZnode:
        if path == "/":
            return StoredZnode(b"", Stat(0, 0, 0, 0, 0, 1_000_000, 0, 0, 0, 1_000_000, 0))
        if not path[1:].isdecimal() or int(path[1:]) >= 1_000_000:
            raise KeyError(path)
        return StoredZnode(path.encode(), Stat(0, 0, 0, 0, 0, 0, 0, 0, len(path), 0, 0))

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("nobody needs them all")

    def __len__(self) -> int:
        return 1_000_001


def test_a_server_over_znodes_that_are_worked_out_when_asked() -> None:
    state, session = open_session(server_over(Million(), {}, zxid=5, session_timeout_ms=6000), 6000)
    for operation in (SetData("/999999", b"new", 0), Create("/more"), Delete("/7")):
        state = answer(state, session, operation, 0).state
    results = [answer(state, session, GetData(path), 0).answer for path in ("/999999", "/8", "/7", "/more")]
    assert [result.data if result.ok else None for result in results] == [b"new", b"/8", None, b""]
    assert state.zxid == 9
