"""Where a setting's value comes from, and what altering a configuration comes to (KIP-226, KIP-339).

What is refused, and how keys are told, is as a real broker of 3.9.1 did it, asked the same.
"""

from __future__ import annotations

import pytest

from model.broker.settings.catalogue import ALL_TOPIC_KEYS, key_in_files
from model.broker.settings.dynamic_configs import (
    Alteration,
    ConfigEntry,
    ConfigSource,
    Operation,
    SettingsInLayers,
    altered,
    broker_config_problem,
    topic_config_problem,
    usable_config,
)
from model.broker.settings.keys import BROKER_ID, LOG_RETENTION_HOURS, MESSAGE_MAX_BYTES
from model.broker.settings.server_properties import read_server_properties
from model.broker.settings.settings import Settings
from model.controller import Refusal

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
    assert (found.value, found.source, found.type) == ("4", ConfigSource.TOPIC, "INT")
    assert told(found) == [
        "TOPIC:max.message.bytes=4",
        "DYNAMIC_BROKER:message.max.bytes=3",
        "DYNAMIC_DEFAULT_BROKER:message.max.bytes=2",
        "STATIC_BROKER:message.max.bytes=1",
        "DEFAULT:message.max.bytes=1048588",
    ]


def test_what_cannot_be_set_on_brokers_that_run_has_no_effect_there() -> None:
    usable, refusals = usable_config({"broker.id": "7", "message.max.bytes": "many", "no.key": "1"}, of_one=False)
    assert usable == {"no.key": "1"}
    assert [line.partition(":")[0] for line in refusals] == ["Cannot update these configs dynamically", "Invalid value"]
    layers = SettingsInLayers(Settings(), usable)
    assert layers.effective == Settings()
    assert layers.effective[BROKER_ID] == -1


def test_a_broker_and_the_defaults_of_all_brokers() -> None:
    layers = SettingsInLayers(Settings({"broker.id": 1}), {"message.max.bytes": "2"})
    broker = layers.describe_broker()
    assert entry(broker, "broker.id").read_only and not entry(broker, "message.max.bytes").read_only
    assert (entry(broker, "broker.id").value, entry(broker, "broker.id").source) == ("1", ConfigSource.STATIC_BROKER)
    assert entry(broker, "log.retention.ms").value is None
    [default] = layers.describe_default()
    assert (default.name, default.value, default.source) == (
        "message.max.bytes",
        "2",
        ConfigSource.DYNAMIC_DEFAULT_BROKER,
    )


def test_retention_is_told_by_the_key_that_was_set() -> None:
    """Kafka tells no synonym before the first that has the very name that is asked for."""
    assert told(entry(NOTHING.describe_topic({}), "retention.ms")) == []
    assert entry(NOTHING.describe_topic({}), "retention.ms").value == "604800000"
    static = Settings({LOG_RETENTION_HOURS.name: 24})
    found = entry(SettingsInLayers(static).describe_topic({}), "retention.ms")
    assert (found.value, found.source, told(found)) == ("86400000", ConfigSource.DEFAULT, [])
    layers = SettingsInLayers(static, {"log.retention.ms": "9"}, {"log.retention.ms": "500"})
    found = entry(layers.describe_topic({}), "retention.ms")
    assert (found.value, found.source) == ("500", ConfigSource.DYNAMIC_BROKER)
    assert told(found) == [
        "DYNAMIC_BROKER:log.retention.ms=500",
        "DYNAMIC_DEFAULT_BROKER:log.retention.ms=9",
        "STATIC_BROKER:log.retention.hours=24",
        "DEFAULT:log.retention.hours=168",
    ]
    hours = entry(layers.describe_broker(), "log.retention.hours")
    assert (hours.value, told(hours)) == (
        "168",
        ["STATIC_BROKER:log.retention.hours=24", "DEFAULT:log.retention.hours=168"],
    )


