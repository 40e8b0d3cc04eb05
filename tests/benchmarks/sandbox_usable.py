"""How soon the sandbox is usable: from the start of `kdrill sandbox` until a client has written a record and read it.

Without a dashboard and in one; the client is there before, and tries until it is served.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.benchmarks.figure import Figure
from tests.harness.kafka import free_port
from tests.harness.waiting import eventually
from tests.pseudo_terminal import Terminal

GOAL_S = 3.0
RUNS = 5
PATIENCE_S = 60.0
TOPIC = "orders"


def measure(folder: Path) -> Iterator[Figure]:
    """Several times each; the median counts."""
    for where, started in (("without a dashboard", _headless), ("in the dashboard", _in_dashboard)):
        seconds = sorted(_usable_after(started) for _ in range(RUNS))
        note = "all: " + ", ".join(f"{each:.2f}" for each in seconds)
        yield Figure(f"written and read, {where}", median(seconds), "wanted", GOAL_S, goal=1, note=note)


def _usable_after(started: Callable[[Sequence[str]], Any]) -> float:
    """Seconds from the process's start until a record was read that was written to all replicas."""
    port = free_port()
    command = [str(Path(sys.executable).with_name("kdrill")), "sandbox", "--port", str(port)]
    settings: dict[str, Any] = {
        "bootstrap.servers": f"127.0.0.1:{port}",
        "log_level": 0,
        "reconnect.backoff.ms": 5,
        "reconnect.backoff.max.ms": 20,
        "topic.metadata.refresh.fast.interval.ms": 10,
        "retry.backoff.ms": 10,
    }
    began = time.perf_counter()
    with started(command):
        _write(Producer({**settings, "acks": "all"}))
        _read({**settings, "group.id": "usable", "enable.auto.commit": False})
        return time.perf_counter() - began


def _write(producer: Producer) -> None:
    acknowledged: list[object] = []
    producer.produce(TOPIC, b"usable", partition=0, on_delivery=lambda error, _: acknowledged.append(error))
    while not acknowledged:
        producer.poll(0.01)
    assert acknowledged == [None], acknowledged


def _read(settings: dict[str, Any]) -> None:
    consumer = Consumer(settings)
    with closing(consumer):
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            with suppress(KafkaException):
                message = consumer.poll(0.05)
                if message is not None and message.error() is None:
                    return
    raise AssertionError(f"nothing was read within {PATIENCE_S:.0f} s")


@contextmanager
def _headless(command: Sequence[str]) -> Iterator[None]:
    silent = subprocess.DEVNULL
    process = subprocess.Popen([*command, "--headless"], stdin=silent, stdout=silent, stderr=silent)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


@contextmanager
def _in_dashboard(command: Sequence[str]) -> Iterator[None]:
    terminal = Terminal([*command, "--fresh"], columns=120, rows=40, environment=dict(os.environ))
    try:
        yield
    finally:
        os.kill(terminal.pid, signal.SIGTERM)
        eventually(terminal.has_ended, "its end", PATIENCE_S)
        terminal.close()
