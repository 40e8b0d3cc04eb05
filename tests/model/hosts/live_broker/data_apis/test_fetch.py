"""Fetch over the wire: waiting, limits, sessions, isolation, topic ids, errors."""

from __future__ import annotations

import asyncio
import time
import uuid

import pytest
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.log.producers import Origin
from model.log.records import Codec, EndTransactionMarker, Producer, Record, RecordBatch, encode_batch, scan
from tests.harness.live_brokers import Cluster, batch
from tests.model.hosts.live_broker.data_apis.asking import connected, fetch_request, partitions_of
from tests.model.log.batches import encode_end_transaction_marker

ORDERS = TopicPartition("orders", 0)
OTHER = TopicPartition("orders", 1)


@pytest.fixture
async def cluster(cluster: Cluster) -> Cluster:
    await cluster.start(1)
    await cluster.create("orders", (1,), (1,))
    return cluster


async def test_every_version_gets_the_records(cluster: Cluster) -> None:
    await cluster.produce(ORDERS, "a", "b")
    async with connected(cluster, 1) as connection:
        for version in range(4, 18):
            response = await connection.ask(fetch_request(cluster, ("orders", 0, 0), version=version))
            (found,) = partitions_of(response)
            assert found.error_code is ErrorCode.none, version
            assert found.records == cluster.nodes[1].log_bytes(ORDERS)
            assert (found.high_watermark, found.last_stable_offset) == (2, 2)


@pytest.mark.parametrize("version", range(4))
async def test_old_readers_get_records_in_a_format_that_they_know(cluster: Cluster, version: int) -> None:
    await cluster.produce(ORDERS, "a", "b")
    await cluster.produce(ORDERS, "c")
    magic = version // 2
    async with connected(cluster, 1) as connection:
        (found,) = partitions_of(await connection.ask(fetch_request(cluster, ("orders", 0, 1), version=version)))
        assert (found.error_code, found.high_watermark) == (ErrorCode.none, 3)
        entries = [each for each in scan(found.records) if isinstance(each, RecordBatch)]
        assert [(each.magic, each.base_offset) for each in entries] == [(magic, 1), (magic, 2)]
        (none,) = partitions_of(await connection.ask(fetch_request(cluster, ("orders", 0, 3), version=version)))
        assert (none.error_code, none.records) == (ErrorCode.none, b"")


async def test_limits_of_old_readers_are_hard_until_v3(cluster: Cluster) -> None:
    for name in (ORDERS, OTHER):
        await cluster.produce(name, "x" * 1000)
        await cluster.produce(name, "y" * 1000)
    both = ("orders", 0, 0), ("orders", 1, 0)
    async with connected(cluster, 1) as connection:

        async def sizes(version: int, **limits: int) -> list[int]:
            answer = await connection.ask(fetch_request(cluster, *both, version=version, **limits))
            return [len(each.records) for each in partitions_of(answer)]

        stored = len(batch("x" * 1000))
        assert await sizes(2, partition_max_bytes=100) == [0, 0]
        assert await sizes(2, partition_max_bytes=stored + 50) == [stored + 50] * 2
        assert await sizes(3, partition_max_bytes=100) == [stored, 0]
        assert await sizes(3, max_bytes=stored + 50) == [stored + 50, 0]
        assert await sizes(3, max_bytes=10) == [stored, 0]


async def test_old_messages_are_cut_off_where_the_limit_is(cluster: Cluster) -> None:
    cluster.settings = {"inter.broker.protocol.version": "0.10.2"}
    await cluster.start(2)
    await cluster.create("old", (2,))
    await cluster.nodes[2].replicas.append({TopicPartition("old", 0): batch("x" * 1000)}, acks=1, timeout_ms=1000)
    async with connected(cluster, 2) as connection:
        for version, size in ((2, 100), (3, 1034)):
            asked = fetch_request(cluster, ("old", 0, 0), version=version, partition_max_bytes=100)
            (found,) = partitions_of(await connection.ask(asked))
            assert (found.error_code, len(found.records), found.records[16]) == (ErrorCode.none, size, 1)


