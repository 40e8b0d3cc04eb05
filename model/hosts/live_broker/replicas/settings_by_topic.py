"""What each topic is set to: the broker's settings with the topic's own configuration over them. It asks nobody."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from model.broker.partition.conditions import ReplicationSettings
from model.broker.settings.log_keys import PRODUCER_ID_EXPIRATION_MS
from model.broker.settings.parts import replication_settings
from model.broker.settings.settings import Settings
from model.broker.settings.topic_settings import settings_of_topic, topic_defaults
from model.log.settings import LogSettings, log_settings

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class TopicParts:
    """What the parts of a broker are set to for one topic."""

    settings: Settings
    log: LogSettings
    replication: ReplicationSettings


class SettingsByTopic:
    """Topics without a configuration of their own share one value."""

    def __init__(self, broker: Settings) -> None:
        self.broker = broker
        self._configs: dict[str, Mapping[str, str]] = {}
        self._default = _parts(broker, {})
        self._own: dict[str, TopicParts] = {}

    def of(self, topic: str) -> TopicParts:
        """What holds for a topic."""
        return self._own.get(topic, self._default)

    def knows(self, topic: str) -> bool:
        """Whether the configuration of a topic was told."""
        return topic in self._configs

    def configure(self, topic: str, config: Mapping[str, str]) -> bool:
        """Take in a topic's configuration; returns whether it differs from before."""
        if self._configs.get(topic) == config:
            return False
        had_none = not self._configs.get(topic)
        self._configs[topic] = dict(config)
        self._own.pop(topic, None)
        if config:
            self._own[topic] = _parts(self.broker, config, topic)
        return not (had_none and not config)

    def forget(self, topic: str) -> None:
        """The topic is gone."""
        self._configs.pop(topic, None)
        self._own.pop(topic, None)

    def set_broker(self, broker: Settings) -> None:
        """Other settings of the broker."""
        self.broker = broker
        self._default = _parts(broker, {})
        self._own = {topic: _parts(broker, config, topic) for topic, config in self._configs.items() if config}


def _parts(broker: Settings, config: Mapping[str, str], topic: str = "") -> TopicParts:
    read = settings_of_topic(broker, config)
    for line in (*read.refusals, *read.remarks):
        _LOGGER.warning("topic %s: %s", topic, line)
    log = log_settings(topic_defaults(read.settings))
    log = replace(log, producer_id_expiration_ms=broker[PRODUCER_ID_EXPIRATION_MS])
    return TopicParts(read.settings, log, replication_settings(read.settings))
