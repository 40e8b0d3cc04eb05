"""Proposals carried out in a real ZooKeeper: all or nothing, at the versions they were made for, written down."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from model.actions.proposal import ActionRefused, Proposal, Step, ZnodeWrite, check, create, delete, put
from model.hosts.acting.carrying_out import AuditLog, Writers, carry_out
from model.hosts.acting.zookeeper_writes import ZnodeReading, ZooKeeperWriter
from model.hosts.zookeeper.settings import ZooKeeperSettings
from tests.harness.zookeeper import kazoo
from tests.zookeeper.counting_proxy import CountingProxy


class Acting:
    """A cluster to act on, directly or through a proxy, and somebody else who looks at it."""

    def __init__(self, zookeeper: str, folder: Path, proxy: str = "") -> None:
        server, slash, chroot = zookeeper.partition("/")
        settings = ZooKeeperSettings(proxy or server, slash + chroot, session_timeout_ms=4000, request_timeout_ms=4000)
        self.reading = ZnodeReading(ZooKeeperSettings(server, slash + chroot), 30)
        self.writer = ZooKeeperWriter(settings, self.reading, 30)
        self.source = f"zk://{zookeeper}"
        self.audit = AuditLog(folder / "state", self.source)
        self._ends = ExitStack()
        self.other = self._ends.enter_context(kazoo(zookeeper.removesuffix("/nowhere")))

    def propose(self, *steps: Step) -> Proposal:
        return Proposal("a try", steps)

    def do(self, *steps: Step) -> str:
        return carry_out(self.propose(*steps), Writers(znodes=self.writer), self.audit).kind

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.audit.file.read_text().splitlines()]

    def close(self) -> None:
        self.writer.close()
        self.reading.close()
        self._ends.close()


@pytest.fixture
def acting(zookeeper: str, tmp_path: Path) -> Iterator[Acting]:
    acting = Acting(zookeeper, tmp_path)
    yield acting
    acting.close()


def test_writes_that_follow_each_other_are_one_transaction(acting: Acting) -> None:
    acting.other.create("/a", b"1")
    acting.other.create("/gone", b"2")
    found = acting.reading.znodes(["/a", "/gone", "/new"])
    steps = (put(found, "/a", b"2"), delete(found, "/gone"), put(found, "/new", b"3"), create("/n_", sequential=True))
    assert acting.do(*steps) == "done"
    zxids = {acting.other.get(path)[1].mzxid for path in ("/a", "/new", "/n_0000000003")}
    assert (len(zxids), acting.other.exists("/gone")) == (1, None)
    assert acting.other.get("/a")[0] == b"2"


@pytest.mark.parametrize(
    ("meanwhile", "why"),
    [
        (lambda other: other.set("/a", b"9"), "/a was changed meanwhile"),
        (lambda other: other.delete("/a"), "/a is gone"),
        (lambda other: other.create("/new", b"9"), "/new was created meanwhile"),
        (lambda other: other.set("/fence", b"9"), "/fence was changed meanwhile"),
    ],
)
def test_a_stale_proposal_is_refused_in_one_line_and_nothing_is_written(
    acting: Acting, meanwhile: Callable[[Any], None], why: str
) -> None:
    acting.other.create("/a", b"1")
    acting.other.create("/fence", b"1")
    found = acting.reading.znodes(["/a", "/fence", "/new"])
    steps = (check(found, "/fence"), put(found, "/new", b"3"), put(found, "/a", b"2"))
    meanwhile(acting.other)
    with pytest.raises(ActionRefused, match=f"^{why}: nothing was written"):
        acting.do(*steps)
    assert not acting.audit.file.exists()
    # The same when it changes between the check and the write.
    late = acting.writer.carry_out(steps)
    assert (late.kind, late.said, late.done) == ("refused", f"{why}: nothing was written", 0)
    assert b"3" not in [acting.other.get(path)[0] for path in acting.other.get_children("/")]


def test_the_audit_log_tells_before_and_after_and_keeps_secrets_to_itself(acting: Acting) -> None:
    acting.other.ensure_path("/config/users")
    scram = json.dumps({"version": 1, "config": {"SCRAM-SHA-256": "salt=c2VjcmV0,stored_key=a2V5"}}).encode()
    acting.do(create("/config/users/alice", scram))
    before, after = acting.lines()
    assert before["id"] == after["id"]
    assert (before["title"], before["steps"][0]["path"]) == ("a try", "/config/users/alice")
    assert (after["outcome"], after["done"], after["source"]) == ("done", 1, acting.source)
    assert "c2VjcmV0" not in acting.audit.file.read_text()
    assert stat.S_IMODE(acting.audit.file.stat().st_mode) == 0o600


def test_what_cannot_be_written_down_is_not_done(acting: Acting) -> None:
    acting.audit.file.mkdir(parents=True)
    with pytest.raises(ActionRefused, match=r"cannot be written: .*; nothing was done$"):
        acting.do(create("/a"))
    assert acting.other.exists("/a") is None


def test_a_write_that_no_version_fences_is_none(acting: Acting) -> None:
    acting.other.create("/a", b"1")
    with pytest.raises(ValueError, match="set of /a names no version"):
        acting.writer.carry_out([ZnodeWrite("set", "/a", after=b"2")])


def test_an_answer_that_got_lost_is_looked_up(zookeeper: str, tmp_path: Path) -> None:
    with CountingProxy(zookeeper.partition("/")[0]) as proxy:
        acting = Acting(zookeeper, tmp_path, proxy.address)
        try:
            acting.other.create("/a", b"1")
            assert acting.writer.carry_out([create("/warm")]).kind == "done"
            proxy.rewrite_next_reply(lambda _: b"")  # the transaction goes through, its answer does not
            outcome = acting.writer.carry_out([put(acting.reading.znodes(["/a"]), "/a", b"2")])
            assert (outcome.kind, outcome.said) == (
                "done",
                "the connection was lost before ZooKeeper answered; /a is as it was to be",
            )
            assert acting.other.get("/a")[1].version == 1
        finally:
            acting.close()


def test_what_never_arrived_is_said_to_be_unknown_and_does_not_arrive_later(zookeeper: str, tmp_path: Path) -> None:
    with CountingProxy(zookeeper.partition("/")[0]) as proxy:
        acting = Acting(zookeeper, tmp_path, proxy.address)
        try:
            acting.other.create("/a", b"1")
            assert acting.writer.carry_out([create("/warm")]).kind == "done"
            proxy.swallow()
            outcome = acting.writer.carry_out([put(acting.reading.znodes(["/a"]), "/a", b"2")])
            assert outcome.kind == "unknown"
            assert outcome.said.endswith("/a is not as it was to be: look again before you repeat it")
            proxy.cut()
            proxy.flow()
            assert acting.writer.carry_out([create("/later")]).kind == "done"
            assert acting.other.get("/a")[1].version == 0
        finally:
            acting.close()


def test_no_znode_is_made_where_the_cluster_is_not(zookeeper: str, tmp_path: Path) -> None:
    acting = Acting(f"{zookeeper}/nowhere", tmp_path)
    try:
        assert acting.writer.carry_out([create("/a")]).kind == "refused"
        assert acting.other.get_children("/") == []
    finally:
        acting.close()
