"""Where a setting's value comes from, and what altering a configuration comes to (KIP-226, KIP-339)."""

from __future__ import annotations

import pytest

from model.broker.settings.catalogue import TOPIC_KEYS
from model.broker.settings.dynamic_configs import (
    Alteration,
    ConfigEntry,
    Operation,
    SettingsInLayers,
    Source,
    altered,
    broker_config_problem,
    topic_config_problem,
)
from model.broker.settings.keys import BROKER_ID, LOG_RETENTION_HOURS, MESSAGE_MAX_BYTES
from model.broker.settings.settings import Settings
from model.controller.refusal import Refusal

NOTHING = SettingsInLayers(Settings())


def entry(entries: tuple[ConfigEntry, ...], name: str) -> ConfigEntry:
    return next(each for each in entries if each.name == name)


def told(entry: ConfigEntry) -> list[str]:
    """As ConfigCommand prints synonyms."""
    return [f"{each.source.name}:{each.name}={each.value}" for each in entry.synonyms]


def test_the_strongest_layer_holds() -> None:
    static = Settings({MESSAGE_MAX_BYTES.name: 1})
    layers = SettingsInLayers(static, {"message.max.bytes": "2", "log.retention.ms": "9"}, {"message.max.bytes": "3"})
    assert layers.effective[MESSAGE_MAX_BYTES] == 3
    assert layers.effective.retention_ms == 9
    found = entry(layers.describe_topic({"max.message.bytes": "4"}), "max.message.bytes")
    assert (found.value, found.source, found.type) == ("4", Source.TOPIC, "INT")
    assert told(found) == [
        "TOPIC:max.message.bytes=4",
        "DYNAMIC_BROKER:message.max.bytes=3",
        "DYNAMIC_DEFAULT_BROKER:message.max.bytes=2",
        "STATIC_BROKER:message.max.bytes=1",
        "DEFAULT:message.max.bytes=1048588",
    ]


def test_what_cannot_be_set_on_brokers_that_run_has_no_effect_there() -> None:
    layers = SettingsInLayers(Settings(), {"broker.id": "7", "message.max.bytes": "many"}, {"no.key": "1"})
    assert layers.effective == Settings()
    assert layers.effective[BROKER_ID] == -1


def test_a_broker_and_the_defaults_of_all_brokers() -> None:
    layers = SettingsInLayers(Settings({"broker.id": 1}), {"message.max.bytes": "2"})
    broker = layers.describe_broker()
    assert entry(broker, "broker.id").read_only and not entry(broker, "message.max.bytes").read_only
    assert (entry(broker, "broker.id").value, entry(broker, "broker.id").source) == ("1", Source.STATIC_BROKER)
    assert entry(broker, "log.retention.ms").value is None
    [default] = layers.describe_default()
    assert (default.name, default.value, default.source) == ("message.max.bytes", "2", Source.DYNAMIC_DEFAULT_BROKER)


def test_retention_is_told_by_the_key_that_was_set() -> None:
    """Kafka tells no synonym where none of the three is."""
    assert told(entry(NOTHING.describe_topic({}), "retention.ms")) == []
    assert entry(NOTHING.describe_topic({}), "retention.ms").value == "604800000"
    layers = SettingsInLayers(Settings({LOG_RETENTION_HOURS.name: 24}))
    found = entry(layers.describe_topic({}), "retention.ms")
    assert (found.value, told(found)) == ("86400000", ["STATIC_BROKER:log.retention.hours=24"])


def test_keys_of_topics_without_effect_here_are_told_when_they_are_set() -> None:
    found = entry(NOTHING.describe_topic({"flush.ms": "5"}), "flush.ms")
    assert (found.value, found.source) == ("5", Source.TOPIC)


ALTERATIONS = [
    pytest.param([Alteration("retention.ms", Operation.SET, "5")], {"retention.ms": "5", "x": "1"}, id="set"),
    pytest.param([Alteration("x", Operation.DELETE, None)], {}, id="delete"),
    pytest.param([Alteration("y", Operation.DELETE, None)], {"x": "1"}, id="delete what is not there"),
    pytest.param(
        [Alteration("cleanup.policy", Operation.APPEND, "compact")],
        {"x": "1", "cleanup.policy": "delete,compact"},
        id="append to the default",
    ),
    pytest.param(
        [Alteration("cleanup.policy", Operation.SUBTRACT, "delete")], {"x": "1", "cleanup.policy": ""}, id="subtract"
    ),
]


@pytest.mark.parametrize(("alterations", "after"), ALTERATIONS)
def test_a_configuration_is_altered_key_by_key(alterations: list[Alteration], after: dict[str, str]) -> None:
    assert altered({"x": "1"}, {"cleanup.policy": "delete"}, TOPIC_KEYS, alterations) == after


@pytest.mark.parametrize(
    ("alterations", "error", "said"),
    [
        ([Alteration("x", 0, "1"), Alteration("x", 1, None)], "INVALID_REQUEST", "duplicate config keys : x"),
        ([Alteration("x", Operation.SET, None)], "INVALID_REQUEST", "Null value not supported for : x"),
        ([Alteration("retention.ms", Operation.APPEND, "1")], "INVALID_CONFIG", "append is not allowed"),
        ([Alteration("x", 9, "1")], "INVALID_REQUEST", "Unknown operation 9"),
    ],
)
def test_what_cannot_be_altered_is_refused(alterations: list[Alteration], error: str, said: str) -> None:
    refusal = altered({}, {}, TOPIC_KEYS, alterations)
    assert isinstance(refusal, Refusal)
    assert refusal.error == error and said in refusal.message


def test_values_are_checked_before_they_are_written() -> None:
    assert topic_config_problem(NOTHING, {"retention.ms": "5", "flush.ms": "1"}) is None
    unknown = topic_config_problem(NOTHING, {"retention": "5"})
    assert unknown == Refusal("INVALID_CONFIG", "Unknown topic config name: retention")
    wrong = topic_config_problem(NOTHING, {"retention.ms": "soon"})
    assert wrong is not None and "retention.ms takes a whole number" in wrong.message
    assert broker_config_problem({"log.retention.ms": "5"}) is None
    fixed = broker_config_problem({"broker.id": "5", "nonsense": "1"})
    assert fixed == Refusal("INVALID_REQUEST", "Cannot update these configs dynamically: broker.id, nonsense")
    wrong = broker_config_problem({"log.retention.ms": "soon"})
    assert wrong is not None and wrong.error == "INVALID_CONFIG"
