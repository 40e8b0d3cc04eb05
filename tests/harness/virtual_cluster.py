"""A virtual cluster in which nothing takes time, driven as a person would; and worlds to begin with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from model.broker.partition import Partition
from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.decide import ControllerState
from model.controller.events_and_commands import AnswerRequest, Event
from model.controller.generations import ControllerSettings, generation_of
from model.hosts.memory_zookeeper.tree import read
from model.hosts.virtual import journal
from model.hosts.virtual.journal import JournalRecord
from model.hosts.virtual.scheduled_events import MessageDelivery, Network, SentMessage, TimingAssumptions, perfect
from model.hosts.virtual.virtual_cluster import VirtualCluster as World
from model.hosts.virtual.world import Process
from model.znodes.cluster import BrokerRegistration
from model.znodes.topics import LeaderIsrAndControllerEpoch, TopicAssignment, decode_partition_state
from model.zookeeper import Answer, Create, GetData, Operation
from tests.model.controller.transaction_text import transaction

BASE_PORT = 29_090
RACKS = ("r0", "r1", "r2", "r0")
A_WHILE_MS = 10_000
AT_ONCE = TimingAssumptions(
    session_timeout_ms=10**12,  # sessions end when a test says so
    zookeeper_read_ms=0,
    zookeeper_write_ms=0,
    request_ms=0,
    retry_backoff_ms=0,
    reconnect_ms=0,
    catch_up_ms=1,  # followers join once all else is quiet
    shutdown_retries=1,
    start_ms=1_795_244_000_000,
)
RECORDED = generation_of("3.9")
"""Whose traces those of tests are compared with, unless one names another release."""
_TIMESTAMP = re.compile(r'"timestamp":"\d+"')


class Node:
    """A broker's process, as it is now."""

    def __init__(self, process: Process) -> None:
        self.session = process.session
        self.controller: ControllerState = process.controller
        self.broker = Broker(process)
        self.timers = {name: timer.after_ms for name, timer in process.timers.items()}


class Broker:
    """What it was told."""

    def __init__(self, process: Process) -> None:
        self.held: dict[TopicPartition, Partition] = dict(process.broker.held.items())
        self.metadata = {name: entry.state.leader for name, entry in process.broker.metadata.items()}
        self.live_brokers = process.broker.live_brokers


