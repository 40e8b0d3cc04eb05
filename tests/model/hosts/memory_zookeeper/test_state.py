"""The whole server as a value: who hears of what, and going back and forth."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.hosts.memory_zookeeper.state import ServerState, answer, disconnect, end_session, new_server, open_session
from model.zookeeper import (
    AddWatch,
    Answer,
    Code,
    Create,
    Delete,
    EventKind,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Operation,
    SetData,
    SetWatches,
    Sync,
    WatchMode,
)

ALICE, BOB = 1, 2
Heard = tuple[int, str, str]


def two_sessions() -> ServerState:
    state, alice = open_session(new_server(), 6000)
    state, bob = open_session(state, 6000)
    assert (alice, bob, state.zxid) == (ALICE, BOB, 2)
    return state


def play(state: ServerState, *asked: tuple[int, Operation]) -> tuple[ServerState, list[Heard]]:
    """Carry these out; who heard of what, in order."""
    heard: list[Heard] = []
    for session, operation in asked:
        answered = answer(state, session, operation, 0)
        state = answered.state
        heard += [(event.session, event.changed.kind.name, event.changed.path) for event in answered.events]
    return state, heard


def test_a_one_shot_watch_fires_once() -> None:
    _, heard = play(
        two_sessions(),
        (ALICE, Create("/a")),
        (BOB, GetData("/a", watch=True)),
        (ALICE, SetData("/a", b"1")),
        (ALICE, SetData("/a", b"2")),
    )
    assert heard == [(BOB, "DATA_CHANGED", "/a")]


def test_a_missing_znode_is_awaited_only_by_exists() -> None:
    _, heard = play(
        two_sessions(),
        (ALICE, GetData("/a", watch=True)),
        (ALICE, GetChildren("/a", watch=True)),
        (BOB, Exists("/a", watch=True)),
        (ALICE, Create("/a")),
    )
    assert heard == [(BOB, "CREATED", "/a")]


def test_a_deletion_is_told_once_to_who_watches_data_and_children() -> None:
    _, heard = play(
        two_sessions(),
        (ALICE, Create("/a")),
        (BOB, GetData("/a", watch=True)),
        (BOB, GetChildren("/a", watch=True)),
        (ALICE, GetChildren("/a", watch=True)),
        (ALICE, GetChildren("/", watch=True)),
        (ALICE, Delete("/a")),
    )
    assert heard == [(BOB, "DELETED", "/a"), (ALICE, "DELETED", "/a"), (ALICE, "CHILDREN_CHANGED", "/")]


def test_persistent_watches_stay() -> None:
    _, heard = play(
        two_sessions(),
        (ALICE, AddWatch("/a", WatchMode.PERSISTENT)),
        (BOB, AddWatch("/a", WatchMode.PERSISTENT_RECURSIVE)),
        *((ALICE, operation) for operation in (Create("/a"), Create("/a/b"), SetData("/a/b", b""), Delete("/a/b"))),
    )
    assert [event for event in heard if event[0] == ALICE] == [
        (ALICE, "CREATED", "/a"),
        (ALICE, "CHILDREN_CHANGED", "/a"),
        (ALICE, "CHILDREN_CHANGED", "/a"),
    ]
    assert [event for event in heard if event[0] == BOB] == [
        (BOB, "CREATED", "/a"),
        (BOB, "CREATED", "/a/b"),
        (BOB, "DATA_CHANGED", "/a/b"),
        (BOB, "DELETED", "/a/b"),
    ]


def test_a_session_that_ends_takes_its_ephemerals_and_watches_along() -> None:
    state, _ = play(
        two_sessions(),
        (ALICE, Create("/e", ephemeral=True)),
        (ALICE, AddWatch("/", WatchMode.PERSISTENT_RECURSIVE)),
        (BOB, Exists("/e", watch=True)),
    )
    ended = end_session(state, ALICE)
    assert (ended.state.zxid, ended.answer) == (state.zxid + 1, Answer())
    assert [(event.session, event.changed.kind) for event in ended.events] == [
        (BOB, EventKind.DELETED),
        (ALICE, EventKind.DELETED),
    ]
    assert play(ended.state, (BOB, Create("/x")))[1] == []
    assert ended.state.watches.recursive == ()
    expired = answer(ended.state, ALICE, Sync("/"), 0)
    assert (expired.state.zxid, expired.answer) == (ended.state.zxid, Answer(Code.SESSION_EXPIRED))
    assert end_session(ended.state, ALICE).state is ended.state


def test_an_ephemeral_that_was_deleted_and_made_by_another_session_survives() -> None:
    state, _ = play(
        two_sessions(),
        (ALICE, Create("/e", ephemeral=True)),
        (BOB, Delete("/e")),
        (BOB, Create("/e", ephemeral=True)),
    )
    assert end_session(state, ALICE).state.tree.get("/e") is not None
    assert end_session(state, BOB).state.tree.get("/e") is None


def test_a_lost_connection_is_made_good_by_setting_watches_again() -> None:
    state, _ = play(two_sessions(), (ALICE, Create("/a")), (ALICE, Create("/b")), (BOB, GetData("/a", watch=True)))
    seen = state.zxid
    state, heard = play(disconnect(state, BOB), (ALICE, SetData("/a", b"1")), (ALICE, Create("/c")))
    assert heard == []
    _, heard = play(
        state,
        (BOB, SetWatches(seen, data=("/a", "/b", "/gone"), existence=("/c", "/d"), children=("/", "/b"))),
        (ALICE, SetData("/b", b"1")),
        (ALICE, Create("/d")),
    )
    assert heard == [
        (BOB, "DATA_CHANGED", "/a"),
        (BOB, "DELETED", "/gone"),
        (BOB, "CREATED", "/c"),
        (BOB, "CHILDREN_CHANGED", "/"),
        (BOB, "DATA_CHANGED", "/b"),
        (BOB, "CREATED", "/d"),
    ]


def test_every_write_takes_a_zxid_and_no_read_does() -> None:
    state = two_sessions()
    zxids: list[int] = []
    for operation in (Create("/a"), Create("/a"), Multi(()), GetData("/a"), Sync("/a"), Delete("/x"), Exists("/x")):
        answered = answer(state, ALICE, operation, 0)
        state = answered.state
        zxids.append(state.zxid - 2)
    assert zxids == [1, 2, 3, 3, 3, 4, 4]


paths = st.sampled_from(["/a", "/b", "/a/c", "/a/d", "/a/c/e"])
operations = st.one_of(
    st.builds(Create, paths, st.binary(max_size=2), st.booleans(), st.booleans()),
    st.builds(Delete, paths),
    st.builds(SetData, paths, st.binary(max_size=2)),
    st.builds(Exists, paths, st.booleans()),
    st.builds(AddWatch, paths, st.sampled_from(WatchMode)),
)


@given(st.lists(st.tuples(st.sampled_from([ALICE, BOB]), operations), max_size=60), st.data())
def test_undo_and_redo(asked: list[tuple[int, Operation]], data: st.DataObject) -> None:
    """Every state on the way can be gone back to, and the same things lead on from it as before."""
    states = [two_sessions()]
    for session, operation in asked:
        states.append(answer(states[-1], session, operation, 0).state)
    for _ in range(3):
        back = data.draw(st.integers(0, len(asked)))
        assert play(states[back], *asked[back:])[0] == states[-1]
        assert play(states[0], *asked[:back])[0] == states[back]
