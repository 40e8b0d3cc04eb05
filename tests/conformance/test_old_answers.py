"""A real broker of 3.9.1 and ours get the same sets of records in all formats, sound and damaged, and answer the same.

Compared are answers to Produce, to Fetch in the versions of old clients, byte for byte where nothing is compressed, and
to ListOffsets v0.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import shaped, shapes
from model.log.records import Codec, Producer, Record, RecordBatch, encode_batch, encode_message_set, records_of, scan
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.conformance.kafka.releases import install_or_skip
from tests.harness.host_processes import LONG_SESSION, BrokerProcess
from tests.harness.kafka import Cluster
from tests.harness.ours_beside_kafka import connected, two_alike

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(300)]

PRODUCE, FETCH, LIST_OFFSETS = 0, 1, 2
TOPICS: dict[str, dict[str, str]] = {
    "plain": {},
    "packed": {},
    "keyed": {"cleanup.policy": "compact"},
    "gzipped": {"compression.type": "gzip"},
    "unpacked": {"compression.type": "uncompressed"},
    "small": {"max.message.bytes": "150"},
    "closed": {"message.downconversion.enable": "false"},
}
STEPS = 60
"""For each topic. Of ten times as many one was unlike: a real leader fails at a v2 header that is shorter than one."""


class Both(NamedTuple):
    """Connections to the real one and to ours."""

    theirs: Connection
    ours: Connection

    async def ask(self, request: Any) -> tuple[Any, Any]:
        return await self.theirs.ask(request), await self.ours.ask(request)


@pytest.fixture(scope="module")
def places(zookeeper_server: EmbeddedZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    folder = tmp_path_factory.mktemp("answers-")
    alike = "offsets.topic.replication.factor=1\ndefault.replication.factor=1\nauto.create.topics.enable=false\n"
    settings = f"{alike}log.cleaner.enable=false\nbroker.rack=r1\nnum.partitions=1\nlog.segment.delete.delay.ms=500\n"
    kafka, chroot = install_or_skip("3.9.1"), f"{zookeeper_server.address}/{folder.name}"
    with Cluster(kafka, chroot, folder, size=1, settings=alike) as java:
        ours = BrokerProcess(folder / "ours", f"{chroot}-ours", 1, settings + LONG_SESSION)
        with two_alike(java, ours, TOPICS) as both_places:
            yield both_places
    shutil.rmtree(folder)


@pytest.fixture
async def both(places: tuple[str, str]) -> AsyncIterator[Both]:
    async with connected(*places) as connections:
        yield Both(*connections)


def random_set(dice: random.Random, codecs: tuple[Codec, ...]) -> bytes:
    """Records as some producer sends them, sometimes damaged, or what no producer sends."""
    magic = dice.choice((0, 1, 2))
    codec = dice.choice(codecs)
    if codec is Codec.ZSTD:
        magic = 2
    times = dice.choice(((1000, 900, -1), (-1, -1, -1), (7, 8, 9)))
    keys = (b"k", b"k", b"k", None)
    records = [
        Record(number, times[number], dice.choice(keys), dice.choice((b"v" * dice.randint(0, 60), None)))
        for number in range(dice.randint(1, 3))
    ]
    append_time_ms = dice.choice((None, None, None, None, 5, -1))
    if magic == 2:
        producer = dice.choice((None, None, Producer(dice.randint(10**6, 10**9), 0, 0)))
        data = encode_batch(records, codec=codec, producer=producer, append_time_ms=append_time_ms)
    else:
        data = encode_message_set(records, magic, codec, append_time_ms if magic else None)
    return damaged(dice, data)


def damaged(dice: random.Random, data: bytes) -> bytes:
    way = dice.choice(("not", "not", "not", "cut", "flipped", "twice", "two formats", "nothing"))
    if way == "cut":
        return data[: dice.randrange(len(data))]
    if way == "flipped":
        place = dice.randrange(len(data))
        return data[:place] + bytes([data[place] ^ 1 << dice.randrange(8)]) + data[place + 1 :]
    if way == "twice":
        return data + data
    if way == "two formats":
        return data + encode_message_set([Record(0, 5, b"k", b"v")], dice.choice((0, 1)))
    return b"" if way == "nothing" else data


async def produce(both: Both, version: int, topic: str, data: bytes) -> tuple[Any, Any]:
    """Errors and offsets."""
    module: Any = shapes(PRODUCE, version, "request")
    part = module.PartitionProduceData(index=0, records=data)
    request = shaped(
        module.ProduceRequest,
        transactional_id=None,
        acks=-1,
        timeout=timedelta(seconds=30),
        topic_data=(module.TopicProduceData(name=topic, partition_data=(part,)),),
    )
    told = [answer.responses[0].partition_responses[0] for answer in await both.ask(request)]
    theirs, ours = ((each.error_code.name, each.base_offset) for each in told)
    return theirs, ours


async def fetch(both: Both, version: int, topic: str, **limits: int) -> tuple[Any, Any]:
    """Errors, high watermarks and records."""
    module: Any = shapes(FETCH, version, "request")
    part = shaped(
        module.FetchPartition,
        partition=0,
        fetch_offset=limits["offset"],
        partition_max_bytes=limits["partition_max_bytes"],
        current_leader_epoch=-1,
        log_start_offset=-1,
    )
    request = shaped(
        module.FetchRequest,
        replica_id=-1,
        max_wait=timedelta(0),
        min_bytes=0,
        max_bytes=limits["max_bytes"],
        isolation_level=0,
        session_id=0,
        session_epoch=-1,
        forgotten_topics_data=(),
        rack_id="",
        topics=(module.FetchTopic(topic=topic, partitions=(part,)),),
    )
    told = [answer.responses[0].partitions[0] for answer in await both.ask(request)]
    theirs, ours = ((each.error_code.name, each.high_watermark, each.records or b"") for each in told)
    return theirs, ours


def contents(data: bytes) -> list[object]:
    """What whole entries say, however they are compressed."""
    entries = [each for each in scan(data) if isinstance(each, RecordBatch)]
    return [
        (each.magic, each.attributes, each.max_timestamp, each.last_offset, each.producer_id, list(_plain(data, each)))
        for each in entries
    ]


def _plain(data: bytes, batch: RecordBatch) -> Iterator[tuple[object, ...]]:
    for record in records_of(data, batch):
        assert isinstance(record, Record)
        yield record.offset, record.timestamp, record.key, record.value


@pytest.mark.parametrize("topic", list(TOPICS))
async def test_produced_and_fetched_alike(topic: str, both: Both) -> None:
    dice = random.Random(topic)
    codecs = (Codec.NONE,) if topic == "plain" else tuple(Codec)
    end = 0
    for _ in range(STEPS):
        version, data = dice.choice((0, 1, 2, 0, 1, 2, 3, 7)), random_set(dice, codecs)
        theirs, ours = await produce(both, version, topic, data)
        assert ours == theirs, (version, data.hex())
        if theirs[0] == "none" and theirs[1] >= 0:
            end = theirs[1] + 1
    assert end > 0
    for _ in range(STEPS):
        version, offset = dice.choice((0, 1, 2, 3, 4, 11)), dice.randint(0, end + 1)
        small = topic in ("plain", "closed") and version < 4
        most = (dice.choice((dice.randint(0, 400), 10**6)) for _ in range(2)) if small else (10**6, 10**6)
        limits = dict(zip(("max_bytes", "partition_max_bytes"), most, strict=True))
        theirs, ours = await fetch(both, version, topic, offset=offset, **limits)
        assert ours[:2] == theirs[:2], (version, offset, limits)
        if topic == "plain":
            assert ours[2].hex() == theirs[2].hex(), (version, offset, limits)
        assert contents(ours[2]) == contents(theirs[2]), (version, offset, limits)


async def test_offsets_as_version_0_tells_them(both: Both) -> None:
    module: Any = shapes(LIST_OFFSETS, 0, "request")
    for timestamp in (-1, -2, -3, 5, 2**62):
        for most in (0, 1, 5):
            part = module.ListOffsetsPartition(partition_index=0, timestamp=timestamp, max_num_offsets=most)
            topic = module.ListOffsetsTopic(name="plain", partitions=(part,))
            answers = await both.ask(module.ListOffsetsRequest(replica_id=-1, topics=(topic,)))
            told = [answer.topics[0].partitions[0] for answer in answers]
            theirs, ours = ((each.error_code.name, each.old_style_offsets) for each in told)
            assert ours == theirs, (timestamp, most)


async def test_the_same_versions_are_served(both: Both) -> None:
    ours = both.ours.versions
    assert ours == {key: both.theirs.versions[key] for key in ours}
