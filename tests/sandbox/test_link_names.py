"""Links by their names, and brokers by their client ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.sandbox.processes import SandboxError
from model.sandbox.switchboard import in_words, link_between, links_of, source_node

LINKS = frozenset(links_of([1, 2, 3]))


def test_every_two_brokers_and_each_broker_with_the_others():
    assert {
        *(("1", "zookeeper"), ("2", "zookeeper"), ("3", "zookeeper")),
        *(("1", "clients"), ("2", "clients"), ("3", "clients")),
        *(("1", "2"), ("1", "3"), ("2", "3")),
    } == LINKS


@pytest.mark.parametrize("link", sorted(LINKS))
def test_a_link_is_found_from_both_ends(link: tuple[str, str]):
    assert link_between(link, LINKS) == link_between((link[1], link[0]), LINKS) == link


def test_controllers_have_links_among_themselves_and_each_broker_with_all_of_them():
    links = frozenset(links_of([1, 2], [101, 102, 103]))
    assert {
        *(("1", "controllers"), ("2", "controllers"), ("1", "clients"), ("2", "clients"), ("1", "2")),
        *(("101", "controllers"), ("102", "controllers"), ("103", "controllers")),
        *(("101", "102"), ("101", "103"), ("102", "103")),
    } == links
    assert ("101", "controllers") not in links_of([1, 2], [101])
    with pytest.raises(
        SandboxError, match=r"broker \(1, 2\) and another one, or controllers, or .*or two controllers$"
    ):
        link_between(("1", "101"), links)


@pytest.mark.parametrize("between", [("1", "1"), ("1", "4"), ("zookeeper", "clients"), ("1", "")])
def test_what_is_no_link_is_refused_in_one_line(between: tuple[str, str]):
    with pytest.raises(SandboxError, match=r"^no link between .*: name a broker \(1, 2, 3\) and another one, or"):
        link_between(between, LINKS)


def test_links_in_words():
    assert in_words(("1", "2")) == "broker 1 and broker 2"
    assert in_words(("1", "zookeeper")) == "broker 1 and ZooKeeper"
    assert in_words(("1", "controllers")) == "broker 1 and controllers"
    assert in_words(("101", "102")) == "controller 101 and controller 102"
    assert in_words(("101", "controllers")) == "controller 101 and the other controllers"


def request(client_id: bytes | None) -> bytes:
    text = b"\xff\xff" if client_id is None else len(client_id).to_bytes(2, "big") + client_id
    body = b"\0\x01\0\x0b\0\0\0\x05" + text + b"rest"
    return len(body).to_bytes(4, "big") + body


@pytest.mark.parametrize(
    ("client_id", "broker"),
    [
        (b"broker-3-fetcher-0", "3"),  # ours, and Java's ReplicaFetcherThread
        (b"broker-12-controller", "12"),
        (b"4", "4"),  # Java's controller
        (b"kdrill-voter-101", "101"),
        (b"raft-client-102", "102"),  # Java's voter
        (b"rdkafka", ""),
        (b"3rd", ""),
        (b"", ""),
        (None, ""),
    ],
)
def test_who_opens_a_connection(client_id: bytes | None, broker: str):
    assert source_node(request(client_id)) == broker


@given(st.integers(0, 2**31 - 1), st.data())
def test_it_takes_no_more_bytes_than_the_client_id(broker: int, data: st.DataObject):
    whole = request(f"broker-{broker}-fetcher-1".encode())[:-4]
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert source_node(whole[:cut]) is None
    assert source_node(whole) == str(broker)
