"""Topics, settings, elections, groups and marks on a real ZooKeeper: nothing is written unless it is allowed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.harness.zookeeper import kazoo
from tests.zookeeper.counting_proxy import CountingProxy
from tui.cli.main import main

Run = Callable[..., int]

BROKER = b'{"version":4,"host":"h","port":9092,"endpoints":["PLAINTEXT://h:9092"],"jmx_port":-1,"timestamp":"1"}'
STATE = b'{"controller_epoch":1,"leader":2,"version":1,"leader_epoch":0,"isr":[2,1]}'
ORDERS = b'{"version":1,"partitions":{"0":[1,2]}}'
TREE = {
    "/brokers/ids/1": BROKER,
    "/brokers/ids/2": BROKER,
    "/brokers/topics/orders": ORDERS,
    "/brokers/topics/orders/partitions/0/state": STATE,
    "/brokers/topics/stuck": ORDERS,
    "/admin/delete_topics/stuck": b"",
    "/config/topics/orders": b'{"version":1,"config":{}}',
    "/config/changes": b"",
    "/cluster/id": b'{"version":"1","id":"c"}',
    "/consumers/gone/ids": b"",
    "/consumers/gone/offsets/orders/0": b"5",
    "/controller": b'{"version":1,"brokerid":1,"timestamp":"1"}',
    "/controller_epoch": b"1",
}
"""A cluster of Kafka 1.1 as its brokers left it; nobody acts on what is written."""

ACTIONS = {
    "create": (
        "topics",
        "create",
        "--topic",
        "made",
        "--partitions",
        "2",
        "--replication-factor",
        "2",
        "--config",
        "retention.ms=7",
    ),
    "alter": ("topics", "alter", "--topic", "orders", "--partitions", "3"),
    "delete": ("topics", "delete", "--topic", "orders"),
    "configure": ("configs", "alter", "--topic", "orders", "--add-config", "retention.ms=5"),
    "elect": ("act", "elect-preferred"),
    "remove a group": ("act", "delete-group", "--group", "gone"),
    "unmark": ("act", "remove-delete-marker", "--topic", "stuck"),
}


@pytest.fixture
def znodes(zookeeper: str) -> Iterator[Any]:
    """The tree on the test's own root, and a client of it."""
    with kazoo(zookeeper) as client:
        for path, data in TREE.items():
            client.create(path, data, makepath=True)
        yield client


@pytest.fixture
def proxy(zookeeper_server: EmbeddedZooKeeper) -> Iterator[CountingProxy]:
    with CountingProxy(zookeeper_server.address) as proxy:
        yield proxy


@pytest.fixture
def run(zookeeper: str, proxy: CountingProxy, znodes: Any, capfd: pytest.CaptureFixture[str]) -> Run:
    """kdrill's exit code; its words stay in `capfd`."""
    source = f"zk://{proxy.address}{zookeeper[zookeeper.index('/') :]}"

    def run(command: str, verb: str, *options: str) -> int:
        with pytest.raises(SystemExit) as ended:
            main([command, source, verb, *options])
        return int(ended.value.code or 0)

    return run


def test_without_being_allowed_nothing_is_written(
    run: Run, proxy: CountingProxy, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, words in ACTIONS.items():
        assert run(*words, "--yes") == 2, name
        told = capfd.readouterr()
        assert "in this order:" in told.out, name
        assert "nothing was done" in told.err, name
    assert run("topics", "describe") == 0
    assert run("topics", "list") == 0
    assert run("configs", "describe", "--entity-type", "brokers") == 0
    assert proxy.writes() == {}


def test_what_is_allowed_is_written_and_nothing_else(run: Run, znodes: Any, tmp_path: Path) -> None:
    for name, words in ACTIONS.items():
        if name != "delete":
            assert run(*words, "--allow-writes", "--yes") == 0, name
    made = json.loads(znodes.get("/brokers/topics/made")[0])
    assert made["version"] == 1
    assert {tuple(sorted(replicas)) for replicas in made["partitions"].values()} == {(1, 2)}
    assert znodes.get("/config/topics/made")[0] == b'{"version":1,"config":{"retention.ms":"7"}}'
    assert len(json.loads(znodes.get("/brokers/topics/orders")[0])["partitions"]) == 3
    assert znodes.get("/config/topics/orders")[0] == b'{"version":1,"config":{"retention.ms":"5"}}'
    (notice,) = znodes.get_children("/config/changes")
    assert notice == "config_change_0000000000"
    assert znodes.get(f"/config/changes/{notice}")[0] == b'{"version":2,"entity_path":"topics/orders"}'
    elected = b'{"version":1,"partitions":[{"topic":"orders","partition":0}]}'
    assert znodes.get("/admin/preferred_replica_election")[0] == elected
    assert znodes.exists("/consumers/gone") is None
    assert znodes.get_children("/admin/delete_topics") == []
    assert run(*ACTIONS["delete"], "--allow-writes", "--yes") == 0
    assert znodes.get_children("/admin/delete_topics") == ["orders"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("act", "elect-preferred", "--topic", "none"), "topic 'none' does not exist"),
        (("act", "elect-preferred", "--partition", "0"), "--partition needs --topic"),
        (("act", "elect-unclean", "--partition", "0"), "--partition needs --topic"),
        (("act", "elect-unclean", "--topic", "orders"), "only brokers of 2.4 or later take an unclean election"),
        (("act", "delete-group", "--group", "none"), "group 'none' does not exist"),
        (("act", "remove-delete-marker", "--topic", "orders"), "not marked for deletion"),
        (("act", "remove-delete-marker", "--topic", "a/b"), "Topic name is invalid"),
        (("topics", "create", "--topic", "x", "--replica-assignment", "one"), "write brokers as 1:2,2:3"),
        (("topics", "create", "--topic", "x/y", "--partitions", "1"), "Topic name is invalid"),
        (("topics", "alter", "--topic", "none", "--partitions", "3"), "topic 'none' does not exist"),
        (("topics", "delete", "--topic", "stuck"), "is marked for deletion already"),
        (("topics", "alter", "--topic", "orders", "--replication-factor", "3"), "other replicas are a reassignment"),
        (("topics", "alter", "--topic", "orders"), "--partitions is missing"),
        (("configs", "alter", "--topic", "orders"), "--add-config or --delete-config is missing"),
        (("configs", "alter", "--topic", "orders", "--add-config", "retention.ms=soon"), "takes a whole number"),
        (("configs", "describe"), "name one entity"),
        (("act", "reset-offsets", "--group", "gone", "--all-topics"), "say where to, once"),
        (("act", "reset-offsets", "--group", "gone", "--to-latest"), "name --topic, --all-topics or --from-file"),
    ],
)
def test_bad_input_ends_in_one_line(
    run: Run, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], reason: str
) -> None:
    assert run(*words, *(() if "describe" in words else ("--allow-writes", "--yes"))) in (1, 2)
    told = capfd.readouterr()
    assert reason in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_a_topic_that_is_there_already_is_left_alone_if_so_wished(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    wish = ("topics", "create", "--topic", "orders", "--partitions", "1", "--replication-factor", "1", "--allow-writes")
    assert run(*wish, "--yes") == 1
    assert run(*wish, "--yes", "--if-not-exists") == 0
    assert "there is nothing to do" in capfd.readouterr().err
