"""ZooKeeper's four-letter words over a plain socket: what a server says of itself before any session.

It does not use kazoo (whose `command` cuts answers at 8 KB and needs a session) and does not retry.
"""

import re
import socket
import time
from dataclasses import dataclass

# `mntr` and `conf` are a few KB; `cons` grows with the clients, and nobody needs more of it than this.
_LONGEST_ANSWER_BYTES = 1 << 20
_SRVR = tuple(
    re.compile(pattern, re.MULTILINE | re.ASCII)
    for pattern in (
        r"^Zookeeper version: (\d{1,9}(?:\.\d{1,9})*)",
        r"^Mode: (\S+)",
        r"^Zxid: 0x([0-9a-f]{1,16})",
        r"^Node count: (\d{1,18})",
    )
)


@dataclass(frozen=True)
class ServerStatus:
    """What `srvr` says (org.apache.zookeeper.server.command.StatCommand, 3.4 to 3.9)."""

    version: tuple[int, ...]
    """(3, 9, 5)"""
    mode: str
    """standalone, leader, follower, observer or read-only."""
    zxid: int
    node_count: int


def ask(address: tuple[str, int], word: str, timeout_s: float = 1.0) -> str:
    """The server's answer to a four-letter word.

    Raises OSError (TimeoutError among them) when nothing answers within `timeout_s`. A word outside the server's
    4lw.commands.whitelist is answered by a sentence, or by nothing.
    """
    deadline = time.monotonic() + timeout_s
    answer = bytearray()
    with socket.create_connection(address, timeout_s) as connection:
        connection.sendall(word.encode("ascii"))
        while len(answer) < _LONGEST_ANSWER_BYTES:
            connection.settimeout(max(deadline - time.monotonic(), 0.001))
            if not (part := connection.recv(65536)):
                break
            answer += part
    return answer.decode("utf-8", errors="replace")


def server_status(address: tuple[str, int], timeout_s: float = 1.0) -> ServerStatus | None:
    """What `srvr` says, or None while the server does not serve: only with a Mode is it ready (`ruok` lies)."""
    try:
        return parse_srvr(ask(address, "srvr", timeout_s))
    except OSError:
        return None


def server_metrics(address: tuple[str, int], timeout_s: float = 1.0) -> dict[str, str]:
    """What `mntr` says: `zk_znode_count` and so on; empty when the word is not allowed. Raises OSError."""
    lines = ask(address, "mntr", timeout_s).splitlines()
    return dict(line.split("\t", 1) for line in lines if "\t" in line)


def parse_srvr(answer: str) -> ServerStatus | None:
    """None without a Mode line: the server is loading, has no quorum, or refuses the word."""
    version, mode, zxid, node_count = (pattern.search(answer) for pattern in _SRVR)
    if mode is None:
        return None
    return ServerStatus(
        version=tuple(int(part) for part in version[1].split(".")) if version else (),
        mode=mode[1],
        zxid=int(zxid[1], 16) if zxid else 0,
        node_count=int(node_count[1]) if node_count else 0,
    )