def test_keys_without_effect_are_told_like_the_others_with_a_remark() -> None:
    found = entry(NOTHING.describe_topic({"flush.ms": "5"}), "flush.ms")
    assert (found.value, found.source, found.remark) == ("5", ConfigSource.TOPIC, "flush.ms has no effect here")
    assert entry(NOTHING.describe_topic({}), "flush.ms").value == str(2**63 - 1)
    read = read_server_properties("zookeeper.connect=z:1\nnum.io.threads=2\nsome.unknown=5\nbroker.id=1\n")
    layers = SettingsInLayers(read.settings, {}, {"num.io.threads": "3", "made.up": "1"})
    threads = entry(layers.describe_broker(), "num.io.threads")
    assert (threads.value, threads.read_only, threads.remark) == ("3", False, "num.io.threads has no effect here")
    assert [each.value for each in threads.synonyms] == ["3", "2", "8"]
    for name, source in (("some.unknown", ConfigSource.STATIC_BROKER), ("made.up", ConfigSource.DYNAMIC_BROKER)):
        unknown = entry(layers.describe_broker(), name)
        assert (unknown.value, unknown.is_sensitive, unknown.read_only) == (None, True, True)
        assert [(each.value, each.source) for each in unknown.synonyms] == [(None, source)]


def test_throttle_rates_are_told_as_fixed_though_they_can_be_set() -> None:
    layers = SettingsInLayers(Settings(), {}, {"follower.replication.throttled.rate": "1000"})
    rate = entry(layers.describe_broker(), "follower.replication.throttled.rate")
    assert (rate.value, rate.source, rate.read_only, rate.type) == ("1000", ConfigSource.DYNAMIC_BROKER, True, "LONG")
    assert told(rate) == ["DYNAMIC_BROKER:follower.replication.throttled.rate=1000"]


def test_a_key_of_one_listener_has_that_of_all_behind_it() -> None:
    layers = SettingsInLayers(Settings(), {}, {"listener.name.inside.max.connections": "5"})
    assert told(entry(layers.describe_broker(), "listener.name.inside.max.connections")) == [
        "DYNAMIC_BROKER:listener.name.inside.max.connections=5",
        "DEFAULT:max.connections=2147483647",
    ]


def test_what_nobody_checked_is_told_as_it_is() -> None:
    """A real broker takes it, too: of a listener it checks only what may change while it runs."""
    name = "listener.name.inside.broker.id"
    assert broker_config_problem(NOTHING, {name: "x"}, of_one=True) is None
    assert entry(SettingsInLayers(Settings(), {}, {name: "x"}).describe_broker(), name).value == "x"


def test_listeners_that_are_set_while_the_broker_runs_are_kept_and_have_no_effect() -> None:
    layers = SettingsInLayers(Settings(), {}, {"listeners": "PLAINTEXT://:1"})
    found = entry(layers.describe_broker(), "listeners")
    assert (found.value, found.source) == ("PLAINTEXT://:1", ConfigSource.DYNAMIC_BROKER)
    assert found.remark is not None and "go on listening" in found.remark
    assert layers.effective == Settings()


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
    assert altered({"x": "1"}, ALL_TOPIC_KEYS.get, alterations) == after


def test_lists_of_brokers_are_appended_to_the_default_of_the_key() -> None:
    """Whatever the broker's file says."""
    more = [Alteration("log.cleanup.policy", Operation.APPEND, "compact")]
    assert altered({}, key_in_files, more) == {"log.cleanup.policy": "delete,compact"}


@pytest.mark.parametrize(
    ("alterations", "error", "said"),
    [
        ([Alteration("x", 0, "1"), Alteration("x", 1, None)], "INVALID_REQUEST", "duplicate config keys : x"),
        ([Alteration("x", Operation.SET, None)], "INVALID_REQUEST", "Null value not supported for : x"),
        ([Alteration("retention.ms", Operation.APPEND, "1")], "INVALID_CONFIG", "append is not allowed"),
        ([Alteration("x", 9, "1")], "UNKNOWN_SERVER_ERROR", "Unknown operation 9"),
        ([Alteration("x", Operation.APPEND, "1")], "UNKNOWN_SERVER_ERROR", "no list"),
    ],
)
def test_what_cannot_be_altered_is_refused(alterations: list[Alteration], error: str, said: str) -> None:
    refusal = altered({}, ALL_TOPIC_KEYS.get, alterations)
    assert isinstance(refusal, Refusal)
    assert refusal.error == error and said in refusal.message


