"""What may change a cluster is refused before it is sent."""

from __future__ import annotations

from collections import Counter

import pytest

from model.hosts.kafka_client import READS, NotAReadError, ReadingClient
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Encoded, Entity, shaped
from model.hosts.wire.names import ApiKey
from tests.model.hosts.live_broker.groups.asking import broker
from tests.model.sources.coordinator_groups.test_source import cluster

APIS = {key.name: key for key in ApiKey}
WRITES = {name: key for name, key in APIS.items() if key not in READS}


def test_no_api_that_writes_is_among_the_reads() -> None:
    assert {name for name, key in APIS.items() if key in READS} == {
        "FETCH", "LIST_OFFSETS", "METADATA", "OFFSET_FETCH", "DESCRIBE_GROUPS", "LIST_GROUPS", "DESCRIBE_CONFIGS",
        "DESCRIBE_LOG_DIRS", "LIST_PARTITION_REASSIGNMENTS", "DESCRIBE_QUORUM", "CONSUMER_GROUP_DESCRIBE",
        "SHARE_GROUP_DESCRIBE", "DESCRIBE_CLUSTER", "DESCRIBE_TOPIC_PARTITIONS",
    }  # fmt: skip


async def test_nothing_else_is_sent() -> None:
    asked: Counter[int] = Counter()

    def creating(connection: Connection) -> Entity:
        module = connection.request_shapes(ApiKey.METADATA)
        flags = {"include_cluster_authorized_operations": False, "include_topic_authorized_operations": False}
        return shaped(module.MetadataRequest, topics=(), allow_auto_topic_creation=True, **flags)

    async with broker() as here, cluster(here, asked=asked) as port:
        client = ReadingClient([("127.0.0.1", port)], "test", 60)
        try:
            await client.refresh(None)
            assert asked == {ApiKey.METADATA: 1}
            for key in WRITES.values():
                with pytest.raises(NotAReadError):
                    await client.ask(1, lambda _, key=key: Encoded(key, 0, b""))
            with pytest.raises(NotAReadError):
                await client.ask(1, creating)
            with pytest.raises(NotAReadError):
                await client.ask(1, lambda _: Encoded(ApiKey.METADATA, 1, b""))
        finally:
            await client.close()
    assert asked == {ApiKey.METADATA: 1}
