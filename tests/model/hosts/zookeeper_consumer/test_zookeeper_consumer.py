"""Consumers as processes on a real ZooKeeper and a real broker: they share, take over, commit, leave and refuse."""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.cimpl import NewTopic
from kazoo.exceptions import NoNodeError

from model.hosts.zookeeper_consumer.__main__ import main
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.harness.host_processes import BrokerProcess, ConsumerProcess, make_topic
from tests.harness.waiting import PATIENCE_S, eventually
from tests.harness.zookeeper import Znodes

Run = Callable[..., ConsumerProcess]


class Place(Znodes):
    """One broker, and what is in its ZooKeeper."""

    def __init__(self, zookeeper: str, broker: BrokerProcess) -> None:
        self.zookeeper = zookeeper
        broker.ready()
        self._bootstrap = broker.address
        super().__init__(zookeeper)

    def create(self, topic: str, partitions: int) -> None:
        make_topic(self._bootstrap, NewTopic(topic, partitions, 1))

    def produce(self, topic: str, partitions: int, *values: str) -> None:
        """The values, around the partitions."""
        producer = Producer({"log_level": 0, "bootstrap.servers": self._bootstrap, "acks": "all"})
        for number, value in enumerate(values):
            producer.produce(topic, value, partition=number % partitions)
        assert producer.flush(PATIENCE_S) == 0

    def texts(self, base: str) -> dict[str, str]:
        """The znodes below this one; those that go while they are read are left out."""
        texts: dict[str, str] = {}
        with suppress(NoNodeError):
            for name in self.client.get_children(base):
                with suppress(NoNodeError):
                    texts[name] = self.client.get(f"{base}/{name}")[0].decode()
        return texts


@pytest.fixture(scope="module")
def place(zookeeper_server: EmbeddedZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    zookeeper = f"{zookeeper_server.address}/zookeeper-consumers"
    broker = BrokerProcess(tmp_path_factory.mktemp("zookeeper-consumers"), zookeeper, 1)
    broker.start()
    try:
        with Place(zookeeper, broker) as place:
            yield place
    finally:
        broker.kill()


@pytest.fixture
def run(place: Place, tmp_path: Path) -> Iterator[Run]:
    with ExitStack() as processes:

        def run(group: str, name: str, *options: str) -> ConsumerProcess:
            process = ConsumerProcess(tmp_path, place.zookeeper, group, name, *options)
            processes.callback(process.kill)
            return process

        yield run


def test_members_share_take_over_and_leave_with_everything_consumed_once(place: Place, run: Run) -> None:
    place.create("orders", 4)
    sent = [f"v{number}" for number in range(40)]
    place.produce("orders", 4, *sent[:20])
    a = run("g", "a", "--topic", "orders:2")
    eventually(lambda: len(a.values()) == 20, "the first 20 values")
    b = run("g", "b", "--whitelist", "ord.*")
    shared = {"0": "g_a-0", "1": "g_a-0", "2": "g_a-1", "3": "g_b-0"}
    eventually(lambda: place.texts("/consumers/g/owners/orders") == shared, "both to own partitions")
    a.kill()
    eventually(lambda: set(place.texts("/consumers/g/owners/orders").values()) == {"g_b-0"}, "b to take over")
    place.produce("orders", 4, *sent[20:])
    eventually(lambda: len(b.values()) == 20, "the last 20 values")
    assert b.stop() == 0
    assert place.texts("/consumers/g/ids") == {}
    assert place.texts("/consumers/g/offsets/orders") == dict.fromkeys("0123", "10")
    assert Counter(a.values() + b.values()) == Counter(sent)
    owned = [line["owned"] for line in b.lines("rebalance-ended")]
    assert (owned[0], owned[-1]) == (1, 4)


def test_it_begins_where_it_is_told_and_goes_on_where_it_was(place: Place, run: Run) -> None:
    place.create("t", 1)
    place.produce("t", 1, "early")
    late = run("late", "a", "--topic", "t", "--offset-reset", "largest")
    eventually(lambda: place.texts("/consumers/late/offsets/t") == {"0": "1"}, "the reset to the end to be committed")
    silent = run("silent", "a", "--topic", "t", "--no-auto-commit")
    eventually(lambda: silent.values() == ["early"], "what was there")
    place.produce("t", 1, "late")
    eventually(lambda: late.values() == ["late"], "the new value alone")
    eventually(lambda: silent.values() == ["early", "late"], "both values")
    silent.send(signal.SIGINT)
    assert silent.exit_code() is not None
    assert place.texts("/consumers/silent/offsets/t") == {}
    assert late.stop() == 0
    place.client.set("/consumers/late/offsets/t/0", b"999")
    again = run("late", "b", "--topic", "t", "--offset-reset", "smallest")
    eventually(lambda: again.values() == ["early", "late"], "all again: offset 999 is out of range")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--topic", "t:none"), "--topic 't:none': write TOPIC or TOPIC:THREADS, for example orders:2"),
        (("--whitelist", "a["), "'a[' is not a regular expression"),
        (("--topic", "t", "--rebalance-max-retries", "0"), "--rebalance-max-retries 0: give 1 or more"),
        (("--topic", "t", "--zookeeper", "host:port"), "ZooKeeper address 'host:port'"),
    ],
)
def test_a_wrong_call_is_one_line(
    options: tuple[str, ...], complaint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["kdrill-consumer", "--zookeeper", "h:1", "--group", "g", *options])
    assert main() == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert complaint in said.err
