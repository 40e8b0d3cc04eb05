"""What a ZooKeeper server counts."""

from __future__ import annotations

from model.sandbox.zookeeper_server import ask_four_letters


def server_metrics(address: tuple[str, int], timeout_s: float = 1.0) -> dict[str, str]:
    """What `mntr` says: `zk_znode_count` and so on; empty when the word is not allowed. Raises OSError."""
    lines = ask_four_letters(address, "mntr", timeout_s).splitlines()
    return dict(line.split("\t", 1) for line in lines if "\t" in line)
