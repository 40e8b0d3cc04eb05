"""Controllers as processes on a real ZooKeeper: elected, stopped, killed, cut off; and what clients see of them."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from model.znodes.cluster import decode_broker
from tests.harness.host_processes import ControllerProcess
from tests.harness.waiting import eventually
from tests.harness.zookeeper import Znodes
from tests.zookeeper.counting_proxy import CountingProxy

Run = Callable[..., ControllerProcess]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    with ExitStack() as processes:

        def run(zookeeper: str, broker: int, *options: str) -> ControllerProcess:
            process = ControllerProcess(tmp_path, zookeeper, broker, *options)
            processes.callback(process.kill)
            return process

        yield run


@pytest.fixture
def znodes(zookeeper: str) -> Iterator[Znodes]:
    with Znodes(zookeeper) as znodes:
        yield znodes


def test_it_registers_is_elected_and_leaves_nothing_behind(zookeeper: str, run: Run, znodes: Znodes) -> None:
    controller = run(f"{zookeeper}/made/by/it", 9)
    port = controller.port()
    controller.wait_for("it created /controller and raised the epoch to 1")
    registration = decode_broker(znodes.data("/made/by/it/brokers/ids/9") or b"")
    assert registration.endpoints == (f"PLAINTEXT://127.0.0.1:{port}",)
    assert znodes.data("/made/by/it/controller_epoch") == b"1"
    assert controller.stop() == 0
    assert znodes.data("/made/by/it/brokers/ids/9") is None
    assert znodes.data("/made/by/it/controller") is None
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 1)


def test_the_next_one_takes_over_from_one_that_was_killed(zookeeper: str, run: Run, znodes: Znodes) -> None:
    first = run(zookeeper, 1)
    first.wait_for("raised the epoch to 1")
    second = run(zookeeper, 2)
    second.wait_for("Broker 1 is the controller already: broker 2 does not stand")
    first.kill()
    second.wait_for("raised the epoch to 2")
    eventually(lambda: znodes.controller() == 2)
    second.wait_for(r"Broker 1 went|StartTimers|ZooKeeperAnswered")
    assert "this must not happen" not in second.log


def test_one_whose_session_expires_resigns_and_comes_back_as_a_new_broker(
    zookeeper: str, run: Run, znodes: Znodes
) -> None:
    server, _, root = zookeeper.partition("/")
    with CountingProxy(server) as proxy:
        cut_off = run(f"{proxy.address}/{root}", 1)
        cut_off.wait_for("raised the epoch to 1")
        other = run(zookeeper, 2)
        other.wait_for("broker 2 does not stand")
        before = znodes.epoch_of(1)
        proxy.swallow()
        other.wait_for("raised the epoch to 2")
        proxy.flow()
        cut_off.wait_for("resigns")
        cut_off.wait_for("Broker 2 is the controller already: broker 1 does not stand")
        eventually(lambda: znodes.epoch_of(1) > before)
        other.wait_for("Broker 1 came")
    assert znodes.data("/controller_epoch") == b"2"
    assert "this must not happen" not in cut_off.log + other.log


def test_clients_of_kafka_see_the_cluster(zookeeper: str, run: Run) -> None:
    controller = run(zookeeper, 9)
    client: dict[str, Any] = {"log_level": 0, "bootstrap.servers": f"127.0.0.1:{controller.port()}"}
    controller.wait_for("Broker 9 came|raised the epoch to 1")
    # A client that hears of no controller asks again only minutes later.
    eventually(lambda: AdminClient(client).list_topics(timeout=30).controller_id == 9)
    admin = AdminClient(client)
    seen = admin.list_topics(timeout=30)
    assert {broker.id for broker in seen.brokers.values()} <= {9}
    assert seen.topics == {}
    # It keeps no logs: a copy that is put on it never serves, and a topic cannot be placed anywhere else.
    refused = admin.create_topics([NewTopic("t", 1, 1)], request_timeout=30)["t"]
    with pytest.raises(Exception, match="INVALID_REPLICATION_FACTOR"):
        refused.result(30)
    with pytest.raises(Exception, match="contains one or more characters"):
        admin.create_topics([NewTopic("not a name", 1, replica_assignment=[[9]])], request_timeout=30)[
            "not a name"
        ].result(30)
    with pytest.raises(Exception, match="UNKNOWN_TOPIC_OR_PART"):
        admin.delete_topics(["t"], request_timeout=30)["t"].result(30)


def said_last(log: str, what: str) -> bool:
    return re.search(what, log.splitlines()[-1]) is not None


def test_a_wrong_call_is_told_in_one_line(zookeeper: str, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        cases = [
            (run("127.0.0.1:1/x/", 9), 2, r"chroot '/x/' must start with / and not end with it"),
            (run("a:b:c", 9), 2, "ZooKeeper address 'a:b:c'"),
            (run(zookeeper, 9, "--port", str(port)), 1, "address already in use"),
        ]
        for process, code, said in cases:
            process.wait_for(said)
            assert process.exit_code() == code
            assert "Traceback" not in process.log and said_last(process.log, said)