@pytest.mark.parametrize(
    ("config", "version", "error"),
    [
        ({"compression.type": "zstd"}, 9, ErrorCode.unsupported_compression_type),
        ({"compression.type": "zstd"}, 10, ErrorCode.none),
        ({"message.downconversion.enable": "false"}, 3, ErrorCode.unsupported_version),
        ({"message.downconversion.enable": "false"}, 4, ErrorCode.none),
    ],
)
async def test_what_a_topic_is_set_to_may_keep_old_readers_out(
    cluster: Cluster, config: dict[str, str], version: int, error: ErrorCode
) -> None:
    await cluster.produce(ORDERS, "a")
    cluster.nodes[1].replicas.apply_topic_config("orders", config)
    async with connected(cluster, 1) as connection:
        (found,) = partitions_of(await connection.ask(fetch_request(cluster, ("orders", 0, 0), version=version)))
    assert found.error_code is error
    assert bool(found.records) is (error is ErrorCode.none)


async def test_zstd_is_an_error_for_who_does_not_know_it(cluster: Cluster) -> None:
    zstd = bytes(encode_batch([Record(0, 5, None, b"z")], codec=Codec.ZSTD))
    await cluster.nodes[1].replicas.append({ORDERS: zstd}, acks=1, timeout_ms=1000)
    async with connected(cluster, 1) as connection:
        (found,) = partitions_of(await connection.ask(fetch_request(cluster, ("orders", 0, 0), version=2)))
    assert (found.error_code, found.records) == (ErrorCode.unsupported_compression_type, b"")


async def test_a_fetch_waits_for_records_and_no_longer_than_it_wants(cluster: Cluster) -> None:
    async with connected(cluster, 1) as connection:
        began = time.monotonic()
        response = await connection.ask(fetch_request(cluster, ("orders", 0, 0), max_wait_ms=150))
        assert time.monotonic() - began >= 0.149, "the broker's clock counts whole ms"
        assert partitions_of(response)[0].records == b""
        waiting = asyncio.create_task(
            connection.ask(fetch_request(cluster, ("orders", 0, 0), max_wait_ms=100_000, min_bytes=100))
        )
        await cluster.produce(ORDERS, "a")
        await cluster.produce(ORDERS, "b" * 100)
        response = await waiting
    assert partitions_of(response)[0].records == cluster.nodes[1].log_bytes(ORDERS)


async def test_a_batch_that_is_too_large_comes_all_the_same_if_it_is_the_first(cluster: Cluster) -> None:
    for name in (ORDERS, OTHER):
        await cluster.produce(name, "x" * 1000)
        await cluster.produce(name, "y" * 1000)
    async with connected(cluster, 1) as connection:
        asked = fetch_request(cluster, ("orders", 0, 0), ("orders", 1, 0), partition_max_bytes=10)
        first, second = partitions_of(await connection.ask(asked))
        assert 1000 < len(first.records) < 2000
        assert second.records == b""
        asked = fetch_request(cluster, ("orders", 0, 0), ("orders", 1, 0), max_bytes=2500)
        first, second = partitions_of(await connection.ask(asked))
        assert 2000 < len(first.records) < 2500
        assert second.records == b""


