"""What altering a configuration comes to: the configuration afterwards, or Kafka's refusal. It writes nothing.

Source: `kafka.server.ZkAdminManager.incrementalAlterConfigs`, `alterConfigs` (3.9); KIP-339 (2.3).
"""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from model.broker.settings.catalogue import TOPIC_KEYS
from model.broker.settings.key import Key
from model.broker.settings.layers import DYNAMIC_KEYS, SettingsInLayers
from model.broker.settings.topic_settings import settings_of_topic
from model.broker.settings.unserved_keys import UNSERVED_TOPIC_KEYS
from model.controller.refusal import Refusal

Config = Mapping[str, str]


class Operation(IntEnum):
    """`org.apache.kafka.clients.admin.AlterConfigOp.OpType`."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Alteration(NamedTuple):
    """One key. `value` is None where nothing is said."""

    name: str
    operation: int
    value: str | None


def altered(
    config: Config, defaults: Config, keys: Mapping[str, Key[object]], alterations: Sequence[Alteration]
) -> Config | Refusal:
    """A configuration after these. `defaults` are what lists are appended to where nothing is set."""
    names = [each.name for each in alterations]
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        return Refusal("INVALID_REQUEST", f"Error due to duplicate config keys : {','.join(twice)}")
    empty = [each.name for each in alterations if each.value is None and each.operation != Operation.DELETE]
    if empty:
        return Refusal("INVALID_REQUEST", f"Null value not supported for : {','.join(empty)}")
    after = dict(config)
    for each in alterations:
        refusal = _alter(after, defaults, keys, each)
        if refusal is not None:
            return refusal
    return after


def topic_config_problem(layers: SettingsInLayers, config: Mapping[str, str | None]) -> Refusal | None:
    """Why this cannot be a topic's configuration (`LogConfig.validate`)."""
    for name in config:
        if name not in TOPIC_KEYS and name not in UNSERVED_TOPIC_KEYS:
            return Refusal("INVALID_CONFIG", f"Unknown topic config name: {name}")
    given = {name: value for name, value in config.items() if value is not None}
    refusals = settings_of_topic(layers.effective, given).refusals
    return Refusal("INVALID_CONFIG", f"Invalid value: {refusals[0]}") if refusals else None


def broker_config_problem(config: Config) -> Refusal | None:
    """Why this cannot be set on brokers that run."""
    fixed = sorted(set(config) - set(DYNAMIC_KEYS))
    if fixed:
        return Refusal("INVALID_REQUEST", f"Cannot update these configs dynamically: {', '.join(fixed)}")
    for name, text in config.items():
        try:
            DYNAMIC_KEYS[name].read(text)
        except ValueError as error:
            return Refusal("INVALID_CONFIG", f"Invalid value: {error}")
    return None


def _alter(
    after: dict[str, str], defaults: Config, keys: Mapping[str, Key[object]], each: Alteration
) -> Refusal | None:
    value = each.value or ""
    if each.operation == Operation.SET:
        after[each.name] = value
    elif each.operation == Operation.DELETE:
        after.pop(each.name, None)
    elif each.operation in _ON_LISTS:
        key = keys.get(each.name)
        if key is None or key.kind.type != "LIST":
            name = Operation(each.operation).name
            return Refusal("INVALID_CONFIG", f"Config value {name.lower()} is not allowed for config key: {each.name}")
        words = _words(after.get(each.name, defaults.get(each.name, "")))
        after[each.name] = ",".join(_ON_LISTS[each.operation](words, _words(value)))
    else:
        return Refusal("INVALID_REQUEST", f"Unknown operation {each.operation} for config key: {each.name}")
    return None


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


_ON_LISTS: Mapping[int, Callable[[list[str], list[str]], list[str]]] = {
    Operation.APPEND: lambda words, more: words + [word for word in more if word not in words],
    Operation.SUBTRACT: lambda words, less: [word for word in words if word not in less],
}
