"""What a topic's own configuration changes in the settings of its broker.

Source: `LogConfig`, `ServerTopicConfigSynonyms` (3.9).
"""

from collections.abc import Mapping
from typing import NamedTuple

from model.broker.settings.catalogue import TOPIC_KEYS, remark_on
from model.broker.settings.kinds import as_text
from model.broker.settings.settings import Settings


class TopicSettings(NamedTuple):
    """`refusals`: values that are none, which keep what the broker is set to. `remarks`: keys without effect."""

    settings: Settings
    refusals: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def settings_of_topic(broker: Settings, config: Mapping[str, str]) -> TopicSettings:
    """The broker's settings with a topic's configuration over them, as `/config/topics/…` has it."""
    values: dict[str, object] = {}
    refusals: list[str] = []
    for name, text in config.items():
        key = TOPIC_KEYS.get(name)
        if key is not None:
            try:
                values[key.name] = key.read(text, name)
            except ValueError as error:
                refusals.append(str(error))
    remarks = [remark for name in config if (remark := remark_on(name, of_topic=True))]
    return TopicSettings(broker.with_values(values), tuple(refusals), tuple(remarks))


def topic_defaults(broker: Settings) -> dict[str, str]:
    """The configuration that a topic without any has, by the names of topics, as text."""
    derived = {"retention.ms": broker.retention_ms, "segment.ms": broker.roll_ms}
    return {name: as_text(derived.get(name, broker[key])) for name, key in TOPIC_KEYS.items()}