async def test_a_session_is_told_only_what_is_new(cluster: Cluster) -> None:
    await cluster.produce(ORDERS, "a")
    async with connected(cluster, 1) as connection:
        begun = await connection.ask(fetch_request(cluster, ("orders", 0, 0), ("orders", 1, 0), session=(0, 0)))
        assert begun.session_id > 0
        assert len(partitions_of(begun)) == 2
        on = (begun.session_id, 1)
        again = await connection.ask(fetch_request(cluster, session=on))
        assert [each.partition_index for each in partitions_of(again)] == [0]  # it was not said to have arrived
        asked = fetch_request(cluster, ("orders", 0, 1), session=(begun.session_id, 2))
        assert partitions_of(await connection.ask(asked)) == []
        await cluster.produce(OTHER, "b")
        (found,) = partitions_of(await connection.ask(fetch_request(cluster, session=(begun.session_id, 3))))
        assert (found.partition_index, found.records) == (1, cluster.nodes[1].log_bytes(OTHER))
        asked = fetch_request(cluster, session=(begun.session_id, 4), forgotten=[("orders", 1)])
        assert partitions_of(await connection.ask(asked)) == []
        wrong = await connection.ask(fetch_request(cluster, session=(begun.session_id, 9)))
        assert wrong.error_code is ErrorCode.invalid_fetch_session_epoch
        ended = await connection.ask(fetch_request(cluster, ("orders", 0, 0), session=(begun.session_id, -1)))
        assert (ended.session_id, len(partitions_of(ended))) == (0, 1)
        gone = await connection.ask(fetch_request(cluster, session=(begun.session_id, 5)))
        assert gone.error_code is ErrorCode.fetch_session_id_not_found


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"offsets": ("orders", 0, 9)}, ErrorCode.offset_out_of_range),
        ({"offsets": ("orders", 7, 0)}, ErrorCode.unknown_topic_or_partition),
        ({"topic_id": uuid.UUID(int=77)}, ErrorCode.unknown_topic_id),
        ({"leader_epoch": 5}, ErrorCode.unknown_leader_epoch),
    ],
)
async def test_what_cannot_be_read_has_its_error(
    cluster: Cluster, changes: dict[str, object], error: ErrorCode
) -> None:
    changes = dict(changes)
    offsets = changes.pop("offsets", ("orders", 0, 0))
    async with connected(cluster, 1) as connection:
        asked = fetch_request(cluster, offsets, max_wait_ms=100_000, **changes)  # type: ignore[arg-type]
        (found,) = partitions_of(await connection.ask(asked))
    assert found.error_code is error


async def test_an_older_leader_epoch_is_fenced(cluster: Cluster) -> None:
    await cluster.elect(ORDERS, 1)
    async with connected(cluster, 1) as connection:
        (found,) = partitions_of(await connection.ask(fetch_request(cluster, ("orders", 0, 0), leader_epoch=0)))
    assert found.error_code is ErrorCode.fenced_leader_epoch


async def test_a_follower_whose_log_parts_from_this_one_is_told_where(cluster: Cluster) -> None:
    await cluster.start(2)
    cluster.replicas[ORDERS] = (1, 2)
    await cluster.produce(ORDERS, "a")
    await cluster.elect(ORDERS, 1, (1,))
    await cluster.elect(ORDERS, 1, (1,))
    await cluster.produce(ORDERS, "b")
    async with connected(cluster, 1) as connection:
        asked = fetch_request(
            cluster, ("orders", 0, 3), version=12, replica=2, leader_epoch=2, last_fetched_epoch=1, max_wait_ms=100_000
        )
        (found,) = partitions_of(await connection.ask(asked))
    assert found.error_code is ErrorCode.none
    assert (found.diverging_epoch.epoch, found.diverging_epoch.end_offset) == (0, 1)


async def test_readers_of_committed_records_stop_at_an_open_transaction(cluster: Cluster) -> None:
    replicas = cluster.nodes[1].replicas
    producer = Producer(5, 0, 0, transactional=True)
    record = Record(0, 1_700_000_000_000, None, b"maybe")
    await cluster.produce(ORDERS, "sure")
    open_one = bytes(encode_batch([record], producer=producer))
    await replicas.append({ORDERS: open_one}, acks=-1, timeout_ms=1000)
    async with connected(cluster, 1) as connection:

        async def committed(offset: int) -> tuple[int, int, list[int]]:
            asked = fetch_request(cluster, ("orders", 0, offset), isolation=1)
            (found,) = partitions_of(await connection.ask(asked))
            return found.last_stable_offset, len(found.records), [e.first_offset for e in found.aborted_transactions]

        size = len(batch("sure"))
        assert await committed(0) == (1, size, [])
        marker = EndTransactionMarker(committed=False, coordinator_epoch=0)
        ended = encode_end_transaction_marker(marker, Producer(5), offset=0, timestamp=1_700_000_000_001)
        await replicas.append({ORDERS: ended}, acks=-1, timeout_ms=1000, origin=Origin.COORDINATOR)
        stable, length, aborted = await committed(0)
    assert (stable, aborted) == (3, [1])
    assert length == len(cluster.nodes[1].log_bytes(ORDERS))
