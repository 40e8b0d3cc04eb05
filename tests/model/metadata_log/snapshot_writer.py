"""A snapshot of the metadata log of any size, as a controller would write it: a million partitions take seconds."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from model.log.records import Record, encode_batch
from model.metadata_log.replay import SNAPSHOT_FOOTER, SNAPSHOT_HEADER
from tests.model.metadata_log.writing import START_MS, topic_id, written

BROKERS = 12
FACTOR = 3
IN_BATCH = 1024
"""Records that Kafka's `BatchAccumulator` puts into one batch of a snapshot at most."""
IDS = slice(3, 23)
"""Where a PartitionRecord or PartitionChangeRecord has the partition's number, and the topic's id behind it."""


def snapshot(topics: int, partitions: int, epoch: int = 1) -> Iterator[bytes]:
    """Batches of a snapshot of so many topics of so many partitions each, all of them well, on 12 brokers."""
    yield control(0, SNAPSHOT_HEADER, struct.pack(">hqB", 0, START_MS, 0), epoch)
    offset = 1
    every = chain(_brokers(), _topics(topics, partitions))
    while values := [*islice(every, IN_BATCH)]:
        records = [Record(offset + number, START_MS, None, value) for number, value in enumerate(values)]
        yield encode_batch(records, leader_epoch=epoch)
        offset += len(values)
    yield control(offset, SNAPSHOT_FOOTER, struct.pack(">hB", 0, 0), epoch)


def control(offset: int, kind: int, value: bytes, epoch: int) -> bytes:
    """A batch with a control record of this type."""
    record = Record(offset, START_MS, struct.pack(">hh", 0, kind), value)
    return encode_batch([record], leader_epoch=epoch, control=True)


def write_snapshot(folder: Path, batches: Iterable[bytes], end_offset: int = 1_000, epoch: int = 1) -> Path:
    """As a file in a folder, with the name that says up to where the log is in it."""
    path = folder / f"{end_offset:020}-{epoch:010}.checkpoint"
    with path.open("wb") as file:
        file.writelines(batches)
    return path


def replicas_of(partition: int) -> list[int]:
    """Preferred replica first."""
    return [(partition + each) % BROKERS + 1 for each in range(FACTOR)]


def _brokers() -> Iterator[bytes]:
    yield written("FeatureLevel", name="metadata.version", featureLevel=25)
    for broker in range(1, BROKERS + 1):
        yield written("RegisterBroker", brokerId=broker, brokerEpoch=broker)


def _topics(topics: int, partitions: int) -> Iterator[bytes]:
    forms = [_partition(replicas_of(number)) for number in range(BROKERS)]
    for topic in range(topics):
        name = topic_id(topic + 1)
        yield written("Topic", name=f"topic-{topic:06}", topicId=name)
        raw = (topic + 1).to_bytes(16)
        for number in range(partitions):
            form = forms[number % BROKERS]
            yield form[: IDS.start] + number.to_bytes(4) + raw + form[IDS.stop :]


def _partition(replicas: list[int]) -> bytes:
    folders = [topic_id(number) for number in replicas]
    return written("Partition", replicas=replicas, isr=replicas, leader=replicas[0], directories=folders)
