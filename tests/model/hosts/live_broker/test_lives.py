"""Brokers that leave, die, stand still, and come back; and controllers that are killed in the middle of a failover."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from model.broker.settings.keys import CONTROLLER_STOP_FILE, FAILOVER_STEPS
from tests.harness.host_processes import BrokerProcess, make_topic
from tests.harness.waiting import PATIENCE_S, eventually
from tests.harness.zookeeper import Znodes

Start = Callable[[int], BrokerProcess]
LED_BY_A_DEAD_ONE = {"controller_epoch": 0, "leader": 9, "version": 1, "leader_epoch": 1, "isr": [1]}


@pytest.fixture
def start(zookeeper: str, tmp_path: Path) -> Iterator[Start]:
    """Starts a broker, not waiting for it."""
    with ExitStack() as stack:

        def start(number: int) -> BrokerProcess:
            broker = BrokerProcess(tmp_path, zookeeper, number)
            stack.callback(broker.kill)
            broker.start()
            return broker

        yield start


@pytest.fixture
def znodes(zookeeper: str) -> Iterator[Znodes]:
    with Znodes(zookeeper) as znodes:
        yield znodes


def create(bootstrap: str, topic: str, replicas: list[int]) -> None:
    make_topic(bootstrap, NewTopic(topic, 1, replica_assignment=[replicas]))


def write(bootstrap: str, topic: str) -> None:
    told: list[object] = []
    producer = Producer({"log_level": 0, "bootstrap.servers": bootstrap, "acks": "all"})
    producer.produce(topic, b"x", on_delivery=lambda error, _: told.append(error))
    assert producer.flush(PATIENCE_S) == 0 and told == [None]


def brokers_told_by(broker: BrokerProcess) -> set[int]:
    """By its first answer, while it starts; it serves when this returns."""
    admin = AdminClient({"log_level": 0, "bootstrap.servers": broker.address})
    told = set(admin.list_topics(timeout=PATIENCE_S).brokers)
    broker.ready()
    return told


def test_a_broker_leaves_dies_and_stands_still_and_each_time_comes_back(start: Start, znodes: Znodes) -> None:
    first = start(1)
    first.ready()
    assert znodes.controller() == 1
    second = start(2)
    second.ready()
    bootstrap = f"{first.address},{second.address}"
    create(bootstrap, "orders", [1, 2])
    write(bootstrap, "orders")

    first.send(signal.SIGTERM)
    assert first.exit_code() == 0
    assert (first.folder / "logs" / ".kafka_cleanshutdown").exists()
    eventually(lambda: znodes.epoch_of(1) == 0, "the end of its registration")
    assert (znodes.state("orders")["leader"], znodes.state("orders")["isr"]) == (2, [2])
    eventually(lambda: znodes.controller() == 2, "the other as controller")
    write(second.address, "orders")
    first.start()
    first.ready()
    first.wait_for("The last shutdown was clean")
    eventually(lambda: set(znodes.state("orders")["isr"]) == {1, 2}, "the ISR of both")

    second.kill()
    second.start()  # at once: its old session may still be there
    assert brokers_told_by(second) == {1, 2}
    second.wait_for("The last shutdown was not clean")
    eventually(lambda: set(znodes.state("orders")["isr"]) == {1, 2}, "the ISR of both again")

    zombie, other = (first, second) if znodes.controller() == 1 else (second, first)
    before = znodes.epoch_of(zombie.id)
    zombie.send(signal.SIGSTOP)
    eventually(lambda: znodes.controller() == other.id, "another controller")
    eventually(lambda: znodes.state("orders")["leader"] == other.id, "a leader that lives")
    zombie.send(signal.SIGCONT)
    zombie.wait_for(f"Broker {zombie.id} is not the controller any more .* and resigns")
    eventually(lambda: znodes.epoch_of(zombie.id) > before, "another registration")
    eventually(lambda: set(znodes.state("orders")["isr"]) == {1, 2}, "the ISR of both once more")
    assert znodes.controller() == other.id
    write(other.address, "orders")
    assert "this must not happen" not in first.log + second.log


def test_a_controller_is_killed_where_a_drill_says_so(zookeeper: str, tmp_path: Path) -> None:
    """Each broker alone in its cluster, where a partition waits for it to lead."""
    with ExitStack() as stack:
        brokers: dict[str, tuple[BrokerProcess, Znodes]] = {}
        for step in FAILOVER_STEPS:
            znodes = stack.enter_context(Znodes(zookeeper))
            znodes.write(f"/{step}/brokers/topics/orders", '{"version": 1, "partitions": {"0": [1]}}')
            znodes.write(f"/{step}/brokers/topics/orders/partitions/0/state", json.dumps(LED_BY_A_DEAD_ONE))
            broker = BrokerProcess(tmp_path / step, f"{zookeeper}/{step}", 1)
            stack.callback(broker.kill)
            (broker.faults / CONTROLLER_STOP_FILE).write_text(f"{step}\n")
            broker.start()
            brokers[step] = broker, znodes
        for step, (broker, znodes) in brokers.items():
            broker.wait_for(f"the controller is {step}: killed")
            assert broker.exit_code() == 128 + signal.SIGKILL
            assert not (broker.faults / CONTROLLER_STOP_FILE).exists()
            assert znodes.read(f"/{step}/controller")["brokerid"] == 1
            leader = znodes.read(f"/{step}/brokers/topics/orders/partitions/0/state")["leader"]
            assert leader == (1 if step in ("written", "told") else 9)
        broker, znodes = brokers["written"]
        broker.start()
        broker.wait_for("raised the epoch to 2")
        broker.wait_for("orders-0: broker 1 leads in epoch 2")


def test_a_broker_whose_last_log_dir_fails_ends(start: Start, znodes: Znodes) -> None:
    """As Kafka's does."""
    broker = start(1)
    broker.ready()
    (broker.faults / "log.dir.bytes.limit").write_text("1")
    admin = AdminClient({"log_level": 0, "bootstrap.servers": broker.address})
    eventually(lambda: admin.list_topics(timeout=PATIENCE_S).controller_id >= 0, "a controller")
    admin.create_topics([NewTopic("orders", 1, 1)], request_timeout=PATIENCE_S)
    producer = Producer({"log_level": 0, "bootstrap.servers": broker.address})
    while broker.running:
        producer.produce("orders", b"x")
        producer.poll(0.1)
    assert broker.exit_code() == 1
    assert "Traceback" not in broker.log
    eventually(lambda: znodes.epoch_of(1) == 0, "the end of its registration")
