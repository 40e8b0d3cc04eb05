"""Worked cases of old clients: what is sent to a broker, and its answers as lines, to be compared with a real 3.9.1's.

`ANSWERS` has what one said. Records are told as hexadecimal bytes; where they are compressed, or have the broker's
time, as what is in them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from model.hosts.wire.messages import shaped, shapes
from model.log.records import Codec, Producer, Record, RecordBatch, encode_batch, encode_message_set, scan
from tests.model.log.records.contents import records_in, sound

ANSWERS = Path(__file__).parents[1] / "data/broker/worked-cases-3.9.1.txt"
PRODUCE, FETCH, LIST_OFFSETS, METADATA, DELETE_RECORDS = 0, 1, 2, 3, 21
PLENTY = 1_000_000
SENT = (
    Record(0, 1000, b"a", b"A", headers=((b"h", b"1"),)),
    Record(1, 900, None, b"B"),
    Record(2, -1, b"c", None),
)
KEYED = [Record(number, 1000, b"k", b"v") for number in range(3)]
PLAIN = [Record(0, 1000, b"a", b"A"), Record(1, 900, None, b"B"), Record(2, -1, b"c", b"C")]


class Asked(Protocol):
    """A broker with the id 1."""

    async def make(self, topic: str, **config: str) -> None:
        """A topic of two partitions. Keys have _ for Kafka's dots."""
        ...

    async def make_with_dead_replicas(self, topic: str) -> None:
        """A partition on brokers 1, 2 and 3, of which the first is the only one there is; it leads."""
        ...

    async def ask(self, request: Any) -> Any: ...

    def segments(self, topic: str) -> Sequence[Path]:
        """The .log files of its first partition, in order."""
        ...


def rewritten(answers: Mapping[str, Sequence[str]]) -> str:
    return "".join(f"{name} {line}\n" for name, lines in answers.items() for line in lines)


def kept_answers() -> dict[str, list[str]]:
    kept: dict[str, list[str]] = {}
    for row in ANSWERS.read_text().splitlines():
        name, _, line = row.partition(" ")
        kept.setdefault(name, []).append(line)
    return kept


async def produce(side: Asked, topic: str, data: bytes, version: int = 2, number: int = 0) -> str:
    module: Any = shapes(PRODUCE, version, "request")
    part = module.PartitionProduceData(index=number, records=data)
    topics = (module.TopicProduceData(name=topic, partition_data=(part,)),)
    request = shaped(module.ProduceRequest, transactional_id=None, acks=-1, timeout=timedelta(0), topic_data=topics)
    (found,) = (await side.ask(request)).responses[0].partition_responses
    when = "" if getattr(found, "log_append_time", None) is None else ", with a time"
    return f"produced: {found.error_code.name} {found.base_offset}{when}"


async def fetch(
    side: Asked, topic: str, version: int, *offsets: int, size: int = PLENTY, tell: Callable[[bytes], str] = bytes.hex
) -> str:
    """From these offsets of its first partitions; `size` is what a partition may have."""
    module: Any = shapes(FETCH, version, "request")
    parts = tuple(
        shaped(
            module.FetchPartition,
            partition=number,
            fetch_offset=offset,
            partition_max_bytes=size,
            current_leader_epoch=-1,
            log_start_offset=-1,
        )
        for number, offset in enumerate(offsets)
    )
    request = shaped(
        module.FetchRequest,
        replica_id=-1,
        max_wait=timedelta(0),
        min_bytes=0,
        max_bytes=PLENTY,
        isolation_level=0,
        session_id=0,
        session_epoch=-1,
        forgotten_topics_data=(),
        rack_id="",
        topics=(module.FetchTopic(topic=topic, partitions=parts),),
    )
    found = (await side.ask(request)).responses[0].partitions
    return "fetched: " + ", ".join(f"{each.error_code.name} {tell(each.records or b'')}".strip() for each in found)


