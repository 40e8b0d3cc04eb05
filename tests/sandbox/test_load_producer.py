"""The load's producer: numbers without gaps, a bound on what waits, and another client where the log has lost one."""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Message
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.ids import TopicPartition
from model.sandbox.load import clients
from model.sandbox.load.clients import MOST_WAITING, TICK_S, LoadProducer
from model.sandbox.load.ledger import UNKNOWN_OFFSET, AcknowledgedRecords, number_of, numbered_record
from tests.harness.waiting import PATIENCE_S, eventually_async

ORDERS = tuple(TopicPartition("orders", number) for number in range(3))
LOST = KafkaError(KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, "the log has lost records", fatal=True)

Answer = Callable[[KafkaError | None, Message], None]


@dataclass
class Client:
    """Takes records as librdkafka's producer does, and answers when it is told to."""

    sent: list[tuple[TopicPartition, int, Answer]] = field(default_factory=list)
    is_done_for: bool = False
    """Takes nothing more, before any callback has told why."""

    def produce(
        self, topic: str, value: bytes, key: bytes, partition: int, *, timestamp: int, on_delivery: Answer
    ) -> None:
        if self.is_done_for:
            raise KafkaException(KafkaError(KafkaError._FATAL, "sequence numbers are out of order"))
        number = number_of(value, "run")
        assert number is not None and timestamp > 0
        self.sent.append((TopicPartition(topic, partition), number, on_delivery))

    def poll(self, timeout_s: float) -> None:
        """Answers come when the test wants them."""

    def purge(self, *, blocking: bool = True) -> None:
        self.answer(LOST)

    def answer(self, error: KafkaError | None = None, offset: int = 0) -> None:
        """Everything that was sent, at offsets from this one on."""
        waiting, self.sent = self.sent, []
        for place, (_, _, answered) in enumerate(waiting):
            answered(error, Message(offset=offset + place if offset >= 0 else offset))

    def numbers(self, partition: TopicPartition) -> list[int]:
        return [number for of, number, _ in self.sent if of == partition]


@dataclass
class Load:
    """A producer between a ledger and clients that a test answers for."""

    ledger: AcknowledgedRecords = field(default_factory=AcknowledgedRecords)
    clients: list[Client] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.producer = LoadProducer("", ORDERS, "run", self.ledger)
        self.producer._connected = self._connected  # type: ignore[method-assign]

    def _connected(self) -> Any:
        self.clients.append(Client())
        return self.clients[-1]

    def due(self, records: float) -> None:
        self.producer._send(self.clients[-1], records)  # type: ignore[arg-type]


@pytest.fixture
async def load() -> Load:
    made = Load()
    made.producer.start()
    return made


async def test_records_are_dealt_out_in_turn_and_numbered_without_gaps(load: Load) -> None:
    for records in (1.5, 1.5, 4):
        load.due(records)
    numbers = [load.clients[0].numbers(partition) for partition in ORDERS]
    assert [len(each) for each in numbers] == [3, 2, 2]
    assert all(each == list(range(len(each))) for each in numbers)
    assert load.producer.unacknowledged == 7


async def test_a_partition_that_takes_nothing_gets_no_more(load: Load) -> None:
    load.due(10 * MOST_WAITING)
    assert load.producer.unacknowledged == len(ORDERS) * MOST_WAITING
    load.clients[0].answer()
    assert load.producer.unacknowledged == 0
    load.due(3)
    assert load.clients[0].numbers(ORDERS[1]) == [MOST_WAITING]


async def test_what_is_acknowledged_is_noted_where_it_is(load: Load) -> None:
    load.due(3)
    load.clients[0].answer(offset=40)
    assert load.ledger.total == 3 and load.ledger.end_offset(ORDERS[2]) == 43
    assert load.producer.error == ""


async def test_a_duplicate_that_the_broker_has_forgotten_is_acknowledged_somewhere(load: Load) -> None:
    load.due(1)
    load.clients[0].answer(offset=-1001)
    [entry] = load.ledger.entries[ORDERS[0]]
    assert entry.first_offset == UNKNOWN_OFFSET


async def test_where_the_log_has_lost_the_producer_another_one_goes_on_behind_the_numbers_given_up(load: Load) -> None:
    load.due(3)
    load.clients[0].answer(LOST)
    assert "lost records" in load.producer.error
    load.due(3)  # under way when it is noticed: given up, too
    while len(load.clients) == 1:
        await asyncio.sleep(TICK_S)
    assert load.producer.unacknowledged == 0 and load.ledger.total == 0
    load.due(3)
    assert load.clients[1].numbers(ORDERS[0]) == [2]
    load.clients[1].answer()
    assert load.producer.error == ""


async def test_a_client_that_takes_nothing_more_is_replaced(load: Load) -> None:
    load.due(3)
    load.clients[0].is_done_for = True
    load.due(3)
    assert "out of order" in load.producer.error
    while len(load.clients) == 1:
        await asyncio.sleep(TICK_S)
    load.due(3)
    assert [load.clients[1].numbers(partition) for partition in ORDERS] == [[1], [1], [1]]


async def test_a_producer_that_ends_of_a_defect_says_so(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(timeout_s: float) -> None:
        raise ValueError("nobody thought of it")

    monkeypatch.setattr(load.clients[0], "poll", broken)
    async with asyncio.timeout(PATIENCE_S):
        while not load.producer.error:
            await asyncio.sleep(TICK_S)
    assert "the producer has ended: a defect in kdrill: ValueError" in load.producer.error
    await load.producer.close()


async def test_nobody_waits_for_a_consumer_that_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """librdkafka's own end of one can take for ever."""
    let_go_by: list[threading.Thread] = []

    class Lingering:
        def __init__(self, _: object) -> None:
            pass

        def subscribe(self, topics: list[str], **_: object) -> None:
            pass

        def consume(self, count: int, timeout_s: float) -> list[Message]:
            time.sleep(TICK_S)
            return []

        def __del__(self) -> None:
            let_go_by.append(threading.current_thread())

    monkeypatch.setattr(clients, "Consumer", Lingering)
    consumer = clients.GroupConsumer("", "billing", "c1", ["orders"])
    consumer.start()
    await asyncio.sleep(TICK_S)
    consumer.cut_off()
    assert consumer.status == "stopped"
    await eventually_async(lambda: len(let_go_by) == 1)
    assert let_go_by[0] is not threading.main_thread()
    assert let_go_by[0].daemon, "the process would wait for it at its end"


@given(st.text(max_size=8), st.integers(0, 2**40))
def test_what_is_written_is_read_back_by_its_own_run_only(run: str, number: int) -> None:
    _, value = numbered_record(run, number)
    assert number_of(value, run) == number
    assert number_of(value, f"{run}x") is None and number_of(b"somebody else's", run) is number_of(None, run) is None
