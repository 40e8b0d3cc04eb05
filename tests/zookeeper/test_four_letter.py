"""ZooKeeper's four-letter words, against a real server and against none."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.sandbox.embedded_zookeeper import start_zookeeper
from model.sandbox.zookeeper_server import (
    EmbeddedZooKeeper,
    ServerOptions,
    ServerStatus,
    ask_four_letters,
    parse_srvr,
    server_status,
)
from tests.harness.zookeeper_metrics import server_metrics

SRVR_3_4 = """Zookeeper version: 3.4.14-4c25d480e66aadd371de8bd2fd8da255ac140bcf, built on 03/06/2019 16:18 GMT
Latency min/avg/max: 0/0/0
Received: 1
Sent: 0
Connections: 1
Outstanding: 0
Zxid: 0x1a
Mode: follower
Node count: 4
"""


def test_ask(zookeeper_server: EmbeddedZooKeeper):
    assert ask_four_letters(("127.0.0.1", zookeeper_server.port), "ruok") == "imok"


def test_server_status(zookeeper_server: EmbeddedZooKeeper):
    status = server_status(("127.0.0.1", zookeeper_server.port))
    assert status is not None
    assert status.mode == "standalone"
    assert status.version >= (3, 9)
    assert status.node_count >= 5


def test_server_metrics(zookeeper_server: EmbeddedZooKeeper):
    metrics = server_metrics(("127.0.0.1", zookeeper_server.port))
    assert metrics["zk_server_state"] == "standalone"
    assert int(metrics["zk_znode_count"]) >= 5


def test_a_word_that_is_not_allowed():
    with start_zookeeper(options=ServerOptions(four_letter_words="srvr")) as server:
        address = ("127.0.0.1", server.port)
        assert "not in the whitelist" in ask_four_letters(address, "ruok")
        assert server_metrics(address) == {}


def test_nobody_listens():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert server_status(unused.getsockname()) is None
        with pytest.raises(ConnectionRefusedError):
            ask_four_letters(unused.getsockname(), "srvr")


def test_nobody_answers():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(TimeoutError):
            ask_four_letters(silent.getsockname(), "srvr", timeout_s=0.01)
        assert server_status(silent.getsockname(), timeout_s=0.01) is None


@contextmanager
def server_that_says(answer: bytes) -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()
        thread.join()


def test_an_answer_longer_than_one_read():
    with server_that_says(b"x" * 300_000) as address:
        assert ask_four_letters(address, "cons") == "x" * 300_000


def test_something_else_listens():
    with server_that_says(b"HTTP/1.1 400 Bad Request\r\n\r\n\xff") as address:
        assert server_status(address) is None


def test_parse_srvr():
    assert parse_srvr(SRVR_3_4) == ServerStatus(version=(3, 4, 14), mode="follower", zxid=0x1A, node_count=4)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "This ZooKeeper instance is not currently serving requests\n",
        "srvr is not executed because it is not in the whitelist.\n",
    ],
)
def test_a_server_that_does_not_serve(answer: str):
    assert parse_srvr(answer) is None


def test_read_only_is_a_mode():
    assert parse_srvr("Zookeeper version: 3.9.5\nMode: read-only\n") == ServerStatus((3, 9, 5), "read-only", 0, 0)


WORDS = st.sampled_from(["Zookeeper version: ", "Zxid: ", "Mode: ", "Node count: ", "\n", "0x", "3.9.", "9" * 5000])


@given(st.lists(st.one_of(st.text(), WORDS)).map("".join))
def test_no_answer_is_too_strange(answer: str):
    parsed = parse_srvr(answer)
    assert (parsed is None) or parsed.mode