def contents(data: bytes) -> str:
    """Entries and records; the time of a broker is told as `now`.

    What is cut off is told by its size, where that does not depend on how well something was compressed.
    """
    found = [each for each in scan(data) if isinstance(each, RecordBatch)]
    whole = data[: found[-1].end if found else 0]
    entries = [
        f"v{each.magic} attributes {each.attributes} at {each.base_offset} until {each.last_offset} "
        f"latest {_time(each.max_timestamp)}"
        for each in found
    ]
    records = [f"{each.offset} {_time(each.timestamp)} {each.key} {each.value}" for each in records_in(whole)]
    is_cut_off = whole != data and {each.codec for each in found} <= {Codec.NONE}
    return "; ".join([*entries, *records, *([f"and {len(data) - len(whole)} bytes more"] if is_cut_off else [])])


def _time(time_ms: int) -> str:
    return "now" if time_ms > 1_600_000_000_000 else str(time_ms)


async def filled(side: Asked, topic: str, data: bytes, version: int = 3, **config: str) -> str:
    """The records come behind ten others."""
    await side.make(topic, **config)
    before = encode_batch([Record(number, 5, b"k", b"v") for number in range(10)])
    assert await produce(side, topic, before, 3) in ("produced: none 0", "produced: none 0, with a time")
    return await produce(side, topic, data, version)


# What is read in older formats.


async def plain(side: Asked) -> list[str]:
    """C1 to C4."""
    told = [await filled(side, "plain", bytes(encode_batch(SENT)))]
    for version, offset in ((2, 10), (2, 11), (0, 10), (2, 13), (1, 12), (3, 11)):
        told.append(await fetch(side, "plain", version, offset))
    return told


async def append_time(side: Asked) -> list[str]:
    """C5, C7."""
    told: list[str] = []
    for codec in (Codec.NONE, Codec.GZIP):
        topic, config = f"timed-{codec.name}", {"message_timestamp_type": "LogAppendTime"}
        told.append(await filled(side, topic, bytes(encode_batch(SENT, codec=codec)), 3, **config))
        told.append(await fetch(side, topic, 2, 10, tell=contents))
        told.append(await fetch(side, topic, 0, 10, tell=contents))
    return told


async def compressed(side: Asked) -> list[str]:
    """C6, C8."""
    told = [await filled(side, "packed", bytes(encode_batch(SENT, codec=Codec.GZIP)))]
    told.append(await fetch(side, "packed", 2, 11, tell=contents))
    told.append(await produce(side, "packed", bytes(encode_batch(SENT, codec=Codec.ZSTD)), 7))
    told += [await fetch(side, "packed", 2, offset, tell=contents) for offset in (10, 13)]
    return told


async def limits(side: Asked) -> list[str]:
    """C10, C11: a first batch that is larger than what a partition may have."""
    await side.make("large")
    large = bytes(encode_batch([Record(0, 5, b"k", b"v" * 300)]))
    told = [await produce(side, "large", large, 3, number) for number in (0, 1)]
    told += [await fetch(side, "large", version, 0, 0, size=100) for version in (0, 2, 3, 4)]
    return told


async def kept_out(side: Asked) -> list[str]:
    """C12, C13."""
    told = [await filled(side, "zstd", bytes(encode_batch(SENT)), compression_type="zstd")]
    told += [await fetch(side, "zstd", version, 10, tell=contents) for version in (3, 9, 10)]
    told.append(await filled(side, "closed", bytes(encode_batch(SENT)), message_downconversion_enable="false"))
    told += [await fetch(side, "closed", version, 10) for version in (0, 3, 4)]
    return told


# Other old requests.


async def offsets(side: Asked) -> list[str]:
    """C14, C15, where all is replicated; and the first offsets after some were deleted."""
    first = bytes(encode_batch([Record(number, 5, b"k", b"v" * 10) for number in range(50)]))
    await side.make("offsets", segment_bytes=str(len(first)))
    told = [await produce(side, "offsets", first, 3)]
    told.append(await produce(side, "offsets", bytes(encode_batch([Record(n, 5, b"k", b"v") for n in range(30)])), 3))
    for path, time_s in zip(side.segments("offsets"), (100, 200), strict=True):
        os.utime(path, (time_s, time_s))
    for timestamp, most in ((-1, 1), (-1, 10), (-2, 10), (150_000, 10), (99_000, 10), (-1, 0), (-3, 1)):
        told.append(await old_offsets(side, timestamp, most))
    module: Any = shapes(DELETE_RECORDS, 0, "request")
    part = module.DeleteRecordsPartition(partition_index=0, offset=20)
    topic = module.DeleteRecordsTopic(name="offsets", partitions=(part,))
    await side.ask(module.DeleteRecordsRequest(topics=(topic,), timeout=timedelta(seconds=60)))
    told.append(await old_offsets(side, -2, 1))
    return told


