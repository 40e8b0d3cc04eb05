"""What clients do to a replicated cluster: find leaders, write, wait to be acknowledged, read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import NamedTuple

from model.broker.isr import record_append
from model.broker.partition import Partition
from model.broker.serving import ACKS_ALL, acknowledge, refuse_produce
from model.cluster.ids import TopicPartition
from model.log.names import LogError
from tests.simulation.replication.consumers import Consumer
from tests.simulation.replication.ledger import Ledger
from tests.simulation.replication.producers import Producer, producers_of
from tests.simulation.replication.replicating_broker import ReplicatingBroker

LOST = 0.05
"""So many answers to producers never arrive, and so many producers lose patience."""


class Waiting(NamedTuple):
    """A produce with acks=all that was appended up to `end`."""

    producer: Producer
    sequence: int
    end: int
    leader_epoch: int


class Clients:
    """`reached`: the brokers that answer now; `ledger`: what is promised for a partition."""

    def __init__(
        self,
        partitions: Iterable[TopicPartition],
        dice: Random,
        reached: Callable[[], list[ReplicatingBroker]],
        ledger: Callable[[TopicPartition], Ledger],
    ) -> None:
        names = tuple(partitions)
        self.producers = [each for number, name in enumerate(names) for each in producers_of(name, 10 * number)]
        self.consumers = [Consumer(name) for name in names for _ in range(2)]
        self._dice = dice
        self._reached = reached
        self._ledger = ledger
        self._waiting: dict[tuple[int, TopicPartition], list[Waiting]] = {}

    def produce(self) -> None:
        """Somebody writes a record, or asks who leads."""
        producer = self._dice.choice(self.producers)
        if self._dice.random() < LOST:
            producer.give_up_waiting()
        broker = self._leader_of(producer)
        record = None if broker is None else producer.next_record()
        if broker is None or record is None:
            return
        sequence = record.base_sequence
        partition, log = broker.held.get(producer.partition), broker.logs.get(producer.partition)
        if partition is None or log is None:
            producer.hear(sequence, "NOT_LEADER_OR_FOLLOWER")
            return
        refused = refuse_produce(partition, producer.acks, broker.conditions)
        if refused != "NONE":
            producer.hear(sequence, refused)
            return
        epoch = partition.state.leader_epoch
        try:
            end = log.append_as_leader(record, epoch)
        except LogError as error:
            producer.hear(sequence, error.kafka_error)
            return
        self._ledger(producer.partition).appended(broker.id, epoch)
        waiting = Waiting(producer, sequence, end, epoch)
        if producer.acks == ACKS_ALL:
            self._waiting.setdefault((broker.id, producer.partition), []).append(waiting)
        broker.put(record_append(partition, log.positions, broker.conditions))
        self.settle(broker, broker.held[producer.partition])

    def settle(self, broker: ReplicatingBroker, partition: Partition) -> None:
        """Tell producers what is known by now; whenever a partition has changed."""
        key = (broker.id, partition.partition)
        waiting = self._waiting.get(key)
        while waiting:
            first = waiting[0]
            outcome = acknowledge(partition, first.end, broker.conditions)
            if outcome is None:
                return
            waiting.pop(0)
            if outcome == "NONE":
                # Where more are asked for than there are replicas, nothing is acknowledged, or all of them are enough.
                needed = min(broker.settings.min_insync_replicas, len(partition.assignment.replicas))
                self._ledger(partition.partition).acknowledge(first.leader_epoch, first.end, needed)
            if self._dice.random() >= LOST:
                first.producer.hear(first.sequence, outcome)

    def lose(self, broker: int) -> None:
        """A broker's process is gone, and who waited for it is not going to hear."""
        for key in [key for key in self._waiting if key[0] == broker]:
            del self._waiting[key]
        for producer in self.producers:
            if producer.leader == broker:
                producer.give_up_waiting()

    def consume(self) -> None:
        """Somebody reads, or asks where the end is."""
        consumer = self._dice.choice(self.consumers)
        broker = self._leader_of(consumer)
        if broker is None:
            return
        ledger, chance = self._ledger(consumer.partition), self._dice.random()
        if chance < 0.4:
            consumer.ask_end(broker, ledger)
        elif chance < 0.8:
            consumer.read(broker, ledger)
        else:
            consumer.read(self._dice.choice(self._reached()), ledger, only_leader=False)

    def _leader_of(self, client: Producer | Consumer) -> ReplicatingBroker | None:
        """Whom a client believes to lead, if that one answers; else the client asks somebody, for the next time."""
        brokers = {broker.id: broker for broker in self._reached()}
        leader = brokers.get(client.leader)
        if leader is None or self._dice.random() < LOST:
            for asked in self._dice.sample(list(brokers.values()), min(1, len(brokers))):
                known = asked.image.partition(client.partition)
                if known is not None:
                    client.learn(known.state.leader, known.state.leader_epoch)
        return leader
