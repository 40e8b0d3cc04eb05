"""Producers: one that waits for all and tries again under a sequence, and ones that write once and look or do not."""

from __future__ import annotations

from model.broker.serving import ACKS_ALL
from model.cluster.ids import TopicPartition
from model.log.records import RecordBatch
from tests.simulation.replication.memory_log import one_record

WINDOW = 5
"""max.in.flight.requests.per.connection of an idempotent producer at most: brokers remember as many batches."""


class Producer:
    """Of one partition. `leader`: whom it writes to, in an epoch that it knows; -1: it has to ask first."""

    def __init__(self, producer_id: int, partition: TopicPartition, acks: int, *, idempotent: bool) -> None:
        self.id = producer_id
        self.partition = partition
        self.acks = acks
        self.idempotent = idempotent
        self.leader = -1
        self.leader_epoch = -1
        self.acknowledged = 0
        """So many of its records were, in order."""
        self._sent: list[int] = []
        """Sequences on their way, in order."""
        self._written = 0

    def next_record(self) -> RecordBatch | None:
        """What it sends next, None while it has to wait.

        It does not send a second record before the first ever is acknowledged: a broker that knows nothing of a
        producer takes any sequence for its first, in Kafka, too (`ProducerAppendInfo.checkSequence`).
        """
        self._written += 1
        number = self.id << 20 | self._written
        if not self.idempotent:
            return one_record(number)
        if len(self._sent) >= (WINDOW if self.acknowledged else 1):
            return None
        sequence = self.acknowledged + len(self._sent)
        self._sent.append(sequence)
        return one_record(self.id << 20 | sequence, self.id, sequence)

    def hear(self, sequence: int, error: str) -> None:
        """An answer. After an error, and where one is missing, it begins again with what is not acknowledged."""
        if self.idempotent and error == "NONE" and self._sent[:1] == [sequence]:
            self._sent.pop(0)
            self.acknowledged += 1
        elif error != "NONE" or (self.idempotent and sequence in self._sent):
            self.give_up_waiting()

    def give_up_waiting(self) -> None:
        """Its connection broke, or an answer is overdue: ask who leads, and send again."""
        self.leader = -1
        self._sent.clear()

    def learn(self, leader: int, leader_epoch: int) -> None:
        """A broker's metadata. What is older than it knows is not believed (KIP-320)."""
        if leader_epoch >= self.leader_epoch:
            self.leader, self.leader_epoch = leader, leader_epoch


def producers_of(partition: TopicPartition, first_id: int) -> list[Producer]:
    """One of each kind."""
    return [
        Producer(first_id, partition, ACKS_ALL, idempotent=True),
        Producer(first_id + 1, partition, ACKS_ALL, idempotent=False),
        Producer(first_id + 2, partition, 1, idempotent=False),
        Producer(first_id + 3, partition, 0, idempotent=False),
    ]
