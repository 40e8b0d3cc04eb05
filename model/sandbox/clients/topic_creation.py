"""Creates topics on a cluster and waits until they have leaders. It changes and deletes none."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta

import msgspec
from kio.schema.errors import ErrorCode

from model.hosts.kafka_client.kafka_client import KafkaClient
from model.hosts.kafka_client.metadata import NOBODY
from model.hosts.wire.api_keys import CREATE_TOPICS
from model.hosts.wire.connection import Connection
from model.hosts.wire.errors import WireError
from model.hosts.wire.messages import Entity, shaped, shapes
from model.sandbox.errors import SandboxError

TIMEOUT_S = 60.0
PAUSE_S = 0.02


class NewTopic(msgspec.Struct, frozen=True):
    """A topic that is to be."""

    name: str
    partitions: int
    replicas: int
    config: Mapping[str, str] = {}


async def create_topics(client: KafkaClient, topics: Sequence[NewTopic]) -> None:
    """Create those that are not there, and wait until every partition of them is led. Raises SandboxError."""
    reason = "nobody was asked"
    try:
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                try:
                    if await _are_led(client, topics):
                        return
                    reason = await _ask(client, topics) or "not every partition has a leader"
                except WireError as error:
                    reason = str(error)
                await asyncio.sleep(PAUSE_S)
    except TimeoutError:
        raise SandboxError(f"the topics were not there within {TIMEOUT_S:.0f} s: {reason}") from None


async def _are_led(client: KafkaClient, topics: Sequence[NewTopic]) -> bool:
    """Whether all brokers are known, and a broker knows a leader for every partition."""
    metadata = await client.refresh()
    led = {partition for partition, leader in metadata.leaders() if leader != NOBODY}
    return all((topic.name, number) in led for topic in topics for number in range(topic.partitions))


async def _ask(client: KafkaClient, topics: Sequence[NewTopic]) -> str:
    """What went wrong, empty if nothing did. Topics that exist are right."""
    known = {partition.topic for partition in client.metadata.partitions}
    missing = [topic for topic in topics if topic.name not in known]
    if not missing:
        return ""
    response = await client.ask(client.metadata.controller, lambda connection: _request(connection, missing))
    wrong = [
        f"{each.name}: {each.error_code.name.upper()} {getattr(each, 'error_message', None) or ''}".rstrip()
        for each in response.topics
        if each.error_code not in (ErrorCode.none, ErrorCode.topic_already_exists)
    ]
    return "; ".join(wrong[:3])


def _request(connection: Connection, topics: Sequence[NewTopic]) -> Entity:
    module = shapes(CREATE_TOPICS, connection.newest(CREATE_TOPICS), "request")
    wanted = tuple(
        module.CreatableTopic(
            name=topic.name,
            num_partitions=topic.partitions,
            replication_factor=topic.replicas,
            assignments=(),
            configs=tuple(
                shaped(module.CreatableTopicConfig, name=name, value=value) for name, value in topic.config.items()
            ),
        )
        for topic in topics
    )
    timeout = timedelta(seconds=TIMEOUT_S / 2)
    return shaped(module.CreateTopicsRequest, topics=wanted, timeout=timeout, validate_only=False)
