"""One partition's records on their way: waiting, in a batch that is sent until it is answered, acknowledged. Pure.

One batch at a time, so that order and sequences are right whatever goes wrong (KIP-98, with one request in flight).
"""

from enum import Enum

import msgspec

from model.cluster.ids import TopicPartition
from model.log.records.encode_batch import Producer, encode_batch
from model.log.records.layout import add_sequence
from model.sandbox.load.ledger import UNKNOWN_OFFSET, Acknowledged
from model.sandbox.load.numbered_record import numbered_record

MOST_WAITING = 1000
"""A partition that takes no records gets no more of them."""
MOST_IN_BATCH = 500


class Answer(Enum):
    """What an error means for the batch it is about."""

    DONE = "acknowledged"
    AGAIN = "send it again, perhaps elsewhere"
    NEW_PRODUCER = "the log has lost this producer, or what it wrote: go on as another"
    GIVE_UP = "never"


_OTHER_ANSWERS = {
    "NONE": Answer.DONE,
    "DUPLICATE_SEQUENCE_NUMBER": Answer.DONE,
    "OUT_OF_ORDER_SEQUENCE_NUMBER": Answer.NEW_PRODUCER,
    "UNKNOWN_PRODUCER_ID": Answer.NEW_PRODUCER,
    "INVALID_PRODUCER_EPOCH": Answer.NEW_PRODUCER,
    "MESSAGE_TOO_LARGE": Answer.GIVE_UP,
    "RECORD_LIST_TOO_LARGE": Answer.GIVE_UP,
    "INVALID_RECORD": Answer.GIVE_UP,
    "TOPIC_AUTHORIZATION_FAILED": Answer.GIVE_UP,
}


def answer_to(error: str) -> Answer:
    """By Kafka's name of the error; everything else may pass (`Errors`, RetriableException, 3.9)."""
    return _OTHER_ANSWERS.get(error, Answer.AGAIN)


class Batch(msgspec.Struct, frozen=True):
    """What is sent."""

    first_number: int
    count: int
    data: bytes


class Lane:
    """Numbers go up; sequences too, as long as the producer is the same."""

    def __init__(self, partition: TopicPartition, run: str, producer: Producer) -> None:
        self.partition = partition
        self.batch: Batch | None = None
        self.waiting = 0
        """Records that are due and in no batch yet."""
        self._run = run
        self._producer = producer
        self._next_number = 0

    @property
    def unacknowledged(self) -> int:
        """Records that are waiting, or sent and not answered."""
        return self.waiting + (self.batch.count if self.batch else 0)

    def add(self, count: int) -> None:
        """More records are due."""
        self.waiting = min(self.waiting + count, MOST_WAITING)

    def next_batch(self, now_ms: int) -> Batch | None:
        """What to send: the same again until it is answered; None if nothing is due."""
        if self.batch is None and self.waiting:
            count = min(self.waiting, MOST_IN_BATCH)
            records = [
                numbered_record(self._run, self._next_number + place, now_ms, offset=place) for place in range(count)
            ]
            self.batch = Batch(self._next_number, count, encode_batch(records, producer=self._producer))
            self.waiting -= count
        return self.batch

    def done(self, base_offset: int, now_ms: int) -> Acknowledged:
        """The batch is acknowledged."""
        batch = self._forget()
        sequence = add_sequence(self._producer.base_sequence, batch.count)
        self._producer = msgspec.structs.replace(self._producer, base_sequence=sequence)
        offset = base_offset if base_offset >= 0 else UNKNOWN_OFFSET
        return Acknowledged(batch.first_number, batch.count, offset, now_ms)

    def give_up(self, producer: Producer | None = None) -> None:
        """The batch will not be acknowledged; the next ones are another producer's, if there is one."""
        self._forget()
        self._producer = producer or self._producer

    def _forget(self) -> Batch:
        batch = self.batch
        assert batch is not None
        self._next_number = batch.first_number + batch.count
        self.batch = None
        return batch
