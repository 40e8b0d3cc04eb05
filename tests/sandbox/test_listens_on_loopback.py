"""Nobody beyond this machine reaches a sandbox, or the dashboard in a browser, unless somebody says so."""

from __future__ import annotations

import socket
import urllib.request
from pathlib import Path

import pytest

from tests.harness.waiting import eventually
from tests.sandbox.listening_sockets import Listening, listening_below
from tests.web.serving import served

pytestmark = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux's /proc/net/tcp")


def whose(word: str, sockets: list[Listening]) -> int:
    return sum(word in each.command for each in sockets)


def test_a_sandbox_in_a_browser_listens_on_loopback_only() -> None:
    with served("sandbox", "--brokers", "1", "--racks", "1", "--topics", "1", "--zookeepers", "3", "--load") as page:
        half_sent = [socket.create_connection(("127.0.0.1", int(page.host.rpartition(":")[2]))) for _ in range(100)]
        for each in half_sent:
            each.sendall(b"GET / HTTP/1.1\r\nHost: ")
        with urllib.request.urlopen(page.url, timeout=60) as answer:
            assert answer.status == 200, "who never ends a request holds up the others"
        for each in half_sent:
            each.close()
        # Two of three ZooKeepers serve already, whether the third listens yet or not.
        eventually(lambda: whose("QuorumPeerMain", listening_below(page.pid)) >= 3 * 2)  # for clients, and its ensemble
        sockets = listening_below(page.pid)
    assert [each for each in sockets if not each.is_loopback] == []
    assert whose("live_broker", sockets) == 2
    assert whose("model.sandbox.control", sockets) >= 2 + 3, "proxies before a broker's listeners, and its ZooKeepers"
    assert whose("--serve", sockets) == 1