@pytest.mark.parametrize(
    ("config", "error"),
    [
        ({"retention.ms": "5", "flush.ms": "1"}, None),
        ({"retention": "5"}, "INVALID_CONFIG"),
        ({"retention.ms": "soon"}, "INVALID_CONFIG"),
        ({"retention.ms": "-2"}, "INVALID_CONFIG"),
        ({"compression.gzip.level": "0"}, "INVALID_CONFIG"),
        ({"compression.gzip.level": "-1"}, None),
        ({"segment.jitter.ms": "-1"}, "INVALID_CONFIG"),
        ({"local.retention.ms": "-3"}, "INVALID_CONFIG"),
        ({"remote.storage.enable": "true"}, "INVALID_CONFIG"),
        ({"remote.storage.enable": "false"}, None),
        ({"message.format.version": "x"}, "INVALID_CONFIG"),
        ({"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"}, "INVALID_CONFIG"),
        ({"leader.replication.throttled.replicas": "0:1,1:2"}, None),
        ({"leader.replication.throttled.replicas": "*"}, None),
        ({"leader.replication.throttled.replicas": ""}, None),
        ({"leader.replication.throttled.replicas": "0:1,*"}, "INVALID_CONFIG"),
    ],
)
def test_a_topics_configuration_is_checked_before_it_is_written(config: dict[str, str], error: str | None) -> None:
    problem = topic_config_problem(NOTHING, config)
    assert (problem and problem.error) == error


@pytest.mark.parametrize(
    ("unit", "local", "whole", "refused"),
    [
        ("ms", "10", "10", False),
        ("ms", "11", "10", True),
        ("ms", "-1", "10", True),
        ("ms", "-1", "-1", False),
        ("ms", "-2", "10", False),
        ("ms", "11", "-1", False),
        ("bytes", "10", "10", False),
        ("bytes", "11", "10", True),
        ("bytes", "-1", "10", True),
    ],
)
def test_what_is_kept_locally_is_no_more_than_the_whole(unit: str, local: str, whole: str, refused: bool) -> None:
    """-1 is for ever, and of the local part -2 as long as the whole (KIP-405)."""
    asked = {f"log.local.retention.{unit}": local, f"log.retention.{unit}": whole}
    problem = broker_config_problem(NOTHING, asked, of_one=True)
    assert (problem is not None) == refused
    if problem is not None:
        assert problem.message.endswith(
            f"log.local.retention.{unit}={local} must not be more than log.retention.{unit}={whole}"
        )


def test_nothing_is_kept_for_no_time_at_all() -> None:
    problem = broker_config_problem(NOTHING, {"log.retention.ms": "0"}, of_one=True)
    assert problem is not None


SERVED = SettingsInLayers(read_server_properties("zookeeper.connect=z:1\nlisteners=PLAINTEXT://h:1\n").settings)


@pytest.mark.parametrize(
    ("name", "value", "of_one", "of_all"),
    [
        ("log.retention.ms", "5", None, None),
        ("log.retention.ms", "soon", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("log.retention.hours", "5", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("broker.rack", "r", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("made.up", "1", None, None),
        ("num.io.threads", "17", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("num.io.threads", "16", None, None),
        ("num.io.threads", "3", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("num.io.threads", "4", None, None),
        ("num.io.threads", "0", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("log.cleaner.threads", "3", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("log.cleaner.dedupe.buffer.size", "1000000", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("follower.replication.throttled.rate", "1000", None, None),
        ("follower.replication.throttled.rate", "-1", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("listeners", "PLAINTEXT://h:1", None, "INVALID_REQUEST"),
        ("listeners", "X://h:1", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("advertised.listeners", "X://h:1", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("ssl.keystore.type", "JKS", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("listener.name.outside.ssl.keystore.type", "JKS", None, "INVALID_REQUEST"),
        ("listener.name.outside.max.connections", "5", None, None),
        ("listener.name.outside.broker.id", "x", None, "INVALID_REQUEST"),
        ("sasl.enabled.mechanisms", "PLAIN", None, "INVALID_REQUEST"),
        ("sasl.jaas.config", "secret", "INVALID_CONFIG", "INVALID_REQUEST"),
        ("principal.builder.class", "no.such", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("metric.reporters", "no.such", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("max.connections.per.ip.overrides", "a:b", "INVALID_REQUEST", "INVALID_REQUEST"),
        ("max.connections.per.ip.overrides", "127.0.0.1:5", None, None),
        ("log.cleaner.io.max.bytes.per.second", "-5", None, None),
        ("auto.create.topics.enable", "true", "INVALID_REQUEST", "INVALID_REQUEST"),
    ],
)
def test_a_brokers_configuration_is_checked_before_it_is_written(
    name: str, value: str, of_one: str | None, of_all: str | None
) -> None:
    for is_one, error in ((True, of_one), (False, of_all)):
        problem = broker_config_problem(SERVED, {name: value}, of_one=is_one)
        assert (problem and problem.error) == error, problem
