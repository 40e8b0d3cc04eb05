"""Kafka's admin tools of 1.1.1 and 3.9.1 do on brokers of ours what their help texts offer: the short form.

`python -m tests.conformance.kafka.tool_examples` runs all of it, also while brokers are killed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from tests.conformance.kafka.releases import install_or_skip
from tests.conformance.kafka.tool_examples import EXAMPLES, Example, Ours, Tools, brokers
from tests.harness.waiting import eventually

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(420)]


@pytest.fixture(scope="module")
def tried() -> Iterator[tuple[Ours, Path]]:
    for release in EXAMPLES:
        install_or_skip(release)
    with brokers() as (ours, folder):
        assert isinstance(ours, Ours)
        yield ours, folder


@pytest.mark.parametrize("release", list(EXAMPLES))
def test_tools_do_what_their_help_offers(tried: tuple[Ours, Path], release: str) -> None:
    tools = Tools(release, *tried)
    for example in EXAMPLES[release]:
        if example.short:
            outcome = tools.run(example)
            assert outcome.passed, (example, outcome.note)


def test_a_reassignment_is_throttled_and_verified_while_a_broker_dies(tried: tuple[Ours, Path]) -> None:
    """A mebibyte takes seconds at 200 kB/s; the third broker dies on the way, and the throttle goes in the end."""
    ours, folder = tried
    tools = Tools("3.9.1", ours, folder)
    topic = Example("topics", "--create --topic moved --replica-assignment 1:2")
    assert tools.run(topic).passed
    producer = Producer({"bootstrap.servers": ours.bootstrap, "acks": "all", "log_level": 0})
    for number in range(256):
        producer.produce("moved", bytes(4096), key=str(number))
    assert eventually(lambda: producer.flush(1) == 0, "all records to be acknowledged")
    plan = folder / "moved.json"
    plan.write_text('{"version":1,"partitions":[{"topic":"moved","partition":0,"replicas":[1,3]}]}')
    words = f"--reassignment-json-file {plan}"
    began_s = time.monotonic()
    assert tools.run(Example("reassign", f"{words} --execute --throttle 200000", "Successfully started")).passed
    dying = threading.Timer(1.0, ours.kill, (3,))
    dying.start()
    moved = Example("reassign", f"{words} --verify --preserve-throttles", "moved-0 is completed", until=True)
    assert not tools.run(moved._replace(until=False)).passed
    dying.join()
    ours.restart(3)
    assert tools.run(moved).passed
    assert time.monotonic() - began_s >= 3
    assert tools.run(Example("reassign", f"{words} --verify", "Clearing topic-level throttles", until=True)).passed
    left = tools.run(Example("configs", "--describe --topic moved", "^((?!throttled).)*$"))
    assert left.passed, left.note


def test_a_producer_of_librdkafka_is_told_to_wait(tried: tuple[Ours, Path]) -> None:
    ours, folder = tried
    tools = Tools("3.9.1", ours, folder)
    quota = "--alter --client greedy --add-config producer_byte_rate=2000"
    assert tools.run(Example("configs", quota, "Completed updating")).passed
    assert tools.run(Example("topics", "--create --topic greedy --if-not-exists")).passed
    waits: list[float] = []
    producer = Producer(
        {
            "bootstrap.servers": ours.bootstrap,
            "client.id": "greedy",
            "throttle_cb": lambda event: waits.append(event.throttle_time),
            "log_level": 0,
        }
    )

    def is_told() -> bool:
        producer.produce("greedy", bytes(9000))
        producer.flush(1)
        return bool([wait for wait in waits if wait > 0])

    assert eventually(is_told, "a broker to tell it")
