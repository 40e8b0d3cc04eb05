"""From one cluster of the configuration to another, by key, in one terminal."""

from __future__ import annotations

from pathlib import Path

from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.demo_tree import demo_tree
from tests.pty.conftest import Open
from tests.pty.test_ending import left_switched

NOBODY_LISTENS = "127.0.0.1:1"


def test_to_another_cluster_and_back_from_one_that_cannot_be_opened(
    open_kdrill: Open, own_zookeeper: EmbeddedZooKeeper, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f"""
[clusters.prod]
zookeeper = ["{own_zookeeper.address}"]
chroot = "/prod/kafka"
[clusters.lab]
zookeeper = ["{own_zookeeper.address}"]
chroot = "/lab/kafka"
[clusters.gone]
zookeeper = ["{NOBODY_LISTENS}"]
[clusters.locked]
zookeeper = ["{NOBODY_LISTENS}"]
auth = {{ env = "KDRILL_TEST_NOT_SET" }}
""")
    with demo_tree(f"{own_zookeeper.address}/prod"), demo_tree(f"{own_zookeeper.address}/lab"):
        terminal = open_kdrill("prod", environment={"KDRILL_CONFIG": str(config)}, columns=200)
        terminal.until(lambda: terminal.lines[0].startswith(" prod ") and "LIVE" in terminal.lines[0])
        terminal.press("C")
        terminal.shows("prod  lab  gone  locked")
        terminal.press("lab\r")
        terminal.until(lambda: terminal.lines[0].startswith(" lab ") and "LIVE" in terminal.lines[0])
        terminal.press(":ctx nowhere\r")
        terminal.shows("no cluster 'nowhere'")
        terminal.press(":ctx locked\r")
        terminal.shows("KDRILL_TEST_NOT_SET is not set")
        terminal.press(":ctx gone\r")
        terminal.until(lambda: NOBODY_LISTENS in terminal.text and terminal.lines[0].startswith(" lab "))
        terminal.press("Q")
        assert terminal.exit_code() == 0
    assert not left_switched(terminal)