class VirtualCluster:
    """`log` has ZooKeeper's transactions, `reasons` the controllers' sentences, `sent` their requests."""

    def __init__(self, replica_lag_ms: float | None = None, **settings: Any) -> None:
        self.first: tuple[int, ...] = ()
        """Brokers whose messages come and go before those of others, fastest first."""
        self.world = World(msgspec.structs.replace(AT_ONCE, replica_lag_ms=replica_lag_ms), network=self._late)
        self.patience = -1
        """How many more events may be decided on; negative: any number."""
        self._settings = settings

    # Life of brokers

    def start(self, broker: int) -> None:
        """Start a broker and let everything settle."""
        self.world.boot(
            broker,
            registration(broker),
            ControllerSettings(broker_id=broker, **{"generation": RECORDED, **self._settings}),
        )
        self.settle()

    def kill(self, *brokers: int) -> None:
        """kill -9, and the sessions end."""
        for broker in brokers:
            self.world.crash(broker)
        for broker in brokers:
            self.world.expire(broker)
            self.settle()

    def stop(self, broker: int) -> AnswerRequest:
        """Controlled shutdown, then the end of the session. The controller's answer."""
        mark = len(self.world.journal)
        self.world.shut_down(broker)
        self.settle()
        records = self.world.journal[mark:]
        return next(r.answer for r in records if isinstance(r, journal.ControllerAnswered) and r.by == broker)

    def expire(self, broker: int) -> None:
        """A broker's session ends, and it gets a new one; it does not stop."""
        self.world.expire(broker)
        self.settle()

    def pause(self, broker: int) -> None:
        """SIGSTOP, for so long that the session ends."""
        self.world.pause(broker)
        self.world.expire(broker)

    def resume(self, broker: int) -> None:
        """SIGCONT: it first does what it was about to do, then learns that its session is gone."""
        self.world.resume(broker)
        self.settle()

    # What people and tools do

    def write(self, operation: Operation) -> Answer:
        """Write as a tool would."""
        result = self.world.write(operation)
        self.settle()
        return result

    def read(self, path: str) -> Any:
        """A znode, as a tool would read it."""
        return read(self.world.zookeeper.tree, GetData(path))

    def ask(self, kind: type[events_and_commands.RequestReceived], **fields: Any) -> AnswerRequest:
        """Ask the controller and wait for its answer."""
        number = self.world.ask(kind(request=0, **fields), self.controller)
        self.settle()
        answer = self.world.answer(number)
        assert answer is not None
        return answer

    def tell(self, broker: int, event: Event) -> None:
        """Something that a controller is going to hear."""
        self.world.tell(broker, event)

    @property
    def answers(self) -> Mapping[int, AnswerRequest]:
        """What was answered, by the number of the request."""
        records = (record for record in self.world.journal if isinstance(record, journal.ControllerAnswered))
        return {record.answer.request: record.answer for record in records}

    # What is

    @property
    def nodes(self) -> dict[int, Node]:
        """All processes, as they are now."""
        return {broker: Node(self.world.process(broker)) for broker in self.world.brokers}

    @property
    def controller(self) -> int:
        """The broker that is the controller."""
        return self.world.controllers[0]

    def leader(self, topic: str, partition: int = 0) -> int:
        """The leader as the controller sees it."""
        context = self.world.process(self.controller).controller.context
        return context.leader_of(TopicPartition(topic, partition))

    @property
    def log(self) -> list[str]:
        """ZooKeeper's transactions."""
        return self.since(0)

    def since(self, mark: int) -> list[str]:
        """Transactions since `len(log)` was this much."""
        records = [record for record in self.world.journal if isinstance(record, journal.Transaction)]
        texts = (transaction(record.write, record.answer) for record in records[mark:])
        return [_TIMESTAMP.sub('"timestamp":"T"', text) for text in texts]

    @property
    def reasons(self) -> list[str]:
        """Why everything was done."""
        return [record.why for record in self.world.journal if isinstance(record, journal.Reasoned)]

    @property
    def sent(self) -> list[str]:
        """The requests of controllers."""
        return list(self._sent())

    # Time

    def fire_timers(self) -> None:
        """Let time pass until every timer that runs now has fired once."""
        timers = [t for broker in self.world.brokers for t in self.world.process(broker).timers.values()]
        self.world.run_until(max((timer.started_us / 1_000 + timer.after_ms for timer in timers), default=0))
        self.settle()

    def settle(self) -> None:
        """Carry messages until nobody has anything to do, or until `patience` runs out."""
        until_ms = self.world.now_ms + A_WHILE_MS
        while self.patience and not self.world.at_rest and self.world.next_ms <= until_ms:
            before = self._decided()
            self.world.step()
            self.patience -= before != self._decided()

    def _decided(self) -> list[int]:
        return [id(self.world.process(broker).controller) for broker in self.world.brokers]

    def _sent(self) -> Iterator[str]:
        for record in self.world.journal:
            if isinstance(record, journal.RequestSent):
                kind = type(record.request).__name__.removesuffix("Request")
                yield f"{record.sender} to {record.receiver} {kind}"

    def _late(self, passage: SentMessage) -> MessageDelivery:
        rank = {broker: rank for rank, broker in enumerate(self.first)}
        return MessageDelivery(late_ms=(rank.get(passage.source, 0) + rank.get(passage.target, 0)) / 1_000)


def registration(broker: int) -> bytes:
    """The payload that the broker of the traces writes."""
    port = BASE_PORT + broker
    return BrokerRegistration(
        listener_security_protocol_map={"PLAINTEXT": "PLAINTEXT"},
        endpoints=(f"PLAINTEXT://127.0.0.1:{port}",),
        rack=RACKS[broker % len(RACKS)],
        port=port,
        host="127.0.0.1",
        version=5,
        timestamp="0",
    ).to_bytes()


R = TypeVar("R", bound=JournalRecord)
LONG_MS = 60_000


def plain_registration(broker: int) -> bytes:
    return BrokerRegistration(host=f"broker-{broker}", port=9092, version=5, timestamp="0").to_bytes()


def boot(cluster: World, *brokers: int) -> None:
    """One after the other, so that the first becomes the controller."""
    for broker in brokers:
        settings = ControllerSettings(broker_id=broker, auto_leader_rebalance_enable=False)
        cluster.boot(broker, plain_registration(broker), settings)
        assert cluster.run_until_quiet(LONG_MS)


def cluster_of(*brokers: int, network: Network = perfect, **assumed: Any) -> World:
    cluster = World(TimingAssumptions(**assumed), network=network)
    boot(cluster, *brokers)
    return cluster


def create_topic(cluster: World, topic: str, *replicas: tuple[int, ...]) -> None:
    cluster.write(Create(f"/config/topics/{topic}", b'{"version":1,"config":{}}'))
    payload = TopicAssignment(partitions=dict(enumerate(replicas)), topic_id=topic.ljust(22, "A"), version=3)
    cluster.write(Create(f"/brokers/topics/{topic}", payload.to_bytes()))
    assert cluster.run_until_quiet(LONG_MS)


def state(cluster: World, topic: str, partition: int = 0) -> LeaderIsrAndControllerEpoch:
    found = read(cluster.zookeeper.tree, GetData(f"/brokers/topics/{topic}/partitions/{partition}/state"))
    assert found.ok
    return decode_partition_state(found.data)


def records(cluster: World, kind: type[R], since: int = 0) -> Iterator[R]:
    """The records of one kind from a place in the journal on."""
    return (record for record in cluster.journal[since:] if isinstance(record, kind))
