"""The wire format of the requests: what a server would send is read back, anything else fails tidily."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kazoo.protocol.serialization import read_string

from model.hosts.zookeeper.requests import (
    NO_AUTH,
    NO_NODE,
    AddWatch,
    Exists,
    GetChildren2,
    GetData,
    MultiOp,
    MultiRead,
    SetWatches,
    full_path,
    watch_event,
)
from model.zookeeper import (
    Children,
    EventKind,
    Forbidden,
    Missing,
    Refused,
    Stat,
    WatchMode,
    Znode,
    ZnodeChanged,
)

INT = st.integers(-(2**31), 2**31 - 1)
LONG = st.integers(-(2**63), 2**63 - 1)
STATS = st.builds(Stat, LONG, LONG, LONG, LONG, INT, INT, INT, LONG, INT, INT, LONG)
TEXTS = st.text(st.characters(codec="utf-8"))
PATHS = TEXTS.map(lambda text: "/" + text)
UNREAD = PATHS.flatmap(lambda path: st.sampled_from([Missing(path), Forbidden(path), Refused(path, -3)]))
ZNODES = st.builds(Znode, PATHS, st.binary(), STATS)
CHILDREN = st.builds(Children, PATHS, st.lists(TEXTS).map(tuple), st.none())
CHROOTS = st.sampled_from(["", "/kafka"])


def buffer(data: bytes) -> bytes:
    return struct.pack("!i", len(data)) + data


def stat_bytes(stat: Stat) -> bytes:
    fields = [getattr(stat, name) for name in Stat.__struct_fields__]
    return struct.pack("!qqqqiiiqiiq", *fields)


def names_bytes(names: tuple[str, ...]) -> bytes:
    return struct.pack("!i", len(names)) + b"".join(buffer(name.encode()) for name in names)


def one_result(answer: Znode | Children | Missing | Forbidden | Refused) -> bytes:
    match answer:
        case Znode(_, data, stat):
            return struct.pack("!iBi", 4, 0, 0) + buffer(data) + stat_bytes(stat)
        case Children(_, names):
            return struct.pack("!iBi", 8, 0, 0) + names_bytes(names)
        case Missing():
            return struct.pack("!iBii", -1, 0, NO_NODE, NO_NODE)
        case Forbidden():
            return struct.pack("!iBii", -1, 0, NO_AUTH, NO_AUTH)
        case Refused(_, code):
            return struct.pack("!iBii", -1, 0, code, code)


@given(st.lists(ZNODES | UNREAD), st.binary(max_size=20))
def test_each_answer_of_a_multi_read_stands_in_its_place(answers: list[Znode], before: bytes) -> None:
    reply = before + b"".join(map(one_result, answers)) + struct.pack("!iBi", -1, 1, -1)
    request = MultiRead("/chroot", MultiOp.GET_DATA, tuple(answer.path for answer in answers))
    assert request.deserialize(reply, len(before)) == answers


@given(st.lists(CHILDREN | UNREAD))
def test_children_in_a_multi_read(answers: list[Children]) -> None:
    reply = b"".join(map(one_result, answers)) + struct.pack("!iBi", -1, 1, -1)
    request = MultiRead("", MultiOp.GET_CHILDREN, tuple(answer.path for answer in answers))
    assert request.deserialize(reply, 0) == answers


@given(ZNODES, CHILDREN)
def test_single_answers(znode: Znode, children: Children) -> None:
    data = buffer(znode.data) + stat_bytes(znode.stat)
    assert GetData("", znode.path).deserialize(data, 0) == znode
    names = names_bytes(children.names) + stat_bytes(znode.stat)
    listed = Children(children.path, children.names, znode.stat)
    assert GetChildren2("", children.path).deserialize(names, 0) == listed
    assert Exists("", znode.path).deserialize(stat_bytes(znode.stat), 0) == znode.stat


@given(STATS)
def test_null_data_is_empty(stat: Stat) -> None:
    assert GetData("", "/a").deserialize(struct.pack("!i", -1) + stat_bytes(stat), 0) == Znode("/a", b"", stat)


@pytest.mark.parametrize(
    "request_",
    [GetData("", "/a"), GetChildren2("", "/a"), Exists("", "/a")] + [MultiRead("", op, ("/a", "/b")) for op in MultiOp],
)
@given(reply=st.binary(max_size=200))
def test_garbage_fails_as_garbage(request_: GetData, reply: bytes) -> None:
    with suppress(ValueError, LookupError, struct.error):
        request_.deserialize(reply, 0)


@given(st.integers(1, 4), PATHS, LONG)
def test_an_event_keeps_its_path_and_zxid(kind: int, path: str, zxid: int) -> None:
    event = struct.pack("!ii", kind, 3) + buffer(path.encode())
    assert watch_event(b"header" + event, 6, zxid) == [ZnodeChanged(EventKind(kind), path, zxid)]


@given(INT.filter(lambda kind: kind not in range(1, 5)))
def test_news_about_the_session_is_no_event(kind: int) -> None:
    assert watch_event(struct.pack("!ii", kind, 3) + buffer(b""), 0, -1) == []


@given(CHROOTS, PATHS, st.booleans())
def test_the_chroot_goes_in_front_on_the_way_out(chroot: str, path: str, watch: bool) -> None:
    sent = GetData(chroot, path, watch).serialize()
    assert sent == buffer(full_path(chroot, path).encode()) + bytes([watch])
    assert AddWatch(chroot, path, WatchMode.PERSISTENT_RECURSIVE).serialize() == sent[:-1] + b"\0\0\0\1"


def test_the_root_of_a_chroot_has_no_slash_at_its_end() -> None:
    assert [full_path("/kafka", "/"), full_path("/kafka", "/a"), full_path("", "/")] == ["/kafka", "/kafka/a", "/"]


@given(LONG, st.tuples(*[st.lists(PATHS.filter(lambda path: path != "/")).map(tuple)] * 3))
def test_set_watches_lists_data_existence_and_children(zxid: int, lists: tuple[tuple[str, ...], ...]) -> None:
    sent = SetWatches("/kafka", zxid, *lists).serialize()
    assert struct.unpack_from("!q", sent) == (zxid,)
    offset = 8
    for paths in lists:
        (count,) = struct.unpack_from("!i", sent, offset)
        offset += 4
        for path in paths:
            read, offset = read_string(sent, offset)
            assert read == "/kafka" + path
        assert count == len(paths)
    assert offset == len(sent)
