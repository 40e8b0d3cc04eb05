"""Topics that are made because somebody asks for them: by clients' Metadata requests, and for the group coordinator.

Source: `kafka.server.DefaultAutoTopicCreationManager` (3.9).
"""

import logging
from collections.abc import Callable

from model.broker.settings.client_keys import (
    OFFSETS_TOPIC_NUM_PARTITIONS,
    OFFSETS_TOPIC_REPLICATION_FACTOR,
    OFFSETS_TOPIC_SEGMENT_BYTES,
)
from model.broker.settings.settings import Settings
from model.cluster.ids import OFFSETS_TOPIC
from model.controller.refusal import Refusal
from model.controller.validation import BROKER_DEFAULT
from model.hosts.live_broker.admin_apis.topic_creation import WantedTopic
from model.hosts.live_broker.admin_apis.topic_maker import TopicMaker

_LOGGER = logging.getLogger(__name__)


class AutoTopics:
    """One attempt for each name at a time."""

    def __init__(self, maker: TopicMaker, settings: Callable[[], Settings]) -> None:
        self._maker = maker
        self._settings = settings
        self._under_way: set[str] = set()

    async def create(self, name: str) -> str:
        """The name of the error that clients are told meanwhile: LEADER_NOT_AVAILABLE if it is made or was there."""
        if name in self._under_way:
            return "LEADER_NOT_AVAILABLE"
        self._under_way.add(name)
        try:
            _, made = await self._maker.make(self._wanted(name), dry=False)
        finally:
            self._under_way.discard(name)
        if not isinstance(made, Refusal):
            _LOGGER.info("topic %s is made, for somebody asked for it", name)
        elif made.error != "TOPIC_ALREADY_EXISTS":
            _LOGGER.warning("topic %s is not made: %s", name, made.message)
            return made.error
        return "LEADER_NOT_AVAILABLE"

    def _wanted(self, name: str) -> WantedTopic:
        settings = self._settings()
        if name != OFFSETS_TOPIC:
            return WantedTopic(name, BROKER_DEFAULT, BROKER_DEFAULT, {}, {})
        config = {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(settings[OFFSETS_TOPIC_SEGMENT_BYTES]),
        }
        partitions, factor = settings[OFFSETS_TOPIC_NUM_PARTITIONS], settings[OFFSETS_TOPIC_REPLICATION_FACTOR]
        return WantedTopic(name, partitions, factor, {}, config)
