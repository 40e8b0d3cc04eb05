"""The topics that a sandbox begins with: created, and awaited until they have leaders; none is changed or deleted."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta

import msgspec
from kio.schema.errors import ErrorCode

from model.hosts.kafka_client import NOBODY, KafkaClient
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ApiKey, WireError
from model.sandbox.options import SandboxOptions
from model.sandbox.processes import SandboxError

TOPICS_TIMEOUT_S = 60.0
TOPICS_PAUSE_S = 0.02


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
        async with asyncio.timeout(TOPICS_TIMEOUT_S):
            while True:
                try:
                    if await _are_led(client, topics):
                        return
                    reason = await _ask_for_topics(client, topics) or "not every partition has a leader"
                except WireError as error:
                    reason = str(error)
                await asyncio.sleep(TOPICS_PAUSE_S)
    except TimeoutError:
        raise SandboxError(f"the topics were not there within {TOPICS_TIMEOUT_S:.0f} s: {reason}") from None


async def _are_led(client: KafkaClient, topics: Sequence[NewTopic]) -> bool:
    """Whether all brokers are known, and a broker knows a leader for every partition."""
    metadata = await client.refresh()
    led = {partition for partition, leader in metadata.leaders() if leader != NOBODY}
    return all((topic.name, number) in led for topic in topics for number in range(topic.partitions))


async def _ask_for_topics(client: KafkaClient, topics: Sequence[NewTopic]) -> str:
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
    module = connection.request_shapes(ApiKey.CREATE_TOPICS)
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
    timeout = timedelta(seconds=TOPICS_TIMEOUT_S / 2)
    return shaped(module.CreateTopicsRequest, topics=wanted, timeout=timeout, validate_only=False)


SMALL_SET = {"orders": 6, "payments": 6, "shipments": 4, "customers": 3}
"""Names and partitions."""
TOPIC_CONFIGS = {"customers": {"cleanup.policy": "compact"}}
PARTITIONS = 6


def first_topics(options: SandboxOptions) -> tuple[NewTopic, ...]:
    """As many as asked for, `topic-1` and so on, or the small set; three replicas where there are as many brokers."""
    replicas = min(3, options.brokers)
    if options.topics is not None:
        partitions = PARTITIONS if options.partitions is None else options.partitions
        width = len(str(options.topics))
        names = (f"topic-{number:0{width}}" for number in range(1, options.topics + 1))
        return tuple(NewTopic(name, partitions, replicas) for name in names)
    return tuple(
        NewTopic(
            name,
            partitions if options.partitions is None else options.partitions,
            replicas,
            TOPIC_CONFIGS.get(name, {}),
        )
        for name, partitions in SMALL_SET.items()
    )
