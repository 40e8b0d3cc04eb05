"""Kafka's admin tools of 1.1.1 and 3.9.1 do on brokers of ours what their help texts offer: the short form.

`python -m tests.conformance.kafka.tool_examples` runs all of it, also while brokers are killed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from tests.conformance.kafka.releases import install_or_skip
from tests.conformance.kafka.tool_examples import RELEASES_TRIED, Example, Ours, Tools, brokers, examples
from tests.harness.waiting import eventually

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(420)]


@pytest.fixture(scope="module")
def tried() -> Iterator[tuple[Ours, Path]]:
    for release in RELEASES_TRIED:
        install_or_skip(release)
    with brokers() as (ours, folder):
        assert isinstance(ours, Ours)
        yield ours, folder


@pytest.mark.parametrize("release", RELEASES_TRIED)
def test_tools_do_what_their_help_offers(tried: tuple[Ours, Path], release: str) -> None:
    tools = Tools(release, *tried)
    for example in examples(release):
        if example.short:
            outcome = tools.run(example)
            assert outcome.passed, (example, outcome.note)


def test_a_reassignment_is_throttled_and_verified_while_a_broker_dies(tried: tuple[Ours, Path]) -> None:
    """A mebibyte at 10 kB/s takes minutes: the third broker dies on the way. Then the throttle is loosened."""
    ours, folder = tried
    tools = Tools("3.9.1", ours, folder)
    assert tools.run(Example("topics", "--create --topic moved --replica-assignment 1:2")).passed
    producer = Producer({"bootstrap.servers": ours.bootstrap, "acks": "all", "log_level": 0})
    for number in range(256):
        producer.produce("moved", bytes(4096), key=str(number))
    assert eventually(lambda: producer.flush(1) == 0, "all records to be acknowledged")
    plan = folder / "moved.json"
    plan.write_text('{"version":1,"partitions":[{"topic":"moved","partition":0,"replicas":[1,3]}]}')
    words = f"--reassignment-json-file {plan}"
    assert tools.run(Example("reassign", f"{words} --execute --throttle 10000", "Successfully started")).passed
    ours.kill(3)
    assert tools.run(Example("reassign", f"{words} --verify", "still in progress")).passed
    ours.restart(3)
    assert tools.run(Example("reassign", f"{words} --verify", "still in progress")).passed
    loosened = Example("reassign", f"{words} --execute --additional --throttle 50000000", "50000000 B/s", until=True)
    assert tools.run(loosened).passed
    outcome = tools.run(Example("reassign", f"{words} --verify", "Clearing topic-level throttles", until=True))
    assert outcome.passed, outcome.note
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
