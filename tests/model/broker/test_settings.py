"""Settings: Kafka's own keys, types and defaults, as the configuration definitions of Kafka 3.9.1 print them."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from model.broker.life import ShutdownSettings
from model.broker.partition import ReplicationSettings, replication_rules_of
from model.broker.settings import keys
from model.broker.settings.catalogue import ALL_TOPIC_KEYS, KEPT_KEYS, KEPT_TOPIC_KEYS, KEYS, TOPIC_KEYS, remark_on
from model.broker.settings.keys import Key, WholeNumber, as_text
from model.broker.settings.settings import (
    Settings,
    controller_settings,
    message_format,
    replication_settings,
    settings_of_topic,
    shutdown_settings,
    topic_defaults,
)
from model.controller.generations import ControllerSettings
from model.log.settings import LogSettings

KAFKA = json.loads((Path(__file__).parents[2] / "data/broker/kafka_config_3.9.1.json").read_text())
"""By key: its type, default and check, as `KafkaConfig.configDef` and `LogConfig` of kafka_2.13-3.9.1.jar have them."""

LEFT_BEHIND = {"replica.lag.max.messages"}
"""A key that Kafka dropped in 0.9."""


@pytest.mark.parametrize("name", sorted(KEYS.keys() - LEFT_BEHIND))
def test_a_key_has_kafkas_type_and_default(name: str) -> None:
    is_as_kafka_says(KEYS[name], *KAFKA["broker"][name])


def is_as_kafka_says(key: Key[object], type_: str, default: str | None, _: str | None) -> None:
    default = None if default is None else default.removeprefix("class ")
    assert key.kind.type == type_
    assert (None if key.default is None else as_text(key.default)) == default
    if default is not None:
        assert key.read(default) == key.default


def test_keys_without_effect_have_kafkas_type_default_and_bounds() -> None:
    for name, key in KEPT_KEYS.items():
        is_as_kafka_says(key, *KAFKA["broker"][name])
    for name, key in KEPT_TOPIC_KEYS.items():
        type_, default, valid = KAFKA["topic"][name]
        assert key.kind.type == type_
        if key.name not in KAFKA["broker"]:
            is_as_kafka_says(key, type_, default, valid)


def test_topics_have_kafkas_bounds() -> None:
    for name, (_, _, valid) in KAFKA["topic"].items():
        found = re.match(r"\[(-?\d+),", valid or "")
        if found is not None:
            ALL_TOPIC_KEYS[name].read(found[1])
            with pytest.raises(ValueError, match="takes a"):
                ALL_TOPIC_KEYS[name].read(str(int(found[1]) - 1))


NUMBERS = {
    name: tuple(found.groups())
    for name, (type_, _, valid) in KAFKA["broker"].items()
    if name in KEPT_KEYS and type_ in ("INT", "LONG", "SHORT", "DOUBLE")
    if (found := re.fullmatch(r"\[(-?\d+),\.\.\.,?(-?[\d.]+)?\](?: or -1)?", valid or ""))
}


def test_numbers_without_effect_have_kafkas_bounds() -> None:
    assert len(NUMBERS) > 80
    for name, (least, most) in NUMBERS.items():
        key = KEPT_KEYS[name]
        key.read(least)
        with pytest.raises(ValueError, match="takes a"):
            key.read(str(int(least) - 1))
        if most is not None:
            key.read(most)
            with pytest.raises(ValueError, match="takes a"):
                key.read(str(float(most) + 1).removesuffix(".0"))


BOUNDS = {
    name: tuple(int(number) if number else None for number in found.groups())
    for name, (_, _, valid) in KAFKA["broker"].items()
    if name in KEYS and (found := re.fullmatch(r"\[(-?\d+),\.\.\.,?(-?\d+)?\]", valid or ""))
}


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_a_key_has_kafkas_bounds(name: str) -> None:
    least, _ = BOUNDS[name]
    assert least is not None
    kind = KEYS[name].kind
    kind = getattr(kind, "kind", kind)
    if isinstance(kind, WholeNumber):
        assert kind.least == least
        with pytest.raises(ValueError, match=rf"^{re.escape(name)} takes a whole number from {least} to \d+, not "):
            KEYS[name].read(str(least - 1))


def test_every_key_of_kafka_is_known_one_way_or_the_other() -> None:
    assert KEYS.keys() - LEFT_BEHIND | KEPT_KEYS.keys() == KAFKA["broker"].keys()
    assert not KEYS.keys() & KEPT_KEYS.keys()
    assert TOPIC_KEYS.keys() | KEPT_TOPIC_KEYS.keys() == KAFKA["topic"].keys()


@pytest.mark.parametrize("topic_key", sorted(TOPIC_KEYS))
def test_a_topic_overrides_the_key_that_kafka_says(topic_key: str) -> None:
    key = TOPIC_KEYS[topic_key]
    assert KAFKA["synonyms"].get(topic_key, [topic_key])[0] == key.name
    assert key.in_files == (topic_key in KAFKA["synonyms"])


def test_a_topic_without_configuration_has_the_defaults_of_its_log() -> None:
    defaults = topic_defaults(Settings())
    of_log = {field.name.replace("_", "."): getattr(LogSettings(), field.name) for field in fields(LogSettings)}
    of_topics = {name: value for name, value in of_log.items() if name in KAFKA["topic"]}
    assert of_topics.keys() <= defaults.keys()
    assert all(
        defaults[name] == as_text(tuple(value) if isinstance(value, frozenset) else value)
        for name, value in of_topics.items()
    )
    assert defaults["retention.ms"] == "604800000"
    assert defaults["cleanup.policy"] == "delete"


def test_settings_have_the_types_of_their_keys() -> None:
    settings = Settings({"broker.id": 3, "log.dirs": ("/a", "/b")})
    assert settings[keys.BROKER_ID] + 1 == 4
    assert settings[keys.AUTO_CREATE_TOPICS_ENABLE] is True
    assert settings.log_dirs == ("/a", "/b")
    assert Settings().log_dirs == ("/tmp/kafka-logs",)


@pytest.mark.parametrize(
    ("given", "retention_ms"),
    [
        ({}, 168 * 3_600_000),
        ({"log.retention.hours": 2}, 7_200_000),
        ({"log.retention.hours": 2, "log.retention.minutes": 3}, 180_000),
        ({"log.retention.minutes": 3, "log.retention.ms": 4}, 4),
        ({"log.retention.hours": -1}, -1),
        ({"log.retention.ms": -1}, -1),
    ],
)
def test_the_smallest_unit_of_a_retention_wins(given: dict[str, object], retention_ms: int) -> None:
    assert Settings(given).retention_ms == retention_ms
    assert topic_defaults(Settings(given))["retention.ms"] == str(retention_ms)


@pytest.mark.parametrize(
    ("given", "roll_ms"),
    [({}, 168 * 3_600_000), ({"log.roll.hours": 2}, 7_200_000), ({"log.roll.hours": 2, "log.roll.ms": 4}, 4)],
)
def test_a_segment_is_closed_after_milliseconds_or_else_hours(given: dict[str, object], roll_ms: int) -> None:
    assert Settings(given).roll_ms == roll_ms


def test_a_topic_has_its_own_settings() -> None:
    broker = Settings({"min.insync.replicas": 2, "log.roll.hours": 1})
    config = {"min.insync.replicas": "3", "retention.ms": "60000", "cleanup.policy": "compact,delete"}
    of_topic = settings_of_topic(broker, config)
    assert (of_topic.refusals, of_topic.remarks) == ((), ())
    assert replication_settings(of_topic.settings).min_insync_replicas == 3
    assert of_topic.settings.retention_ms == 60_000
    assert of_topic.settings.roll_ms == 3_600_000
    assert of_topic.settings[keys.LOG_CLEANUP_POLICY] == ("compact", "delete")
    assert settings_of_topic(broker, {}).settings is broker


def test_a_bad_value_of_a_topic_is_named_by_the_topics_key() -> None:
    of_topic = settings_of_topic(Settings(), {"retention.ms": "a week", "retention.bites": "1", "flush.ms": "5"})
    assert of_topic.refusals == (f"retention.ms takes a whole number from -1 to {2**63 - 1}, not 'a week'",)
    assert of_topic.remarks == (
        "'retention.bites' is no key of a topic's configuration: did you mean retention.bytes?",
        "flush.ms has no effect here",
    )
    assert of_topic.settings == Settings()


@pytest.mark.parametrize(
    ("name", "remark"),
    [
        ("min.insync.replicas", None),
        ("ssl.keystore.location", "ssl.keystore.location has no effect here"),
        ("listener.name.outside.ssl.protocol", "listener.name.outside.ssl.protocol has no effect here"),
        (
            "min.insync.replica",
            "'min.insync.replica' is no key of server.properties: did you mean min.insync.replicas?",
        ),
        (
            "replica.lag.max.ms",
            "'replica.lag.max.ms' is no key of server.properties: did you mean replica.lag.time.max.ms?",
        ),
        ("host.name", "host.name is no key of Kafka any more: use listeners"),
        ("colour", "'colour' is no key of server.properties"),
    ],
)
def test_a_key_without_effect_is_remarked_on(name: str, remark: str | None) -> None:
    assert remark_on(name) == remark


def test_the_release_decides_the_rules_of_replication() -> None:
    old = Settings({"inter.broker.protocol.version": "0.8.2", "replica.lag.max.messages": 10})
    assert replication_settings(old).rules == replication_rules_of("0.8.2")
    assert replication_settings(old).replica_lag_max_messages == 10
    assert replication_settings(Settings()) == ReplicationSettings()
    assert controller_settings(old, 4).generation.since == "0.8.2"


def test_parts_that_are_not_set_have_their_own_defaults() -> None:
    assert shutdown_settings(Settings()) == ShutdownSettings()
    assert controller_settings(Settings(), 4) == ControllerSettings(broker_id=4)


def test_parts_are_set_by_their_keys() -> None:
    given: dict[str, object] = {
        "controlled.shutdown.max.retries": 7,
        "leader.imbalance.check.interval.seconds": 5,
        "unclean.leader.election.enable": True,
        "delete.topic.enable": False,
    }
    assert shutdown_settings(Settings(given)).controlled_shutdown_max_retries == 7
    controller = controller_settings(Settings(given), 4)
    assert controller.leader_imbalance_check_interval_ms == 5_000
    assert controller.unclean_leader_election_enable
    assert not controller.delete_topic_enable


@pytest.mark.parametrize(
    ("protocol", "of_broker", "of_topic", "magic"),
    [
        ("0.9.0", None, None, 0),
        ("0.10.0", None, None, 1),
        ("0.11.0", None, None, 2),
        ("2.8", "0.10.2", None, 1),
        ("2.8", None, "0.9.0", 0),
        ("2.8", "0.9.0", "0.10.0", 1),
        ("2.8", "0.9.0", "0.11.0", 2),
        ("0.10.0", "0.9.0", "0.11.0", 0),
        ("0.10.0", None, "0.11.0", 1),
        ("3.0", "0.9.0", "0.9.0", 2),
    ],
)
def test_the_format_of_what_is_appended(protocol: str, of_broker: str | None, of_topic: str | None, magic: int) -> None:
    """The topic's before the broker's, and neither where it is newer than the protocol; 3.0 asks for neither."""
    name = keys.LOG_MESSAGE_FORMAT_VERSION.name
    given = {keys.INTER_BROKER_PROTOCOL_VERSION.name: protocol, **({name: of_broker} if of_broker else {})}
    topic = Settings({name: of_topic} if of_topic else {})
    assert message_format(Settings(given), topic) == magic
