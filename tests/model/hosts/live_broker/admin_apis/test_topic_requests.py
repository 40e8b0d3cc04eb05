"""DeleteTopics where delete.topic.enable is false."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from model.hosts.live_broker.apis.topic_requests import TopicRequests
from model.hosts.live_broker.parts import MetadataCache
from model.hosts.wire.messages import shaped, shapes
from tests.harness.live_brokers import no_zookeeper, served

DELETE_TOPICS = 20


@pytest.mark.parametrize("version", range(7))
async def test_what_is_not_allowed_is_told_as_each_client_knows_it(version: int) -> None:
    context: Any = SimpleNamespace(active=True, settings=SimpleNamespace(delete_topic_enable=False))
    maker: Any = None
    requests = TopicRequests(maker, no_zookeeper, lambda: context, MetadataCache())
    values: dict[str, Any] = {"topic_names": ("orders",)}
    if version >= 6:
        topic = shapes(DELETE_TOPICS, version, "request").DeleteTopicState
        values = {"topics": (shaped(topic, name="orders", topic_id=None),)}
    async with served(requests.apis) as ask:
        answer = await ask(DELETE_TOPICS, version, "DeleteTopicsRequest", timeout=timedelta(seconds=1), **values)
    (told,) = answer.responses
    assert told.error_code.name == ("invalid_request" if version < 3 else "topic_deletion_disabled")
