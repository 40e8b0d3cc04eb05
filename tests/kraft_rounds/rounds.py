"""Random faults on our own KRaft cluster under load, and whether every acknowledged record is still there."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from confluent_kafka.cimpl import NewTopic

from tests.harness.ledger import Ledger
from tests.harness.logged_process import LoggedProcess
from tests.harness.our_kraft import BROKERS, PARTITIONS, TOPIC, OurKraft, admin_of
from tests.kraft_rounds.clients import Client, clients_of

LOAD_S, PAUSE_S = 3.0, 11.0
"""So long is written while a fault lasts; a pause is longer than a broker's session."""
BATCH, EVERY_S = 20, 0.05


class Outcome(NamedTuple):
    """`faults` by name."""

    rounds: int
    faults: Mapping[str, int]
    acknowledged: int
    seconds: float

    def __str__(self) -> str:
        faults = ", ".join(f"{name} {count}" for name, count in sorted(self.faults.items()))
        return (
            f"{self.rounds} rounds in {self.seconds:.0f} s ({faults}): all of {self.acknowledged:,} records are there"
        )


Fault = Callable[[OurKraft, random.Random], list[LoggedProcess]]


def _broker(cluster: OurKraft, dice: random.Random) -> list[LoggedProcess]:
    return [cluster.brokers[dice.choice(BROKERS)]]


def _controller(cluster: OurKraft, dice: random.Random) -> list[LoggedProcess]:
    return [cluster.controllers[dice.choice([*cluster.controllers])]]


def _active(cluster: OurKraft, _: random.Random) -> list[LoggedProcess]:
    return [cluster.controllers[cluster.active()]]


def _both(cluster: OurKraft, dice: random.Random) -> list[LoggedProcess]:
    return [*_active(cluster, dice), *_broker(cluster, dice)]


WHO: Mapping[str, Fault] = {
    "broker": _broker,
    "controller": _controller,
    "active controller": _active,
    "active controller and broker": _both,
}
HOW = ("kill", "pause", "stop")


@contextmanager
def _failing(processes: list[LoggedProcess], how: str) -> Iterator[None]:
    for process in processes:
        {"kill": process.kill, "pause": process.pause, "stop": process.stop}[how]()
    try:
        yield
    finally:
        for process in processes:
            (process.resume if how == "pause" else process.start)()


def play(folder: Path, rounds: int, seed: int, until_s: float = float("inf"), others: tuple[str, ...] = ()) -> Outcome:
    """Rounds until that time of `time.monotonic`, by librdkafka and by these `others`.

    Raises AssertionError where a record is lost, or nothing goes on.
    """
    dice, faults, began_s, clients = random.Random(seed), Counter[str](), time.monotonic(), list[Client]()
    cluster = OurKraft(folder)
    try:
        cluster.start()
        _create(cluster, (TOPIC, *others))
        clients = [Ledger(cluster), *clients_of(others, cluster, folder)]
        while faults.total() < rounds and time.monotonic() < until_s:
            who, how = dice.choice([*WHO]), dice.choice(HOW)
            with _failing(WHO[who](cluster, dice), how):
                _load(clients, PAUSE_S if how == "pause" else LOAD_S)
            for client in clients:
                client.settle()
            cluster.wait_for_isr(*BROKERS)
            faults[f"{how} {who}"] += 1
        count = sum(client.audit() for client in clients)
    except AssertionError as error:
        told = f"round {faults.total() + 1}, after {dict(faults)}: {error}"
        raise AssertionError(f"{told}\n{cluster.last_words()}") from error
    finally:
        for client in clients:
            client.close()
        cluster.kill()
    said = "".join(process.log for process in (*cluster.controllers.values(), *cluster.brokers.values()))
    assert "Traceback" not in said, said[said.index("Traceback") - 500 :][:3000]
    return Outcome(faults.total(), faults, count, time.monotonic() - began_s)


def _create(cluster: OurKraft, topics: tuple[str, ...]) -> None:
    wanted = [NewTopic(topic, PARTITIONS, len(BROKERS), config={"min.insync.replicas": "2"}) for topic in topics]
    admin = admin_of(cluster)
    for made in admin.create_topics(wanted).values():
        made.result(60)
    cluster.wait_for_isr(*BROKERS)


def _load(clients: list[Client], seconds: float) -> None:
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        for client in clients:
            client.send(BATCH)
        time.sleep(EVERY_S)
