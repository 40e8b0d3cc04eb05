"""Transactions taken apart, znode by znode."""

from __future__ import annotations

from model.hosts.virtual.journal import OPERATOR, Transaction, WritePart, znode_writes
from model.hosts.virtual.virtual_cluster import VirtualCluster
from model.znodes.paths import CONTROLLER_EPOCH
from model.zookeeper import Answer, Check, Code, Create, Delete, Multi, SetData


def test_writes_that_took_place_tell_the_version_after_them() -> None:
    cluster = VirtualCluster()
    cluster.write(Create("/a", b"1"))
    cluster.write(SetData("/a", b"2", 0))
    cluster.write(Create("/a/n-", sequential=True))
    cluster.write(Delete("/a/n-0000000000"))
    transactions = [record for record in cluster.journal if isinstance(record, Transaction)]
    written = [write for record in transactions for write in znode_writes(record)]
    assert written == [
        WritePart("create", "/a", b"1", 0, "NONE"),
        WritePart("set", "/a", b"2", 1, "NONE"),
        WritePart("create", "/a/n-0000000000", b"", 0, "NONE"),
        WritePart("delete", "/a/n-0000000000", b"", -1, "NONE"),
    ]
    assert {record.by for record in transactions} == {OPERATOR}


def test_a_write_that_failed_says_why_and_which_version_it_expected() -> None:
    write = SetData("/a", b"2", 3)
    record = Transaction(0, 1, 9, write, Answer(Code.BAD_VERSION))
    assert list(znode_writes(record)) == [WritePart("set", "/a", b"2", 3, "BAD_VERSION")]


def test_a_fenced_write_tells_the_epoch_it_was_conditional_on() -> None:
    fenced = Multi((Check(CONTROLLER_EPOCH, 4), SetData("/a", b"2", 3)))
    parts = (Answer(Code.BAD_VERSION), Answer(Code.RUNTIME_INCONSISTENCY))
    record = Transaction(0, 1, 9, fenced, Answer(Code.BAD_VERSION, parts=parts))
    assert list(znode_writes(record)) == [WritePart("set", "/a", b"2", 3, "RUNTIME_INCONSISTENCY", 4)]


def test_what_comes_before_a_part_that_failed_was_taken_back() -> None:
    multi = Multi((Create("/a"), Create("/b")))
    parts = (Answer(), Answer(Code.NODE_EXISTS))
    record = Transaction(0, 1, 9, multi, Answer(Code.NODE_EXISTS, parts=parts))
    assert [write.error for write in znode_writes(record)] == ["RUNTIME_INCONSISTENCY", "NODE_EXISTS"]