async def old_offsets(side: Asked, timestamp: int, most: int) -> str:
    module: Any = shapes(LIST_OFFSETS, 0, "request")
    part = module.ListOffsetsPartition(partition_index=0, timestamp=timestamp, max_num_offsets=most)
    topic = module.ListOffsetsTopic(name="offsets", partitions=(part,))
    (found,) = (await side.ask(module.ListOffsetsRequest(replica_id=-1, topics=(topic,)))).topics[0].partitions
    return f"offsets: {found.error_code.name} {found.old_style_offsets}"


async def metadata(side: Asked) -> list[str]:
    """C19."""
    await side.make_with_dead_replicas("lonely")
    told: list[str] = []
    for version in (0, 1):
        module: Any = shapes(METADATA, version, "request")
        request = module.MetadataRequest(topics=(module.MetadataRequestTopic(name="lonely"),))
        (part,) = (await side.ask(request)).topics[0].partitions
        replicas = f"replicas {part.replica_nodes}, isr {part.isr_nodes}"
        told.append(f"metadata: {part.error_code.name}, leader {part.leader_id}, {replicas}")
    return told


# What is produced in older formats.


async def stored(side: Asked, topic: str, data: bytes, version: int = 2, **config: str) -> list[str]:
    await side.make(topic, **config)
    is_exact = not config and Codec.NONE in {each.codec for each in sound(data)}
    told = [await produce(side, topic, data, version)]
    told.append(await fetch(side, topic, 4, 0, tell=_without_epoch if is_exact else contents))
    return told


def _without_epoch(data: bytes) -> str:
    """Which leader wrote a batch is not told."""
    return re.sub("^(.{24}).{8}", r"\1........", data.hex())


async def old_formats(side: Asked) -> list[str]:
    """C20 to C23, C27."""
    told = await stored(side, "v0", encode_message_set(PLAIN, 0))
    told += await stored(side, "v1", encode_message_set(PLAIN, 1))
    told += await stored(side, "v1-timed", encode_message_set(PLAIN, 1), message_timestamp_type="LogAppendTime")
    told += await stored(side, "v0-packed", encode_message_set(PLAIN, 0, Codec.GZIP))
    told += await stored(side, "v1-gzipped", encode_message_set(PLAIN, 1), compression_type="gzip")
    told += await stored(side, "v1-compacted", encode_message_set(PLAIN, 1), cleanup_policy="compact")
    told += await stored(side, "v1-keyed", encode_message_set(KEYED, 1), cleanup_policy="compact")
    return told


async def old_topics(side: Asked) -> list[str]:
    """C24 to C26, on a broker whose inter.broker.protocol.version is 2.8."""
    one, zero = {"message_format_version": "0.10.2"}, {"message_format_version": "0.9.0"}
    told = await stored(side, "old-packed", encode_message_set(PLAIN, 1, Codec.GZIP), 2, **one)
    told += await stored(side, "old-v2", bytes(encode_batch(PLAIN)), 3, **one)
    told += await stored(side, "older-v2", bytes(encode_batch(PLAIN)), 3, **zero)
    told += await stored(side, "old-sequence", bytes(encode_batch(PLAIN, producer=Producer(5, 0, 0))), 3, **one)
    return told


Case = Callable[[Asked], Awaitable[list[str]]]
CASES: Mapping[str, Case] = MappingProxyType(
    {
        each.__name__: each
        for each in (plain, append_time, compressed, limits, kept_out, offsets, metadata, old_formats, old_topics)
    }
)
OF_2_8 = {"old_topics"}
"""Those for brokers with inter.broker.protocol.version=2.8."""
