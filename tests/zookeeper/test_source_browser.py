"""A browser of znodes reads what is looked at, notices what changed, and answers from memory when nobody else does."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from kazoo.security import make_digest_acl

from model.hosts.zookeeper.protocol import Connected, Suspended, ZooKeeperUnavailable
from model.hosts.zookeeper.reader import ZooKeeperReader
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.sources.zookeeper.browser import BELIEVED_MS, KEPT, MARK_MS, ZnodeBrowser
from model.zookeeper import Forbidden, Missing, Znode
from tests.zookeeper.conftest import OpenReader
from tests.zookeeper.counting_proxy import CountingProxy
from tests.zookeeper.heard import Heard

THEN = 1_000_000
"""When everything in these tests happens, ms."""


class Browsing:
    """A browser, kept up to date by a recursive watch, as a source keeps it."""

    def __init__(self, reader: ZooKeeperReader, heard: Heard) -> None:
        heard.epoch(1)
        reader.watch_recursive("/")
        self.browser = ZnodeBrowser(reader)
        self._heard = heard

    def hear(self, *paths: str) -> None:
        """Wait for these changes and tell the browser of them."""
        self._heard.paths(*paths)
        self.browser.invalidate(paths)

    def look(self, path: str, now_ms: int = THEN) -> dict[str, str]:
        """The names below a znode and their marks."""
        return {
            name: self.browser.mark(f"{path.rstrip('/')}/{name}", now_ms)
            for name in self.browser.children(path, now_ms)
        }

    def data(self, path: str, now_ms: int = THEN) -> bytes:
        znode = self.browser.znodes([path], now_ms)[path]
        assert isinstance(znode, Znode)
        return znode.data


@pytest.fixture
def browsing(proxy: CountingProxy, writer: Any, chroot: str, open_reader: OpenReader) -> Browsing:
    for path, data in {"/a": b"1", "/a/x": b"", "/a/x/deep": b"", "/b": b"2"}.items():
        writer.create(chroot + path, data)
    return Browsing(*open_reader(proxy.address, chroot))


def test_only_what_is_looked_at_is_asked_for(browsing: Browsing, proxy: CountingProxy) -> None:
    proxy.asked.clear()
    assert browsing.look("/") == {"a": "", "b": ""}
    assert browsing.data("/b") == b"2"
    assert browsing.look("/") == {"a": "", "b": ""}
    assert browsing.data("/b") == b"2"
    asked = {name: count for name, count in proxy.asked.items() if name != "ping"}
    assert asked == {"getChildren2": 1, "multiRead": 1, "getData": 1}


def test_what_appears_changes_and_goes_is_marked_for_a_while(browsing: Browsing, writer: Any, chroot: str) -> None:
    browsing.look("/")
    browsing.data("/b")
    browsing.data("/")
    writer.create(f"{chroot}/c", b"")
    writer.set(f"{chroot}/b", b"3")
    writer.delete(f"{chroot}/a", recursive=True)
    browsing.hear("/a", "/b", "/c")
    assert browsing.data("/b") == b"3"
    assert browsing.look("/") == {"a": "-", "b": "~", "c": "+"}
    assert browsing.browser.znodes(["/a"], THEN)["/a"] == Missing("/a")
    root = browsing.browser.znodes(["/"], THEN)["/"]
    assert isinstance(root, Znode)
    assert root.stat.num_children == 2
    assert browsing.browser.next_fade_ms(THEN + 1) == THEN + MARK_MS
    assert browsing.look("/", THEN + MARK_MS) == {"b": "", "c": ""}
    assert browsing.browser.next_fade_ms(THEN + MARK_MS) is None


def test_a_znode_that_comes_back_is_marked_as_new(browsing: Browsing, writer: Any, chroot: str) -> None:
    browsing.look("/")
    writer.delete(f"{chroot}/b")
    browsing.hear("/b")
    assert browsing.look("/")["b"] == "-"
    writer.create(f"{chroot}/b", b"again")
    browsing.browser.invalidate(["/b"])
    assert browsing.look("/")["b"] == "+"
    assert browsing.data("/b") == b"again"


def test_an_open_branch_that_vanishes_goes_leaf_by_leaf(browsing: Browsing, writer: Any, chroot: str) -> None:
    for path in ("/", "/a", "/a/x"):
        browsing.look(path)
    writer.delete(f"{chroot}/a", recursive=True)
    # Its end is heard of before the ends of what was below it.
    browsing.hear("/a")
    assert browsing.look("/") == {"a": "-", "b": ""}
    browsing.hear("/a/x", "/a/x/deep")
    assert browsing.look("/a") == {"x": "-"}
    assert browsing.look("/a/x") == {"deep": "-"}
    assert browsing.look("/a/x", THEN + MARK_MS) == {}


def test_a_znode_nobody_ever_saw_has_no_children(browsing: Browsing) -> None:
    assert browsing.look("/nowhere") == {}
    assert browsing.browser.znodes(["/nowhere"], THEN) == {"/nowhere": Missing("/nowhere")}


def test_what_may_not_be_read_says_so(browsing: Browsing, writer: Any, chroot: str) -> None:
    writer.set_acls(f"{chroot}/a", [make_digest_acl("kafka", "secret", all=True)])
    assert browsing.browser.znodes(["/a", "/b"], THEN)["/a"] == Forbidden("/a")
    assert browsing.look("/a") == {}
    assert browsing.data("/b") == b"2"


def test_memory_answers_while_the_server_is_away(own_zookeeper: EmbeddedZooKeeper, open_reader: OpenReader) -> None:
    reader, heard = open_reader(own_zookeeper.address)
    browsing = Browsing(reader, heard)
    assert browsing.look("/") == {"zookeeper": ""}
    assert browsing.data("/zookeeper") == b""
    own_zookeeper.kill()
    heard.state(Suspended)
    browsing.browser.invalidate_all()
    assert browsing.look("/") == {"zookeeper": ""}
    assert browsing.browser.znodes(["/zookeeper", "/zookeeper/quota"], THEN).keys() == {"/zookeeper"}
    with pytest.raises(ZooKeeperUnavailable, match=r"Connection refused|closed the connection"):
        browsing.look("/zookeeper")
    own_zookeeper.start()
    heard.epoch(2)
    assert browsing.look("/zookeeper") == {"config": "", "quota": ""}


def test_what_changes_while_it_is_read_is_read_again(browsing: Browsing, writer: Any, chroot: str) -> None:
    """The news comes after the server answered and before the answer is kept."""
    reader = browsing.browser._reader

    class Interrupted:
        state = reader.state

        def children(self, path: str) -> Any:
            answer = reader.children(path)
            if not writer.exists(f"{chroot}/late"):
                writer.create(f"{chroot}/late")
                browsing.hear("/late")
            return answer

    browsing.browser._reader = Interrupted()  # type: ignore[assignment]
    assert browsing.look("/") == {"a": "", "b": ""}
    assert browsing.look("/") == {"a": "", "b": "", "late": "+"}


def test_ten_thousand_children_in_the_order_people_count(
    browsing: Browsing, writer: Any, chroot: str, proxy: CountingProxy
) -> None:
    names = [str(number) for number in range(10_000)]
    for start in range(0, len(names), 500):
        transaction = writer.transaction()
        for name in reversed(names[start : start + 500]):
            transaction.create(f"{chroot}/a/{name}")
        transaction.commit()
    assert list(browsing.browser.children("/a", THEN)) == [*names, "x"]
    proxy.asked.clear()
    assert len(browsing.browser.znodes([f"/a/{name}" for name in names[:50]], THEN)) == 50
    assert proxy.asked["getData"] == 50


def test_only_so_many_are_kept(browsing: Browsing) -> None:
    paths = [f"/none-{number}" for number in range(KEPT + 10)]
    assert len(browsing.browser.znodes(paths, THEN)) == KEPT + 10
    assert len(browsing.browser._znodes) == KEPT


def test_brokers_by_session(browsing: Browsing, writer: Any, chroot: str) -> None:
    writer.create(f"{chroot}/brokers/ids/7", b"{}", ephemeral=True, makepath=True)
    writer.create(f"{chroot}/brokers/ids/odd", b"")
    assert browsing.browser.broker_sessions(THEN) == {writer.client_id[0]: 7}


def test_without_a_recursive_watch_nothing_is_believed_for_long(browsing: Browsing, writer: Any, chroot: str) -> None:
    reader = browsing.browser._reader
    state = reader.state
    assert isinstance(state, Connected)
    old = msgspec.structs.replace(state, server=msgspec.structs.replace(state.server, has_add_watch=False))
    browser = ZnodeBrowser(Reading(reader, old))  # type: ignore[arg-type]
    assert list(browser.children("/", THEN)) == ["a", "b"]
    writer.create(f"{chroot}/c", b"")
    assert list(browser.children("/", THEN + BELIEVED_MS - 1)) == ["a", "b"]
    assert list(browser.children("/", THEN + BELIEVED_MS)) == ["a", "b", "c"]


class Reading:
    """A reader whose server says of itself what one before ZooKeeper 3.6 says."""

    def __init__(self, reader: Any, state: Connected) -> None:
        self.state = state
        self.children = reader.children
